//! The dealers of the page, and what is asked of them.

use chrono::{DateTime, Datelike, Duration, SecondsFormat, Utc, Weekday};
use chrono_tz::Tz;
use contract::{ContractVersion, SkillId};
use serde_json::{Value, json};

use super::pretty::Node;

/// Who is asked: `tidewater`; the same with a quota, with keys, and without leads.
pub fn dealers() -> Value {
    let with = |member: &str, value: Value| {
        let mut dealer = tidewater();
        dealer[member] = value;
        dealer
    };
    json!({
        // Three at once, since each version books the same half an hour.
        "tidewater": with("policy", json!({"appointment_capacity": 3})),
        "busy": with("policy", json!({"rate_limit": {"requests": 3, "per_seconds": 3600}})),
        "guarded": with("callers", json!({"accept": ["keys"]})),
        "showroom": with("skills", json!(["dealer.information", "inventory.facets", "inventory.search",
            "inventory.vehicle"])),
        "broken": with("policy", json!({"fault": "a text that nobody outside sees"})),
    })
}

fn tidewater() -> Value {
    let hours = json!({"open": "09:00", "close": "18:00"});
    json!({
        "dealer_id": "tidewater", "name": "Tidewater Motors", "welcome_message": "Every test drive ends at the beach.",
        "rooftops": [{
            "name": "Tidewater Astoria",
            "phones": [{"name": "Sales", "value": "+15035550120"}],
            "address": {"country": "US", "state": "OR", "city": "Astoria", "address_line_1": "12 Pier Street"},
            "timezone": "America/Los_Angeles",
            "schedules": [{"name": "sales", "value": {"monday": null, "tuesday": hours, "wednesday": hours,
                "thursday": hours, "friday": hours, "saturday": hours, "sunday": null}}],
            "fees": [{"name": "Documentation fee", "amount": 150}],
            "capabilities": ["sales", "trade_in"],
        }],
        "inventory": [
            {"vehicle_id": "tw-1", "vin": "4S4BTGUD5R3217409", "stock": "TW-2204", "rooftop": "Tidewater Astoria",
             "status": "available", "condition": "used", "year": 2024, "make": "Subaru", "model": "Outback",
             "mileage": 12850, "list_price": 28740, "price": 28890,
             "fees": [{"name": "Documentation fee", "amount": 150}],
             "description": "One owner, tow hitch.", "updated_at": "2026-11-20T16:00:00Z"},
            {"vehicle_id": "tw-2", "stock": "TW-2301", "status": "pending", "condition": "used", "year": 2019,
             "make": "Subaru", "model": "Forester", "mileage": 61200, "price": 18400,
             "updated_at": "2026-11-21T16:00:00Z"},
            {"vehicle_id": "tw-3", "stock": "TW-2318", "status": "available", "condition": "new", "year": 2026,
             "make": "Kia", "model": "EV9", "fuel": "bev", "price": 57300, "updated_at": "2026-11-22T16:00:00Z"},
        ],
        "sold": [{"vehicle_id": "tw-0", "stock": "TW-2100"}],
    })
}

/// Points in time of a lead that has to be fresh, and what the page says in their place.
pub struct Times {
    pub granted_at: String,
    pub visit_at: String,
}

pub const GRANTED_AT: &str = "2026-11-28T18:20:31Z";
pub const VISIT_AT: &str = "2026-12-08T10:30:00-08:00";

