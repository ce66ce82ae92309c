//! JSON: an array of vehicles, or an object with one inside (FEEDS.md 2.9, 3.10).

mod element;
mod plan;

use std::io::Read;

use crate::code::Code;
use crate::finding::Finding;
use crate::raw::{Columns, Opened, RawRow, Refused, Stopped};

use self::plan::{Outer, Plan};
use super::course::{Course, Step};
use super::flat::Flat;
use super::lexer::{Event, Fault, Lexer};
use super::{FellBack, Format, Opening, about_file, without_rows};

pub(super) use self::element::{is_vehicle, object};

pub(super) const FORMAT: Format = Format { is, open };

/// Not `[VIN],[Year]`, the header of some database exports.
fn is(opening: &Opening<'_, '_>) -> bool {
    let text = opening.text.trim_start();
    let second = || text.get(1..).unwrap_or_default().trim_start().chars().next();
    match text.chars().next() {
        Some('{') => true,
        Some('[') => second().is_none_or(|sign| matches!(sign, '{' | '[' | ']' | '"' | '-' | '0'..='9')),
        _ => false,
    }
}

fn open<'s>(mut opening: Opening<'s, '_>) -> Result<Opened<'s>, Refused> {
    let encoding = opening.settle_encoding()?;
    let limits = opening.limits;
    let plan = Plan::make(Lexer::new(opening.read(encoding)?.reader, limits.depth, limits.field_bytes))?;
    let mut detected = std::mem::take(&mut opening.detected);
    detected.format = Some("json".to_owned());
    let Some(items) = plan.items else {
        // What is wrong with the document counts for more than that it has no vehicles.
        let code = match plan.fault {
            Some(Fault::Cut) => Code::FeedTruncated,
            Some(_) => Code::FeedNotWellformed,
            None => Code::FeedEmpty,
        };
        return Ok(without_rows(detected, code));
    };
    detected.items_path = Some(items.clone());
    detected.declared_count = plan.declared;
    let text = opening.read(encoding)?;
    let rows = JsonRows {
        lexer: Lexer::new(text.reader, limits.depth, limits.field_bytes),
        flat: Flat::new(limits),
        course: Course { top: plan.top, ..Course::new(text.taken) },
        fell_back: text.fallbacks,
        outer: Outer::default(),
        items,
        within: None,
        declared: plan.declared,
    };
    Ok(Opened { detected, findings: Opening::findings(encoding), rows: Box::new(rows) })
}

struct JsonRows<R> {
    lexer: Lexer<R>,
    flat: Flat,
    course: Course,
    fell_back: FellBack,
    outer: Outer,
    /// Pointer of the array of vehicles.
    items: String,
    /// Its depth, while its elements are read.
    within: Option<usize>,
    declared: Option<u64>,
}

impl<R: Read> JsonRows<R> {
    fn advance(&mut self) -> Result<Option<RawRow>, Stopped> {
        loop {
            let start = self.lexer.offset();
            let event = self.lexer.next()?;
            match (self.within, event) {
                (_, Event::End) => {
                    self.course.done = true;
                    return Ok(None);
                }
                (Some(_), Event::CloseArray) => self.within = None,
                (Some(depth), event) => return self.element(depth, event, start).map(Some),
                (None, Event::OpenArray) if self.outer.pointer() == self.items => {
                    self.within = Some(self.lexer.depth());
                    // A second array of that name would be read as well, which JSON leaves open.
                }
                (None, Event::OpenArray) => self.skip(self.lexer.depth() - 1)?,
                (None, event) => self.outer.step(event, self.lexer.text()),
            }
        }
    }

    /// Reads on until the depth is that again.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        while self.lexer.depth() > depth {
            self.lexer.next()?;
        }
        Ok(())
    }

    fn element(&mut self, depth: usize, event: Event, start: u64) -> Result<RawRow, Stopped> {
        self.flat.begin()?;
        let (read, beginning) = match event {
            Event::OpenObject => (object(&mut self.lexer, &mut self.flat), None),
            Event::OpenArray => (self.skip(depth).map_err(Stopped::from), Some("[…]".to_owned())),
            Event::Text | Event::Number => (Ok(()), Some(self.lexer.text().to_owned())),
            other => (Ok(()), Some(format!("{other:?}").to_lowercase())),
        };
        match (read, beginning) {
            (Ok(()), None) => {
                let fell_back = self.fell_back.between(start, self.lexer.offset());
                Ok(self.flat.finish(fell_back))
            }
            (Ok(()), Some(beginning)) => Ok(self.flat.lost(Code::RowUnparseable, &beginning)),
            (Err(stop), _) if stop.is_verdict() => {
                self.course.stop = Some(stop);
                Ok(self.flat.lost(Code::RowUnparseable, ""))
            }
            (Err(stop), _) => Err(stop),
        }
    }
}

impl<R: Read + Send> Step for JsonRows<R> {
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
        let rows = self.flat.rows();
        let mut findings = Vec::new();
        if self.declared.is_some_and(|declared| declared != u64::from(rows)) {
            let value = self.declared.map(|declared| format!("{declared} declared, {rows} found"));
            findings.push(Finding { value, ..about_file(Code::FeedTruncated) });
        }
        if rows == 0 {
            findings.push(about_file(Code::FeedEmpty));
        }
        findings
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Cut => {
                let what = "the document stops before it is complete".to_owned();
                Self::File { code: Code::FeedTruncated, what }
            }
            Fault::Ill(what) => Self::File { code: Code::FeedNotWellformed, what },
            Fault::Io(error) => error.into(),
        }
    }
}
