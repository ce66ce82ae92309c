//! What every door does between decoding and encoding: make the question, find the skill, ask.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use contract::{Fault, SkillSpec};
use dealer::{Answered, Call, Caller, Dealer, Denied};
use serde_json::Value;

use crate::address::Target;
use crate::answer;
use crate::limits::{self, BodyError};
use crate::observe::{self, Note};

/// The header `Forecourt-Min-Version` is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoVersion;

impl NoVersion {
    /// For people.
    pub(crate) const WORDS: &'static str = "The header Forecourt-Min-Version must be a whole number.";
}

/// The question that a request asks at a door, which is known by that name in logs, counts and leads.
///
/// # Errors
/// When the request wants a version of the lot that is none.
pub(crate) fn question(request: &HttpRequest, target: Target, door: &'static str) -> Result<Call, NoVersion> {
    let min_version = answer::min_version(request.headers()).map_err(|()| NoVersion)?;
    let Target { tenant, contract, key } = target;
    let caller = Caller { key, ..Caller::anonymous(door, observe::client(request)) };
    Ok(Call { tenant, contract, caller, min_version })
}

/// The body of a request, whole.
///
/// # Errors
/// The answer to one that is too large, too slow or broken off.
pub(crate) async fn body(request: &HttpRequest, payload: Payload) -> Result<Bytes, HttpResponse> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    let problem = |status, detail| answer::problem(request, status, detail);
    limits::read_body(payload, announced).await.map_err(|error| match error {
        BodyError::TooLarge => problem(StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than 1 MiB."),
        BodyError::TooSlow => {
            let mut slow = problem(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time.");
            slow.head_mut().set_connection_type(ConnectionType::Close);
            slow
        }
        BodyError::Broken => problem(StatusCode::BAD_REQUEST, "The body could not be read to its end."),
    })
}

/// Why a question was not answered.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The skill refused; to be said in the words of the contract ([`super::refused::AapError`]).
    Fault(Box<Fault>),
    /// The caller is not let in; to be said by HTTP at every door ([`crate::callers::denied`]).
    Denied(Denied),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused::Fault(Box::new(fault))
    }
}

impl From<Denied> for Refused {
    fn from(why: Denied) -> Refused {
        Refused::Denied(why)
    }
}

impl Refused {
    /// For counting.
    pub(crate) fn outcome(&self) -> &'static str {
        match self {
            Refused::Fault(fault) => fault.code.as_str(),
            Refused::Denied(why) => crate::callers::outcome(*why),
        }
    }
}

/// The skill that a payload asks for at a door where the payload alone says so, noted; the caller may use it.
///
/// # Errors
/// The refusal of the payload's `type`, or of the caller.
pub(crate) fn find(
    dealer: &Dealer,
    call: &Call,
    data: &Value,
    note: &mut Note,
) -> Result<&'static SkillSpec, Refused> {
    let span = tracing::Span::current();
    let tenant = call.tenant.slug.as_str();
    let skill = match dealer.dispatch(call, data) {
        Ok(skill) => skill,
        Err(fault) => {
            span.record("tenant", tenant);
            return Err(fault.into());
        }
    };
    note.skill = skill.id.as_str();
    // At once: each is a way through all layers.
    tracing::record_all!(span, tenant = tenant, skill = note.skill);
    dealer.permit(call, skill.id)?;
    Ok(skill)
}

/// Asks a skill that the door itself names, by its address or as a tool. `type` may be left out of `data`; one that
/// is there is judged as at A2A, and must be that of the skill. The payload of the answer is appended to `out`.
///
/// # Errors
/// On each `out` is as it was.
pub(crate) async fn ask(
    dealer: &Dealer,
    call: &Call,
    skill: &'static SkillSpec,
    mut data: Value,
    out: &mut Vec<u8>,
    note: &mut Note,
) -> Result<Answered, Refused> {
    match data.as_object_mut() {
        Some(members) if !members.contains_key("type") => {
            members.insert("type".to_owned(), skill.request_type.into());
        }
        // Before anything else is said, as at A2A. Of another skill's `type` the schema of this one says what is wrong.
        _ => {
            dealer.dispatch(call, &data).inspect_err(|_| note.skill = skill.id.as_str())?;
        }
    }
    let named = Value::from_iter([("type", skill.request_type)]);
    find(dealer, call, &named, note)?;
    Ok(dealer.call(call, skill, data, out).await?)
}

/// When to come again, in whole seconds as `Retry-After` has them: never earlier than the fault says. `None` where
/// the same request cannot succeed later.
pub(crate) fn retry_after(fault: &Fault) -> Option<u64> {
    match fault.retry_after {
        Some(wait) => Some(wait.as_nanos().div_ceil(1_000_000_000).try_into().unwrap_or(u64::MAX).max(1)),
        None => fault.code.retryable().then_some(SOON.as_secs()),
    }
}

/// For failures that are to pass and do not say when.
const SOON: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use contract::FaultCode;

    use super::*;

    #[test]
    fn who_waits_as_long_as_told_is_not_too_early() {
        let fault = |code| Fault::new(code, "Words.");
        assert_eq!(retry_after(&fault(FaultCode::VehicleNotFound)), None);
        assert_eq!(retry_after(&fault(FaultCode::InternalError)), Some(2));
        for (wait, seconds) in [(1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
            let limited = fault(FaultCode::RateLimited).retry_after(Duration::from_millis(wait));
            assert_eq!(retry_after(&limited), Some(seconds));
        }
    }
}
