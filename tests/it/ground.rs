//! One platform for all tests that only ask. It lives as long as the process, on a runtime of its own.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Asking, Platform};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;

pub const INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
pub const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
pub const STRUCT: &str = "type.googleapis.com/google.protobuf.Struct";

/// Runs a future that may leave things behind (tasks, pooled connections) which must outlive the test.
pub async fn lasting<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
    });
    runtime.spawn(future).await.expect("nothing panicked")
}

/// The platform. Its dealers: `harbor` (the lot of [`lot`]), `narrow` (two skills, a few filters and sorts),
/// `routed` (declares a tenant), `empty` (no stock, one word of greeting).
pub async fn ground() -> &'static Platform {
    static GROUND: OnceCell<Platform> = OnceCell::const_new();
    GROUND
        .get_or_init(|| {
            lasting(async {
                let mut platform = Platform::start().await;
                // Each test has a runtime of its own, which must not inherit connections of another's.
                platform.http = lonely_client();
                platform.provision(&dealers()).await;
                platform
            })
        })
        .await
}

/// Provisions more dealers on the shared platform.
pub async fn settle(tenants: Value) -> &'static Platform {
    let platform = ground().await;
    lasting(async move { platform.provision(&tenants).await }).await;
    platform
}

/// A client that keeps no connection.
pub fn lonely_client() -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    client.pool_max_idle_per_host(0).timeout(Duration::from_secs(30)).build().expect("a client")
}

fn dealers() -> Value {
    let rooftops = json!([
        {"name": "Harbor North", "address": {"city": "Astoria", "state": "OR"}, "timezone": "America/Los_Angeles"},
        {"name": "Harbor South", "timezone": "America/Los_Angeles"},
    ]);
    json!({
        "harbor": {"dealer_id": "harbor-city", "name": "Harbor City", "rooftops": rooftops, "inventory": lot(),
            "sold": [{"vehicle_id": "gone", "vin": "1HGCM82633A004352", "stock": "G-1"}]},
        "narrow": {
            "name": "Narrow Gate", "rooftops": rooftops, "inventory": lot(),
            "skills": ["inventory.search", "dealer.information"],
            "policy": {"default_limit": 2, "max_limit": 3, "default_sort": {"field": "price", "order": "asc"},
                "search": {"filters": ["make", "features"], "sort_fields": ["price", "year"],
                    "feature_codes": ["Heated front seats"]}},
        },
        "routed": {"name": "Routed Motors", "interface_tenant": "rooftop-42", "rooftops": rooftops, "inventory": lot()},
        "empty": {"name": "Empty Lot", "welcome_message": "Welcome.", "rooftops": rooftops, "inventory": []},
    })
}

/// A lot in which every member that can be filtered or sorted by is there, and missing somewhere.
pub fn lot() -> Value {
    json!([
        {"vehicle_id": "v1", "vin": "2HKRW2H80PH600101", "stock": "N-10", "status": "available", "condition": "used",
         "year": 2023, "make": "Honda", "model": "CR-V", "trim": "EX-L", "price": 29495, "list_price": 29410,
         "msrp": 35450, "mileage": 28450, "body": "suv", "transmission": "8-speed automatic", "driveline": "awd",
         "fuel": "gas", "engine": "1.5L Turbo I4", "exterior_color": "Crystal Black Pearl",
         "interior_color": "Gray Leather", "features": ["Heated front seats", "Power moonroof"],
         "rooftop": "Harbor North", "description": "One owner, garage kept", "updated_at": "2026-11-01T08:00:00Z"},
        {"vehicle_id": "v2", "stock": "n-2", "status": "pending", "condition": "cpo", "year": 2022, "make": "honda",
         "model": "Accord", "list_price": 20000, "mileage": 900, "transmission": "semiautomatic", "fuel": "hybrid",
         "exterior_color": "Blackish Blue", "rooftop": "Harbor South", "updated_at": "2026-11-03T08:00:00Z"},
        {"vehicle_id": "v3", "stock": "S-3", "status": "intransit", "condition": "new", "year": 2026,
         "make": "Citroën", "model": "C3", "price": 29495, "msrp": 20100, "fuel": "gas",
         "exterior_color": "green", "features": ["heated front seats", "Tow hitch"], "rooftop": "Harbor South",
         "updated_at": "2026-11-02T08:00:00+02:00"},
        {"vehicle_id": "v4", "vin": "5YJ3E1EA7KF317000", "stock": "E-4", "status": "available", "condition": "used",
         "year": 2023, "make": "Hyundai", "model": "IONIQ 5", "price": 31000, "mileage": 12000, "fuel": "bev",
         "electric_range_mi": 303, "dc_fast_charge": true, "charge_port": "nacs", "driveline": "rwd",
         "updated_at": "2026-11-02T07:00:00Z"},
        {"vehicle_id": "v5", "stock": "E-5", "status": "available", "condition": "used", "year": 2015,
         "make": "Fiat", "model": "500e", "price": 0, "mileage": 60000, "fuel": "bev", "electric_range_mi": 84.5,
         "dc_fast_charge": false, "charge_port": "J1772", "updated_at": "2026-11-02T07:00:00Z"},
        {"vehicle_id": "v6", "stock": "M-6", "status": "available", "vehicle_type": "motorcycle", "year": 2019,
         "make": "Harley-Davidson", "model": "Iron 883", "price": 7990, "displacement_cc": 883, "body": "cruiser",
         "updated_at": "2026-10-02T07:00:00Z"},
        {"vehicle_id": "v7", "status": "available", "updated_at": "2026-09-01T00:00:00Z"},
    ])
}

