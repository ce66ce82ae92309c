//! Media types of the request part and of what a buyer accepts (AAP.md 4.3), every row in every version.

use contract::ContractVersion;
use serde_json::{Value, json};

use super::{ALL, ask, number};
use crate::ground::search;

const OK: i64 = 0;
const REFUSED: i64 = -32005;
const REQUEST: &str = "application/vnd.autoagent.inventory-search-request+json";
const RESPONSE: &str = "application/vnd.autoagent.inventory-search-response+json";

#[tokio::test]
async fn of_the_part() {
    let upper = REQUEST.to_uppercase();
    let parameter = format!("{REQUEST}; charset=utf-8");
    let rows: [(Option<&str>, [i64; 3]); 9] = [
        (Some(REQUEST), [OK; 3]),
        (Some(&upper), [OK; 3]),
        (Some(&parameter), [OK; 3]),
        (None, [OK, OK, REFUSED]),
        (Some("application/json"), [OK, REFUSED, REFUSED]),
        (Some("Application/JSON;charset=utf-8"), [OK, REFUSED, REFUSED]),
        (Some("application/vnd.autoagent.vehicle-detail-request+json"), [REFUSED; 3]),
        (Some(RESPONSE), [REFUSED; 3]),
        (Some("text/plain"), [REFUSED; 3]),
    ];
    for version in ALL {
        for (media_type, expected) in &rows {
            let asking = ask(version, search()).await;
            let at = "/params/message/parts/0/mediaType";
            let asking = match media_type {
                Some(media_type) => asking.with(at, json!(media_type)),
                None => asking.without(at),
            };
            let answer = asking.send().await;
            assert_eq!(number(&answer), expected[version as usize], "{version} {media_type:?}");
            if number(&answer) == REFUSED {
                assert_eq!(answer["error"]["data"][0]["metadata"], json!({"supportedInputModes": REQUEST}));
            }
        }
    }
}

#[tokio::test]
async fn of_what_is_accepted() {
    let rows: [(Value, [i64; 3]); 10] = [
        (json!([RESPONSE]), [OK; 3]),
        (json!(["text/plain", RESPONSE]), [OK; 3]),
        (json!(["*/*"]), [OK; 3]),
        (json!(["application/*"]), [OK; 3]),
        (json!([]), [OK; 3]),
        (json!(["application/json"]), [OK, REFUSED, REFUSED]),
        (json!(["text/plain"]), [REFUSED; 3]),
        (json!([REQUEST]), [REFUSED; 3]),
        (json!(["application/vnd.autoagent.vehicle-detail-response+json"]), [REFUSED; 3]),
        (json!(["text/*", "image/png"]), [REFUSED; 3]),
    ];
    for version in ALL {
        for (accepted, expected) in &rows {
            let asking = ask(version, search()).await;
            let answer =
                asking.with("/params/configuration/acceptedOutputModes", accepted.clone()).send().await;
            assert_eq!(number(&answer), expected[version as usize], "{version} {accepted}");
            match answer.pointer("/result/message/parts/0/mediaType") {
                // Whatever was accepted, the answer is what it is.
                Some(sent) => assert_eq!(sent, RESPONSE),
                None => {
                    assert_eq!(
                        answer["error"]["data"][0]["metadata"],
                        json!({"supportedOutputModes": RESPONSE})
                    );
                }
            }
        }
        for wrong in [json!("application/json"), json!([1]), json!({})] {
            let asking = ask(version, search()).await;
            let answer = asking.with("/params/configuration/acceptedOutputModes", wrong).send().await;
            assert_eq!(number(&answer), -32602, "{version}");
        }
        let silent = ask(version, search()).await.without("/params/configuration");
        assert_eq!(number(&silent.send().await), OK, "{version}");
    }
}

#[tokio::test]
async fn a_wrong_media_type_is_said_before_a_wrong_payload() {
    for version in ContractVersion::ALL {
        let asking = ask(version, json!({"type": "inventory.search.request", "made_up": 1})).await;
        let answer = asking.with("/params/message/parts/0/mediaType", json!("text/plain")).send().await;
        assert_eq!(number(&answer), REFUSED, "{version}");
    }
}
