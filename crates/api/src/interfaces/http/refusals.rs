//! What an OpenAPI document says of refusals: which codes come with which status, in which form.

use actix_web::http::StatusCode;
use contract::errors::AAP_ERROR;
use contract::{ContractSpec, ErrorForm, FaultCode, SkillId};
use dealer::Tenant;
use serde_json::{Map, Value, json};

use super::describe::SCHEMAS;
use super::problem;

/// The refusals of one dealer in one contract.
pub(super) struct Refusals<'a> {
    /// Whose they are.
    pub(super) tenant: &'a Tenant,
    /// In whose words.
    pub(super) spec: &'a ContractSpec,
}

/// Every code that a skill can refuse with at this door.
pub(super) fn codes(skill: SkillId, spec: &ContractSpec) -> impl Iterator<Item = FaultCode> {
    use FaultCode as Code;
    let possible = move |code: &FaultCode| match code {
        Code::SchemaValidationFailed
        | Code::MissingRequiredField
        | Code::UnsupportedSkill
        | Code::DealerNotFound
        | Code::RateLimited
        | Code::InternalError => true,
        Code::UnsupportedFilter => matches!(skill, SkillId::InventorySearch | SkillId::InventoryFacets),
        Code::UnsupportedSort | Code::InvalidCursor => skill == SkillId::InventorySearch,
        Code::VehicleNotFound | Code::VehicleUnavailable => {
            matches!(skill, SkillId::InventoryVehicle | SkillId::LeadSubmit)
        }
        Code::InvalidCondition
        | Code::ContactConsentRequired
        | Code::InvalidConsent
        | Code::AppointmentTimeUnavailable
        | Code::IdempotencyConflict => skill == SkillId::LeadSubmit,
    };
    let known = |code: &FaultCode| spec.number(*code).is_some();
    FaultCode::ALL.iter().filter(move |code| possible(code) && known(code)).copied()
}

impl Refusals<'_> {
    /// A status with the codes that it comes with; without one, it is HTTP's own.
    pub(super) fn refusal(&self, status: u16, codes: &[FaultCode]) -> Value {
        let own = match status {
            400 => "The request is no JSON, or a header of it cannot be read.",
            401 => "The dealer wants a credential, or the one that was sent opens nothing.",
            403 => "The credential does not open this skill.",
            405 => "Another method is served here; `Allow` says which.",
            408 => "The body did not arrive in time.",
            413 => "The body is larger than 1 MiB.",
            415 => "The body is not sent as application/json.",
            503 => "Not ready yet; please try again.",
            _ => "",
        };
        let mut texts: Vec<String> =
            codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.meaning().trim())).collect();
        let http_alone = codes.is_empty();
        if http_alone || (status == 403 && !self.tenant.access.is_public()) {
            texts.push(own.to_owned());
        }
        let mut headers = json!({"X-Request-Id": {"$ref": "#/components/headers/RequestId"}});
        if let Some(members) = headers.as_object_mut() {
            if codes.iter().any(|code| code.retryable()) || status == 503 {
                members.insert("Retry-After".into(), json!({"$ref": "#/components/headers/RetryAfter"}));
            }
            if status == 401 {
                let reference = json!({"$ref": "#/components/headers/Challenge"});
                members.insert("WWW-Authenticate".into(), reference);
            }
        }
        let mut examples: Map<String, Value> =
            codes.iter().map(|code| (code.as_str().to_owned(), self.example_of(*code))).collect();
        if http_alone {
            let title = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            let example = json!({"type": "about:blank", "title": title, "status": status, "detail": own,
                "request_id": "0193a1f01be27d0a8c55f1d4a9f7e7a2"});
            examples.insert("problem".into(), json!({"value": example}));
        }
        json!({
            "description": texts.join(" "),
            "headers": headers,
            "content": {"application/problem+json": {
                "schema": {"$ref": format!("{SCHEMAS}Problem")},
                "examples": examples,
            }},
        })
    }

    /// A refusal as it is sent.
    fn example_of(&self, code: FaultCode) -> Value {
        let at = |place: &str, keyword: &str, error: &str| json!({"errors": [{"instanceLocation": place, "keyword": keyword, "error": error}]});
        let (message, details) = match code {
            FaultCode::SchemaValidationFailed => (
                "The request has 1 problem; see details.errors.",
                Some(at("/dealer_id", "type", "must be a string")),
            ),
            FaultCode::MissingRequiredField => (
                "The request has 1 problem; see details.errors.",
                Some(at("/customer", "required", "is required")),
            ),
            FaultCode::RateLimited => {
                ("Too many calls; wait 12 seconds.", Some(json!({"retry_after_ms": 11_730})))
            }
            FaultCode::InvalidCursor => (
                "The cursor is not one of ours; start again from the first page.",
                Some(json!({"reason": "malformed"})),
            ),
            FaultCode::VehicleNotFound => ("No listing matches the given identifiers.", None),
            other => (other.meaning().trim(), None),
        };
        let mut error = json!({
            "type": "aap.error",
            "error_id": "err_01939f1f4be27d0a8c55f1d4a9f7e7a2",
            "code": code.as_str(),
            "message": message,
            "retryable": code.retryable(),
            "created_at": "2026-11-28T18:25:40.120Z",
        });
        if let (Some(details), Some(members)) = (details, error.as_object_mut()) {
            members.insert("details".into(), details);
        }
        if let (ErrorForm::Tagged, Some(members)) = (self.spec.error_form, error.as_object_mut()) {
            members.insert("@type".into(), AAP_ERROR.into());
        }
        let kind = problem::kind(self.tenant, self.spec, code);
        let value =
            problem::document(kind, code, code.http_status(), "0193a1f01be27d0a8c55f1d4a9f7e7a2", error);
        json!({"summary": code.meaning().trim(), "value": value})
    }
}

/// The schema of a problem document.
pub(super) fn problem_schema() -> Value {
    json!({
        "title": "Problem",
        "description": "Why a request was not answered (RFC 9457). Where a skill refused it, `error` says why in the words of the protocol.",
        "type": "object",
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "An address that explains the problem; `about:blank` where the status says it all."},
            "title": {"type": "string", "description": "What kind of problem it is."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {"type": "string", "description": "What is wrong, for people."},
            "request_id": {"type": "string", "description": "The id under which the request is logged."},
            "error": {"$ref": format!("{SCHEMAS}Error")},
        },
        "required": ["type", "title", "status", "detail", "request_id"],
    })
}
