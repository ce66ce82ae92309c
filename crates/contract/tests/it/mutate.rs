//! Payloads made from schemas, and ways to spoil them. All of it is deterministic.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Schema documents by file name.
pub(crate) type Documents = BTreeMap<String, Value>;

/// splitmix64: small, and the same on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(n).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A payload in which every member that the schema knows is present.
pub(crate) fn full(all: &Documents, file: &str) -> Value {
    sample(all, file, &all[file])
}

fn sample(all: &Documents, file: &str, schema: &Value) -> Value {
    let (file, schema) = &flat(all, file, schema);
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|options| options.get(0)) {
        return first.clone();
    }
    if let Some(branch) = schema.get("oneOf").and_then(|branches| branches.get(0)) {
        return sample(all, file, branch);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(several)) => several[0].as_str(),
        Some(one) => one.as_str(),
        None => schema.get("properties").map(|_| "object"),
    };
    match kind {
        Some("object") => {
            let mut object = Map::new();
            for (key, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                object.insert(key.clone(), sample(all, file, member));
            }
            if let Some(free) = schema.get("additionalProperties").filter(|s| s.is_object()) {
                object.insert("anything".into(), sample(all, file, free));
            }
            Value::Object(object)
        }
        Some("array") => {
            let mut entry = sample(all, file, &schema["items"]);
            // Where an array must contain a certain entry, the one entry is that one.
            if let (Some(wanted), Some(members)) = (schema.get("contains"), entry.as_object_mut()) {
                members.extend(sample(all, file, wanted).as_object().cloned().unwrap_or_default());
            }
            json!([entry])
        }
        Some("integer") => {
            let bound = |key: &str, otherwise| schema.get(key).and_then(Value::as_i64).unwrap_or(otherwise);
            json!(20.clamp(bound("minimum", 0), bound("maximum", 5000)))
        }
        Some("number") => json!(10.5),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!(text(schema)),
    }
}

fn text(schema: &Map<String, Value>) -> &'static str {
    let format = schema.get("format").and_then(Value::as_str);
    match (schema.get("pattern").and_then(Value::as_str), format) {
        (Some(pattern), _) if pattern.contains("A-HJ-NPR-Z") => "4S4BTGUD5R3217409",
        (Some(pattern), _) if pattern.contains(r"\+") => "+15035550186",
        (Some(pattern), _) if pattern.contains("[0-5]") => "08:30",
        (Some(pattern), _) if pattern.contains("[a-z_]") => "inventory.search.request",
        (Some(pattern), _) if pattern.contains("[hH]") || pattern.contains("[Hh]") => {
            "https://dealer.example/a2a"
        }
        (_, Some("date-time")) => "2026-11-30T09:15:00Z",
        (_, Some("date")) => "2026-11-30",
        (_, Some("uri")) => "https://dealer.example/x",
        (_, Some("email")) => "ilse@post.example",
        _ => "JSONRPC",
    }
}

/// The schema with its references and `allOf` members folded in, and the file in which it now stands.
fn flat(all: &Documents, file: &str, schema: &Value) -> (String, Map<String, Value>) {
    let mut whole = Map::new();
    let mut home = file.to_owned();
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if !name.is_empty() {
            home = name.trim_start_matches("./").to_owned();
        }
        let target = all[&home].pointer(pointer).unwrap();
        let (inner_home, inner) = flat(all, &home.clone(), target);
        home = inner_home;
        whole = inner;
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        let (inner_home, inner) = flat(all, &home.clone(), part);
        home = inner_home;
        merge(&mut whole, &inner);
    }
    merge(&mut whole, schema.as_object().unwrap());
    (home, whole)
}

fn merge(whole: &mut Map<String, Value>, part: &Map<String, Value>) {
    for (key, value) in part {
        match (whole.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
            (Some(known), Some(more)) if key == "properties" => {
                for (name, member) in more {
                    let slot = known.entry(name.clone()).or_insert_with(|| json!({}));
                    merge(slot.as_object_mut().unwrap(), member.as_object().unwrap());
                }
            }
            _ => drop(whole.insert(key.clone(), value.clone())),
        }
    }
}

