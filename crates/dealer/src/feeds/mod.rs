//! Dealers' vehicles come from feeds: files are received, read, guarded and applied, and what several sources and
//! people say of one vehicle becomes one listing.
//!
//! [`receive`] stores a file and makes a run of it; [`process`] carries the run out, from whatever state it is in;
//! [`decide`] and [`rollback`] are what people do with runs. The reading itself is the crate `feeds`.

mod apply;
mod compare;
mod counters;
mod conform;
mod decide;
mod difference;
mod document;
mod edits;
mod fetched;
mod findings;
mod identity;
mod merge;
mod notices;
mod price;
mod process;
mod ranks;
mod reading;
mod receive;
mod rollback;
mod run;
mod scene;
mod settings;
mod spool;
mod story;
mod tell;
mod units;
mod write;

pub use counters::{FeedCounts, counts};
pub use decide::{DecideError, approve, reject};
pub use difference::{Difference, Example};
pub use fetched::{Unmodified, fetch_failed, fetch_succeeded, has_last_file, unmodified};
pub use process::{Bench, Ended, ProcessError, process};
pub use reading::Progress;
pub use receive::{HEAVY_WEIGHT, IMPORT_JOB, Receipt, ReceiveError, Received, receive};
pub use rollback::{RolledBack, SourceRemoved, remove_source, republish, rollback, rollback_preview};
pub use run::{Judgement, Signature, Timings, counts as run_counts, difference, judgement};
pub use settings::{Marker, SourceSettings};
