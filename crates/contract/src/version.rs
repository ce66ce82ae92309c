//! Contract versions as data: what differs between them stands here, side by side.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A contract version of the protocol. Its text form is the path segment of its address (`v3.0`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ContractVersion {
    /// Released 2026-09-04, frozen.
    #[serde(rename = "v1.3")]
    V1_3,
    /// The editable 2.0 draft; carries identifiers that must not be deployed publicly.
    #[serde(rename = "latest")]
    Latest,
    /// The version released after the draft.
    #[serde(rename = "v3.0")]
    V3_0,
}

impl ContractVersion {
    /// Every version the protocol has, built or not.
    pub const ALL: [ContractVersion; 3] = [Self::V1_3, Self::Latest, Self::V3_0];

    /// The path segment and name: `v1.3`, `latest`, `v3.0`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1_3 => "v1.3",
            Self::Latest => "latest",
            Self::V3_0 => "v3.0",
        }
    }

    /// Its description, if this build serves it.
    pub fn spec(self) -> Option<&'static ContractSpec> {
        CONTRACTS.iter().find(|spec| spec.version == self)
    }
}

impl std::fmt::Display for ContractVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ContractVersion {
    type Err = UnknownContract;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|v| v.as_str() == text).ok_or(UnknownContract)
    }
}

/// The text names no contract version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such contract version; there are v1.3, latest and v3.0")]
pub struct UnknownContract;

/// How one contract version behaves on the wire (AAP.md 1).
#[derive(Debug)]
pub struct ContractSpec {
    /// Which version this describes.
    pub version: ContractVersion,
    /// The exact extension URI; compared byte for byte.
    pub extension_uri: &'static str,
    /// `params.version` on the card.
    pub full_version: &'static str,
    /// `params.schema_base_url` on the card, with a trailing slash.
    pub schema_base: &'static str,
    /// Whether an absent `A2A-Version` is taken as 1.0.
    pub version_header_optional: bool,
    /// Whether an absent `A2A-Extensions` selects this contract.
    pub extension_header_optional: bool,
    /// Whether a request part without a media type is refused.
    pub part_media_type_required: bool,
    /// Whether identifiers may be served on a public origin.
    pub deployable: bool,
}

/// The contract versions this build serves. Adding one is a folder of schemas and a row.
pub static CONTRACTS: &[ContractSpec] = &[ContractSpec {
    version: ContractVersion::V3_0,
    extension_uri: "https://autoagentprotocol.org/extensions/aap/v3.0",
    full_version: "3.0.0",
    schema_base: "https://autoagentprotocol.org/v3.0/schemas/",
    version_header_optional: true,
    extension_header_optional: true,
    part_media_type_required: true,
    deployable: true,
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_as_it_is_written() {
        for version in ContractVersion::ALL {
            assert_eq!(version.to_string().parse(), Ok(version));
            assert_eq!(serde_json::to_value(version).unwrap(), version.as_str());
        }
        for wrong in ["", "3.0", "V3.0", "v3.0/", "v3"] {
            assert_eq!(wrong.parse::<ContractVersion>(), Err(UnknownContract));
        }
    }

    #[test]
    fn addresses_of_a_contract_name_its_version() {
        for spec in CONTRACTS {
            let name = spec.version.as_str();
            assert!(std::ptr::eq(spec, spec.version.spec().unwrap()));
            assert!(spec.extension_uri.ends_with(&format!("/{name}")));
            assert!(spec.schema_base.ends_with(&format!("/{name}/schemas/")));
            assert!(spec.full_version.starts_with(name.trim_start_matches('v')));
        }
    }
}
