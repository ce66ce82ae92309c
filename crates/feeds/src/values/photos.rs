//! Addresses of pictures (FEEDS.md 5.8). Whether they can be had is looked at later, never while a file is read.

use std::collections::HashSet;

use serde_json::Value;

use super::url;
use crate::code::Code;

/// A cell that holds pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// One address, a list, or JSON. A blank one is a picture without an address: leave out cells that are blank because
    /// the row has no further picture.
    pub text: &'a str,
    /// Its place among the pictures, where the feed says it.
    pub order: Option<i64>,
}

impl<'a> Cell<'a> {
    /// A cell whose place is where it stands.
    pub fn at_its_place(text: &'a str) -> Self {
        Self { text, order: None }
    }
}

/// The pictures of a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Photos {
    /// Addresses, each once, the best one first.
    pub addresses: Vec<String>,
    /// What should be said, each code once, with the first text that it is about.
    pub codes: Vec<(Code, String)>,
}

impl Photos {
    fn say(&mut self, code: Code, about: &str) {
        if self.codes.iter().all(|(known, _)| *known != code) {
            self.codes.push((code, about.to_owned()));
        }
    }
}

/// Reads the pictures of a unit out of its cells, in the order of the file. At most `most` are kept.
pub fn read<'a>(cells: impl IntoIterator<Item = Cell<'a>>, most: usize) -> Photos {
    let mut photos = Photos::default();
    let mut found: Vec<(i64, String)> = Vec::new();
    for cell in cells {
        pieces(cell, &mut photos, &mut found);
    }
    // Those without a place of their own go behind; the sort is stable.
    found.sort_by_key(|(order, _)| *order);
    let mut seen = HashSet::new();
    for (_, piece) in found {
        let Some(address) = url::absolute(&piece) else {
            photos.say(Code::PhotoUrlInvalid, &piece);
            continue;
        };
        if is_placeholder(&address) {
            photos.say(Code::PhotoPlaceholder, &piece);
        } else if !seen.insert(address.clone()) {
            // The same picture again is no fault.
        } else if photos.addresses.len() >= most {
            photos.say(Code::PhotosTooMany, &piece);
        } else {
            if !address.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
                && !url::is_this_machine(&address)
            {
                photos.say(Code::PhotoNotHttps, &piece);
            }
            photos.addresses.push(address);
        }
    }
    photos
}

fn pieces(cell: Cell<'_>, photos: &mut Photos, found: &mut Vec<(i64, String)>) {
    let text = cell.text.trim();
    let order = cell.order.unwrap_or(i64::MAX);
    if text.is_empty() {
        photos.say(Code::PhotoUrlInvalid, "");
        return;
    }
    if text.starts_with(['[', '{']) {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => items.iter().for_each(|item| of_json(item, order, photos, found)),
            Ok(item) => of_json(&item, order, photos, found),
            Err(_) => photos.say(Code::PhotoUrlInvalid, text),
        }
        return;
    }
    found.extend(split(text).into_iter().map(|piece| (order, piece.to_owned())));
}

fn of_json(item: &Value, order: i64, photos: &mut Photos, found: &mut Vec<(i64, String)>) {
    let (address, order) = match item {
        Value::String(address) => (Some(address), order),
        Value::Object(members) => {
            let address = ["url", "href", "src"].iter().find_map(|name| match members.get(*name) {
                Some(Value::String(address)) => Some(address),
                _ => None,
            });
            (address, members.get("order").and_then(Value::as_i64).unwrap_or(order))
        }
        _ => (None, order),
    };
    match address {
        Some(address) => found.push((order, address.clone())),
        None => photos.say(Code::PhotoUrlInvalid, &item.to_string()),
    }
}

/// Splits a list, but only where the next piece begins an address: commas and blanks inside addresses are usual.
fn split(text: &str) -> Vec<&str> {
    const WEB: &[&str] = &["http://", "https://", "//"];
    const LOCAL: &[&str] = &["http://", "https://", "//", "/"];
    const HTTP: &[&str] = &["http://", "https://"];
    let mut pieces: Vec<&str> = text.split('|').collect();
    for (separator, begins) in [(';', WEB), (',', LOCAL), (' ', HTTP)] {
        pieces = pieces.into_iter().flat_map(|piece| split_before(piece, separator, begins)).collect();
    }
    pieces
        .into_iter()
        .map(|piece| piece.trim_matches(|sign: char| sign.is_whitespace() || matches!(sign, ',' | ';')))
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn split_before<'a>(text: &'a str, separator: char, begins: &[&str]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, sign) in text.char_indices() {
        let parts = if separator == ' ' { sign.is_whitespace() } else { sign == separator };
        let next = place + sign.len_utf8();
        if parts && text.get(next..).is_some_and(|rest| starts_with_any(rest, begins)) {
            pieces.push(text.get(start..place).unwrap_or_default());
            start = next;
        }
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces
}

/// Whether an address begins here, after a few blanks.
fn starts_with_any(text: &str, begins: &[&str]) -> bool {
    let blanks: usize =
        text.chars().take(4).take_while(|sign| sign.is_whitespace()).map(char::len_utf8).sum();
    let text = text.get(blanks..).unwrap_or_default();
    begins.iter().any(|begin| text.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin)))
}

/// Whether the name of the file says that there is no picture yet.
fn is_placeholder(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase().replace("%20", " ");
    if let Some((stem, ending)) = name.rsplit_once('.')
        && stem == "default"
        && matches!(ending, "jpg" | "jpeg" | "png" | "gif" | "webp")
    {
        return true;
    }
    let words: Vec<&str> =
        name.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let one = |word: &&str| {
        word.contains("placeholder")
            || word.contains("comingsoon")
            || ["noimage", "nophoto", "nopic"].iter().any(|start| word.starts_with(start))
    };
    words.iter().any(one)
        || words.windows(2).any(|two| {
            matches!(
                two,
                ["coming", "soon"]
                    | ["no", "image" | "images" | "photo" | "photos" | "pic" | "picture" | "pictures"]
            )
        })
}