/// An `inventory.search` request without conditions.
pub fn search() -> Value {
    json!({"type": "inventory.search.request"})
}

/// A `dealer.information` request.
pub fn information() -> Value {
    json!({"type": "dealer.information.request"})
}

/// A question to `harbor`.
pub async fn harbor(data: Value) -> Asking {
    ground().await.ask("harbor", data)
}

/// Sends exact bytes to `harbor`'s endpoint; the text of an answer that must be JSON with status 200.
pub async fn post(body: impl Into<reqwest::Body>) -> String {
    let response = harbor(search()).await.raw(body).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    response.text().await.expect("an answer in UTF-8")
}

/// The error of an answer to exact bytes; its id must be the given JSON text.
pub async fn refused(body: impl Into<reqwest::Body>, id: &str) -> Value {
    let text = post(body).await;
    assert!(text.contains(&format!("\"id\":{id},")), "the id must be {id}: {text}");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert!(answer.is_object() && answer.get("result").is_none(), "{text}");
    answer["error"].clone()
}

/// A protocol error: number and reason, `ErrorInfo` of A2A's domain first, no AAP object anywhere.
#[track_caller]
pub fn is_protocol_error(error: &Value, code: i64, reason: Option<&str>) {
    assert_eq!(error["code"], code, "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.len() > 5), "{error}");
    let known = ["code", "message", "data"];
    assert!(error.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{error}");
    assert!(testkit::aap_error(error).is_none() && !error.to_string().contains("aap.error"), "{error}");
    match reason {
        None => assert_ne!(error["data"][0]["@type"], INFO, "{error}"),
        Some(reason) => {
            let info = &error["data"][0];
            assert_eq!(
                (&info["@type"], &info["domain"]),
                (&json!(INFO), &json!("a2a-protocol.org")),
                "{error}"
            );
            assert_eq!(info["reason"], reason, "{error}");
            if let Some(metadata) = info.get("metadata") {
                assert!(metadata.as_object().unwrap().values().all(Value::is_string), "{error}");
            }
        }
    }
}

/// -32602 with exactly these fields in its `BadRequest`, in any order.
#[track_caller]
pub fn is_invalid_params(error: &Value, fields: &[&str]) {
    is_protocol_error(error, -32602, None);
    let entry = &error["data"][0];
    assert_eq!(entry["@type"], BAD_REQUEST, "{error}");
    let violations = entry["fieldViolations"].as_array().expect("violations");
    let mut named: Vec<_> = violations.iter().map(|v| v["field"].as_str().unwrap()).collect();
    assert!(violations.iter().all(|v| v["description"].as_str().is_some_and(|d| !d.is_empty())), "{error}");
    let mut expected = fields.to_vec();
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected, "{error}");
}

/// The AAP object of a skill's refusal with that code; panics on any other error.
#[track_caller]
pub fn fault<'e>(error: &'e Value, code: &str) -> &'e Value {
    let aap = testkit::aap_error(error).unwrap_or_else(|| panic!("{code} was expected: {error}"));
    assert_eq!(aap["code"], code, "{error}");
    aap
}

/// `(instanceLocation, keyword)` of every problem of a refusal.
pub fn problems(aap: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let errors = aap["details"]["errors"].as_array().cloned().unwrap_or_default();
    let mut all: Vec<_> =
        errors.iter().map(|e| (text(&e["instanceLocation"]), text(&e["keyword"]))).collect();
    all.sort_unstable();
    all
}
