//! Errors on the A2A wire: protocol errors and skill faults, each in the form of its contract (AAP.md 5.1, 6).

use std::borrow::Cow;

use contract::errors::{self, A2A_DOMAIN, AAP_DOMAIN, BAD_REQUEST, ERROR_INFO, ProtocolErrorSpec, STRUCT};
use contract::{ContractSpec, ErrorForm, Fault, FaultCode};
use serde_json::{Map, Value, json};

use crate::interfaces::ask;
use crate::interfaces::refused::AapError;

/// An error of JSON-RPC or A2A itself; no skill ran.
#[derive(Debug)]
pub(super) struct ProtocolError {
    spec: &'static ProtocolErrorSpec,
    message: Cow<'static, str>,
    metadata: Map<String, Value>,
    fields: Vec<(String, &'static str)>,
}

impl ProtocolError {
    pub(super) fn new(spec: &'static ProtocolErrorSpec, message: impl Into<Cow<'static, str>>) -> Self {
        Self { spec, message: message.into(), metadata: Map::new(), fields: Vec::new() }
    }

    pub(super) fn parse(message: &'static str) -> Self {
        Self::new(&errors::PARSE, message)
    }

    pub(super) fn invalid_request(message: &'static str) -> Self {
        Self::new(&errors::INVALID_REQUEST, message)
    }

    pub(super) fn method_not_found() -> Self {
        Self::new(&errors::METHOD_NOT_FOUND, "There is no such method; A2A 1.0 names it SendMessage.")
    }

    pub(super) fn invalid_params(field: &str, why: &'static str) -> Self {
        Self::invalid_fields(vec![(field.to_owned(), why)])
    }

    pub(super) fn invalid_fields(fields: Vec<(String, &'static str)>) -> Self {
        let message = match fields.as_slice() {
            [(field, why)] => format!("Invalid parameters: {field} {why}."),
            _ => format!("Invalid parameters: {} problems.", fields.len()),
        };
        Self { fields, ..Self::new(&errors::INVALID_PARAMS, message) }
    }

    /// Adds metadata, under one of the keys that the error has for it.
    pub(super) fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        debug_assert!(self.spec.metadata.contains(&key), "{} has no {key}", self.spec.name);
        self.metadata.insert(key.to_owned(), Value::String(value.into()));
        self
    }

    fn data(&self) -> Option<Value> {
        let mut data = Vec::new();
        if let Some(reason) = self.spec.reason {
            let mut info = json!({"@type": ERROR_INFO, "reason": reason, "domain": A2A_DOMAIN});
            if let (false, Some(members)) = (self.metadata.is_empty(), info.as_object_mut()) {
                members.insert("metadata".into(), self.metadata.clone().into());
            }
            data.push(info);
        }
        if !self.fields.is_empty() {
            let fields = self.fields.iter().map(|(field, why)| json!({"field": field, "description": why}));
            data.push(json!({"@type": BAD_REQUEST, "fieldViolations": fields.collect::<Vec<_>>()}));
        }
        (!data.is_empty()).then_some(Value::Array(data))
    }
}

/// Why a request was not answered with a result.
#[derive(Debug)]
pub(super) enum Refusal {
    Protocol(Box<ProtocolError>),
    Fault(Box<Fault>),
}

impl From<ProtocolError> for Refusal {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(Box::new(error))
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl Refusal {
    /// For counting.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Refusal::Fault(fault) => fault.code.as_str(),
            Refusal::Protocol(error) => match error.spec.number {
                -32700 => "parse_error",
                -32600 => "invalid_request",
                -32601 => "method_not_found",
                -32602 => "invalid_params",
                _ => error.spec.reason.unwrap_or("protocol_error"),
            },
        }
    }

    /// For the header that may ride along with `RATE_LIMITED` (A2A.md 16.2); other errors come without.
    pub(super) fn retry_after(&self) -> Option<u64> {
        match self {
            Refusal::Fault(fault) if fault.code == FaultCode::RateLimited => ask::retry_after(fault),
            _ => None,
        }
    }

    /// The whole JSON-RPC answer; `id` is JSON text. Internal faults are logged here, once.
    pub(super) fn encode(&self, id: &str, spec: &ContractSpec) -> Vec<u8> {
        let (code, message, data) = match self {
            Refusal::Protocol(error) => (error.spec.number, error.message.to_string(), error.data()),
            Refusal::Fault(fault) => {
                let aap = AapError::of(fault, spec);
                let number = spec.number(aap.code).unwrap_or(aap.code.number());
                let message = message_of(fault, aap.code, spec.message_names_code(number));
                (number, message, Some(fault_data(fault, aap, spec.error_form)))
            }
        };
        let mut error = json!({"code": code, "message": message});
        if let (Some(data), Some(members)) = (data, error.as_object_mut()) {
            members.insert("data".into(), data);
        }
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
    }
}

fn message_of(fault: &Fault, code: FaultCode, names_code: bool) -> String {
    if names_code { format!("{}: {}", code.as_str(), fault.message) } else { fault.message.to_string() }
}

