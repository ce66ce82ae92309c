//! What can go wrong inside a skill, in the protocol's own words.
//!
//! One table holds every AAP code; numbers, default retry advice and names are read from it by all interfaces.

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

macro_rules! codes {
    ($( #[doc = $meaning:literal] $variant:ident = $name:literal, $number:literal, $http:literal, $retryable:literal; )*) => {
        /// An AAP error code (AAP.md 6.3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FaultCode { $( #[doc = $meaning] $variant, )* }

        impl FaultCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [FaultCode] = &[ $( FaultCode::$variant, )* ];

            /// The code as it stands on the wire, for example `VEHICLE_NOT_FOUND`.
            pub const fn as_str(self) -> &'static str { match self { $( FaultCode::$variant => $name, )* } }

            /// When it is raised, as a sentence.
            pub const fn meaning(self) -> &'static str { match self { $( FaultCode::$variant => $meaning, )* } }

            /// The JSON-RPC error number, unless a contract has its own: ask [`crate::ContractSpec::number`].
            pub const fn number(self) -> i32 { match self { $( FaultCode::$variant => $number, )* } }

            /// The HTTP status for interfaces that speak HTTP natively.
            pub const fn http_status(self) -> u16 { match self { $( FaultCode::$variant => $http, )* } }

            /// Whether a buyer may send the same request again after a pause, unless the fault says otherwise.
            pub const fn retryable(self) -> bool { match self { $( FaultCode::$variant => $retryable, )* } }
        }
    };
}

codes! {
    // code, JSON-RPC number (what a contract has of its own stands in its description), HTTP status, retryable
    /// The payload breaks its request schema.
    SchemaValidationFailed = "SCHEMA_VALIDATION_FAILED", -32602, 422, false;
    /// Exactly one required member is absent.
    MissingRequiredField = "MISSING_REQUIRED_FIELD", -32602, 422, false;
    /// A condition from the other vocabulary (sale words against wear words).
    InvalidCondition = "INVALID_CONDITION", -32602, 422, false;
    /// The request names a skill that this dealer does not offer.
    UnsupportedSkill = "UNSUPPORTED_SKILL", -32602, 404, false;
    /// A filter that the schema knows and this dealer does not offer.
    UnsupportedFilter = "UNSUPPORTED_FILTER", -32602, 422, false;
    /// A sort field that the schema knows and this dealer does not offer.
    UnsupportedSort = "UNSUPPORTED_SORT", -32602, 422, false;
    /// A cursor that is malformed, expired or belongs to another request.
    InvalidCursor = "INVALID_CURSOR", -32602, 422, false;
    /// No dealer of that id is reached at this address.
    DealerNotFound = "DEALER_NOT_FOUND", -32000, 404, false;
    /// None of the given identifiers matches a unit.
    VehicleNotFound = "VEHICLE_NOT_FOUND", -32000, 404, false;
    /// The unit is known and no longer offered.
    VehicleUnavailable = "VEHICLE_UNAVAILABLE", -32000, 410, false;
    /// No consent, or none for a channel that the dealer can use.
    ContactConsentRequired = "CONTACT_CONSENT_REQUIRED", -32000, 403, false;
    /// A consent that is malformed, not yet valid or expired.
    InvalidConsent = "INVALID_CONSENT", -32000, 403, false;
    /// The time cannot be honoured and nothing can be proposed.
    AppointmentTimeUnavailable = "APPOINTMENT_TIME_UNAVAILABLE", -32000, 409, false;
    /// A known idempotency key with another payload.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", -32000, 409, false;
    /// The dealer's quota is used up.
    RateLimited = "RATE_LIMITED", -32000, 429, true;
    /// Anything unexpected on our side.
    InternalError = "INTERNAL_ERROR", -32603, 500, true;
}

/// One problem of a payload. The same shape on every interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON Pointer into the payload; an unknown or missing key is named itself.
    #[serde(rename = "instanceLocation")]
    pub location: String,
    /// The violated JSON Schema keyword, or `x-…` for a rule beyond the schema.
    pub keyword: Cow<'static, str>,
    /// A short sentence that never repeats the value.
    #[serde(rename = "error")]
    pub message: String,
}

impl Violation {
    /// A violation at `location` of `keyword`.
    pub fn new(location: impl Into<String>, keyword: &'static str, message: impl Into<String>) -> Self {
        Self { location: location.into(), keyword: Cow::Borrowed(keyword), message: message.into() }
    }
}

/// A skill's refusal. Interfaces encode it; nothing else crosses the core as an error.
#[derive(Debug)]
pub struct Fault {
    /// What went wrong.
    pub code: FaultCode,
    /// Safe to show to a shopper: never a value of the request, SQL, a path or another dealer's data.
    pub message: Cow<'static, str>,
    /// Every problem found in the payload; empty unless the payload is at fault.
    pub violations: Vec<Violation>,
    /// A true waiting time, where one is known.
    pub retry_after: Option<Duration>,
    /// Further members of `details`.
    pub details: Map<String, Value>,
    /// `err_<uuid>`, the same in the answer and in the log line.
    pub id: String,
    /// What really happened, for the log only.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// The caller wanted what is not there yet: `INTERNAL_ERROR` to the protocol, which has no other word for it, and
    /// nothing that an operator must look at.
    pub not_yet: bool,
}

