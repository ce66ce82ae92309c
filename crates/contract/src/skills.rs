//! The five skills of the protocol: ids, names, media types, schema files.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A skill of the protocol. Its text form is its id (`inventory.search`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SkillId {
    /// Who the dealer is: rooftops, hours, fees.
    #[serde(rename = "dealer.information")]
    DealerInformation,
    /// What is there to filter by, with counts.
    #[serde(rename = "inventory.facets")]
    InventoryFacets,
    /// Find vehicles.
    #[serde(rename = "inventory.search")]
    InventorySearch,
    /// One vehicle in full.
    #[serde(rename = "inventory.vehicle")]
    InventoryVehicle,
    /// Hand over a consented lead.
    #[serde(rename = "lead.submit")]
    LeadSubmit,
}

impl SkillId {
    /// The id on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DealerInformation => "dealer.information",
            Self::InventoryFacets => "inventory.facets",
            Self::InventorySearch => "inventory.search",
            Self::InventoryVehicle => "inventory.vehicle",
            Self::LeadSubmit => "lead.submit",
        }
    }

    /// The skill's row in [`SKILL_SPECS`].
    pub const fn spec(self) -> &'static SkillSpec {
        match self {
            Self::DealerInformation => &INFORMATION,
            Self::InventoryFacets => &FACETS,
            Self::InventorySearch => &SEARCH,
            Self::InventoryVehicle => &VEHICLE,
            Self::LeadSubmit => &LEAD,
        }
    }
}

impl std::fmt::Display for SkillId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SkillId {
    type Err = UnknownSkill;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        SKILL_SPECS.iter().map(|spec| spec.id).find(|id| id.as_str() == text).ok_or(UnknownSkill)
    }
}

/// The text names no skill of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such skill")]
pub struct UnknownSkill;

/// What every interface needs to know of a skill.
#[derive(Debug)]
pub struct SkillSpec {
    /// The skill.
    pub id: SkillId,
    /// A short name for cards and pages.
    pub name: &'static str,
    /// One sentence for cards and tools.
    pub description: &'static str,
    /// What a model should know before it asks, where skills are offered as tools.
    pub advice: &'static str,
    /// Whether it reads and does no more: asking leaves nothing behind and reaches nobody.
    pub reads: bool,
    /// Card tags.
    pub tags: &'static [&'static str],
    /// `data.type` of a request.
    pub request_type: &'static str,
    /// `type` of the answer's payload.
    pub response_type: &'static str,
    /// Vendor media type of a request part.
    pub request_media_type: &'static str,
    /// Vendor media type of the answer's part.
    pub response_media_type: &'static str,
    /// File name of the request schema.
    pub request_schema: &'static str,
    /// File name of the response schema.
    pub response_schema: &'static str,
}

macro_rules! skill {
    ($id:ident, $name:literal, $description:literal, $tags:expr, $type_stem:literal, $file_stem:literal,
     reads: $reads:literal, $advice:literal) => {
        SkillSpec {
            id: SkillId::$id,
            name: $name,
            description: $description,
            advice: $advice,
            reads: $reads,
            tags: $tags,
            request_type: concat!($type_stem, ".request"),
            response_type: concat!($type_stem, ".response"),
            request_media_type: concat!("application/vnd.autoagent.", $file_stem, "-request+json"),
            response_media_type: concat!("application/vnd.autoagent.", $file_stem, "-response+json"),
            request_schema: concat!($file_stem, "-request.schema.json"),
            response_schema: concat!($file_stem, "-response.schema.json"),
        }
    };
}

static INFORMATION: SkillSpec = skill!(
    DealerInformation,
    "Dealer information",
    "Tells who the dealer is: rooftops with addresses, contacts, opening hours, standard fees and services.",
    &["dealer", "hours", "contact", "automotive"],
    "dealer.information",
    "dealer-information",
    reads: true,
    "Use it for questions about location, contact, opening hours or fees."
);
static FACETS: SkillSpec = skill!(
    InventoryFacets,
    "Inventory facets",
    "Counts the vehicles in stock by make, model, year, price and more, for all of the stock or a filtered part.",
    &["inventory", "facets", "vehicles", "automotive"],
    "inventory.facets",
    "inventory-facets",
    reads: true,
    "Use it first, to learn which makes, models, prices and other values this dealer really has, and take the values \
     of filters from its answer."
);
static SEARCH: SkillSpec = skill!(
    InventorySearch,
    "Inventory search",
    "Finds vehicles in stock by filters, sorted and page by page, with exact totals and advertised prices.",
    &["inventory", "search", "vehicles", "automotive"],
    "inventory.search",
    "inventory-search",
    reads: true,
    "All filters must hold; the values in one list are alternatives. `total` is exact. To see more, ask for the next \
     page instead of a larger one. For everything about one vehicle ask inventory.vehicle."
);
// The skill is `inventory.vehicle`, its media types and schema files are `vehicle-detail-*` (AAP.md 0.1).
static VEHICLE: SkillSpec = skill!(
    InventoryVehicle,
    "Vehicle detail",
    "Gives one vehicle in full, found by VIN, stock number or vehicle id.",
    &["inventory", "vehicle", "detail", "automotive"],
    "inventory.vehicle",
    "vehicle-detail",
    reads: true,
    "Give one of `vehicle_id` (as search results carry it), `vin` or `stock`. A vehicle that was sold meanwhile is \
     refused with VEHICLE_UNAVAILABLE."
);
static LEAD: SkillSpec = skill!(
    LeadSubmit,
    "Lead submission",
    "Hands a shopper's consented contact request to the dealer, with vehicle, trade-in and appointment.",
    &["lead", "appointment", "consent", "automotive"],
    "lead.submit",
    "lead-submit",
    reads: false,
    "A person at the dealer will contact the shopper, so ask it only when the shopper has asked for that and agreed to \
     the words in `consent.consent_text` and to the channels in `consent.allowed_channels`; never make up contact \
     data or consent. Send an `idempotency_key` (a UUID) and repeat the same one if you must try again."
);

/// Every skill of the protocol, in the order in which cards list them.
pub static SKILL_SPECS: [&SkillSpec; 5] = [&INFORMATION, &FACETS, &SEARCH, &VEHICLE, &LEAD];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_skill_agree_with_each_other() {
        for spec in SKILL_SPECS {
            let id = spec.id.as_str();
            assert!(std::ptr::eq(spec.id.spec(), spec));
            assert_eq!(id.parse(), Ok(spec.id));
            assert_eq!(serde_json::to_value(spec.id).unwrap(), id);
            assert_eq!(spec.request_type, format!("{id}.request"));
            assert_eq!(spec.response_type, format!("{id}.response"));
            let stem =
                if id == "inventory.vehicle" { "vehicle-detail".to_owned() } else { id.replace('.', "-") };
            assert_eq!(spec.request_media_type, format!("application/vnd.autoagent.{stem}-request+json"));
            assert_eq!(spec.response_media_type, format!("application/vnd.autoagent.{stem}-response+json"));
            assert_eq!(spec.request_schema, format!("{stem}-request.schema.json"));
            assert_eq!(spec.response_schema, format!("{stem}-response.schema.json"));
            assert!(!spec.tags.is_empty() && !spec.description.is_empty() && !spec.advice.is_empty());
        }
        assert_eq!("lead.submit.request".parse::<SkillId>(), Err(UnknownSkill));
    }
}
