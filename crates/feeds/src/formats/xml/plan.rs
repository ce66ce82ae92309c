//! Which element of an XML document is a vehicle, found in a look at its beginning.

use std::collections::HashMap;
use std::io::Read;

use crate::aliases::{fold, is_known};
use crate::formats::lexer::Fault;

use super::events::{Event, Events};

/// Elements that are looked at.
const LOOKED_AT: usize = 20_000;
/// Different places that are kept in mind.
const PLACES: usize = 2_000;
/// Of an element at least so many children must have known names.
const KNOWN: usize = 4;
/// With those of its children counted too, where there are groups in it.
const KNOWN_BELOW: usize = 3;
/// How deep vehicles may be.
const DEEPEST: usize = 6;

/// What is known of the elements of one place.
#[derive(Debug, Default)]
struct Place {
    /// Order of appearance.
    order: usize,
    /// Most known names among its children; and among those and theirs.
    known: usize,
    below: usize,
    /// Whether one parent has several of them.
    repeated: bool,
}

/// An element that is open.
struct Open {
    path: String,
    known: usize,
    below: usize,
    children: HashMap<String, usize>,
}

/// The place of the vehicles, as the names from the root on; and why the document cannot be read further.
pub(super) fn find<R: Read>(events: &mut Events<R>) -> (Option<String>, Option<Fault>) {
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut open: Vec<Open> = Vec::new();
    let mut fault = None;
    for _ in 0..LOOKED_AT * 3 {
        match events.next() {
            Ok(Event::Open(element)) => {
                let known = usize::from(is_known(&fold(&element.name)));
                let in_attributes = element.attributes.iter().filter(|(name, value)| {
                    is_known(&fold(name)) || name == "name" && is_known(&fold(value))
                });
                let in_attributes = in_attributes.count();
                // `<field name="vin">` is as good as `<vin>`.
                let named = known.max(usize::from(
                    element.attributes.iter().any(|(name, value)| name == "name" && is_known(&fold(value))),
                ));
                let mut path = String::new();
                let mut repeated = false;
                let above = open.len();
                if let Some(parent) = open.last_mut() {
                    parent.known += named;
                    parent.below += named;
                    path.clone_from(&parent.path);
                    let count = parent.children.entry(element.name.clone()).or_default();
                    *count += 1;
                    repeated = *count > 1;
                }
                if let Some(grandparent) = above.checked_sub(2).and_then(|at| open.get_mut(at)) {
                    grandparent.below += named;
                }
                path.push('/');
                path.push_str(&element.name);
                if repeated && let Some(place) = places.get_mut(&path) {
                    place.repeated = true;
                }
                open.push(Open {
                    path,
                    known: in_attributes,
                    below: in_attributes,
                    children: HashMap::new(),
                });
            }
            Ok(Event::Close) => {
                let Some(element) = open.pop() else { continue };
                note(&mut places, element, open.len());
            }
            Ok(Event::Text(_)) => {}
            Ok(Event::End) => break,
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    // What is open still counts: it may be the one vehicle that was read, or its beginning.
    while let Some(element) = open.pop() {
        note(&mut places, element, open.len());
    }
    (choose(&places), fault)
}

fn note(places: &mut HashMap<String, Place>, element: Open, depth: usize) {
    // The root is no vehicle.
    if depth == 0 || depth > DEEPEST || (places.len() >= PLACES && !places.contains_key(&element.path)) {
        return;
    }
    let order = places.len();
    let place = places.entry(element.path).or_insert_with(|| Place { order, ..Place::default() });
    place.known = place.known.max(element.known);
    place.below = place.below.max(element.below);
}

fn choose(places: &HashMap<String, Place>) -> Option<String> {
    let best = |fits: &dyn Fn(&Place) -> bool, worth: &dyn Fn(&str, &Place) -> (usize, usize)| {
        let mut fitting: Vec<(&String, &Place)> = places.iter().filter(|(_, place)| fits(place)).collect();
        fitting.sort_by_key(|(_, place)| place.order);
        fitting.into_iter().rev().max_by_key(|(path, place)| worth(path, place)).map(|(path, _)| path.clone())
    };
    let shallow = |path: &str| usize::MAX - path.matches('/').count();
    best(&|place| place.repeated && place.known >= KNOWN, &|_, place| (place.known, 0))
        .or_else(|| {
            best(&|place| place.repeated && place.below >= KNOWN_BELOW, &|path, _| (shallow(path), 0))
        })
        .or_else(|| best(&|place| place.known >= KNOWN, &|_, place| (place.known, 0)))
        .or_else(|| best(&|place| place.below >= 2, &|path, place| (place.below, shallow(path))))
        .or_else(|| best(&|place| place.repeated, &|path, _| (shallow(path), 0)))
}
