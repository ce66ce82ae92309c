//! What holds for every answer of every test: its envelope, its payload against the response schema of its
//! contract, its error against the tables and the wire form of its contract (AAP.md 4.4, 5.1, 6).

use std::sync::LazyLock;

use contract::errors::{A2A_DOMAIN, AAP_DOMAIN, AAP_ERROR, BAD_REQUEST, ERROR_INFO, PROTOCOL_ERRORS, STRUCT};
use contract::{CONTRACTS, Contract, ContractSpec, ContractVersion, ErrorForm, FaultCode, SKILL_SPECS};
use serde_json::{Map, Value};

static ALL: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    CONTRACTS.iter().map(|spec| Contract::load(spec.version).expect("its schemas compile")).collect()
});

/// Holds an answer against everything that its contract says of answers; panics with what it breaks.
///
/// `address` is the URL or path that was asked. Where it names no version, the answer must be one of some version.
#[track_caller]
pub fn check_answer(address: &str, answer: &Value) {
    let path = address.split('?').next().unwrap_or_default();
    let named = ContractVersion::ALL.into_iter().find(|version| path.ends_with(&format!("/{version}/a2a")));
    let mut broken = Vec::new();
    for contract in ALL.iter().filter(|one| named.is_none_or(|version| version == one.spec().version)) {
        match judge(contract, answer) {
            Ok(()) => return,
            Err(what) => broken.push(what),
        }
    }
    panic!("{address}: {}\n{answer}", broken.join("\n"));
}

/// If these bytes are a JSON-RPC answer, it is checked; anything else is not for this to judge.
#[track_caller]
pub fn check_bytes(address: &str, status: u16, body: &[u8]) {
    if status != 200 || !address.split('?').next().unwrap_or_default().ends_with("/a2a") {
        return;
    }
    if let Ok(answer) = serde_json::from_slice::<Value>(body)
        && answer.get("jsonrpc").is_some()
    {
        check_answer(address, &answer);
    }
}

/// The AAP error object inside an `error`, in whatever form a contract gives it; `None` for a protocol error.
pub fn aap_error(error: &Value) -> Option<&Value> {
    CONTRACTS.iter().find_map(|spec| in_form(error, spec.error_form))
}

fn in_form(error: &Value, form: ErrorForm) -> Option<&Value> {
    let data = &error["data"];
    let entry = |kind: &str| data.as_array()?.iter().find(|entry| entry["@type"] == kind);
    match form {
        ErrorForm::Bare => Some(data).filter(|data| data["type"] == "aap.error"),
        ErrorForm::Tagged => entry(AAP_ERROR),
        ErrorForm::Struct => entry(STRUCT)?.get("value"),
    }
}

type Verdict = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

fn object<'a>(value: &'a Value, keys: &[&str], what: &str) -> Result<&'a Map<String, Value>, String> {
    let members = value.as_object().ok_or_else(|| format!("{what} is no object"))?;
    match members.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(stray) => Err(format!("{what} has a member {stray}")),
        None => Ok(members),
    }
}

fn judge(contract: &Contract, answer: &Value) -> Verdict {
    let spec = contract.spec();
    let verdict = || {
        object(answer, &["jsonrpc", "id", "result", "error"], "the answer")?;
        ensure(answer["jsonrpc"] == "2.0", || "jsonrpc is not 2.0".into())?;
        let id = answer.get("id").ok_or("there is no id")?;
        ensure(id.is_string() || id.is_number() || id.is_null(), || format!("the id is {id}"))?;
        match (answer.get("result"), answer.get("error")) {
            (Some(result), None) => judge_result(contract, result),
            (None, Some(error)) => judge_error(contract, error),
            _ => Err("not exactly one of result and error".into()),
        }
    };
    verdict().map_err(|what: String| format!("in {}: {what}", spec.version))
}

fn judge_result(contract: &Contract, result: &Value) -> Verdict {
    object(result, &["message"], "the result")?;
    let message = &result["message"];
    object(message, &["messageId", "contextId", "role", "parts"], "the message")?;
    let said = |key: &str| message[key].as_str().is_some_and(|text| !text.is_empty());
    ensure(said("messageId") && said("contextId"), || "messageId or contextId is empty".into())?;
    ensure(message["role"] == "ROLE_AGENT", || "the role is not ROLE_AGENT".into())?;
    let Some([part]) = message["parts"].as_array().map(Vec::as_slice) else {
        return Err("there is not exactly one part".into());
    };
    object(part, &["data", "mediaType"], "the part")?;
    let payload = &part["data"];
    let skill = SKILL_SPECS.into_iter().find(|skill| payload["type"] == skill.response_type);
    let skill = skill.ok_or_else(|| format!("no answer of a skill has the type {}", payload["type"]))?;
    ensure(part["mediaType"] == skill.response_media_type, || format!("media type {}", part["mediaType"]))?;
    contract
        .check(skill.response_schema, payload)
        .map_err(|broken| format!("{}: {broken:?}", skill.response_schema))
}

