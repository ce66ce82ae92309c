//! `dealer.information`: who the dealer is.

use contract::{Fault, SkillId};
use serde::Deserialize;
use serde_json::Value;

use super::{Skill, close_payload, open_payload};
use crate::{Call, Dealer};

pub(crate) struct Information;

/// The request has nothing to say beyond its type.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {}

impl Skill for Information {
    const ID: SkillId = SkillId::DealerInformation;
    type Request = Request;

    async fn call(
        _: &Dealer,
        call: &Call,
        _: Request,
        _: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        open_payload(out, Self::ID);
        out.extend_from_slice(&call.tenant.information);
        close_payload(out, call);
        Ok(None)
    }
}
