//! One vehicle of a JSON document as a row.

use std::io::Read;

use crate::aliases::{fold, is_known};
use crate::raw::Stopped;

use super::super::flat::Flat;
use super::super::lexer::{Event, Fault, Lexer};

/// Bytes of a name that its path keeps.
const NAME: usize = 200;
/// Elements of an array that become columns. There are fewer photos and features than that.
const ELEMENTS: usize = 500;
/// Names that a single object must have to be a vehicle.
const KNOWN: usize = 4;

struct Level {
    /// Length of the path of the object or array.
    base: usize,
    /// For an array, the number of its next element.
    next: Option<usize>,
    /// Beyond what is kept.
    left_out: bool,
}

/// Reads an object, whose opening is read already, into the row.
pub(in super::super) fn object<R: Read>(lexer: &mut Lexer<R>, flat: &mut Flat) -> Result<(), Stopped> {
    let mut path = String::new();
    let mut levels = vec![Level { base: 0, next: None, left_out: false }];
    while let Some(level) = levels.last_mut() {
        let event = lexer.next()?;
        if matches!(event, Event::CloseObject | Event::CloseArray) {
            levels.pop();
            continue;
        }
        if event == Event::Key {
            path.truncate(level.base);
            if level.base > 0 {
                path.push('.');
            }
            let name = lexer.text();
            path.push_str(name.get(..name.floor_char_boundary(NAME)).unwrap_or_default());
            if !level.left_out {
                flat.member(&path);
            }
            continue;
        }
        if let Some(next) = &mut level.next {
            path.truncate(level.base);
            path.push('[');
            path.push_str(&next.to_string());
            path.push(']');
            *next += 1;
        }
        let left_out = level.left_out || level.next.is_some_and(|next| next > ELEMENTS);
        match event {
            Event::OpenObject => levels.push(Level { base: path.len(), next: None, left_out }),
            Event::OpenArray => levels.push(Level { base: path.len(), next: Some(0), left_out }),
            Event::Text | Event::Number if lexer.is_too_long() => flat.too_large(),
            Event::Text | Event::Number if !left_out => flat.set(&path, lexer.text())?,
            Event::True if !left_out => flat.set(&path, "true")?,
            Event::False if !left_out => flat.set(&path, "false")?,
            Event::End => return Err(Fault::Cut.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a text is one object with names of a vehicle.
pub(in super::super) fn is_vehicle(text: &str, depth: usize) -> bool {
    let mut lexer = Lexer::new(text.as_bytes(), depth, text.len());
    let mut known = 0;
    loop {
        match lexer.next() {
            Ok(Event::Key) if lexer.depth() == 1 => known += usize::from(is_known(&fold(lexer.text()))),
            Ok(Event::End) => return known >= KNOWN,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}
