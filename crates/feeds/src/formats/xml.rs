//! XML: Meta listings, RSS and Atom with Google's names, and whatever repeats one element (FEEDS.md 2.6, 2.7, 3.9).
//!
//! Columns are paths: `mileage.value`, `image[0].url`, `address.city` (of `<component name="city">`). An attribute is
//! `price@currency`; those of the vehicle's own element have their plain name. `<photos><photo>` is `photos[0]`.

mod events;
mod plan;
mod tree;

use std::io::Read;

use crate::code::{Code, Level};
use crate::encoding::Encoding;
use crate::finding::Finding;
use crate::limits::Limits;
use crate::raw::{Columns, Opened, RawRow, Refused, Stopped};

use self::events::{Element, Event, Events};
use self::tree::Node;
use super::course::{Course, Step};
use super::flat::Flat;
use super::{FellBack, Format, Opening, about_file, without_rows};

pub(super) const FORMAT: Format = Format { is, open };

/// Single values beside the vehicles that are kept, and their bytes.
const TOP: usize = 200;
const TOP_BYTES: usize = 1000;

fn is(opening: &Opening<'_, '_>) -> bool {
    opening.text.trim_start().starts_with('<')
}

fn open<'s>(mut opening: Opening<'s, '_>) -> Result<Opened<'s>, Refused> {
    let limits = opening.limits;
    // Names of elements are the same whatever the encoding turns out to be, and what is wrong with the beginning is
    // told before the whole file is looked at.
    let supposed = opening.encoding.unwrap_or(Encoding::Utf8);
    let (place, fault) = plan::find(&mut Events::new(opening.read(supposed)?.reader, &limits));
    let mut detected = std::mem::take(&mut opening.detected);
    detected.format = Some("xml".to_owned());
    let Some(place) = place else {
        return match fault.map(Stopped::from) {
            Some(Stopped::File { code, .. }) if code.level() == Level::Verdict => {
                Ok(without_rows(detected, code))
            }
            Some(stop) => Err(stop.into()),
            None => Ok(without_rows(detected, Code::FeedEmpty)),
        };
    };
    let refusal = fault.map(Stopped::from).filter(|stop| !stop.is_verdict());
    if let Some(stop) = refusal {
        return Err(stop.into());
    }
    let encoding = opening.settle_encoding()?;
    detected.encoding = encoding.as_str().to_owned();
    detected.item_element = place.rsplit('/').next().map(str::to_owned);
    let text = opening.read(encoding)?;
    let rows = XmlRows {
        events: Events::new(text.reader, &limits),
        flat: Flat::new(limits),
        limits,
        course: Course::new(text.taken),
        fell_back: text.fallbacks,
        place,
        path: String::new(),
        text: String::new(),
    };
    Ok(Opened { detected, findings: Opening::findings(encoding), rows: Box::new(rows) })
}

struct XmlRows<R> {
    events: Events<R>,
    flat: Flat,
    limits: Limits,
    course: Course,
    fell_back: FellBack,
    /// Where the vehicles are.
    place: String,
    /// Where the reading is, outside of vehicles, and the text of the last element there.
    path: String,
    text: String,
}

impl<R: Read> XmlRows<R> {
    fn advance(&mut self) -> Result<Option<RawRow>, Stopped> {
        loop {
            let start = self.events.offset();
            match self.events.next()? {
                Event::Open(element) => {
                    self.path.push('/');
                    self.path.push_str(&element.name);
                    self.text.clear();
                    if self.path == self.place {
                        let row = self.vehicle(element, start);
                        self.leave();
                        return row.map(Some);
                    }
                    for (name, value) in &element.attributes {
                        self.keep(Some(name), value);
                    }
                }
                Event::Text(text) => {
                    if self.text.len() <= TOP_BYTES {
                        self.text.push_str(&text);
                    }
                }
                Event::Close => {
                    let text = std::mem::take(&mut self.text);
                    self.keep(None, &text);
                    self.leave();
                }
                Event::End => {
                    self.course.done = true;
                    return Ok(None);
                }
            }
        }
    }

    fn leave(&mut self) {
        let above = self.path.rfind('/').unwrap_or(0);
        self.path.truncate(above);
    }

    /// Keeps a single value beside the vehicles under its path below the root.
    fn keep(&mut self, attribute: Option<&str>, value: &str) {
        let value = value.trim();
        if value.is_empty() || value.len() > TOP_BYTES || self.course.top.len() >= TOP {
            return;
        }
        let below = self.path.trim_start_matches('/').split_once('/').map_or("", |(_, below)| below);
        let steps = below.split('/').chain(attribute).filter(|step| !step.is_empty());
        self.course.top.insert(steps.collect::<Vec<_>>().join("."), value.to_owned());
    }

    fn vehicle(&mut self, element: Element, start: u64) -> Result<RawRow, Stopped> {
        self.flat.begin()?;
        let read = Node::read(element, &mut self.events, &self.limits);
        match read.map_err(Stopped::from) {
            Ok(Some(node)) => node.lay_out(&mut self.flat)?,
            Ok(None) => self.flat.too_large(),
            Err(stop) if stop.is_verdict() => {
                self.course.stop = Some(stop);
                return Ok(self.flat.lost(Code::RowUnparseable, ""));
            }
            Err(stop) => return Err(stop),
        }
        let fell_back = self.fell_back.between(start, self.events.offset());
        Ok(self.flat.finish(fell_back))
    }
}

impl<R: Read + Send> Step for XmlRows<R> {
    fn columns(&self) -> &Columns {
        &self.flat.columns
    }

    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn step(&mut self) -> Result<Option<RawRow>, Stopped> {
        self.advance()
    }

    fn end(&mut self) -> Vec<Finding> {
        if self.flat.rows() == 0 { vec![about_file(Code::FeedEmpty)] } else { Vec::new() }
    }
}
