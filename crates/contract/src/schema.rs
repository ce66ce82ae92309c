//! The JSON Schemas of each contract version, compiled once, and the list of everything that a payload breaks.
//!
//! The only place that knows the schema library. What leaves it are [`Violation`]s in the form of AAP.md 6.1.

use std::borrow::Cow;
use std::collections::HashMap;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, PatternOptions, Registry, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;

use crate::{ContractSpec, ContractVersion, Violation};

/// The compiled schemas of one contract version. Compiling takes a moment: load once, share, check often.
#[derive(Debug)]
pub struct Contract {
    spec: &'static ContractSpec,
    validators: HashMap<&'static str, Validator>,
}

/// A schema set that cannot be used. Only a version that this build lacks, or a broken file, brings it up.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// This build has no schemas of the version.
    #[error("contract {0} is not served by this build")]
    NotServed(ContractVersion),
    /// An embedded file is not JSON.
    #[error("schema {file} is not JSON")]
    NotJson {
        /// Relative file name.
        file: &'static str,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// An embedded file is no schema, or refers to something outside the set.
    #[error("schema {file} cannot be compiled: {reason}")]
    NotASchema {
        /// Relative file name; empty when the set as a whole is at fault.
        file: &'static str,
        /// What the schema library says.
        reason: String,
    },
}

impl Contract {
    /// Compiles the embedded schemas of a version. Nothing is fetched.
    ///
    /// # Errors
    /// [`SchemaError`] when this build does not serve the version or a schema file is broken.
    pub fn load(version: ContractVersion) -> Result<Contract, SchemaError> {
        let spec = version.spec().ok_or(SchemaError::NotServed(version))?;
        let mut documents = Vec::new();
        for (file, text) in Self::schemas(version) {
            let document: Value =
                serde_json::from_str(text).map_err(|source| SchemaError::NotJson { file, source })?;
            documents.push((file, document));
        }
        let whole_set =
            |e: jsonschema::ReferencingError| SchemaError::NotASchema { file: "", reason: e.to_string() };
        let by_address = documents.iter().map(|(file, doc)| (format!("{}{file}", spec.schema_base), doc));
        let registry = Registry::new()
            .retriever(Offline)
            .extend(by_address)
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(whole_set)?;
        // Linear-time patterns: what a buyer sends must not be able to make matching slow.
        let options = jsonschema::draft202012::options()
            .with_retriever(Offline)
            .with_registry(&registry)
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false);
        let validators = documents
            .iter()
            .map(|(file, document)| match options.build(document) {
                Ok(validator) => Ok((*file, validator)),
                Err(e) => Err(SchemaError::NotASchema { file, reason: e.to_string() }),
            })
            .collect::<Result<_, _>>()?;
        Ok(Contract { spec, validators })
    }

    /// The version's row in [`crate::CONTRACTS`].
    pub fn spec(&self) -> &'static ContractSpec {
        self.spec
    }

    /// Checks a payload against a schema file such as `inventory-search-request.schema.json`.
    ///
    /// # Errors
    /// Every violation, never an empty list, ordered by location: an unknown or missing key is named itself,
    /// no text repeats a value (AAP.md 6.1). Beyond a thousand problems the rest is left out, and `x-more` says so.
    /// A file that the contract does not have accepts nothing.
    pub fn check(&self, schema: &str, payload: &Value) -> Result<(), Vec<Violation>> {
        let Some(validator) = self.validators.get(schema) else {
            return Err(vec![Violation::new("", "x-schema", "the contract has no such schema")]);
        };
        if validator.is_valid(payload) {
            return Ok(());
        }
        let mut found = Vec::new();
        for error in validator.iter_errors(payload) {
            report(&error, &mut found);
        }
        if found.is_empty() {
            // Both answers come from one library; should they ever differ, the stricter one wins.
            found.push(Violation::new("", "x-schema", "does not fit the schema"));
        }
        // One keyword at one place is one problem, also when two schemas of a payload say it: the shorter
        // sentence is then the narrower demand (three allowed words against seven).
        found.sort_by(|a, b| {
            let words = |v: &Violation| v.message.len();
            (&a.location, &a.keyword, words(a), &a.message).cmp(&(
                &b.location,
                &b.keyword,
                words(b),
                &b.message,
            ))
        });
        found.dedup_by(|later, kept| later.location == kept.location && later.keyword == kept.keyword);
        if found.len() > MOST_LISTED {
            found.truncate(MOST_LISTED);
            found.push(Violation::new("", MORE, "there are further problems that are not listed"));
        }
        Err(found)
    }

    /// The schema files of a version: relative file name and text. None for a version that this build lacks.
    pub fn schemas(version: ContractVersion) -> impl Iterator<Item = (&'static str, &'static str)> {
        let files = version.spec().map_or(&[][..], |spec| spec.schemas);
        files.iter().copied()
    }
}