impl Fault {
    /// A fault with a fresh id.
    pub fn new(code: FaultCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            violations: Vec::new(),
            retry_after: None,
            details: Map::new(),
            id: format!("err_{}", Uuid::now_v7().simple()),
            source: None,
            not_yet: false,
        }
    }

    /// What is asked for is not there yet; the same request may succeed after a pause. The cause is for the log only.
    pub fn not_yet(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let message = "What was asked for is not there yet; please try again.";
        Self { source: Some(source.into()), not_yet: true, ..Self::new(FaultCode::InternalError, message) }
    }

    /// An unexpected failure. The cause is kept for the log and never sent.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut fault = Self::new(
            FaultCode::InternalError,
            "Something went wrong on the dealer's side; please try again.",
        );
        fault.source = Some(source.into());
        fault
    }

    /// A refused payload: the code follows from the violations (AAP.md 6.4 rows 3 and 5).
    pub fn validation(violations: Vec<Violation>) -> Self {
        let code = match violations.as_slice() {
            [only] if only.keyword == "required" => FaultCode::MissingRequiredField,
            _ => FaultCode::SchemaValidationFailed,
        };
        let message = match violations.as_slice() {
            [_] => "The request has 1 problem; see details.errors.".to_owned(),
            [listed @ .., last] if last.keyword == crate::schema::MORE => {
                format!("The request has more than {} problems; see details.errors.", listed.len())
            }
            all => format!("The request has {} problems; see details.errors.", all.len()),
        };
        let mut fault = Self::new(code, message);
        fault.violations = violations;
        fault
    }

    /// Adds a member to `details`.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds violations.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        self.violations = violations;
        self
    }

    /// Says when a retry can succeed.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// `details` as sent: the free members, `errors` and `retry_after_ms`; `None` when there is nothing to say.
    pub fn wire_details(&self) -> Option<Value> {
        let mut details = self.details.clone();
        if !self.violations.is_empty() {
            let errors = self
                .violations
                .iter()
                .map(|v| serde_json::json!({"instanceLocation": v.location, "keyword": v.keyword, "error": v.message}))
                .collect();
            details.insert("errors".to_owned(), Value::Array(errors));
        }
        if let Some(wait) = self.retry_after {
            // Rounded up: who waits exactly as long as told must succeed.
            let ms = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).max(1);
            details.insert("retry_after_ms".to_owned(), ms.into());
        }
        (!details.is_empty()).then_some(Value::Object(details))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|s| &**s as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_codes_promise_that_a_retry_can_help() {
        let retryable: Vec<_> = FaultCode::ALL.iter().filter(|code| code.retryable()).collect();
        assert_eq!(retryable, [&FaultCode::RateLimited, &FaultCode::InternalError]);
    }

    #[test]
    fn the_code_of_a_refused_payload_follows_from_its_violations() {
        let required = || Violation::new("/type", "required", "is required");
        let other = || Violation::new("/sort", "type", "must be an object");
        let code = |violations| Fault::validation(violations).code;
        assert_eq!(code(vec![required()]), FaultCode::MissingRequiredField);
        assert_eq!(code(vec![other()]), FaultCode::SchemaValidationFailed);
        assert_eq!(code(vec![required(), required()]), FaultCode::SchemaValidationFailed);
        assert_eq!(code(vec![required(), other()]), FaultCode::SchemaValidationFailed);
    }

    #[test]
    fn details_hold_what_is_known_and_nothing_else() {
        let fault = Fault::new(FaultCode::VehicleNotFound, "No such vehicle.");
        assert_eq!(fault.wire_details(), None);
        assert!(fault.id.starts_with("err_") && fault.id.len() == 36, "{}", fault.id);

        let fault = Fault::validation(vec![Violation::new("/type", "required", "is required")])
            .with_detail("reason", "x")
            .retry_after(Duration::from_micros(1));
        let expected = json!({
            "errors": [{"instanceLocation": "/type", "keyword": "required", "error": "is required"}],
            "reason": "x",
            "retry_after_ms": 1
        });
        assert_eq!(fault.wire_details(), Some(expected));
        let fault = Fault::new(FaultCode::RateLimited, "Wait.").retry_after(Duration::from_micros(19_001));
        assert_eq!(fault.wire_details(), Some(json!({"retry_after_ms": 20})));
    }

    #[test]
    fn the_cause_of_an_internal_fault_is_kept_and_never_shown() {
        let fault = Fault::internal("password=hunter2");
        assert!(!fault.to_string().contains("hunter2") && !fault.message.contains("hunter2"));
        assert!(fault.wire_details().is_none());
        assert!(std::error::Error::source(&fault).is_some_and(|cause| cause.to_string().contains("hunter2")));
    }
}
