//! One vehicle of an XML document: read whole, then laid out as a row.

use std::collections::HashMap;
use std::io::Read;

use crate::raw::Stopped;

use super::events::{Element, Event, Events};
use crate::formats::flat::Flat;
use crate::formats::lexer::Fault;
use crate::limits::Limits;

/// Elements of one vehicle.
const NODES: usize = 20_000;
/// Of a repeated element so many become columns. There are fewer photos and features than that.
const REPEATED: usize = 500;
/// What stands in a list of its own: `<PhotoList><Url>`.
const ENTRIES: &[&str] =
    &["url", "item", "photo", "image", "picture", "option", "feature", "string", "entry", "li"];
/// Attributes that are the value where an element has no text: `<image url="…"/>`.
const VALUES: &[&str] = &["url", "href", "src", "value"];

/// An element with what is in it.
#[derive(Debug)]
pub(super) struct Node {
    name: String,
    google: bool,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Node>,
}

impl Node {
    fn new(element: Element) -> Self {
        let Element { name, google, attributes } = element;
        Self { name, google, attributes, text: String::new(), children: Vec::new() }
    }

    /// Reads an element whose start tag is read already; `None` where it is too large to be held.
    pub(super) fn read<R: Read>(
        start: Element,
        events: &mut Events<R>,
        limits: &Limits,
    ) -> Result<Option<Self>, Fault> {
        let (mut bytes, mut nodes) = (0, 0);
        let mut open = vec![Self::new(start)];
        let mut kept = true;
        let mut depth = 1;
        loop {
            match events.next()? {
                Event::Open(element) => {
                    depth += 1;
                    nodes += 1;
                    bytes += element.attributes.iter().map(|(_, value)| value.len()).sum::<usize>();
                    kept &= nodes <= NODES;
                    if kept {
                        open.push(Self::new(element));
                    }
                }
                Event::Text(text) => {
                    bytes += text.len();
                    kept &= bytes <= limits.field_bytes * 4;
                    if let Some(node) = open.last_mut().filter(|_| kept) {
                        node.text.push_str(&text);
                    }
                }
                Event::Close => {
                    depth -= 1;
                    let Some(node) = open.pop_if(|_| kept || depth == 0) else { continue };
                    match open.last_mut() {
                        Some(parent) if depth > 0 => parent.children.push(node),
                        _ => return Ok(kept.then_some(node)),
                    }
                }
                Event::End => return Err(Fault::Cut),
            }
        }
    }

    /// Lays the element out. Its own attributes become columns of their name.
    pub(super) fn lay_out(&self, flat: &mut Flat) -> Result<(), Stopped> {
        for (name, value) in &self.attributes {
            flat.set(name, value)?;
        }
        self.lay_out_children("", flat)
    }

    fn lay_out_children(&self, path: &str, flat: &mut Flat) -> Result<(), Stopped> {
        let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
        for child in &self.children {
            let count = counts.entry(&child.name).or_default();
            count.0 += 1;
            count.1 += usize::from(child.google);
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for child in &self.children {
            let (all, google) = counts.get(child.name.as_str()).copied().unwrap_or((1, 0));
            // An item of RSS has a `title` of its own and one of Google's, which says more.
            if google > 0 && !child.google {
                continue;
            }
            let repeated = if google > 0 { google } else { all };
            let named = child.named();
            let step = named.unwrap_or(&child.name);
            let mut below = if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
            if repeated > 1 && named.is_none() {
                let number = numbers.entry(&child.name).or_default();
                if *number >= REPEATED {
                    continue;
                }
                below.push_str(&format!("[{number}]"));
                *number += 1;
            }
            child.lay_out_at(&below, named.is_some(), flat)?;
        }
        Ok(())
    }

    fn lay_out_at(&self, path: &str, named: bool, flat: &mut Flat) -> Result<(), Stopped> {
        if self.is_list() {
            for (number, child) in self.children.iter().take(REPEATED).enumerate() {
                child.lay_out_at(&format!("{path}[{number}]"), false, flat)?;
            }
            return Ok(());
        }
        flat.set(path, &self.text)?;
        let bare = self.text.trim().is_empty() && self.children.is_empty();
        for (name, value) in self.attributes.iter().filter(|(name, _)| !(named && NAMES.contains(&&**name))) {
            if bare && VALUES.contains(&name.as_str()) {
                flat.set(path, value)?;
            } else {
                flat.set(&format!("{path}@{name}"), value)?;
            }
        }
        self.lay_out_children(path, flat)
    }

    /// The name that a generic element has in an attribute: `<component name="city">`, `<field key="vin">`.
    fn named(&self) -> Option<&str> {
        let name = self.attributes.iter().find(|(name, _)| NAMES.contains(&&**name));
        let name =
            name.map(|(_, value)| value.trim()).filter(|value| !value.is_empty() && value.len() <= 100);
        name.filter(|_| self.children.is_empty() && !self.text.trim().is_empty())
    }

    /// Whether it holds nothing but a list: `<photos><photo>`, `<ImageList><Url>`.
    fn is_list(&self) -> bool {
        let Some(first) = self.children.first() else { return false };
        let (outer, inner) = (self.name.to_ascii_lowercase(), first.name.to_ascii_lowercase());
        let plural = outer.strip_suffix('s').is_some_and(|one| one == inner);
        let list = (outer.ends_with('s') || outer.ends_with("list")) && ENTRIES.contains(&inner.as_str());
        (plural || list)
            && self.text.trim().is_empty()
            && self.attributes.is_empty()
            && self.children.iter().all(|child| child.name == first.name && child.named().is_none())
    }
}

/// Attributes that name a generic element.
const NAMES: &[&str] = &["name", "key"];