/// More than any honest payload can break. A megabyte of wrong entries would otherwise be answered with fifty.
const MOST_LISTED: usize = 1000;
/// The keyword of the last violation where not all are listed.
pub(crate) const MORE: &str = "x-more";

/// Problems of a payload beyond its schema, behind those of the schema and within the same bound.
pub fn with_further(mut found: Vec<Violation>, mut further: Vec<Violation>) -> Vec<Violation> {
    let mut more = found.pop_if(|last| last.keyword == MORE).is_some();
    more |= found.len() + further.len() > MOST_LISTED;
    further.truncate(MOST_LISTED);
    found.truncate(MOST_LISTED - further.len());
    found.append(&mut further);
    if more {
        found.push(Violation::new("", MORE, "there are further problems that are not listed"));
    }
    found
}

/// Refuses every reference that leaves the embedded set.
struct Offline;

impl Retrieve for Offline {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} is not in the set, and nothing is fetched").into())
    }
}

/// Adds what one error of the library means, which may be several problems.
fn report(error: &ValidationError<'_>, found: &mut Vec<Violation>) {
    let at = error.instance_path().as_str();
    let mut add = |keyword: &'static str, message: String| found.push(Violation::new(at, keyword, message));
    match error.kind() {
        Kind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            found.push(Violation::new(child(at, key), "required", "is required"));
        }
        Kind::AdditionalProperties { unexpected } => found.extend(
            unexpected
                .iter()
                .map(|key| Violation::new(child(at, key), "additionalProperties", "is not known here")),
        ),
        Kind::AnyOf { context } => alternatives(at, "anyOf", context, found),
        Kind::OneOfNotValid { context } => alternatives(at, "oneOf", context, found),
        Kind::OneOfMultipleValid { .. } => add("oneOf", "fits more than one of the allowed forms".into()),
        Kind::Type { kind } => add("type", format!("must be {}", types(kind))),
        Kind::Enum { options } => add("enum", format!("must be one of: {}", words(options))),
        Kind::Constant { expected_value } => add("const", format!("must be {expected_value}")),
        Kind::Pattern { pattern } => add("pattern", pattern_in_words(pattern).into()),
        Kind::Format { format } => add("format", format_in_words(format).into()),
        Kind::Minimum { limit } => add("minimum", format!("must be at least {limit}")),
        Kind::Maximum { limit } => add("maximum", format!("must be at most {limit}")),
        Kind::MinLength { limit: 1 } => add("minLength", "must not be empty".into()),
        Kind::MinLength { limit } => add("minLength", format!("must have at least {limit} characters")),
        Kind::MaxLength { limit } => add("maxLength", format!("must have at most {limit} characters")),
        Kind::MinItems { limit: 1 } => add("minItems", "must not be empty".into()),
        Kind::MinItems { limit } => add("minItems", format!("must have at least {limit} entries")),
        Kind::MaxItems { limit } => add("maxItems", format!("must have at most {limit} entries")),
        Kind::UniqueItems => add("uniqueItems", "must not hold the same entry twice".into()),
        Kind::Contains => {
            add("contains", "lacks an entry that must be there, or has too many of them".into())
        }
        other => found.push(Violation {
            location: at.to_owned(),
            keyword: Cow::Owned(other.keyword().to_owned()),
            message: "does not fit the schema".to_owned(),
        }),
    }
}

/// A failed choice is one violation. Where one branch was clearly meant, its own problems follow.
fn alternatives(
    at: &str,
    keyword: &'static str,
    branches: &[Vec<ValidationError<'_>>],
    found: &mut Vec<Violation>,
) {
    if let Some(keys) = missing_keys(branches) {
        found.push(Violation::new(at, keyword, format!("must have at least one of: {}", keys.join(", "))));
        return;
    }
    found.push(Violation::new(at, keyword, "fits none of the allowed forms"));
    // A branch that wants another type was not meant.
    let meant = |branch: &&Vec<ValidationError<'_>>| {
        !branch.iter().any(|e| e.instance_path().as_str() == at && matches!(e.kind(), Kind::Type { .. }))
    };
    if let Some(nearest) = branches.iter().filter(meant).min_by_key(|branch| branch.len()) {
        for error in nearest {
            report(error, found);
        }
    }
}

