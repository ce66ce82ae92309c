//! Rows of a file before anything is understood of them: names of columns and texts of cells.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::{Code, Level};
use crate::config::Config;
use crate::container::Fault;
use crate::finding::Finding;
use crate::formats;
use crate::limits::Limits;
use crate::source::Source;

/// Place of a name in [`Columns`].
pub type ColumnId = usize;

/// The columns of a file. Tables have theirs from the header on; documents (XML, JSON) add those that appear, by path
/// (`pricing.price`, `image[0].url`).
#[derive(Debug, Clone, Default)]
pub struct Columns {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, ColumnId>,
}

impl Columns {
    /// The place of a name, which is added where it is new. Of two columns with one name each keeps its own place when
    /// added by [`Columns::push`].
    pub fn place(&mut self, name: &str) -> ColumnId {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.push(name)
    }

    /// Adds a column, also one whose name is there already.
    pub fn push(&mut self, name: &str) -> ColumnId {
        let name: Arc<str> = name.into();
        let place = self.names.len();
        self.names.push(Arc::clone(&name));
        self.places.entry(name).or_insert(place);
        place
    }

    /// The name as it came.
    pub fn name(&self, place: ColumnId) -> &str {
        self.names.get(place).map_or("", |name| name)
    }

    /// All names, in order of their places.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub enum RawRow {
    /// It could be read.
    Read {
        /// From 1; header, blank, title, repeated-header and total lines are not counted.
        row: u32,
        /// Non-empty cells, by column, in the order of the file.
        cells: Vec<(ColumnId, String)>,
        /// What had to be done to read it: `CSV_QUOTES_REPAIRED`, `ENCODING_FALLBACK`, `ENCODING_REPAIRED`, with the
        /// column where it is about one.
        notes: Vec<(Code, Option<ColumnId>)>,
    },
    /// It could not: `ROW_FIELD_COUNT`, `ROW_UNPARSEABLE` or `FIELD_TOO_LARGE`.
    Lost {
        /// From 1.
        row: u32,
        /// Why.
        code: Code,
        /// The beginning of it as it came.
        excerpt: String,
    },
}

/// What kind of file it is. Members that do not apply are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detected {
    /// `zip` or `gzip`, where it came packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`, or `mixed` (UTF-8 and Windows-1252 by line).
    pub encoding: String,
    /// Whether a byte order mark came first.
    pub bom: bool,
    /// `xml`, `json` or `ndjson`; absent for a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Separator of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// `all`, `minimal` or `none`; with `-broken` behind it where quotes had to be repaired line by line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoting: Option<String>,
    /// `crlf`, `lf` or `cr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_ending: Option<String>,
    /// The line that the header is in, from 1; absent where the names came from the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_row: Option<u32>,
    /// Name of the repeated XML element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_element: Option<String>,
    /// JSON pointer of the array of vehicles; empty where the document is the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_path: Option<String>,
    /// How many vehicles the document says it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_count: Option<u64>,
}

/// A file whose kind is known.
pub struct Opened<'s> {
    /// What kind it is.
    pub detected: Detected,
    /// What is known of the file before its rows are. Of level `Verdict`: the file is held
    /// (`FEED_EMPTY`, `FEED_HEADER_UNKNOWN`).
    pub findings: Vec<Finding>,
    /// Its rows.
    pub rows: Box<dyn Rows + 's>,
}

impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("detected", &self.detected).field("findings", &self.findings).finish()
    }
}

/// Finds out what kind of file it is. Takes several passes over the source.
///
/// # Errors
/// It is no feed, or beyond a limit: a code of level `Refusal`. A file out of which nothing can be had, though a
/// feed might look so (empty, header unknown), is opened, with that finding and without rows.
pub fn open<'s>(source: &'s dyn Source, config: &Config, limits: &Limits) -> Result<Opened<'s>, Refused> {
    formats::open(source, config, limits)
}

/// The rows of a file, one after the other.
pub trait Rows: Send {
    /// The columns seen so far. Those of a table are all there from the beginning; a document adds to them with each
    /// row, and a place never changes its name.
    fn columns(&self) -> &Columns;

    /// The next row; `None` after the last one.
    ///
    /// # Errors
    /// The file cannot be read on: [`Stopped`]. After a stop of level `Verdict` the rows so far stand, and the same
    /// stop is not told again: the next call gives `None`.
    fn next(&mut self) -> Result<Option<RawRow>, Stopped>;

    /// Bytes of the file as it came, out of those that [`Source::open`] gives, that are read.
    fn progress(&self) -> u64;

    /// Single values that stand beside the vehicles in a document, by path (`generated_at`, `dealer.id`). Complete
    /// after the last row.
    fn top(&self) -> &BTreeMap<String, String>;

    /// What is known of the file after the last row only: header repeated, total lines, a declared count that
    /// differs. To be asked once.
    fn end(&mut self) -> Vec<Finding>;
}

/// Why rows end early.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// `FEED_TRUNCATED` or `FEED_NOT_WELLFORMED`: the rows so far stand and the file is held. Or a code of level
    /// `Refusal`: it is nothing.
    #[error("{}: {what}", code.as_str())]
    File {
        /// The code.
        code: Code,
        /// Where and what, in plain words.
        what: String,
    },
    /// The bytes cannot be had; says nothing about the file.
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
}

/// Why a file is not read at all.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is refused; the code is of level `Refusal`, or of level `Verdict` where the bytes stop or break before there is
    /// a first record.
    #[error("{}: {what}", code.as_str())]
    File {
        /// The code.
        code: Code,
        /// What it looks like, or which limit it is beyond, in plain words.
        what: String,
    },
    /// The bytes cannot be had; says nothing about the file.
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
}

impl Stopped {
    /// Whether the file is held with the rows so far, rather than refused or not to be had.
    pub fn is_verdict(&self) -> bool {
        matches!(self, Self::File { code, .. } if code.level() == Level::Verdict)
    }
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::File { code, what } => Self::File { code, what },
            Stopped::Io(error) => Self::Io(error),
        }
    }
}

/// A fault of the file that came up through a reader is told as one.
impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Fault>() {
            Ok(Fault { code, what }) => Self::File { code, what },
            Err(error) => Self::Io(error),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Stopped::from(error).into()
    }
}
