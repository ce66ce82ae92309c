//! `inventory.vehicle`: one unit in full.

use contract::payload::VehicleRequest;
use contract::{Fault, FaultCode, SkillId};
use inventory::Found;
use serde_json::Value;

use super::{Skill, close_lot_payload, open_payload};
use crate::{Call, Dealer};

pub(crate) struct Vehicle;

impl Skill for Vehicle {
    const ID: SkillId = SkillId::InventoryVehicle;
    type Request = VehicleRequest;

    async fn call(
        dealer: &Dealer,
        call: &Call,
        request: VehicleRequest,
        _: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        let view = dealer.inner.lot(call).await?;
        let (vin, id, stock) =
            (request.vin.as_deref(), request.vehicle_id.as_deref(), request.stock.as_deref());
        match inventory::find(&view.current.snapshot, vin, id, stock) {
            Found::Live { document, .. } => {
                open_payload(out, Self::ID);
                out.extend_from_slice(document.as_bytes());
                close_lot_payload(out, call);
                Ok(Some(view.current.snapshot.version()))
            }
            Found::Removed => Err(Fault::new(
                FaultCode::VehicleUnavailable,
                "That vehicle is no longer offered by this dealer.",
            )),
            Found::Nothing => {
                Err(Fault::new(FaultCode::VehicleNotFound, "No listing matches the given identifiers."))
            }
        }
    }
}
