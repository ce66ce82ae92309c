//! Reading JSON from strangers: what is legal is read, however odd; what is not is refused quickly.
//!
//! Two things that JSON allows and our parser does not are repaired, and only when a first try fails: numbers
//! beyond the range of a double (the largest one is taken) and escapes of lone surrogates (U+FFFD is taken). Values
//! that are only handed back, such as a request's id, are never repaired.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// An object whose members are not read yet. Of a repeated member the last one counts.
#[derive(Debug)]
pub(crate) struct RawObject<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawObject<'a> {
    /// Reads an object; `None` for anything else.
    pub(crate) fn parse(text: &'a str) -> Option<RawObject<'a>> {
        if let Ok(Members(members, _)) = serde_json::from_str::<Members<'a, Key<'a>>>(text) {
            return Some(RawObject(members));
        }
        // A name may hold a lone surrogate, which is legal and not ours to know. Reading names as bytes gets past
        // it, and past other things that are not legal, so the text must be well-formed first.
        serde_json::from_str::<&RawValue>(text).ok()?;
        let Members(members, _) = serde_json::from_str::<Members<'a, OddKey<'a>>>(text).ok()?;
        Some(RawObject(members))
    }

    /// The member, wherever it stands; `null` counts as there.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The member under its ProtoJSON name or its proto name; `null` counts as absent.
    pub(crate) fn proto(&self, json: &str, proto: &str) -> Option<&'a RawValue> {
        self.get(json).or_else(|| self.get(proto)).filter(|value| value.get() != "null")
    }
}

/// The members of an object, in their order.
struct Members<'a, K>(Vec<(Cow<'a, str>, &'a RawValue)>, PhantomData<K>);

impl<'de: 'a, 'a, K: Deserialize<'de> + Into<Cow<'a, str>>> Deserialize<'de> for Members<'a, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<'a, K>(PhantomData<(&'a str, K)>);
        impl<'de: 'a, 'a, K: Deserialize<'de> + Into<Cow<'a, str>>> Visitor<'de> for Object<'a, K> {
            type Value = Members<'a, K>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(key) = map.next_key::<K>()? {
                    members.push((key.into(), map.next_value()?));
                }
                Ok(Members(members, PhantomData))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}

/// A member's name, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

/// The same of an object that is known to be well-formed: lone surrogates become U+FFFD.
struct OddKey<'a>(Cow<'a, str>);

impl<'a> From<Key<'a>> for Cow<'a, str> {
    fn from(key: Key<'a>) -> Self {
        key.0
    }
}

impl<'a> From<OddKey<'a>> for Cow<'a, str> {
    fn from(key: OddKey<'a>) -> Self {
        key.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Name).map(Key)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for OddKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Name).map(OddKey)
    }
}

struct Name;

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// A string member; `Err` when it is not a string, or one that cannot be kept as it is.
pub(crate) fn string(raw: &RawValue) -> Result<Cow<'_, str>, NotText> {
    let text = raw.get();
    match text.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
            Ok(Cow::Borrowed(text.get(1..text.len() - 1).unwrap_or_default()))
        }
        [b'"', ..] => serde_json::from_str(text).map(Cow::Owned).map_err(|_| NotText::LoneSurrogate),
        _ => Err(NotText::OtherType),
    }
}

/// Why a value cannot be taken as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotText {
    OtherType,
    LoneSurrogate,
}

/// Reads any JSON value that is legal. The text is known to be well-formed JSON.
pub(crate) fn value(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok().or_else(|| serde_json::from_str(&repaired(raw.get())).ok())
}

