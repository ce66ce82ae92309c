//! Contract versions as data: what differs between them stands here, side by side.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::FaultCode;
use crate::folder::{SchemaFile, schema_folder};

/// Makes of one description each: the version's name, its place in [`CONTRACTS`], and its folder of schemas.
macro_rules! contracts {
    ($( $(#[$doc:meta])* $id:ident = $name:literal { $($rules:tt)* } )*) => {
        /// A contract version of the protocol. Its text form is the path segment of its address (`v3.0`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum ContractVersion {
            $( $(#[$doc])* #[serde(rename = $name)] $id, )*
        }

        impl ContractVersion {
            /// Every version, the oldest first.
            pub const ALL: [ContractVersion; [ $( $name ),* ].len()] = [ $( ContractVersion::$id, )* ];

            /// The newest one: what a dealer publishes by default unless it says otherwise.
            pub const NEWEST: ContractVersion = {
                let [.., newest] = Self::ALL;
                newest
            };

            /// The path segment and name: `v1.3`, `latest`, `v3.0`.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$id => $name, )* }
            }

            /// Its description, if this build serves it.
            pub fn spec(self) -> Option<&'static ContractSpec> {
                CONTRACTS.iter().find(|spec| spec.version == self)
            }
        }

        /// The contract versions this build serves.
        pub static CONTRACTS: &[ContractSpec] = &[ $( ContractSpec {
            version: ContractVersion::$id,
            schemas: schema_folder!($name),
            $($rules)*
        }, )* ];
    };
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

/// What one contract version makes of an `A2A-Extensions` header (AAP.md 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionHeader {
    /// No part of the contract: whoever names the extension activates it, whoever does not is served as well.
    Free,
    /// Saying nothing selects the contract of the address; a list that is sent must name it.
    Inferred,
    /// The contract must be named.
    Required,
}

/// How a result is divided into pages (AAP.md 7.4.3), and so what an answer echoes (AAP.md 7.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paging {
    /// `skip` and `limit`, both echoed.
    Skip,
    /// `limit` and an opaque cursor; the answer echoes `limit`, `applied_filters` and `sort`.
    Cursor,
}

/// Where `error.data` of a JSON-RPC error holds the AAP error object (AAP.md 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorForm {
    /// It is the whole of `data`.
    Bare,
    /// `data` is a list; it is the entry with the protocol's own `@type`, which is a member of it.
    Tagged,
    /// `data` is a list; it is the `value` of the protobuf `Struct` entry.
    Struct,
}

/// What an Agent Card of the contract looks like where the contracts differ (AAP.md 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardRules {
    /// Whether the AAP extension says `required: true`; where not, the member is left out.
    pub extension_required: bool,
    /// Whether `application/json` stands among the default modes, beside the vendor types.
    pub plain_json: bool,
    /// Whether a card may have empty lists of skills and modes, and so a dealer no skill.
    pub empty_lists: bool,
    /// Whether the extension's `params.search` says which filters, sort fields and feature codes are offered.
    pub search_params: bool,
}

/// How one contract version behaves on the wire (AAP.md 1).
#[derive(Debug)]
pub struct ContractSpec {
    /// Which version this describes.
    pub version: ContractVersion,
    /// One sentence for people who choose between the versions.
    pub summary: &'static str,
    /// The exact extension URI; compared byte for byte.
    pub extension_uri: &'static str,
    /// `params.version` on the card.
    pub full_version: &'static str,
    /// `params.schema_base_url` on the card, with a trailing slash.
    pub schema_base: &'static str,
    /// Its schema files.
    pub schemas: &'static [SchemaFile],
    /// Whether identifiers may be served on a public origin.
    pub deployable: bool,
    /// Whether an absent `A2A-Version` is taken as 1.0.
    pub version_header_optional: bool,
    /// What `A2A-Extensions` must say.
    pub extension_header: ExtensionHeader,
    /// Whether a request part without a media type is refused.
    pub part_media_type_required: bool,
    /// Whether `application/json` is as good as the vendor types, for requests and answers.
    pub plain_json: bool,
    /// How search divides its result.
    pub paging: Paging,
    /// Whether a dealer may restrict filters, feature codes and sort fields: only a contract that has
    /// `UNSUPPORTED_FILTER` and `UNSUPPORTED_SORT` can say so.
    pub search_restrictable: bool,
    /// Where the AAP error object stands.
    pub error_form: ErrorForm,
    /// Codes whose JSON-RPC number is not that of [`FaultCode::number`].
    pub numbers_apart: &'static [(FaultCode, i32)],
    /// Codes that the contract does not know; sending one breaks its error schema.
    pub codes_absent: &'static [FaultCode],
    /// Rules of its card.
    pub card: CardRules,
}

impl ContractSpec {
    /// The JSON-RPC number of a code; `None` where the contract does not know the code.
    pub fn number(&self, code: FaultCode) -> Option<i32> {
        if self.codes_absent.contains(&code) {
            return None;
        }
        let apart = self.numbers_apart.iter().find(|(moved, _)| *moved == code);
        Some(apart.map_or(code.number(), |(_, number)| *number))
    }

