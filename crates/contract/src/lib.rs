//! The Auto Agent Protocol as data: contract versions, skills, schemas, payload types, faults.
//!
//! Nothing here knows of a transport, a database or a tenant. Everything that the interfaces publish (cards,
//! media types, validation, error codes) is read from the tables of this crate, so that no two interfaces
//! can disagree.

pub mod bundle;
pub mod canonical;
pub mod errors;
pub mod fault;
mod folder;
pub mod listing;
pub mod payload;
pub mod refusal;
pub mod schema;
pub mod skills;
pub mod text;
pub mod version;

pub use bundle::bundle;
pub use fault::{Fault, FaultCode, Violation};
pub use folder::SchemaFile;
pub use listing::Listing;
pub use schema::{Contract, SchemaError, with_further};
pub use skills::{SKILL_SPECS, SkillId, SkillSpec};
pub use version::{CONTRACTS, CardRules, ContractSpec, ContractVersion, ErrorForm, ExtensionHeader, Paging};
