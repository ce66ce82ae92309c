//! What a contract's description says, in words.

use contract::{ContractSpec, ErrorForm, ExtensionHeader, FaultCode, Paging};

/// One row of the table of differences: what it is about, and what a contract has there.
pub type Row = (&'static str, fn(&ContractSpec) -> String);

/// The rows; every member of `ContractSpec` that a caller can notice has one.
pub const ROWS: [Row; 15] = [
    ("in a word", |spec| spec.summary.to_owned()),
    ("extension URI", |spec| format!("`{}`", spec.extension_uri)),
    ("`params.version` on its card", |spec| format!("`{}`", spec.full_version)),
    ("may be served to the public", |spec| {
        yes_no(spec.deployable, "yes", "only where an operator asks for it by name")
    }),
    ("`A2A-Version` left out", |spec| {
        yes_no(spec.version_header_optional, "taken as `1.0`", "refused, -32009")
    }),
    ("`A2A-Extensions` left out", |spec| match spec.extension_header {
        ExtensionHeader::Free => "served".to_owned(),
        ExtensionHeader::Inferred => "served: the address selects the contract".to_owned(),
        ExtensionHeader::Required => "refused, -32008".to_owned(),
    }),
    ("`A2A-Extensions` without the URI", |spec| match spec.extension_header {
        ExtensionHeader::Free => "served".to_owned(),
        ExtensionHeader::Inferred | ExtensionHeader::Required => "refused, -32008".to_owned(),
    }),
    ("`mediaType` of the request part", |spec| {
        let needed = yes_no(spec.part_media_type_required, "must be there", "may be left out");
        format!("{needed}{}", yes_no(spec.plain_json, "; `application/json` will do", ""))
    }),
    ("`application/json` among `acceptedOutputModes`", |spec| {
        yes_no(spec.plain_json, "accepts every answer", "accepts no answer by itself")
    }),
    ("pages of a search", |spec| match spec.paging {
        Paging::Skip => "`skip` and `limit`; each page is from the newest stock".to_owned(),
        Paging::Cursor => "`limit` and a `cursor`; all pages are from the stock of the first".to_owned(),
    }),
    ("a dealer may offer fewer filters and sort fields", |spec| {
        yes_no(spec.search_restrictable, "yes, and says so on its card", "no")
    }),
    ("the AAP error in `error.data`", |spec| match spec.error_form {
        ErrorForm::Bare => "is all of it".to_owned(),
        ErrorForm::Tagged => "is an entry, told by its `@type`".to_owned(),
        ErrorForm::Struct => "is the `value` of the `Struct` entry".to_owned(),
    }),
    ("`UNSUPPORTED_SKILL`, `RATE_LIMITED`", |spec| {
        let number = |code| spec.number(code).map_or("–".to_owned(), |number| number.to_string());
        format!("{}, {}", number(FaultCode::UnsupportedSkill), number(FaultCode::RateLimited))
    }),
    ("codes it does not have", |spec| match spec.codes_absent {
        [] => "none".to_owned(),
        codes => codes.iter().map(|code| format!("`{}`", code.as_str())).collect::<Vec<_>>().join(", "),
    }),
    ("the AAP extension on its card", |spec| {
        yes_no(spec.card.extension_required, "`required: true`", "`required` is left out")
    }),
];

fn yes_no(holds: bool, yes: &str, no: &str) -> String {
    (if holds { yes } else { no }).to_owned()
}