/// The keys of which one must be there, if that is all that the branches ask.
fn missing_keys<'a>(branches: &'a [Vec<ValidationError<'_>>]) -> Option<Vec<&'a str>> {
    let only_key = |branch: &'a Vec<ValidationError<'_>>| match branch.as_slice() {
        [only] => match only.kind() {
            Kind::Required { property } => property.as_str(),
            _ => None,
        },
        _ => None,
    };
    branches.iter().map(only_key).collect()
}

/// The JSON Pointer of a key below `at`.
fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn types(kind: &TypeKind) -> String {
    let word = |one: JsonType| match one {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(one) => word(*one).to_owned(),
        TypeKind::Multiple(set) => set.iter().map(word).collect::<Vec<_>>().join(" or "),
    }
}

fn words(options: &Value) -> String {
    let word = |option: &Value| option.as_str().map_or_else(|| option.to_string(), str::to_owned);
    options.as_array().map(|all| all.iter().map(word).collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

/// What the patterns of the schemas mean. A test shows that none is missing.
const PATTERNS: [(&str, &str); 6] = [
    (r"^[a-z_]+(\.[a-z_]+){1,2}$", "must be lower-case words joined by one or two dots"),
    ("^[A-HJ-NPR-Z0-9]{17}$", "must be 17 capital letters and digits, without I, O and Q"),
    (
        r"^\+[1-9]\d{1,14}$",
        "must be in E.164 form: a plus sign, the country code and the number, digits only",
    ),
    (r"^([01]\d|2[0-3]):[0-5]\d$", "must be a time by the 24-hour clock, such as 08:30"),
    (r"\S", "must not be blank"),
    (
        r"^([Hh][Tt][Tt][Pp][Ss]://([^@/?#\s]*@)?(\[[^\]/?#\s]+\]|[^\[\]@:/?#\s]+)(:\d*)?|[Hh][Tt][Tt][Pp]://([Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127\.0\.0\.1|\[::1\])(:\d+)?)([/?#]|$)",
        "must be an absolute https address",
    ),
];

fn pattern_in_words(pattern: &str) -> &'static str {
    PATTERNS.iter().find(|(known, _)| *known == pattern).map_or("has the wrong form", |(_, words)| words)
}

fn format_in_words(format: &str) -> &'static str {
    match format {
        "date-time" => "must be a date and time with Z or an offset, such as 2026-11-30T09:15:00Z",
        "date" => "must be a date such as 2026-11-30",
        "uri" => "must be an absolute address, such as https://dealer.example/",
        "email" => "must be an email address",
        _ => "has the wrong form",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_beyond_the_schema_stand_within_the_same_bound_and_are_not_the_first_to_go() {
        let many = |count, keyword: &'static str| vec![Violation::new("/x", keyword, "is wrong"); count];
        let count =
            |all: &[Violation], keyword: &str| all.iter().filter(|one| one.keyword == keyword).count();
        let all = with_further(many(2, "type"), many(3, "x-other"));
        assert_eq!((all.len(), count(&all, "x-other"), count(&all, MORE)), (5, 3, 0));
        let mut cut = many(MOST_LISTED, "type");
        cut.push(Violation::new("", MORE, "there are further problems that are not listed"));
        assert_eq!(with_further(cut.clone(), Vec::new()), cut);
        for found in [cut, many(MOST_LISTED, "type"), Vec::new()] {
            for further in [3, MOST_LISTED + 1] {
                let all = with_further(found.clone(), many(further, "x-other"));
                if found.is_empty() && further == 3 {
                    assert_eq!(all.len(), 3);
                    continue;
                }
                assert_eq!(all.len(), MOST_LISTED + 1);
                assert_eq!(count(&all, "x-other"), further.min(MOST_LISTED));
                assert_eq!(all.last().unwrap().keyword, MORE);
            }
        }
    }

    #[test]
    fn every_pattern_and_format_of_the_schemas_has_words() {
        fn walk(value: &Value, seen: &mut usize) {
            match value {
                Value::Object(map) => {
                    for (key, inner) in map {
                        match inner.as_str() {
                            Some(p) if key == "pattern" && map.contains_key("description") => {
                                assert_ne!(pattern_in_words(p), "has the wrong form", "{p}");
                                *seen += 1;
                            }
                            Some(f) if key == "format" => {
                                assert_ne!(format_in_words(f), "has the wrong form", "{f}");
                                *seen += 1;
                            }
                            _ => walk(inner, seen),
                        }
                    }
                }
                Value::Array(items) => items.iter().for_each(|inner| walk(inner, seen)),
                _ => {}
            }
        }
        let mut seen = 0;
        for (_, text) in ContractVersion::ALL.into_iter().flat_map(Contract::schemas) {
            walk(&serde_json::from_str(text).unwrap(), &mut seen);
        }
        assert!(seen > 20, "{seen}");
    }
}