    /// Whether the AAP code and a colon stand before the words of `error.message`.
    ///
    /// They do where an official SDK shows its callers little more than the message: of the numbers that JSON-RPC
    /// leaves to servers, and wherever `error.data` has no ErrorInfo.
    pub fn message_names_code(&self, number: i32) -> bool {
        self.error_form == ErrorForm::Bare || (-32099..=-32000).contains(&number)
    }
}

const SINCE_V3_0: &[FaultCode] = &[
    FaultCode::UnsupportedFilter,
    FaultCode::UnsupportedSort,
    FaultCode::InvalidCursor,
    FaultCode::DealerNotFound,
];

// Adding a version is a folder of schemas and a description here.
contracts! {
    /// Released 2026-09-04, frozen.
    V1_3 = "v1.3" {
        summary: "Released 2026-09-04 and frozen; pages by skip and limit, headers are no part of it.",
        extension_uri: "https://autoagentprotocol.org/extensions/aap/v1.3",
        full_version: "1.3.0",
        schema_base: "https://autoagentprotocol.org/v1.3/schemas/",
        deployable: true,
        version_header_optional: true,
        extension_header: ExtensionHeader::Free,
        part_media_type_required: false,
        plain_json: true,
        paging: Paging::Skip,
        search_restrictable: false,
        error_form: ErrorForm::Bare,
        numbers_apart: &[(FaultCode::UnsupportedSkill, -32601), (FaultCode::RateLimited, -32002)],
        codes_absent: SINCE_V3_0,
        card: CardRules {
            extension_required: false,
            plain_json: true,
            empty_lists: true,
            search_params: false,
        },
    }

    /// The editable 2.0 draft; carries identifiers that must not be deployed publicly.
    Latest = "latest" {
        summary: "The draft of 2.0, for trying out: its identifiers lead nowhere and are not to be deployed.",
        extension_uri: "https://draft.autoagentprotocol.invalid/extensions/aap/latest",
        full_version: "0.0.0-dev",
        schema_base: "https://draft.autoagentprotocol.invalid/latest/schemas/",
        deployable: false,
        version_header_optional: false,
        extension_header: ExtensionHeader::Required,
        part_media_type_required: false,
        plain_json: false,
        paging: Paging::Skip,
        search_restrictable: false,
        error_form: ErrorForm::Tagged,
        numbers_apart: &[(FaultCode::UnsupportedSkill, -32004)],
        codes_absent: SINCE_V3_0,
        card: CardRules {
            extension_required: true,
            plain_json: false,
            empty_lists: false,
            search_params: false,
        },
    }

    /// The version released after the draft.
    V3_0 = "v3.0" {
        summary: "The newest release: pages by cursor, a status filter, four more error codes.",
        extension_uri: "https://autoagentprotocol.org/extensions/aap/v3.0",
        full_version: "3.0.0",
        schema_base: "https://autoagentprotocol.org/v3.0/schemas/",
        deployable: true,
        version_header_optional: true,
        extension_header: ExtensionHeader::Inferred,
        part_media_type_required: true,
        plain_json: false,
        paging: Paging::Cursor,
        search_restrictable: true,
        error_form: ErrorForm::Struct,
        numbers_apart: &[],
        codes_absent: &[],
        card: CardRules {
            extension_required: true,
            plain_json: false,
            empty_lists: false,
            search_params: true,
        },
    }
}

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
            if spec.deployable {
                assert_eq!(spec.full_version, format!("{}.0", name.trim_start_matches('v')));
            }
        }
    }

    #[test]
    fn numbers_and_codes_differ_where_the_contracts_say_so() {
        let numbers = |code| CONTRACTS.iter().map(|spec| spec.number(code)).collect::<Vec<_>>();
        assert_eq!(numbers(FaultCode::UnsupportedSkill), [Some(-32601), Some(-32004), Some(-32602)]);
        assert_eq!(numbers(FaultCode::RateLimited), [Some(-32002), Some(-32000), Some(-32000)]);
        assert_eq!(numbers(FaultCode::InternalError), [Some(-32603); 3]);
        let mut moved = 0;
        for code in FaultCode::ALL {
            let absent = SINCE_V3_0.contains(code);
            assert_eq!(numbers(*code)[..2].contains(&None), absent, "{code:?}");
            moved += usize::from(!absent && numbers(*code).iter().any(|n| *n != Some(code.number())));
        }
        assert_eq!(moved, 2);
        let known =
            |spec: &ContractSpec| FaultCode::ALL.iter().filter(|c| spec.number(**c).is_some()).count();
        assert_eq!(CONTRACTS.iter().map(known).collect::<Vec<_>>(), [12, 12, 16]);
    }

    #[test]
    fn only_a_contract_that_can_refuse_a_filter_lets_dealers_restrict_search() {
        for spec in CONTRACTS {
            let can_refuse = spec.number(FaultCode::UnsupportedFilter).is_some()
                && spec.number(FaultCode::UnsupportedSort).is_some();
            assert_eq!(spec.search_restrictable, can_refuse, "{}", spec.version);
            assert_eq!(spec.card.search_params, can_refuse, "{}", spec.version);
            assert_eq!(spec.card.plain_json, spec.plain_json, "{}", spec.version);
            // A cursor can go wrong, and only one code says so.
            let cursors = spec.paging == Paging::Cursor;
            assert_eq!(spec.number(FaultCode::InvalidCursor).is_some(), cursors, "{}", spec.version);
        }
    }
}