fn judge_error(contract: &Contract, error: &Value) -> Verdict {
    object(error, &["code", "message", "data"], "the error")?;
    let message = error["message"].as_str().filter(|text| !text.is_empty()).ok_or("there is no message")?;
    let number = error["code"].as_i64().ok_or("the code is no whole number")?;
    match in_form(error, contract.spec().error_form) {
        Some(aap) => judge_fault(contract, error, aap, number, message),
        None => judge_protocol_error(error, number),
    }
}

fn judge_fault(contract: &Contract, error: &Value, aap: &Value, number: i64, message: &str) -> Verdict {
    let spec = contract.spec();
    contract.check("error.schema.json", aap).map_err(|broken| format!("error.schema.json: {broken:?}"))?;
    let code = FaultCode::ALL.iter().find(|code| aap["code"] == code.as_str()).ok_or("an unknown code")?;
    let expected = spec.number(*code).map(i64::from);
    ensure(expected == Some(number), || format!("{} has the number {expected:?}", code.as_str()))?;
    let own = aap["message"].as_str().unwrap_or_default();
    let leading = (-32099..=-32000).contains(&number) || spec.error_form == ErrorForm::Bare;
    let words = if leading { format!("{}: {own}", code.as_str()) } else { own.to_owned() };
    ensure(message == words, || format!("the message must be {words:?}"))?;
    ensure(aap["retryable"] == code.retryable(), || "retryable is not that of the code".into())?;
    ensure(aap["error_id"].as_str().is_some_and(|id| id.len() > 8), || "no id to be found in a log".into())?;
    judge_details(spec, error, aap, *code)
}