/// `error.data` of a skill fault: the AAP object, alone or led by ErrorInfo and, where fields are at fault,
/// BadRequest (AAP.md 6.2).
fn fault_data(fault: &Fault, error: AapError, form: ErrorForm) -> Value {
    let AapError { code, created_at, object: aap } = error;
    let retryable = code.retryable();
    let code = code.as_str();
    if form == ErrorForm::Bare {
        return aap;
    }
    let mut data = vec![json!({
        "@type": ERROR_INFO,
        "reason": code,
        "domain": AAP_DOMAIN,
        "metadata": {
            "code": code,
            "error_id": fault.id,
            "retryable": if retryable { "true" } else { "false" },
            "created_at": created_at,
        },
    })];
    if !fault.violations.is_empty() {
        let fields = fault.violations.iter().map(|violation| {
            json!({
                "field": violation.location,
                "description": format!("{}: {}", violation.keyword, violation.message),
            })
        });
        data.push(json!({"@type": BAD_REQUEST, "fieldViolations": fields.collect::<Vec<_>>()}));
    }
    data.push(match form {
        ErrorForm::Struct => json!({"@type": STRUCT, "value": aap}),
        ErrorForm::Tagged | ErrorForm::Bare => aap,
    });
    Value::Array(data)
}

#[cfg(test)]
mod tests {
    use contract::errors::{AAP_ERROR, PROTOCOL_ERRORS};
    use contract::{CONTRACTS, Contract, Violation};

    use super::*;

    fn encoded(refusal: impl Into<Refusal>, spec: &ContractSpec) -> Value {
        let answer: Value = serde_json::from_slice(&refusal.into().encode("\"x\"", spec)).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("x")));
        answer["error"].clone()
    }

    /// Every code of every contract, with and without fields at fault: number, words, place, schema.
    #[test]
    fn each_fault_has_the_form_of_its_contract() {
        for spec in CONTRACTS {
            let contract = Contract::load(spec.version).unwrap();
            for (code, fields) in FaultCode::ALL.iter().flat_map(|code| [(*code, false), (*code, true)]) {
                let mut fault = Fault::new(code, "Words for people.").with_detail("more", 1);
                if fields {
                    fault.violations = vec![Violation::new("/a~1b", "required", "is required")];
                }
                let id = fault.id.clone();
                let error = encoded(fault, spec);
                let (said, number) = match spec.number(code) {
                    Some(number) => (code.as_str(), number),
                    None => ("INTERNAL_ERROR", -32603),
                };
                assert_eq!(error["code"], number, "{} {code:?}", spec.version);
                let leads = error["message"] == format!("{said}: Words for people.");
                let expected = (-32099..=-32000).contains(&number) || spec.error_form == ErrorForm::Bare;
                assert_eq!(leads, expected, "{error}");
                assert!(error["message"].as_str().unwrap().ends_with("Words for people."), "{error}");
                let (aap, before) = match spec.error_form {
                    ErrorForm::Bare => (&error["data"], &[][..]),
                    ErrorForm::Tagged | ErrorForm::Struct => {
                        let (last, before) = error["data"].as_array().unwrap().split_last().unwrap();
                        let wrapped = spec.error_form == ErrorForm::Struct;
                        assert_eq!(last["@type"], if wrapped { STRUCT } else { AAP_ERROR });
                        (if wrapped { &last["value"] } else { last }, before)
                    }
                };
                contract.check("error.schema.json", aap).unwrap();
                assert_eq!((&aap["code"], &aap["error_id"]), (&json!(said), &json!(id)));
                assert_eq!(aap["details"]["errors"].is_array(), fields);
                if spec.error_form == ErrorForm::Bare {
                    continue;
                }
                assert_eq!(before.len(), if fields { 2 } else { 1 }, "{error}");
                let info = json!({"@type": ERROR_INFO, "reason": said, "domain": AAP_DOMAIN, "metadata": {
                    "code": said, "error_id": id, "retryable": aap["retryable"].to_string(),
                    "created_at": aap["created_at"]}});
                assert_eq!(before[0], info);
                if fields {
                    let violations = json!([{"field": "/a~1b", "description": "required: is required"}]);
                    assert_eq!(before[1], json!({"@type": BAD_REQUEST, "fieldViolations": violations}));
                }
            }
        }
    }

    #[test]
    fn each_protocol_error_has_the_form_of_its_row_in_every_contract() {
        for (spec, row) in
            CONTRACTS.iter().flat_map(|spec| PROTOCOL_ERRORS.iter().map(move |row| (spec, *row)))
        {
            let mut error = ProtocolError::new(row, "Words for people.");
            for key in row.metadata {
                error = error.with(key, "x");
            }
            if row.fields {
                error.fields = vec![("message.role".to_owned(), "must be ROLE_USER")];
            }
            let error = encoded(error, spec);
            assert_eq!(
                (&error["code"], &error["message"]),
                (&json!(row.number), &json!("Words for people."))
            );
            let mut info = json!({"@type": ERROR_INFO, "reason": row.reason, "domain": A2A_DOMAIN});
            if !row.metadata.is_empty() {
                info["metadata"] = row.metadata.iter().map(|key| ((*key).to_owned(), json!("x"))).collect();
            }
            let fields = json!([{"field": "message.role", "description": "must be ROLE_USER"}]);
            match (row.reason, row.fields) {
                (Some(_), _) => assert_eq!(error["data"], json!([info])),
                (None, true) => {
                    assert_eq!(error["data"], json!([{"@type": BAD_REQUEST, "fieldViolations": fields}]))
                }
                (None, false) => assert!(error.get("data").is_none()),
            }
        }
    }
}
