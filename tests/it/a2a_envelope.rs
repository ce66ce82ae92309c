//! JSON-RPC 2.0: ids, notifications, batches, members (AAP.md 2.2, 5; field reports 25, 26).

use serde_json::{Value, json};

use crate::ground::{
    self, ground, harbor, information, is_invalid_params, is_protocol_error, post, refused, search,
};

/// A request with that id as JSON text; `extra` are further members, with a comma behind each.
fn with_id(id: &str, method: &str, extra: &str, params: &Value) -> String {
    format!(r#"{{{extra}"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn params(data: Value) -> Value {
    testkit::request_body(data)["params"].clone()
}

const IDS: [&str; 24] = [
    "0",
    "-0",
    "1",
    "1.5",
    "1.50",
    "1e400",
    "-1E+400",
    "1E-7",
    "9007199254740993",
    "-9007199254740993",
    "123456789012345678901234567890",
    r#""""#,
    r#""1""#,
    r#"" ""#,
    r#""null""#,
    r#""\ud800""#,
    r#""\udc00\ud800""#,
    r#""a\u0000b""#,
    r#""\u00e9\/\n""#,
    r#""é😀""#,
    r#""\ud83d\ude00""#,
    r#""\"quoted\\\"""#,
    r#""</script>""#,
    r#""01234567-89ab-cdef-0123-456789abcdef""#,
];

#[tokio::test]
async fn ids_come_back_digit_for_digit() {
    for id in IDS {
        let expected = format!(r#""id":{id},"#);
        let served = post(with_id(id, "SendMessage", "", &params(information()))).await;
        assert!(served.contains(&expected) && served.contains("\"result\""), "{id}: {served}");
        for (method, data) in
            [("SendMessage", json!({"type": 1})), ("GetTask", information()), ("nope", json!({}))]
        {
            let refused = post(with_id(id, method, "", &params(data))).await;
            assert!(refused.contains(&expected) && refused.contains("\"error\""), "{id}: {refused}");
        }
    }
    let long = format!("\"{}\"", "x".repeat(100_000));
    let served = post(with_id(&long, "SendMessage", "", &params(information()))).await;
    assert!(served.contains(&format!(r#""id":{long},"#)));
}

#[tokio::test]
async fn an_id_stays_as_it_is_whatever_odd_things_stand_beside_it() {
    let odd = [
        r#""\ud800":1,"#,
        r#""x":"\udfff","#,
        r#""x":[1e999,-1e999],"#,
        r#""\ud800":{"\udc00":[{"\ud9ab":1e999}]},"#,
        "\"x\":null,\"\":[],\"\\u0000\":0,",
        r#""__proto__":{"id":7},"constructor":1,"#,
    ];
    for extra in odd {
        for id in [r#""\ud800""#, "1e400", "1.50", r#""\u00e9""#] {
            let served = post(with_id(id, "SendMessage", extra, &params(information()))).await;
            let expected = format!(r#""id":{id},"#);
            assert!(served.contains(&expected) && served.contains("\"result\""), "{extra} {id}: {served}");
        }
    }
}

#[tokio::test]
async fn without_a_usable_id_nothing_is_executed() {
    let quota = json!({"name": "Once", "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"rate_limit": {"requests": 1, "per_seconds": 3600}}});
    let platform = ground::settle(json!({"once-an-hour": quota})).await;
    let asking = platform.ask("once-an-hour", information());
    let whole = &asking.body;
    let mut bad: Vec<Value> =
        [json!(null), json!(true), json!(false), json!({}), json!([]), json!(["a"]), json!({"$": 1})]
            .into_iter()
            .map(|id| asking.clone().with("/id", id).body)
            .collect();
    bad.push(asking.clone().without("/id").body);
    // Batches, of whatever.
    bad.extend([json!([whole, whole]), json!([whole]), json!([]), json!([[]]), json!([1, 2]), json!([null])]);
    // Not even objects.
    bad.extend([json!(null), json!(true), json!(1), json!("SendMessage")]);
    for body in bad {
        let answer: Value = asking.raw(body.to_string()).await.json().await.unwrap();
        assert_eq!(answer["id"], Value::Null, "{body}");
        is_protocol_error(&answer["error"], -32600, None);
    }
    // The one call of the hour is still there.
    asking.result().await;
    ground::fault(&asking.error().await, "RATE_LIMITED");
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error_without_an_id() {
    let whole = harbor(information()).await.body.to_string();
    let mut bad: Vec<Vec<u8>> = [
        "",
        " ",
        "\n",
        "{",
        "[",
        "}",
        "nul",
        "{]",
        "{'a':1}",
        "{\"a\":1,}",
        "[1,]",
        "{\"a\" 1}",
        "{a:1}",
        "NaN",
        "{\"id\":1,\"x\":Infinity}",
        "{\"id\":01}",
        "{\"id\":.5}",
        "{\"id\":5.}",
        "{\"id\":+5}",
        "{\"id\":0x1}",
        "// hi\n{}",
        "{}{}",
        "{} x",
        "\u{feff}{}",
        "\u{a0}{}",
        "{\"id\":\"a\nb\"}",
        "{\"a\tb\":1}",
        "{\"id\":\"\\x\"}",
        "{\"id\":\"\\ud8\"}",
        "{\"\\ud800\":1,\"a\nb\":1}",
        "{\"\\u12\":1}",
        "{\"id\":1e}",
        "\"abc",
        "\u{0}",
        "{\"id\":1\u{0}}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    bad.extend([1, 2, 40, whole.len() - 1].map(|end| whole.as_bytes()[..end].to_vec()));
    bad.push(format!("{whole},").into_bytes());
    bad.push(format!("{whole}\0").into_bytes());
    // Not UTF-8: a lone byte, an overlong slash, a surrogate in UTF-8, UTF-16.
    for bytes in [&b"\xff"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe9"] {
        let (before, after) = whole.split_once("req-1").unwrap();
        bad.push([before.as_bytes(), bytes, after.as_bytes()].concat());
    }
    bad.push(whole.encode_utf16().flat_map(u16::to_le_bytes).collect());
    for body in bad {
        let shown = String::from_utf8_lossy(&body).into_owned();
        let text = post(body).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{shown:?}");
        is_protocol_error(&answer["error"], -32700, None);
    }
}

#[tokio::test]
async fn the_version_and_the_method_must_be_the_strings_they_are() {
    let asking = harbor(information()).await;
    for bad in [
        json!(null),
        json!(2),
        json!(2.0),
        json!("1.0"),
        json!("2"),
        json!("2.0 "),
        json!(["2.0"]),
        json!(""),
    ] {
        let error = refused(asking.clone().with("/jsonrpc", bad).body.to_string(), "\"req-1\"").await;
        is_protocol_error(&error, -32600, None);
    }
    for bad in [json!(null), json!(5), json!([]), json!({}), json!(true)] {
        let error = refused(asking.clone().with("/method", bad).body.to_string(), "\"req-1\"").await;
        is_protocol_error(&error, -32600, None);
    }
    for missing in ["/jsonrpc", "/method"] {
        let error = refused(asking.clone().without(missing).body.to_string(), "\"req-1\"").await;
        is_protocol_error(&error, -32600, None);
    }
}

#[tokio::test]
async fn operations_that_a2a_has_and_we_do_not_are_told_apart_from_others() {
    let unsupported = [
        ("SendStreamingMessage", -32004, "UNSUPPORTED_OPERATION"),
        ("SubscribeToTask", -32004, "UNSUPPORTED_OPERATION"),
        ("GetExtendedAgentCard", -32004, "UNSUPPORTED_OPERATION"),
        ("GetTask", -32004, "UNSUPPORTED_OPERATION"),
        ("ListTasks", -32004, "UNSUPPORTED_OPERATION"),
        ("CancelTask", -32004, "UNSUPPORTED_OPERATION"),
        ("CreateTaskPushNotificationConfig", -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("GetTaskPushNotificationConfig", -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("ListTaskPushNotificationConfigs", -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("DeleteTaskPushNotificationConfig", -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ];
    let asking = harbor(information()).await;
    for (method, code, reason) in unsupported {
        // Whatever the parameters are, or are not.
        for wrong in [json!({}), json!([]), json!(null), asking.body["params"].clone()] {
            let error = asking.clone().with("/method", json!(method)).with("/params", wrong).error().await;
            is_protocol_error(&error, code, Some(reason));
            assert_eq!(error["data"][0]["metadata"]["method"], method);
        }
        let error = asking.clone().with("/method", json!(method)).without("/params").error().await;
        is_protocol_error(&error, code, Some(reason));
    }
    let unknown = [
        "message/send",
        "tasks/get",
        "sendmessage",
        "sendMessage",
        "SENDMESSAGE",
        "SendMessage ",
        " SendMessage",
        "SendMessage\0",
        "send_message",
        "inventory.search",
        "Foo",
        "",
        "rpc.discover",
        "GetAgentCard",
        "SendMessage/",
        "a2a.v1.A2AService/SendMessage",
        "S\u{0435}ndMessage",
    ];
    for method in unknown {
        let error = asking.clone().with("/method", json!(method)).error().await;
        is_protocol_error(&error, -32601, None);
    }
    let text = asking.body.to_string().replace("\"SendMessage\"", r#""Send\ud800Message""#);
    is_protocol_error(&refused(text, "\"req-1\"").await, -32601, None);
    let text = asking.body.to_string().replace("\"SendMessage\"", r#""\u0053endMessage""#);
    assert!(post(text).await.contains("\"result\""), "an escape is only a spelling");
}

#[tokio::test]
async fn params_must_be_an_object() {
    let asking = harbor(information()).await;
    is_invalid_params(&asking.clone().without("/params").error().await, &["params"]);
    for bad in [json!(null), json!([]), json!([{}]), json!("{}"), json!(5), json!(false)] {
        is_invalid_params(&asking.clone().with("/params", bad).error().await, &["params"]);
    }
}

/// The request with further members in every object of the A2A envelope.
fn decorated(extra: &str) -> String {
    let text = harbor_text();
    // Every object outside the payload begins with a member that is found here once.
    let mut out = text;
    for first in
        ["\"id\":\"req-1\"", "\"messageId\"", "\"mediaType\"", "\"acceptedOutputModes\"", "\"message\":{"]
    {
        assert_eq!(out.matches(first).count(), 1, "{first}");
        out = out.replace(first, &format!("{extra}{first}"));
    }
    out
}

fn harbor_text() -> String {
    testkit::request_body(information()).to_string()
}

#[tokio::test]
async fn unknown_members_of_the_envelope_mean_nothing() {
    for extra in [
        "\"x\":1,",
        "\"kind\":\"message\",",
        "\"\":{},",
        r#""\ud800":"\ud800","#,
        r#""a\u0000":[[[{"\udfff":1e999}]]],"#,
        r#""__proto__":{"role":"x"},"#,
        r#""payload":"null","Role":5,"PARTS":5,"result":1,"error":null,"#,
    ] {
        let served = post(decorated(extra)).await;
        assert!(served.contains("\"result\""), "{extra}: {served}");
        assert!(!served.contains("\"kind\""), "{served}");
    }
}

#[tokio::test]
async fn of_a_repeated_member_the_last_counts() {
    let text = harbor_text();
    let first = |what: &str, before: &str| text.replacen(what, &format!("{before}{what}"), 1);
    for (served, body) in [
        ("envelope", first("\"id\":", "\"id\":7,")),
        ("method", first("\"method\":", "\"method\":\"nope\",")),
        ("params", first("\"params\":", "\"params\":[],")),
        ("version", first("\"jsonrpc\":", "\"jsonrpc\":\"1.0\",")),
        ("role", first("\"role\":", "\"role\":\"ROLE_AGENT\",")),
        ("parts", first("\"parts\":", "\"parts\":[],")),
        ("media type", first("\"mediaType\":", "\"mediaType\":\"text/plain\",")),
        ("data", first("\"data\":", "\"data\":5,")),
        ("type", first("\"type\":", "\"type\":\"x\",")),
        ("escaped", first("\"role\":", r#""r\u006fle":"ROLE_AGENT","#)),
    ] {
        let answer = post(body).await;
        assert!(answer.contains("\"id\":\"req-1\"") && answer.contains("\"result\""), "{served}: {answer}");
    }
    let last = text.replacen("\"role\":\"ROLE_USER\"", "\"role\":\"ROLE_USER\",\"role\":\"ROLE_AGENT\"", 1);
    is_invalid_params(&refused(last, "\"req-1\"").await, &["message.role"]);
}

#[tokio::test]
async fn the_names_of_the_protobuf_are_taken_too() {
    let snake = harbor_text()
        .replace("\"messageId\"", "\"context_id\":\"mine\",\"message_id\"")
        .replace("\"mediaType\"", "\"media_type\"")
        .replace("\"acceptedOutputModes\"", "\"accepted_output_modes\"");
    let answer: Value = serde_json::from_str(&post(snake.clone()).await).unwrap();
    assert_eq!(answer["result"]["message"]["contextId"], "mine");
    assert!(answer["result"]["message"].get("context_id").is_none(), "only ProtoJSON names are sent");

    let task = snake.replace("\"context_id\":\"mine\"", "\"task_id\":\"t-1\"");
    is_protocol_error(&refused(task, "\"req-1\"").await, -32001, Some("TASK_NOT_FOUND"));
    let modes = snake.replace("dealer-information-response", "lead-submit-response");
    is_protocol_error(&refused(modes, "\"req-1\"").await, -32005, Some("CONTENT_TYPE_NOT_SUPPORTED"));
    let media = snake.replace("dealer-information-request", "lead-submit-request");
    is_protocol_error(&refused(media, "\"req-1\"").await, -32005, Some("CONTENT_TYPE_NOT_SUPPORTED"));
}

#[tokio::test]
async fn null_members_count_as_absent() {
    let asking = harbor(information()).await;
    for (pointer, value) in [
        ("/params/tenant", json!(null)),
        ("/params/configuration", json!(null)),
        ("/params/metadata", json!(null)),
        ("/params/configuration/acceptedOutputModes", json!(null)),
        ("/params/message/contextId", json!(null)),
        ("/params/message/taskId", json!(null)),
        ("/params/message/parts/0/text", json!(null)),
        ("/params/message/parts/0/raw", json!(null)),
        ("/params/message/parts/0/url", json!(null)),
    ] {
        asking.clone().with(pointer, value).result().await;
    }
    for (pointer, field) in [
        ("/params/message", "message"),
        ("/params/message/role", "message.role"),
        ("/params/message/messageId", "message.messageId"),
        ("/params/message/parts", "message.parts"),
    ] {
        is_invalid_params(&asking.clone().with(pointer, json!(null)).error().await, &[field]);
    }
}

#[tokio::test]
async fn blanks_and_escapes_are_only_spelling() {
    let body = serde_json::to_string_pretty(&testkit::request_body(search())).unwrap();
    let spelled = body.replace("\"method\"", r#""\u006de\u0074hod""#).replace('\n', "\r\n\t ");
    let answer = post(format!("\r\n {spelled} \n")).await;
    assert!(answer.contains("\"total\":7"), "{answer}");
}

#[tokio::test]
async fn an_answer_has_the_members_it_needs_and_no_others() {
    let keys = |value: &Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort_unstable();
        keys
    };
    let asking = harbor(search()).await;
    let response = asking.response().await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let answer: Value = response.json().await.unwrap();
    assert_eq!(keys(&answer), ["id", "jsonrpc", "result"]);
    assert_eq!(keys(&answer["result"]), ["message"]);
    let error = asking.clone().with("/method", json!("nope")).send().await;
    assert_eq!(keys(&error), ["error", "id", "jsonrpc"]);
    // Ground's dealers are asked at many addresses; none of it may depend on the query of the URL.
    let mut odd = asking.clone();
    odd.url.push_str("?A2A-Version=0.3&id=5&method=nope");
    assert_eq!(odd.send().await["id"], "req-1");
    let other = ground().await.ask("empty", search()).result().await;
    assert_eq!(other["total"], 0);
}
