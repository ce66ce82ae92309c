//! `lead.submit`: a shopper's wish, handed to the dealer.

use contract::payload::LeadSubmitRequest;
use contract::{Fault, SkillId};
use serde_json::Value;

use super::Skill;
use crate::{Call, Dealer, leads};

pub(crate) struct Lead;

impl Skill for Lead {
    const ID: SkillId = SkillId::LeadSubmit;
    type Request = LeadSubmitRequest;

    async fn call(
        dealer: &Dealer,
        call: &Call,
        request: LeadSubmitRequest,
        raw: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        leads::submit(dealer, call, &request, raw, out).await?;
        Ok(None)
    }
}
