//! By what leads are known to be about the same, and what two of them must not be at together.

use contract::canonical;
use contract::payload::LeadSubmitRequest;
use contract::text::fold;
use serde_json::{Value, json};
use store::{Fingerprint, TenantId};
use uuid::Uuid;

use super::rooftop::Department;

/// What an equivalent lead has too: the same address or number, and the same vehicle (AAP.md 11).
///
/// The tenant is part of every hash, so that a shopper's trace at one dealer says nothing about another's.
pub(crate) fn of(tenant: TenantId, request: &LeadSubmitRequest) -> Fingerprint {
    let hash = |kind: &str, value: Value| half(&json!([tenant.0, kind, value]));
    Fingerprint {
        email: request.customer.email.as_deref().map(|email| hash("email", fold(email).into())),
        // E.164 is a normal form already.
        phone: request.customer.phone.as_deref().map(|phone| hash("phone", phone.into())),
        vehicle: hash("vehicle", vehicle(request)),
    }
}

/// By VIN, else stock number, else the dealer's id, else year, make and model, else none.
fn vehicle(request: &LeadSubmitRequest) -> Value {
    let Some(vehicle) = &request.vehicle_of_interest else { return Value::Null };
    let folded = |text: &Option<String>| text.as_deref().map(fold);
    if let Some(vin) = &vehicle.vin {
        json!(["vin", vin])
    } else if let Some(stock) = &vehicle.stock {
        json!(["stock", fold(stock)])
    } else if let Some(id) = &vehicle.vehicle_id {
        json!(["id", id])
    } else if vehicle.year.is_some() || vehicle.make.is_some() || vehicle.model.is_some() {
        json!(["kind", vehicle.year, folded(&vehicle.make), folded(&vehicle.model)])
    } else {
        Value::Null
    }
}

/// The turns that a lead takes: its key, its shopper with this vehicle, and the agenda that it wants to be in.
/// Ascending, as everybody takes them; that of the key comes first, those of agendas last.
pub(crate) fn turns(
    tenant: TenantId,
    key: Option<(&str, &str)>,
    fingerprint: &Fingerprint,
    agenda: Option<(&str, Department)>,
) -> Vec<i64> {
    let shopper = [fingerprint.email, fingerprint.phone].into_iter().flatten();
    let mut turns: Vec<i64> = shopper
        .map(|who| turn_of_shopper(who, fingerprint))
        .chain(agenda.map(|(rooftop, department)| turn_of_agenda(tenant, rooftop, department)))
        .chain(key.map(|(contract, key)| turn_of_key(tenant, contract, key)))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    turns
}

/// The turns of these rooftops' agendas, ascending.
pub(crate) fn turns_of_agendas<'a>(tenant: TenantId, rooftops: impl Iterator<Item = &'a str>) -> Vec<i64> {
    let both = [Department::Sales, Department::Service];
    let mut turns: Vec<i64> = rooftops
        .flat_map(|rooftop| both.map(|department| turn_of_agenda(tenant, rooftop, department)))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    turns
}

/// What a turn is of. Turns of one kind come before all those of the next, so that copies of a request wait for the
/// turn by which they meet before they wait for any other.
#[derive(Clone, Copy)]
enum Of {
    Key,
    Shopper,
    Agenda,
}

/// The turn by which copies of a lead without a key meet: the first that they take.
pub(super) fn turn_of_copies(fingerprint: &Fingerprint) -> Option<i64> {
    let shopper = [fingerprint.email, fingerprint.phone].into_iter().flatten();
    shopper.map(|who| turn_of_shopper(who, fingerprint)).min()
}

fn turn_of_shopper(who: [u8; 16], fingerprint: &Fingerprint) -> i64 {
    let text = |half: [u8; 16]| u128::from_be_bytes(half).to_string();
    number(Of::Shopper, &json!(["lead", text(who), text(fingerprint.vehicle)]))
}

fn turn_of_agenda(tenant: TenantId, rooftop: &str, department: Department) -> i64 {
    number(Of::Agenda, &json!([tenant.0, "agenda", rooftop, department.as_str()]))
}

/// An id that the same always gets.
pub(super) fn id(of: &Value) -> Uuid {
    uuid::Builder::from_random_bytes(half(of)).into_uuid()
}

/// The turn of an idempotency key.
pub(super) fn turn_of_key(tenant: TenantId, contract: &str, key: &str) -> i64 {
    number(Of::Key, &json!([tenant.0, "key", contract, key]))
}

fn number(of: Of, value: &Value) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = half(value);
    let chance = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 2;
    // In the order of unsigned numbers, which the sign would turn round.
    (((of as u64) << 62 | chance) ^ (1 << 63)).cast_signed()
}