/// Texts around every limit, format, pattern and vocabulary of the schemas.
fn texts() -> Vec<Value> {
    [
        "",
        " ",
        "\t",
        "\u{feff}",
        "\u{85}",
        "x",
        "brand_new",
        "new",
        "used",
        "cpo",
        "excellent",
        "poor",
        "available",
        "sold",
        "pending",
        "car",
        "boat",
        "price",
        "color",
        "asc",
        "up",
        "email",
        "sms",
        "any",
        "fax",
        "lead_submission",
        "test_drive",
        "delivery",
        "received",
        "duplicate",
        "requested",
        "confirmed",
        "rejected",
        "INVALID_CURSOR",
        "RATE_LIMITED",
        "SOMETHING_ELSE",
        "JSONRPC",
        "GRPC",
        "aap.error",
        "inventory.search.request",
        "2026-11-30",
        "2026-02-30",
        "2026-11-30T09:15:00",
        "2026-11-30T09:15:00Z",
        "2026-11-30T09:15:00-08:00",
        "2026-11-30t09:15:00z",
        "2026-11-30T09:15:00+25:00",
        "2026-12-31T23:59:60Z",
        "2026-11-30T09:15:00Z\n",
        "https://a.example",
        "HTTPS://A.EXAMPLE/",
        "https://u:p@a.example:8443/x?y#z",
        "https://a.example:/",
        "https://[2001:db8::1]:1/x",
        "https://[::1]x",
        "https://a.example:8x",
        "https://",
        "https:///x",
        "https://?x",
        "https://a b",
        "http://localhost",
        "http://LOCALHOST:80/x",
        "http://localhost:/",
        "http://localhost.evil.example",
        "http://127.0.0.1:1",
        "http://127.0.0.12",
        "http://[::1]/",
        "http://[::1]:x",
        "http://u@localhost/",
        "http://a.example",
        "ftp://a.example",
        "a.example",
        "//a.example",
        "urn:x:y",
        "https://a.example/\n",
        "https://autoagentprotocol.org/extensions/aap/v3.0",
        "https://autoagentprotocol.org/extensions/aap/v1.3",
        "https://autoagentprotocol.org/extensions/aap/v3.0/",
        "https://autoagentprotocolXorg/extensions/aap/v3.0",
        "a@b.example",
        "a@b",
        "a@b@c.example",
        "+1",
        "x+15035550186",
        "+15",
        "+123456789012345",
        "+1234567890123456",
        "+0123",
        "+1503٣",
        "+1 503",
        "4S4BTGUD5R3217409\n",
        "x4S4BTGUD5R3217409",
        "4s4btgud5r3217409",
        "inventory.search.request\n",
        "inventory.search.request!",
        "urn:x:https://a.example/",
        "4S4BTGUD5R321740",
        "IS4BTGUD5R3217409",
        "00:00",
        "23:59",
        "24:00",
        "9:00",
        "09:60",
        "09:00\n",
        "٠٩:٠٠",
    ]
    .map(|text| json!(text))
    .into()
}

fn numbers() -> Vec<Value> {
    let whole =
        [-181, -180, -91, -90, -1, 0, 1, 14, 15, 90, 91, 180, 181, 1000, 1001, 1899, 1900, 2100, 2101];
    let broken = [-90.5, -0.5, 0.5, 14.5, 20.0, 20.5, 90.5, 1000.5, 1e4, 1e30, -1e30];
    whole.into_iter().map(|n| json!(n)).chain(broken.into_iter().map(|n| json!(n))).collect()
}

/// Members that some schema knows, to be put where they do not belong.
fn strays() -> Vec<(&'static str, Value)> {
    vec![
        ("made_up", json!(1)),
        ("made_up", json!([1.5])),
        ("made_up", json!(["a"])),
        ("made_up", json!([true])),
        ("a/b~c", Value::Null),
        ("__proto__", json!({})),
        ("", json!(0)),
        ("skip", json!(0)),
        ("limit", json!(5)),
        ("cursor", json!("c")),
        ("next_cursor", Value::Null),
        ("status", json!(["available"])),
        ("status", json!("available")),
        ("features", json!(["x"])),
        ("facets", json!({})),
        ("applied_filters", json!({})),
        ("sort", json!({"field": "price", "order": "asc"})),
        ("dealer_id", json!("d")),
        ("dealer_id", json!(7)),
        ("type", json!("x")),
        ("message", json!("m")),
        ("@type", json!("https://autoagentprotocol.org/extensions/aap/error")),
        ("vin", json!("4S4BTGUD5R3217409")),
        ("condition", json!("good")),
        ("name", json!("n")),
        ("required", json!(true)),
        ("tenant", json!(5)),
        ("appointment_at", json!("soon")),
        ("schemes", json!({"a": {"list": [1]}})),
        ("mileage_min", json!(1)),
    ]
}

