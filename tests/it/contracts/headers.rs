//! The matrix of request headers (AAP.md 3.2), every row in every version.

use contract::ContractVersion;
use serde_json::Value;
use testkit::Asking;

use super::{ALL, URI_LATEST, URI_V1_3, URI_V3_0, ask, number, uri};
use crate::ground::information;

const OK: i64 = 0;
const VERSION: i64 = -32009;
const EXTENSION: i64 = -32008;

fn lines(mut asking: Asking, name: &str, values: &[&str]) -> Asking {
    asking = asking.header(name, None);
    asking.headers.extend(values.iter().map(|value| (name.to_owned(), (*value).to_owned())));
    asking
}

/// The number and whether the answer says that the extension is active.
async fn outcome(asking: &Asking, version: ContractVersion) -> (i64, bool) {
    let response = asking.response().await;
    assert_eq!(response.status(), 200);
    let echoed: Vec<_> = response.headers().get_all("a2a-extensions").iter().cloned().collect();
    assert!(echoed.iter().all(|value| *value == uri(version)) && echoed.len() <= 1, "{echoed:?}");
    let answer: Value = response.json().await.unwrap();
    (number(&answer), !echoed.is_empty())
}

#[tokio::test]
async fn the_version_header() {
    // Absent; empty; 1.0 with any patch; anything else. v1.3, latest, v3.0.
    let rows: [(&[&str], [i64; 3]); 12] = [
        (&[], [OK, VERSION, OK]),
        (&[""], [VERSION; 3]),
        (&["1.0"], [OK; 3]),
        (&["1.0.1"], [OK; 3]),
        (&["0.3"], [VERSION; 3]),
        (&["1.1"], [VERSION; 3]),
        (&["2.0"], [VERSION; 3]),
        (&["banana"], [VERSION; 3]),
        (&["1"], [VERSION; 3]),
        (&["1.0.0.0"], [VERSION; 3]),
        (&["1.0", "1.0"], [OK; 3]),
        (&["1.0", "0.3"], [VERSION; 3]),
    ];
    for version in ALL {
        let asking = ask(version, information()).await;
        for (values, expected) in rows {
            // A query parameter neither replaces the header nor overrides it.
            for query in ["", "?A2A-Version=1.0", "?A2A-Version=0.3", "?A2A-Extensions=x"] {
                let mut asked = lines(asking.clone(), "a2a-version", values);
                asked.url.push_str(query);
                let (got, _) = outcome(&asked, version).await;
                assert_eq!(got, expected[version as usize], "{version} {values:?} {query}");
            }
        }
    }
}

#[tokio::test]
async fn the_extension_header() {
    for version in ALL {
        let asking = ask(version, information()).await;
        let own = uri(version);
        let listed = format!(" https://a.example/x , {own} ");
        let (extra, cut, upper) = (format!("{own}/extra"), &own[..own.len() - 1], own.to_uppercase());
        let others = [URI_V1_3, URI_LATEST, URI_V3_0].into_iter().filter(|other| *other != own);
        let others: Vec<&str> = others.collect();
        let both = format!("{},{own}", others[0]);
        // Named among whatever else: active everywhere.
        for named in [&[own][..], &[&listed], &["https://a.example/x", own], &[&both], &[own, own]] {
            let asked = lines(asking.clone(), "a2a-extensions", named);
            assert_eq!(outcome(&asked, version).await, (OK, true), "{version} {named:?}");
        }
        // Not named: v1.3 does not ask for it, the draft does, v3.0 does where the header is sent at all.
        let absent = outcome(&lines(asking.clone(), "a2a-extensions", &[]), version).await;
        assert_eq!(absent, [(OK, false), (EXTENSION, false), (OK, true)][version as usize], "{version}");
        let unnamed = [(OK, false), (EXTENSION, false), (EXTENSION, false)][version as usize];
        for wrong in ["", ",", "https://a.example/x", others[0], others[1], &extra, cut, &upper] {
            let asked = lines(asking.clone(), "a2a-extensions", &[wrong]);
            assert_eq!(outcome(&asked, version).await, unnamed, "{version} {wrong:?}");
        }
    }
}

#[tokio::test]
async fn where_both_are_bad_the_version_is_said_first() {
    for version in ALL {
        let asking = ask(version, information()).await;
        let asked = asking.header("a2a-version", Some("0.3")).header("a2a-extensions", Some("x"));
        assert_eq!(outcome(&asked, version).await, (VERSION, false), "{version}");
    }
}

#[tokio::test]
async fn a_refusal_says_which_header_and_which_uri() {
    for version in [ContractVersion::Latest, ContractVersion::V3_0] {
        let error = ask(version, information()).await.header("a2a-extensions", Some("x")).error().await;
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(uri(version)) && message.contains("A2A-Extensions"), "{message}");
        let metadata = &error["data"][0]["metadata"];
        assert_eq!(
            (&metadata["extensionUri"], &metadata["requiredHeader"]),
            (&uri(version).into(), &"A2A-Extensions".into())
        );
    }
    for version in ALL {
        let error = ask(version, information()).await.header("a2a-version", Some("0.3")).error().await;
        let metadata = &error["data"][0]["metadata"];
        assert_eq!(metadata["requestedVersion"], "0.3");
        assert_eq!(metadata["supportedVersions"], "1.0");
    }
}
