//! The outer form of a document, with members that stand twice noticed at every depth.
//!
//! JSON readers keep the last of two equal members and say nothing. Here that would take half a lot off sale: an
//! `inventory` given twice is the second one alone.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The dealers in the order of the document. Members beside `tenants` are for people, such as `about`.
pub(super) struct Outer {
    pub(super) dealers: Vec<Body>,
}

/// What a document says of one dealer.
pub(super) struct Body {
    pub(super) slug: String,
    pub(super) value: Value,
    /// JSON Pointers below the dealer, of members that stand twice in their object.
    pub(super) twice: Vec<String>,
}

impl<'de> Deserialize<'de> for Outer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Document;
        impl<'de> Visitor<'de> for Document {
            type Value = Outer;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the member `tenants`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outer, A::Error> {
                let mut outer = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key != "tenants" {
                        map.next_value::<IgnoredAny>()?;
                    } else if outer.replace(map.next_value_seed(Dealers)?).is_some() {
                        return Err(A::Error::custom("the member `tenants` stands twice"));
                    }
                }
                outer.ok_or_else(|| A::Error::custom("the member `tenants` is missing"))
            }
        }
        deserializer.deserialize_map(Document)
    }
}

struct Dealers;

impl<'de> DeserializeSeed<'de> for Dealers {
    type Value = Outer;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Outer, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Dealers {
    type Value = Outer;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of dealers by slug")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outer, A::Error> {
        let mut dealers: Vec<Body> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(slug) = map.next_key::<String>()? {
            if !seen.insert(slug.clone()) {
                return Err(A::Error::custom(format_args!("the dealer {slug:?} stands twice")));
            }
            let mut twice = Vec::new();
            let value = map.next_value_seed(Tree { at: &mut String::new(), twice: &mut twice })?;
            dealers.push(Body { slug, value, twice });
        }
        Ok(Outer { dealers })
    }
}

/// Reads any value, and notes the places of members that stand twice.
struct Tree<'t> {
    /// Where we are, below the dealer.
    at: &'t mut String,
    twice: &'t mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        let here = self.at.len();
        loop {
            self.at.push_str(&format!("/{}", items.len()));
            let item = seq.next_element_seed(Tree { at: &mut *self.at, twice: &mut *self.twice })?;
            self.at.truncate(here);
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        let here = self.at.len();
        while let Some(key) = map.next_key::<String>()? {
            self.at.push('/');
            self.at.push_str(&key.replace('~', "~0").replace('/', "~1"));
            let value = map.next_value_seed(Tree { at: &mut *self.at, twice: &mut *self.twice })?;
            if members.insert(key, value).is_some() {
                self.twice.push(self.at.clone());
            }
            self.at.truncate(here);
        }
        Ok(Value::Object(members))
    }
}