fn half(value: &Value) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = canonical::hash(value);
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(email: Option<&str>, phone: Option<&str>, vehicle: Value) -> LeadSubmitRequest {
        let mut request = json!({
            "customer": {"first_name": "Noor", "last_name": "Haddad"},
            "consent": {"granted_at": "2026-11-30T08:55:00Z", "allowed_channels": ["email"], "consent_text": "Yes.",
                "scope": ["lead_submission"]},
            "source_agent": {"name": "pelican"},
        });
        for (key, value) in [("email", email), ("phone", phone)] {
            if let Some(value) = value {
                request["customer"][key] = json!(value);
            }
        }
        if !vehicle.is_null() {
            request["vehicle_of_interest"] = vehicle;
        }
        serde_json::from_value(request).unwrap()
    }

    #[test]
    fn copies_meet_at_the_first_turn_that_they_take() {
        let tenant = TenantId(Uuid::from_u128(1));
        for n in 0..200_u8 {
            let print = Fingerprint { email: Some([n; 16]), phone: Some([n ^ 7; 16]), vehicle: [n; 16] };
            let agenda = Some(("One", Department::Sales));
            let keyed = turns(tenant, Some(("v3.0", "k")), &print, agenda);
            assert_eq!(keyed.first(), Some(&turn_of_key(tenant, "v3.0", "k")));
            let keyless = turns(tenant, None, &print, agenda);
            assert_eq!(keyless.first().copied(), turn_of_copies(&print));
            assert_eq!(keyless.last(), Some(&turn_of_agenda(tenant, "One", Department::Sales)));
        }
    }

    #[test]
    fn addresses_are_compared_without_regard_to_case_and_blanks() {
        let tenant = TenantId::new();
        let email = |text: &str| of(tenant, &request(Some(text), None, Value::Null)).email.unwrap();
        assert_eq!(email("Noor@Mail.example"), email("noor@mail.example "));
        assert_ne!(email("noor@mail.example"), email("nora@mail.example"));
        let other =
            of(TenantId::new(), &request(Some("noor@mail.example"), None, Value::Null)).email.unwrap();
        assert_ne!(email("noor@mail.example"), other);
    }

    #[test]
    fn vehicles_are_known_by_the_best_that_is_said_of_them() {
        let tenant = TenantId::new();
        let same = |a: Value, b: Value| {
            let hash = |vehicle| of(tenant, &request(None, Some("+1310"), vehicle)).vehicle;
            hash(a) == hash(b)
        };
        let vin = "2HKRW2H89PH600102";
        assert!(same(json!({"vin": vin, "stock": "A"}), json!({"vin": vin, "stock": "B", "year": 2024})));
        assert!(same(json!({"stock": "hc-1"}), json!({"stock": "HC-1 ", "make": "Honda"})));
        assert!(!same(json!({"stock": "HC-1"}), json!({"stock": "HC-2"})));
        assert!(!same(json!({"vehicle_id": "1"}), json!({"vehicle_id": "2"})));
        let civic = json!({"year": 2024, "make": "Honda", "model": "Civic"});
        assert!(same(
            civic.clone(),
            json!({"year": 2024.0, "make": "HONDA", "model": "civic ", "trim": "EX"})
        ));
        assert!(!same(civic.clone(), json!({"year": 2023, "make": "Honda", "model": "Civic"})));
        assert!(!same(civic, json!({"make": "Honda"})));
        assert!(same(Value::Null, json!({"trim": "EX"})));
        // A make that is called as a model is.
        assert!(!same(json!({"make": "Mini"}), json!({"model": "Mini"})));
    }

    #[test]
    fn turns_are_ascending_and_the_same_for_the_same() {
        let tenant = TenantId::new();
        let print = of(tenant, &request(Some("a@b.example"), Some("+1310"), Value::Null));
        let all = turns(tenant, Some(("v3.0", "k\u{0}")), &print, Some(("One", Department::Sales)));
        assert_eq!(all.len(), 4);
        assert!(all.is_sorted());
        assert!(all.contains(&turn_of_copies(&print).unwrap()));
        assert!(turns_of_agendas(tenant, ["One", "One"].into_iter()).iter().any(|turn| all.contains(turn)));
        for few in [
            turns(tenant, Some(("v3.0", "k\u{0}")), &print, None),
            turns(tenant, None, &Fingerprint { email: None, ..print }, Some(("One", Department::Sales))),
        ] {
            assert!(few.iter().all(|turn| all.contains(turn)), "{few:?} {all:?}");
        }
        let other = turns(tenant, Some(("v1.3", "k\u{0}")), &print, Some(("One", Department::Service)));
        assert_eq!(other.iter().filter(|turn| all.contains(turn)).count(), 2);
    }
}
