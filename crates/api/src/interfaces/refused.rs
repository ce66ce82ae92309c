//! A fault in the words of a contract: the AAP error object, the same at every door (AAP.md 6.1).

use chrono::{SecondsFormat, Utc};
use contract::errors::AAP_ERROR;
use contract::{ContractSpec, ErrorForm, Fault, FaultCode};
use serde_json::{Value, json};

/// The AAP error object of a fault, and what doors repeat of it in their own forms.
#[derive(Debug)]
pub(crate) struct AapError {
    /// The code as the contract has it. One that the contract lacks is not raised in it; should it be, it is our own
    /// failure there.
    pub(crate) code: FaultCode,
    /// When it happened, as it stands in the object.
    pub(crate) created_at: String,
    /// The object; fits the contract's `error.schema.json`.
    pub(crate) object: Value,
}

impl AapError {
    /// Puts a fault into the words of a contract. Internal faults are logged here, once.
    pub(crate) fn of(fault: &Fault, spec: &ContractSpec) -> AapError {
        log(fault);
        let code = spec.number(fault.code).map_or(FaultCode::InternalError, |_| fault.code);
        let created_at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let mut object = json!({
            "type": "aap.error",
            "error_id": fault.id,
            "code": code.as_str(),
            "message": fault.message,
            "retryable": code.retryable(),
            "created_at": created_at,
        });
        if let (Some(details), Some(members)) = (fault.wire_details(), object.as_object_mut()) {
            members.insert("details".into(), details);
        }
        if let (ErrorForm::Tagged, Some(members)) = (spec.error_form, object.as_object_mut()) {
            members.insert("@type".into(), AAP_ERROR.into());
        }
        AapError { code, created_at, object }
    }
}

fn log(fault: &Fault) {
    if fault.code == FaultCode::InternalError {
        let mut causes = String::new();
        let mut cause = std::error::Error::source(fault);
        while let Some(error) = cause {
            if !causes.is_empty() {
                causes.push_str(": ");
            }
            causes.push_str(&error.to_string());
            cause = error.source();
        }
        if fault.not_yet {
            tracing::info!(error.id = fault.id, cause = causes, "a caller wanted what is not there yet");
        } else {
            tracing::error!(error.id = fault.id, cause = causes, "a skill failed inside");
        }
    } else {
        tracing::debug!(error.id = fault.id, code = fault.code.as_str(), "a skill call was refused");
    }
}