/// The text with the two repairs of this module.
pub(crate) fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => {
                let end = string_end(rest);
                let (literal, _) = rest.split_at(end);
                push_string(&mut out, literal);
                end
            }
            '-' | '0'..='9' => {
                let end = rest
                    .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
                    .unwrap_or(rest.len());
                let (number, _) = rest.split_at(end);
                match number.parse::<f64>() {
                    Ok(n) if n.is_infinite() => {
                        out.push_str(if n > 0.0 {
                            "1.7976931348623157e308"
                        } else {
                            "-1.7976931348623157e308"
                        });
                    }
                    _ => out.push_str(number),
                }
                end
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Where the string literal that `text` begins with ends.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Copies a string literal; escapes of surrogates without their partner become U+FFFD.
fn push_string(out: &mut String, literal: &str) {
    let mut rest = literal;
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let unit = code_unit(tail);
        let taken = match unit {
            Some(0xD800..=0xDBFF) => {
                let low = tail.get(6..).and_then(code_unit);
                if matches!(low, Some(0xDC00..=0xDFFF)) {
                    out.push_str(tail.get(..12).unwrap_or_default());
                    12
                } else {
                    out.push_str("\\ufffd");
                    6
                }
            }
            Some(0xDC00..=0xDFFF) => {
                out.push_str("\\ufffd");
                6
            }
            _ => {
                // Any other escape is a backslash and one character at least; the rest of it is plain text.
                let len = 1 + tail.chars().nth(1).map_or(0, char::len_utf8);
                out.push_str(tail.get(..len).unwrap_or(tail));
                len
            }
        };
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Whether the text nests deeper than `limit`. Looks at brackets outside strings only, before anything is parsed.
pub(crate) fn deeper_than(text: &[u8], limit: usize) -> bool {
    // Counted without looking at strings, many bytes in a step: so few brackets cannot nest deeper. `[` and `{`
    // differ in one bit.
    let brackets = |part: &[u8]| part.iter().map(|byte| u8::from(byte & !0x20 == b'[')).sum::<u8>();
    // In parts that a byte can count, which is what a processor does sixteen of at once.
    if text.chunks(128).map(|part| usize::from(brackets(part))).sum::<usize>() <= limit {
        return false;
    }
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Value> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        value(raw)
    }

    #[test]
    fn numbers_beyond_doubles_are_taken_as_the_largest() {
        assert_eq!(read("[1e999, -1E+400, 1e30]").unwrap(), serde_json::json!([f64::MAX, f64::MIN, 1e30]));
    }

    #[test]
    fn lone_surrogates_become_replacement_characters_and_pairs_stay() {
        assert_eq!(read(r#""a\ud800b""#).unwrap(), "a\u{fffd}b");
        assert_eq!(read(r#""\udc00\ud800A""#).unwrap(), "\u{fffd}\u{fffd}A");
        assert_eq!(read(r#"{"x":"\ud83d\ude00\ud83d"}"#).unwrap()["x"], "😀\u{fffd}");
        assert_eq!(read(r#""\\ud800\ud800""#).unwrap(), "\\ud800\u{fffd}");
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        let object = RawObject::parse(r#"{"a":1,"b":null,"\u0061":2}"#).unwrap();
        assert_eq!(object.get("a").unwrap().get(), "2");
        assert!(object.proto("b", "b").is_none());
        assert!(RawObject::parse("[1]").is_none());
    }

    #[test]
    fn names_with_lone_surrogates_are_read_and_ill_formed_ones_are_not() {
        let object = RawObject::parse(r#"{"\ud800":1,"\udc00x":[1e999],"id":"\ud800"}"#).unwrap();
        assert_eq!(object.get("id").unwrap().get(), r#""\ud800""#);
        assert_eq!(object.get("\u{fffd}\u{fffd}\u{fffd}x").unwrap().get(), "[1e999]");
        for bad in [
            "{\"\\ud800\":1,\"a\nb\":2}",
            r#"{"\ud800":1"#,
            r#"{"\ud8":1}"#,
            r#"{"\ud800":1}}"#,
            r#""\ud800""#,
        ] {
            assert!(RawObject::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn depth_is_counted_outside_strings() {
        assert!(!deeper_than(br#"{"a":"[[[[[["}"#, 1));
        assert!(deeper_than(b"[[[", 2));
        assert!(!deeper_than(b"[][][]", 1));
        assert!(!deeper_than(br#"{"a":["[[[{{{\"{{{"]}"#, 2));
        assert!(deeper_than(br#"{"a":["]]]}}}\"]",[1]]}"#, 2));
    }

    #[test]
    fn strings_are_borrowed_where_possible() {
        let raw: &RawValue = serde_json::from_str("\"plain\"").unwrap();
        assert!(matches!(string(raw), Ok(Cow::Borrowed("plain"))));
        let raw: &RawValue = serde_json::from_str(r#""\ud800""#).unwrap();
        assert_eq!(string(raw), Err(NotText::LoneSurrogate));
    }
}
