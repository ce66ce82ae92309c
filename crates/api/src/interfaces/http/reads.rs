//! The questions that also have an address of their own, to be read with GET.

use contract::SkillId;

/// One such address.
pub(super) struct Read {
    /// Path below the contract's base; a last segment in braces is a parameter of that name.
    pub(super) path: &'static str,
    /// Who answers.
    pub(super) skill: SkillId,
    /// Its name in documents.
    pub(super) operation: &'static str,
    /// What it gives, in a few words.
    pub(super) summary: &'static str,
}

/// All of them. The first segment of each is the path of an interface.
pub(super) static READS: &[Read] = &[
    Read {
        path: "dealer",
        skill: SkillId::DealerInformation,
        operation: "getDealer",
        summary: "The dealer's profile",
    },
    Read {
        path: "facets",
        skill: SkillId::InventoryFacets,
        operation: "getFacets",
        summary: "What there is to choose from, with counts",
    },
    Read {
        path: "inventory",
        skill: SkillId::InventorySearch,
        operation: "listInventory",
        summary: "Vehicles by filters, page by page",
    },
    Read {
        path: "inventory/{vehicle_id}",
        skill: SkillId::InventoryVehicle,
        operation: "getVehicle",
        summary: "One vehicle by the dealer's id",
    },
    Read {
        path: "inventory/vin/{vin}",
        skill: SkillId::InventoryVehicle,
        operation: "getVehicleByVin",
        summary: "One vehicle by its VIN",
    },
    Read {
        path: "inventory/stock/{stock}",
        skill: SkillId::InventoryVehicle,
        operation: "getVehicleByStock",
        summary: "One vehicle by its stock number",
    },
];

impl Read {
    /// The parameter in its path.
    pub(super) fn parameter(&self) -> Option<&'static str> {
        self.path.rsplit('/').next()?.strip_prefix('{')?.strip_suffix('}')
    }

    /// Whether a path would be that of a read if a parameter followed after a slash.
    pub(super) fn lacks_parameter(path: &str) -> bool {
        let before = |read: &'static Read| read.parameter().and_then(|_| read.path.rsplit_once('/'));
        READS.iter().filter_map(before).any(|(before, _)| before == path)
    }

    /// The read at a path below the base, with the text that stands for its parameter, still encoded.
    pub(super) fn at(path: &str) -> Option<(&'static Read, Option<&str>)> {
        READS.iter().find_map(|read| match read.parameter() {
            None => (read.path == path).then_some((read, None)),
            Some(_) => {
                let (before, _) = read.path.rsplit_once('/')?;
                let value = path.strip_prefix(before)?.strip_prefix('/')?;
                (!value.is_empty() && !value.contains('/')).then_some((read, Some(value)))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::INTERFACES;

    #[test]
    fn each_address_leads_to_one_read_and_one_interface() {
        let at = |path| Read::at(path).map(|(read, value)| (read.operation, value));
        assert_eq!(at("inventory"), Some(("listInventory", None)));
        assert_eq!(at("inventory/v%2F1"), Some(("getVehicle", Some("v%2F1"))));
        assert_eq!(at("inventory/vin"), Some(("getVehicle", Some("vin"))));
        assert_eq!(at("inventory/vin/X"), Some(("getVehicleByVin", Some("X"))));
        assert_eq!(at("inventory/stock/A-1"), Some(("getVehicleByStock", Some("A-1"))));
        for none in ["inventory/a/b", "inventory/vin/a/b", "facets/x", "dealers", "inventory/"] {
            assert_eq!(at(none), None, "{none}");
        }
        for read in READS {
            let found = INTERFACES.iter().find(|interface| interface.below(read.path).is_some()).unwrap();
            assert_eq!((found.name, found.guarded), ("http", true), "{}", read.path);
        }
    }
}