impl Times {
    /// Consent of an hour ago; a visit at half past ten on the Tuesday after next.
    pub fn now() -> Times {
        let granted_at = (Utc::now() - Duration::hours(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
        let mut day = (Utc::now() + Duration::days(7)).date_naive();
        while day.weekday() != Weekday::Tue {
            day += Duration::days(1);
        }
        let visit_at = day.and_hms_opt(10, 30, 0).unwrap().and_local_timezone(Tz::America__Los_Angeles);
        let visit_at = visit_at.unwrap().to_rfc3339_opts(SecondsFormat::Secs, true);
        Times { granted_at, visit_at }
    }
}

/// A call of a skill that is shown in every version.
pub struct Shown {
    pub skill: SkillId,
    /// What is to be seen in it.
    pub about: &'static str,
    /// The payload in a version, as JSON text.
    pub payload: fn(ContractVersion, &Times) -> String,
}

/// One call of each skill.
pub const SKILLS: [Shown; 5] = [
    Shown {
        skill: SkillId::DealerInformation,
        about: "Who the dealer is.",
        payload: |_, _| r#"{"type":"dealer.information.request"}"#.into(),
    },
    Shown {
        skill: SkillId::InventoryFacets,
        about: "What there is to filter by, with counts: here of everything below $30,000.",
        payload: |_, _| r#"{"type":"inventory.facets.request","filters":{"price_max":30000}}"#.into(),
    },
    Shown {
        skill: SkillId::InventorySearch,
        about: "Where the versions part. The older two count from the start and repeat `skip`; in `v3.0` the \
            answer carries a cursor for the next page, and repeats what was applied. Only `v3.0` filters by `status`.",
        payload: |version, _| {
            match version {
            ContractVersion::V3_0 => {
                r#"{"type":"inventory.search.request","filters":{"make":["Subaru"],"status":["available","pending"]},"sort":{"field":"price","order":"asc"},"pagination":{"limit":1}}"#
            }
            _ => {
                r#"{"type":"inventory.search.request","filters":{"make":["Subaru"]},"sort":{"field":"price","order":"asc"},"pagination":{"skip":0,"limit":1}}"#
            }
        }
        .into()
        },
    },
    Shown {
        skill: SkillId::InventoryVehicle,
        about: "One vehicle in full, found by `vin`, `vehicle_id` or `stock`. Mind the names: the media types of \
            this skill say `vehicle-detail`.",
        payload: |_, _| r#"{"type":"inventory.vehicle.request","stock":"TW-2204"}"#.into(),
    },
    Shown {
        skill: SkillId::LeadSubmit,
        about: "A shopper who agreed to be contacted and wants to come by for a test drive. The key makes it safe to \
            send again: the answer is then the same one, and there is one lead.",
        payload: lead,
    },
];

/// Every version has a shopper of its own: the same one twice would be answered as a duplicate.
fn lead(version: ContractVersion, times: &Times) -> String {
    let Times { granted_at, visit_at } = times;
    format!(
        r#"{{"type":"lead.submit.request","customer":{{"first_name":"Ilse","last_name":"Marchetti","email":"ilse.{version}@post.example"}},"consent":{{"granted_at":"{granted_at}","allowed_channels":["email"],"consent_text":"Tidewater Motors may email me about stock TW-2204.","scope":["lead_submission"]}},"source_agent":{{"name":"kestrel-car-finder"}},"vehicle_of_interest":{{"stock":"TW-2204"}},"appointment":{{"appointment_type":"test_drive","appointment_at":"{visit_at}"}},"message":"Is the hitch rated for a 2,000 pound boat?","idempotency_key":"b1d7f0c2-5a0e-4f6c-8e3d-6a2b9c4d1e7f"}}"#
    )
}

/// Puts what is different each time, or in each version's copy, back to what the page shows, in a good order.
pub fn settled(mut node: Node, times: &Times) -> Node {
    let date = &times.visit_at[..10];
    let in_words = |at: &str| DateTime::parse_from_rfc3339(at).unwrap().format("%A, %-d %B %Y").to_string();
    let visit_in_words = in_words(&times.visit_at);
    node.mask(&|key, spelled| {
        let text = spelled.trim_matches('"');
        let other = match key {
            "messageId" if text != "m-1" => "3f0d2f0e-7d0c-4a55-9b57-0c6a2b1e9d10",
            "contextId" => "ctx-5f6d1e0a-52d4-4a7c-8a0d-2b8f7c9e4d31",
            "error_id" => "err_019abc3d4e5f7a6b8c9d0e1f2a3b4c5d",
            "created_at" => "2026-11-30T09:15:00.000Z",
            "lead_id" => "lead_019abc3d4e5f7a6b8c9d0e1f2a3b4c5d",
            "appointment_id" => "appt_019abc3d4e5f7a6b8c9d0e1f2a3b4c5e",
            "next_cursor" if text != "null" => "AQAAAAAAAAABAAAAAGrI…",
            "granted_at" => GRANTED_AT,
            "email" if text.starts_with("ilse.") => "ilse.marchetti@post.example",
            "appointment_at" | "confirmed_at" if text.starts_with(date) => VISIT_AT,
            "retry_after_ms" => return Some("3599000".to_owned()),
            "request_id" => "019abc3d4e5f7a6b8c9d0e1f2a3b4c5d",
            "message" if text.contains(&visit_in_words) => {
                return Some(spelled.replace(&visit_in_words, &in_words(VISIT_AT)));
            }
            _ if text.contains("; wait ") => {
                let (before, after) = text.split_once("; wait ").unwrap();
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                return Some(format!("\"{before}; wait 3599{after}\""));
            }
            _ => return None,
        };
        Some(format!("\"{other}\""))
    });
    node.ordered();
    node
}
