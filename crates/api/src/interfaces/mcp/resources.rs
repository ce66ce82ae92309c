//! What an assistant can read without calling a tool: `aap://{slug}/dealer`, `aap://{slug}/facets` and
//! `aap://{slug}/vehicles/{vehicle_id}`. Reading one asks the skill behind it.

use contract::{SkillId, SkillSpec};
use dealer::Tenant;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

/// One resource of every dealer, or one for each of its vehicles.
struct Kind {
    skill: SkillId,
    /// Below `aap://{slug}/`; one that ends in a slash stands before a vehicle's id.
    path: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

static KINDS: &[Kind] = &[
    Kind {
        skill: SkillId::DealerInformation,
        path: "dealer",
        name: "dealer",
        title: "Dealer profile",
        description: "Who the dealer is: locations with addresses, contacts, opening hours, fees and services.",
    },
    Kind {
        skill: SkillId::InventoryFacets,
        path: "facets",
        name: "facets",
        title: "What is in stock",
        description: "Makes, models, years, prices and more of all vehicles in stock, each with its count.",
    },
    Kind {
        skill: SkillId::InventoryVehicle,
        path: "vehicles/",
        name: "vehicle",
        title: "One vehicle",
        description: "One vehicle in full. vehicle_id is that of a search result.",
    },
];

/// The resources that a dealer has, apart from its vehicles.
pub(super) fn fixed(tenant: &Tenant) -> Vec<Resource> {
    let kinds = KINDS.iter().filter(|kind| !kind.path.ends_with('/') && tenant.skills.contains(&kind.skill));
    let resources = kinds.map(|kind| {
        Resource::new(format!("aap://{}/{}", tenant.slug, kind.path), kind.name)
            .with_title(kind.title)
            .with_description(kind.description)
            .with_mime_type(MIME_TYPE)
    });
    resources.collect()
}

/// How the addresses of a dealer's vehicles are made.
pub(super) fn templates(tenant: &Tenant) -> Vec<ResourceTemplate> {
    let kinds = KINDS.iter().filter(|kind| kind.path.ends_with('/') && tenant.skills.contains(&kind.skill));
    let templates = kinds.map(|kind| {
        ResourceTemplate::new(format!("aap://{}/{}{{vehicle_id}}", tenant.slug, kind.path), kind.name)
            .with_title(kind.title)
            .with_description(kind.description)
            .with_mime_type(MIME_TYPE)
    });
    templates.collect()
}

/// What the text of a resource is: the payload of the skill's answer.
pub(super) const MIME_TYPE: &str = "application/json";

/// The skill and the payload that a dealer's resource means; `None` for an address that none has.
pub(super) fn meant(tenant: &Tenant, uri: &str) -> Option<(&'static SkillSpec, Value)> {
    let (host, path) = uri.strip_prefix("aap://")?.split_once('/')?;
    if !host.eq_ignore_ascii_case(&tenant.slug) {
        return None;
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    KINDS.iter().filter(|kind| tenant.skills.contains(&kind.skill)).find_map(|kind| {
        let payload = if kind.path.ends_with('/') {
            let id = path.strip_prefix(kind.path).filter(|id| !id.is_empty() && !id.contains('/'))?;
            json!({ "vehicle_id": decoded(id)? })
        } else {
            (path == kind.path).then(|| json!({}))?
        };
        Some((kind.skill.spec(), payload))
    })
}

/// Text without its percent signs (RFC 3986 2.1); `None` where they are misused.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_addresses_write_them() {
        assert_eq!(decoded("a%20b%2Fc").as_deref(), Some("a b/c"));
        assert_eq!(decoded("%C3%a4-1").as_deref(), Some("ä-1"));
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
