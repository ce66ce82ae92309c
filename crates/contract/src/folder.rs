//! Embeds a folder of schemas, so that nothing is read or fetched when the platform runs.

/// A schema file: its name relative to the folder (`_primitives/address.schema.json`), and its text.
pub type SchemaFile = (&'static str, &'static str);

/// All schema files of one version. Every version has the same ones; a test compares the list with the folders.
macro_rules! schema_folder {
    ($folder:literal) => {
        schema_folder!($folder:
            "_primitives/aap-message",
            "_primitives/address",
            "_primitives/dealer-fee",
            "agent-card",
            "appointment",
            "consent-grant",
            "customer",
            "dealer-information",
            "dealer-information-request",
            "dealer-information-response",
            "error",
            "event",
            "facets",
            "inventory-facets-request",
            "inventory-facets-response",
            "inventory-search-request",
            "inventory-search-response",
            "lead-submit-request",
            "lead-submit-response",
            "listing",
            "vehicle",
            "vehicle-detail-request",
            "vehicle-detail-response",
        )
    };
    ($folder:literal: $($stem:literal),* $(,)?) => {
        &[ $( (
            concat!($stem, ".schema.json"),
            include_str!(concat!("../schemas/", $folder, "/", $stem, ".schema.json")),
        ), )* ]
    };
}

pub(crate) use schema_folder;
