//! Payloads made from schemas, and ways to spoil them. All of it is deterministic.

mod sample;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

pub(crate) use self::sample::full;
use self::values::{entries, numbers, odds, strays, texts};

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
