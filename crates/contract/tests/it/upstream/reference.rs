//! The published schemas and examples, where they lie beside this repository, of which they are no part.

use std::path::PathBuf;

use contract::{ContractVersion, FaultCode};
use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use crate::mutate::Documents;

const DRAFT_BASE: &str = "https://draft.autoagentprotocol.invalid/latest/schemas/";
const DRAFT_EXTENSION: &str = "https://draft.autoagentprotocol.invalid/extensions/aap/latest";

/// What there is to hold a version against.
pub(crate) struct Reference {
    pub(crate) documents: Documents,
    /// The payloads inside the published examples, whatever they are wrapped in.
    pub(crate) examples: Vec<Value>,
    base: &'static str,
}

impl Reference {
    /// `None` where the published files are not there, which is said.
    pub(crate) fn of(version: ContractVersion) -> Option<Reference> {
        // Of v3.0 nothing is published; it is the draft with the changes of AAP.md 16.2.
        let (folder, base) = match version {
            ContractVersion::V1_3 => ("v1.3", "https://autoagentprotocol.org/v1.3/schemas/"),
            ContractVersion::Latest | ContractVersion::V3_0 => ("latest", DRAFT_BASE),
        };
        let root =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/contract/upstream").join(folder);
        if !root.join("schemas").is_dir() {
            eprintln!("skipped: {} is not there, so there is nothing to compare with", root.display());
            return None;
        }
        let read = |path: PathBuf| -> Value {
            let mut text = std::fs::read_to_string(path).unwrap();
            if version == ContractVersion::V3_0 {
                text = text.replace(DRAFT_EXTENSION, version.spec().unwrap().extension_uri);
            }
            serde_json::from_str(&text).unwrap()
        };
        let files = |folder: PathBuf| {
            let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.is_file()).collect::<Vec<_>>()
        };
        let mut documents = Documents::new();
        for prefix in ["", "_primitives/"] {
            for path in files(root.join("schemas").join(prefix)) {
                let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
                documents.insert(name, read(path));
            }
        }
        if version == ContractVersion::V3_0 {
            become_v3_0(&mut documents);
        }
        // Ours alone: what search and detail demand of a unit, under a name of its own.
        let unit = "./inventory-search-response.schema.json#/properties/data/properties/vehicles/items";
        let listing = json!({"$id": format!("{base}listing.schema.json"), "$ref": unit});
        assert!(documents.insert("listing.schema.json".into(), listing).is_none());
        let examples = files(root.join("examples")).into_iter().map(read).flat_map(unwrapped).collect();
        Some(Reference { documents, examples, base })
    }

    /// With the library's own pattern engine, not the one that the crate uses.
    pub(crate) fn compile(&self) -> Vec<(String, Validator)> {
        let files = self.documents.iter();
        let registry = Registry::new()
            .extend(files.clone().map(|(f, d)| (format!("{}{f}", self.base), d)))
            .unwrap()
            .prepare()
            .unwrap();
        let options =
            jsonschema::draft202012::options().with_registry(&registry).should_validate_formats(true);
        files.map(|(file, document)| (file.clone(), options.build(document).unwrap())).collect()
    }
}

fn unwrapped(whole: Value) -> Vec<Value> {
    let inside = [
        "/params/message/parts/0/data",
        "/result/message/parts/0/data",
        "/error/data",
        "/error/data/2",
        "/error/data/1",
    ];
    let mut all: Vec<Value> = inside.iter().filter_map(|pointer| whole.pointer(pointer).cloned()).collect();
    all.push(whole);
    all
}

/// The whole difference between the draft and v3.0 (AAP.md 7.4 and 16.2).
fn become_v3_0(all: &mut Documents) {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let statuses = json!(["available", "intransit", "pending"]);
    let members = |all: &mut Documents, file: &str, pointer: &str, remove: &[&str], add: Value| {
        let target = all.get_mut(file).unwrap().pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        for key in remove {
            target.remove(*key).unwrap();
        }
        for (key, value) in add.as_object().unwrap() {
            assert!(target.insert(key.clone(), value.clone()).is_none(), "{file}: {key} was there before");
        }
    };

    for stem in
        ["dealer-information", "inventory-facets", "inventory-search", "vehicle-detail", "lead-submit"]
    {
        let add = json!({"dealer_id": {"type": "string"}});
        members(all, &format!("{stem}-request.schema.json"), "/properties", &[], add);
    }
    let request = "inventory-search-request.schema.json";
    let cursor = json!({"type": "string", "minLength": 1, "maxLength": 2048});
    members(all, request, "/properties/pagination/properties", &["skip"], json!({"cursor": cursor}));
    let status = json!({"type": "array", "items": {"type": "string", "enum": statuses}});
    members(all, request, "/$defs/filters/properties", &[], json!({"status": status, "features": texts}));

    let sort = all[request]["properties"]["sort"].clone();
    let answer = "inventory-search-response.schema.json";
    let add = json!({
        "next_cursor": {"type": ["string", "null"], "minLength": 1, "maxLength": 2048},
        "applied_filters": {"$ref": "./inventory-search-request.schema.json#/$defs/filters"},
        "sort": sort,
    });
    members(all, answer, "/properties/data/properties", &["skip", "facets"], add);
    let all_six = json!(["total", "limit", "next_cursor", "applied_filters", "sort", "vehicles"]);
    *all.get_mut(answer).unwrap().pointer_mut("/properties/data/required").unwrap() = all_six;

    let error = all.get_mut("error.schema.json").unwrap();
    error["properties"].as_object_mut().unwrap().remove("@type").unwrap();
    error["required"].as_array_mut().unwrap().retain(|key| key != "@type");
    error["properties"]["code"]["enum"] = FaultCode::ALL.iter().map(|code| code.as_str()).collect();
}
