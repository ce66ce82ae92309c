//! Where in a document the vehicles are, found in one pass over it.

use std::collections::BTreeMap;
use std::io::Read;

use crate::aliases::{fold, is_known};
use crate::raw::Stopped;

use super::super::lexer::{Event, Fault, Lexer};

/// Names that an element must have for its array to be the vehicles without further looking.
const KNOWN: usize = 2;
/// Elements of an array that are looked at.
const LOOKED_AT: usize = 20;
/// Arrays and single values beside them that are kept in mind.
const KEPT: usize = 200;
/// Bytes of such a value.
const VALUE: usize = 1000;
/// Names of a member that says how many vehicles there are.
const COUNTS: &[&str] = &[
    "count",
    "total",
    "totalcount",
    "vehiclecount",
    "itemcount",
    "recordcount",
    "totalvehicles",
    "totalrecords",
    "numberofvehicles",
];

/// Follows a document outside of its arrays.
#[derive(Debug, Default)]
pub(super) struct Outer {
    /// JSON pointer of the last value.
    pointer: String,
    /// Its length without the last step, for each open object.
    lengths: Vec<usize>,
}

impl Outer {
    pub(super) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(super) fn step(&mut self, event: Event, text: &str) {
        match event {
            Event::Key => {
                self.pointer.truncate(self.lengths.last().copied().unwrap_or(0));
                self.pointer.push('/');
                let name: String = text.chars().take(VALUE).collect();
                self.pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
            Event::OpenObject => self.lengths.push(self.pointer.len()),
            Event::CloseObject => {
                self.lengths.pop();
            }
            _ => {}
        }
    }
}

/// What a document is made of.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Pointer of the array of vehicles.
    pub(super) items: Option<String>,
    /// Single values outside of arrays, by path.
    pub(super) top: BTreeMap<String, String>,
    /// How many vehicles there are, as one of them says.
    pub(super) declared: Option<u64>,
    /// Why the document cannot be read to its end. The rows tell it again.
    pub(super) fault: Option<Fault>,
}

struct Array {
    pointer: String,
    objects: usize,
    known: usize,
}

impl Plan {
    /// Reads the document.
    pub(super) fn make<R: Read>(mut lexer: Lexer<R>) -> Result<Self, Stopped> {
        let mut plan = Self::default();
        let mut arrays = Vec::new();
        match plan.follow(&mut lexer, &mut arrays) {
            Ok(()) => {}
            Err(fault) => match Stopped::from(fault) {
                stop if !stop.is_verdict() => return Err(stop),
                Stopped::File { code: crate::code::Code::FeedTruncated, .. } => plan.fault = Some(Fault::Cut),
                stop => plan.fault = Some(Fault::Ill(stop.to_string())),
            },
        }
        let best = arrays.iter().position(|array| array.known >= KNOWN);
        let best = best.or_else(|| arrays.iter().position(|array| array.objects > 0)).unwrap_or(0);
        plan.items = arrays.into_iter().nth(best).map(|array| array.pointer);
        plan.declared = plan.items.as_deref().and_then(|items| plan.declared_beside(items));
        Ok(plan)
    }

    fn follow<R: Read>(&mut self, lexer: &mut Lexer<R>, arrays: &mut Vec<Array>) -> Result<(), Fault> {
        let mut outer = Outer::default();
        loop {
            match lexer.next()? {
                Event::End => return Ok(()),
                Event::OpenArray => {
                    let mut array = Array { pointer: outer.pointer().to_owned(), objects: 0, known: 0 };
                    let read = look(lexer, &mut array);
                    if arrays.len() < KEPT {
                        arrays.push(array);
                    }
                    read?;
                }
                event @ (Event::Text | Event::Number | Event::True | Event::False) => {
                    let text = match event {
                        Event::True => "true",
                        Event::False => "false",
                        _ => lexer.text(),
                    };
                    if self.top.len() < KEPT && text.len() <= VALUE {
                        let path = outer.pointer().trim_start_matches('/').replace('/', ".");
                        self.top.insert(path, text.to_owned());
                    }
                }
                event => outer.step(event, lexer.text()),
            }
        }
    }

    /// The count beside the vehicles, or else at the top of the document.
    fn declared_beside(&self, items: &str) -> Option<u64> {
        let beside = items.rsplit_once('/').map_or("", |(above, _)| above);
        let above = beside.trim_start_matches('/').replace('/', ".");
        let count_in = |above: &str| {
            self.top.iter().find_map(|(path, value)| {
                let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
                let counts = parent == above && COUNTS.contains(&fold(name).as_str());
                counts.then(|| value.parse().ok()).flatten()
            })
        };
        count_in(&above).or_else(|| count_in(""))
    }
}

/// Reads an array to its end and counts what its first objects are made of.
fn look<R: Read>(lexer: &mut Lexer<R>, array: &mut Array) -> Result<(), Fault> {
    let depth = lexer.depth();
    let mut known = 0;
    while lexer.depth() >= depth {
        match lexer.next()? {
            Event::OpenObject if lexer.depth() == depth + 1 => {
                array.objects += 1;
                known = 0;
            }
            Event::Key if lexer.depth() == depth + 1 && array.objects <= LOOKED_AT => {
                known += usize::from(is_known(&fold(lexer.text())));
                array.known = array.known.max(known);
            }
            _ => {}
        }
    }
    Ok(())
}
