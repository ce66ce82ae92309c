//! `inventory.facets`: what there is to filter by.

use contract::payload::InventorySearchRequest;
use contract::{Fault, SkillId};
use serde_json::Value;

use super::{Skill, close_lot_payload, open_payload, search};
use crate::{Call, Dealer};

pub(crate) struct Facets;

impl Skill for Facets {
    const ID: SkillId = SkillId::InventoryFacets;
    type Request = InventorySearchRequest;

    async fn call(
        dealer: &Dealer,
        call: &Call,
        request: InventorySearchRequest,
        raw: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        search::check_offered(call, raw)?;
        let view = dealer.inner.lot(call).await?;
        open_payload(out, Self::ID);
        out.extend_from_slice(&inventory::facets(&view.current.snapshot, &request.filters));
        close_lot_payload(out, call);
        Ok(Some(view.current.snapshot.version()))
    }
}