/// Entries to be put at the end of a list, most of them for the lists of a card.
fn entries() -> Vec<Value> {
    let uri = "https://autoagentprotocol.org/extensions/aap/";
    let interface = |binding: Value| json!({"url": "https://a.example", "protocolBinding": binding, "protocolVersion": "1.0"});
    vec![
        json!(null),
        json!(7),
        json!("x"),
        json!({}),
        json!({"description": "no uri"}),
        json!({"uri": "https://elsewhere.example/e"}),
        json!({"uri": "not an address"}),
        json!({"uri": 5}),
        json!({"uri": null}),
        json!({"uri": "https://elsewhere.example/e", "required": null}),
        json!({"uri": format!("urn:x:{uri}v1.3")}),
        json!({"uri": format!("{uri}v1.3")}),
        json!({"uri": format!("{uri}v3.0"), "required": false}),
        json!({"uri": "urn:x:y", "required": "yes"}),
        interface(json!("")),
        interface(json!("GRPC")),
        interface(json!("G")),
        interface(json!("HTTP+JSON")),
        interface(json!("brand_new")),
        interface(Value::Null),
        json!({"url": "https://a.example", "protocolVersion": "1.0"}),
        interface(json!(5)),
        json!({"list": [], "more": 1}),
    ]
}

/// One change: at a place, a new value or none.
#[derive(Clone)]
pub(crate) struct Change {
    at: String,
    to: Option<Value>,
}

impl Change {
    pub(crate) fn apply(&self, payload: &Value) -> Option<Value> {
        let mut changed = payload.clone();
        let Some((parent, key)) = self.at.rsplit_once('/') else {
            return self.to.clone();
        };
        let key = key.replace("~1", "/").replace("~0", "~");
        match (changed.pointer_mut(parent)?, &self.to) {
            (Value::Object(map), Some(to)) => drop(map.insert(key, to.clone())),
            (Value::Object(map), None) => drop(map.remove(&key)?),
            (Value::Array(items), Some(to)) => match key.parse::<usize>().ok()? {
                i if i < items.len() => items[i] = to.clone(),
                _ => items.push(to.clone()),
            },
            (Value::Array(items), None) => {
                let i = key.parse::<usize>().ok().filter(|i| *i < items.len())?;
                drop(items.remove(i));
            }
            _ => return None,
        }
        Some(changed)
    }
}

/// Every single change that is worth trying on a payload.
pub(crate) fn changes(payload: &Value) -> Vec<Change> {
    Vocabulary::of(&[]).changes(payload)
}

/// What is put into payloads.
pub(crate) struct Vocabulary {
    /// Whatever the member is.
    texts: Vec<Value>,
    numbers: Vec<Value>,
    strays: Vec<(&'static str, Value)>,
    entries: Vec<Value>,
    /// For members of a name: the words that some schema allows there, and what is just within or beyond its limits.
    named: BTreeMap<String, BTreeSet<String>>,
    limits: BTreeMap<String, BTreeSet<i64>>,
}

impl Vocabulary {
    /// What is always worth trying, and what these schemas say of single members.
    pub(crate) fn of(schemas: &[&Documents]) -> Vocabulary {
        let (mut named, mut limits) = (BTreeMap::new(), BTreeMap::new());
        for document in schemas.iter().flat_map(|all| all.values()) {
            walk(document, String::new(), &mut |at, value| {
                let (of, keyword) = at.rsplit_once('/').unwrap_or_default();
                let Some(name) = member(at) else { return };
                match value {
                    Value::String(word) if keyword == "const" || of.ends_with("/enum") => {
                        add(&mut named, name, [word.clone()]);
                    }
                    Value::Number(n) if !at.contains("/examples") => {
                        let n = n.as_i64().unwrap_or_default();
                        match usize::try_from(n).ok().filter(|_| keyword.ends_with("Length")) {
                            Some(n) => add(
                                &mut named,
                                name,
                                ["é".repeat(n), "x".repeat(n + 1), "🚗".repeat(n / 2 + 1)],
                            ),
                            None => add(&mut limits, name, [n - 1, n, n + 1]),
                        }
                    }
                    _ => {}
                }
            });
        }
        Vocabulary { texts: texts(), numbers: numbers(), strays: strays(), entries: entries(), named, limits }
    }

