//! Methods other than SendMessage are answered alike in every version (AAP.md 5), and never by a skill.

use serde_json::json;

use super::{ALL, ask, number};
use crate::ground::information;

#[tokio::test]
async fn every_method_of_a2a_and_names_that_are_none() {
    let rows = [
        ("SendStreamingMessage", -32004),
        ("SubscribeToTask", -32004),
        ("GetTask", -32004),
        ("ListTasks", -32004),
        ("CancelTask", -32004),
        ("GetExtendedAgentCard", -32004),
        ("CreateTaskPushNotificationConfig", -32003),
        ("GetTaskPushNotificationConfig", -32003),
        ("ListTaskPushNotificationConfigs", -32003),
        ("DeleteTaskPushNotificationConfig", -32003),
        ("message/send", -32601),
        ("message/stream", -32601),
        ("tasks/get", -32601),
        ("sendmessage", -32601),
        ("SENDMESSAGE", -32601),
        ("SendMessage ", -32601),
        ("inventory.search", -32601),
        ("", -32601),
    ];
    for version in ALL {
        let asking = ask(version, information()).await;
        for (method, expected) in rows {
            let answer = asking.clone().with("/method", json!(method)).send().await;
            assert_eq!(number(&answer), expected, "{version} {method}");
            if expected != -32601 {
                assert_eq!(answer["error"]["data"][0]["metadata"]["method"], method);
            }
            // The parameters of an operation that is not served are nobody's business.
            let bare = asking.clone().with("/method", json!(method)).without("/params").send().await;
            assert_eq!(number(&bare), expected, "{version} {method} without params");
        }
    }
}

#[tokio::test]
async fn the_envelope_is_judged_alike() {
    for version in ALL {
        let asking = ask(version, information()).await;
        for (pointer, value, expected) in [
            ("/jsonrpc", json!("1.0"), -32600),
            ("/id", json!(null), -32600),
            ("/id", json!([1]), -32600),
            ("/method", json!(7), -32600),
            ("/params", json!([]), -32602),
            ("/params/message", json!("x"), -32602),
            ("/params/message/role", json!("user"), -32602),
            ("/params/message/messageId", json!(""), -32602),
            ("/params/message/parts", json!([]), -32602),
            ("/params/message/parts", json!([{"text": "hello"}]), -32602),
            ("/params/message/taskId", json!("t-1"), -32001),
        ] {
            let answer = asking.clone().with(pointer, value.clone()).send().await;
            assert_eq!(number(&answer), expected, "{version} {pointer} {value}");
        }
        for (body, expected) in [("{", -32700), ("[]", -32600), ("7", -32600), ("\u{feff}", -32700)] {
            let answer: serde_json::Value = asking.raw(body).await.json().await.unwrap();
            assert_eq!((number(&answer), &answer["id"]), (expected, &json!(null)), "{version} {body}");
        }
        let kept = asking.clone().with("/params/message/contextId", json!("ctx-9")).send().await;
        assert_eq!(kept["result"]["message"]["contextId"], "ctx-9", "{version}");
    }
}