/// The list of typed details, where the contract has one.
fn judge_details(spec: &ContractSpec, error: &Value, aap: &Value, code: FaultCode) -> Verdict {
    let own = match spec.error_form {
        ErrorForm::Bare => return Ok(()),
        ErrorForm::Tagged => AAP_ERROR,
        ErrorForm::Struct => STRUCT,
    };
    let entries = error["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let types: Vec<_> = entries.iter().map(|entry| entry["@type"].as_str().unwrap_or_default()).collect();
    let problems =
        aap.pointer("/details/errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let expected =
        if problems.is_empty() { vec![ERROR_INFO, own] } else { vec![ERROR_INFO, BAD_REQUEST, own] };
    ensure(types == expected, || format!("the entries are {types:?}"))?;

    let Some((info, rest)) = entries.split_first() else { return Err("no entries".into()) };
    object(info, &["@type", "reason", "domain", "metadata"], "the ErrorInfo")?;
    ensure(info["reason"] == code.as_str() && info["domain"] == AAP_DOMAIN, || format!("{info}"))?;
    let metadata =
        object(&info["metadata"], &["code", "error_id", "retryable", "created_at"], "the metadata")?;
    ensure(metadata.len() == 4, || format!("the metadata lacks something: {metadata:?}"))?;
    for (key, value) in metadata {
        let same = match &aap[key] {
            Value::Bool(flag) => flag.to_string(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        ensure(*value == same, || format!("metadata.{key} is not that of the object"))?;
    }
    if problems.is_empty() {
        return Ok(());
    }
    let fields =
        rest.first().and_then(|entry| entry["fieldViolations"].as_array()).ok_or("no fieldViolations")?;
    ensure(fields.len() == problems.len(), || "not every problem is a fieldViolation".into())?;
    for (field, problem) in fields.iter().zip(problems) {
        object(problem, &["instanceLocation", "keyword", "error"], "a problem")?;
        let text = |key: &str| problem[key].as_str().unwrap_or("?");
        let says = format!("{}: {}", text("keyword"), text("error"));
        ensure(field["field"] == text("instanceLocation") && field["description"] == says, || {
            format!("{field}")
        })?;
    }
    Ok(())
}

fn judge_protocol_error(error: &Value, number: i64) -> Verdict {
    ensure(!error.to_string().contains("aap.error"), || {
        "an AAP error in the form of another contract".into()
    })?;
    let spec = PROTOCOL_ERRORS.iter().find(|spec| i64::from(spec.number) == number);
    let spec = spec.ok_or_else(|| format!("{number} is no number of A2A"))?;
    ensure(spec.when.is_some(), || format!("{} is never sent", spec.name))?;
    let entries = match error.get("data") {
        None => &[][..],
        Some(data) => data.as_array().ok_or("data is no list")?,
    };
    let types: Vec<_> = entries.iter().map(|entry| entry["@type"].as_str().unwrap_or_default()).collect();
    let expected: &[&str] = match (spec.reason, spec.fields) {
        (Some(_), _) => &[ERROR_INFO],
        (None, true) => &[BAD_REQUEST],
        (None, false) => &[],
    };
    ensure(types == expected, || format!("the entries are {types:?}"))?;
    let Some(entry) = entries.first() else { return Ok(()) };
    let Some(reason) = spec.reason else {
        let fields = entry["fieldViolations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |field: &Value| field["field"].as_str().is_some_and(|name| !name.is_empty());
        return ensure(!fields.is_empty() && fields.iter().all(named), || "no field is named".into());
    };
    object(entry, &["@type", "reason", "domain", "metadata"], "the ErrorInfo")?;
    ensure(entry["reason"] == reason && entry["domain"] == A2A_DOMAIN, || format!("{entry}"))?;
    let Some(metadata) = entry.get("metadata") else {
        return ensure(spec.metadata.is_empty(), || "there is no metadata".into());
    };
    let metadata = object(metadata, spec.metadata, "the metadata")?;
    ensure(!metadata.is_empty() && metadata.values().all(Value::is_string), || format!("{metadata:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fails(address: &str, answer: &Value) -> bool {
        std::panic::catch_unwind(|| check_answer(address, answer)).is_err()
    }

    fn refusal(number: i32, message: &str, data: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": number, "message": message, "data": data}})
    }

    #[test]
    fn an_error_is_right_in_its_own_contract_alone() {
        let object = json!({"type": "aap.error", "error_id": "err_0123456789", "code": "RATE_LIMITED",
            "message": "Wait.", "retryable": true, "created_at": "2026-11-30T09:15:00Z"});
        let info = json!({"@type": ERROR_INFO, "reason": "RATE_LIMITED", "domain": AAP_DOMAIN, "metadata":
            {"code": "RATE_LIMITED", "error_id": "err_0123456789", "retryable": "true", "created_at": "2026-11-30T09:15:00Z"}});
        let mut tagged = object.clone();
        tagged["@type"] = json!(AAP_ERROR);
        let said = "RATE_LIMITED: Wait.";
        let forms = [
            refusal(-32002, said, object.clone()),
            refusal(-32000, said, json!([info, tagged])),
            refusal(-32000, said, json!([info, {"@type": STRUCT, "value": object}])),
        ];
        for (form, answer) in forms.iter().enumerate() {
            for (i, version) in ContractVersion::ALL.into_iter().enumerate() {
                assert_eq!(fails(&format!("/t/x/{version}/a2a"), answer), i != form, "{version} {answer}");
            }
            check_answer("/t/x/a2a", answer);
            for (pointer, wrong) in [
                ("/id", json!([])),
                ("/jsonrpc", json!("1.0")),
                ("/error/message", json!("Wait.")),
                ("/error/code", json!(-32603)),
                ("/error/data/more", json!(1)),
                ("/error/data/0/metadata/retryable", json!(true)),
                ("/error/data/0/reason", json!("INTERNAL_ERROR")),
                ("/result", json!({})),
            ] {
                let mut spoiled = answer.clone();
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                let Some(Value::Object(members)) = spoiled.pointer_mut(parent) else { continue };
                members.insert(key.to_owned(), wrong);
                assert!(fails("/t/x/a2a", &spoiled), "{spoiled}");
            }
        }
    }

    #[test]
    fn a_result_fits_its_schema_and_its_envelope() {
        let answer = json!({"jsonrpc": "2.0", "id": "a", "result": {"message": {"messageId": "m", "contextId": "c",
            "role": "ROLE_AGENT", "parts": [{"data": {"type": "inventory.search.response", "data":
            {"total": 0, "skip": 0, "limit": 5, "vehicles": []}},
            "mediaType": "application/vnd.autoagent.inventory-search-response+json"}]}}});
        check_answer("http://x/t/x/v1.3/a2a?y=z", &answer);
        check_answer("/t/x/a2a", &answer);
        assert!(fails("/t/x/v3.0/a2a", &answer), "skip is none of its members");
        for (pointer, wrong) in [
            ("/result/message/contextId", json!("")),
            ("/result/message/role", json!("agent")),
            ("/result/message/kind", json!("message")),
            ("/result/message/parts/0/mediaType", json!("application/json")),
            ("/result/message/parts/0/data/data/total", json!(-1)),
        ] {
            let mut spoiled = answer.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            spoiled.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key.to_owned(), wrong);
            assert!(fails("/t/x/a2a", &spoiled), "{spoiled}");
        }
    }

    #[test]
    fn a_protocol_error_is_one_of_the_table() {
        let info = |reason: &str| json!([{"@type": ERROR_INFO, "reason": reason, "domain": A2A_DOMAIN, "metadata": {"method": "GetTask"}}]);
        check_answer("/a2a", &refusal(-32004, "No.", info("UNSUPPORTED_OPERATION")));
        assert!(fails("/a2a", &refusal(-32004, "No.", info("TASK_NOT_FOUND"))));
        assert!(fails("/a2a", &refusal(-32010, "No.", info("UNSUPPORTED_OPERATION"))));
        assert!(fails("/a2a", &refusal(-32603, "No.", json!([]))));
        assert!(fails("/a2a", &refusal(-32602, "No.", json!([]))), "a field must be named");
    }
}
