//! How far a reader is: what all of them share, whatever they read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::finding::Finding;
use crate::raw::{Columns, RawRow, Rows, Stopped};

/// Where a reader stands.
pub(super) struct Course {
    /// What stops it after the row that it gives now.
    pub(super) stop: Option<Stopped>,
    /// Nothing more comes.
    pub(super) done: bool,
    /// Bytes of the file that are read.
    pub(super) taken: Arc<AtomicU64>,
    /// What stands beside the vehicles.
    pub(super) top: BTreeMap<String, String>,
}

impl Course {
    pub(super) fn new(taken: Arc<AtomicU64>) -> Self {
        Self { stop: None, done: false, taken, top: BTreeMap::new() }
    }
}

/// A reader that gives one row after the other, and stops for good where it stops.
pub(super) trait Step: Send {
    /// See [`Rows::columns`].
    fn columns(&self) -> &Columns;
    fn course(&self) -> &Course;
    fn course_mut(&mut self) -> &mut Course;
    /// The next row, asked for only while there may be one.
    fn step(&mut self) -> Result<Option<RawRow>, Stopped>;
    /// See [`Rows::end`].
    fn end(&mut self) -> Vec<Finding>;
}

impl<S: Step> Rows for S {
    fn columns(&self) -> &Columns {
        Step::columns(self)
    }

    fn next(&mut self) -> Result<Option<RawRow>, Stopped> {
        if let Some(stop) = self.course_mut().stop.take() {
            self.course_mut().done = true;
            return Err(stop);
        }
        if self.course().done {
            return Ok(None);
        }
        self.step().inspect_err(|_| self.course_mut().done = true)
    }

    fn progress(&self) -> u64 {
        self.course().taken.load(Ordering::Relaxed)
    }

    fn top(&self) -> &BTreeMap<String, String> {
        &self.course().top
    }

    fn end(&mut self) -> Vec<Finding> {
        Step::end(self)
    }
}
