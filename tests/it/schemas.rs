//! Schemas of each contract, as a dealer's address serves them.

use contract::{CONTRACTS, Contract};
use serde_json::Value;

use crate::addresses::{at, get};
use crate::ground::ground;

#[tokio::test]
async fn every_schema_is_served_as_it_is_used_and_listed_with_its_identifier() {
    let platform = ground().await;
    for spec in CONTRACTS {
        let base = format!("/t/harbor/{}/schemas", spec.version);
        let index = get(platform, "", &format!("{base}/")).await;
        assert_eq!(index.status, 200);
        assert_eq!(index.header("content-type"), Some("application/json"));
        let listed = index.json()["schemas"].as_array().unwrap().clone();
        assert_eq!(listed.len(), spec.schemas.len());
        for (schema, (name, text)) in listed.iter().zip(spec.schemas) {
            assert_eq!(schema["name"], *name);
            let url = schema["url"].as_str().unwrap().strip_prefix(&platform.origin).unwrap().to_owned();
            let served = get(platform, "", &url).await;
            assert_eq!((served.status, served.body.as_slice()), (200, text.as_bytes()), "{url}");
            assert_eq!(served.header("content-type"), Some("application/schema+json"));
            assert_eq!(served.json()["$id"], schema["id"], "{url}");
            assert!(served.header("access-control-allow-origin") == Some("*"));
        }
        let loaded = Contract::load(spec.version).unwrap();
        assert_eq!(loaded.spec().version, spec.version);
    }
    // At the bare base: those of the default contract.
    let bare = get(platform, "", "/t/harbor/schemas/inventory-search-request.schema.json").await;
    let named = get(platform, "", "/t/harbor/v3.0/schemas/inventory-search-request.schema.json").await;
    assert_eq!(bare.body, named.body);
    let by_host = get(platform, "harbor.localhost", "/v1.3/schemas/_primitives/address.schema.json").await;
    assert!(by_host.json()["$id"].as_str().unwrap().contains("/v1.3/schemas/"), "{by_host:?}");
}

#[tokio::test]
async fn a_copy_of_a_schema_is_confirmed() {
    let platform = ground().await;
    let path = "/t/harbor/schemas/error.schema.json";
    let fresh = get(platform, "", path).await;
    let etag = fresh.header("etag").unwrap().to_owned();
    assert!(fresh.header("cache-control").unwrap().contains("max-age"));
    for (headers, status) in [
        (vec![("if-none-match", etag.as_str())], 304),
        (vec![("if-none-match", "*")], 304),
        (vec![("if-none-match", "\"x\"")], 200),
        (vec![("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")], 200),
    ] {
        let reply = at(platform, "", "GET", path, &headers).await;
        assert_eq!((reply.status, reply.header("etag")), (status, Some(etag.as_str())), "{headers:?}");
        assert!(status == 200 || reply.body.is_empty());
    }
    let other = get(platform, "", "/t/harbor/schemas/vehicle.schema.json").await;
    assert_ne!(other.header("etag"), Some(etag.as_str()));
    let head = at(platform, "", "HEAD", path, &[]).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[tokio::test]
async fn nothing_else_is_there() {
    let platform = ground().await;
    for path in
        ["schemas/nothing", "schemas/..%2fCargo.toml", "schemas/../../Cargo.toml", "schemasx", "v9/schemas/"]
    {
        let reply = get(platform, "", &format!("/t/harbor/{path}")).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{path}");
    }
    let posted = at(platform, "", "POST", "/t/harbor/schemas/error.schema.json", &[]).await;
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let nobody: Value = get(platform, "", "/t/nobody/schemas/").await.json();
    assert_eq!(nobody["status"], 404);
}