    /// Every single change that is worth trying on a payload.
    pub(crate) fn changes(&self, payload: &Value) -> Vec<Change> {
        self.some_changes(payload, 1)
    }

    /// The same, but of what is not meant for the very member only every `nth`, at each place another one.
    pub(crate) fn some_changes(&self, payload: &Value, nth: usize) -> Vec<Change> {
        let Vocabulary { texts, numbers, strays, entries, .. } = self;
        let mut all = Vec::new();
        let mut turn = 0;
        walk(payload, String::new(), &mut |at, value| {
            turn += 1;
            let name = at.rsplit('/').find(|key| key.parse::<usize>().is_err()).unwrap_or_default();
            let mut to = |new: Value| all.push(Change { at: at.to_owned(), to: Some(new) });
            let few = if nth < 8 { 1 } else { nth.min(odds().len()) };
            for odd in odds().into_iter().skip(turn % few).step_by(few) {
                to(odd);
            }
            match value {
                Value::String(_) => {
                    to(json!(""));
                    texts.iter().skip(turn % nth).step_by(nth).cloned().for_each(&mut to);
                    self.named.get(name).into_iter().flatten().for_each(|word| to(json!(word)));
                }
                Value::Number(_) => {
                    numbers.iter().skip(turn % nth).step_by(nth).cloned().for_each(&mut to);
                    self.limits.get(name).into_iter().flatten().for_each(|limit| to(json!(limit)));
                }
                Value::Array(items) => {
                    let end = format!("{at}/{}", items.len());
                    // As many entries as some limit for the member allows, and one more.
                    for n in
                        self.limits.get(name).into_iter().flatten().filter_map(|n| usize::try_from(*n).ok())
                    {
                        let many =
                            (0..n.min(300)).map_while(|i| items.first().map(|entry| another(entry, i)));
                        all.push(Change { at: at.to_owned(), to: Some(many.collect()) });
                    }
                    let more = items.first().into_iter().chain(entries.iter().skip(turn % nth).step_by(nth));
                    all.extend(more.map(|entry| Change { at: end.clone(), to: Some(entry.clone()) }));
                }
                Value::Object(_) => {
                    let stray = |(key, value): &(&str, Value)| {
                        let key = key.replace('~', "~0").replace('/', "~1");
                        Change { at: format!("{at}/{key}"), to: Some(value.clone()) }
                    };
                    all.extend(strays.iter().skip(turn % nth).step_by(nth).map(stray));
                }
                Value::Null | Value::Bool(_) => {}
            }
            if !at.is_empty() {
                all.push(Change { at: at.to_owned(), to: None });
            }
        });
        all
    }
}

/// An entry that differs from its neighbours, where that is possible without knowing what it means.
fn another(entry: &Value, i: usize) -> Value {
    let mut entry = entry.clone();
    match &mut entry {
        Value::String(text) if text.starts_with("https://") => text.push_str(&i.to_string()),
        Value::Object(members) if members.contains_key("name") => {
            drop(members.insert("name".into(), json!(format!("n {i}"))))
        }
        _ => {}
    }
    entry
}

/// Values of every type.
fn odds() -> [Value; 9] {
    [
        json!(null),
        json!(true),
        json!(false),
        json!("x"),
        json!(0),
        json!([]),
        json!([null]),
        json!({}),
        json!({"x": 1}),
    ]
}

/// The member that a place in a schema speaks of.
fn member(at: &str) -> Option<&str> {
    let (_, below) = at.rsplit_once("/properties/")?;
    below.split('/').next()
}

fn add<T: Ord>(to: &mut BTreeMap<String, BTreeSet<T>>, name: &str, more: impl IntoIterator<Item = T>) {
    to.entry(name.to_owned()).or_default().extend(more);
}

fn walk(value: &Value, at: String, visit: &mut dyn FnMut(&str, &Value)) {
    visit(&at, value);
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                walk(inner, format!("{at}/{key}"), visit);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| walk(inner, format!("{at}/{i}"), visit));
        }
        _ => {}
    }
}
