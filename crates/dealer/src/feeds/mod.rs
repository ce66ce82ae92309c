//! Dealers' vehicles come from feeds: files are received, read, guarded and applied, and what several sources and
//! people say of one vehicle becomes one listing.
//!
//! [`receive()`] stores a file and makes a run of it; [`process()`] carries the run out, from whatever state it is in;
//! [`decide`] and [`rollback()`] are what people do with runs. The reading itself is the crate `feeds`.

mod apply;
mod compare;
mod conform;
mod counters;
mod decide;
mod difference;
mod document;
mod edits;
mod fetched;
mod findings;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod identity;
mod merge;
mod pointers;
mod price;
mod process;
mod push;
mod ranks;
mod reading;
mod receive;
mod rollback;
mod run;
mod scene;
mod settings;
mod setup;
mod shown;
mod snapshot;
mod sources;
mod spool;
mod story;
mod tell;
mod units;
mod write;

pub use ::feeds::config::Mode;

pub use counters::{FeedCounts, counts};
pub use decide::{DecideError, approve, reject};
pub use difference::{Difference, Example};
pub use edits::{EditError, Edited, Wish, edit, end_expired, typed, unlock};
pub use fetched::{Unmodified, fetch_failed, fetch_succeeded, has_last_file, unmodified};
pub use merge::Edit;
pub use price::{Answer, Fee, FeeRule, Meaning, PricePolicy};
pub use process::{Bench, Ended, ProcessError, process};
pub use push::{MOST_WAITING, PushRefused, Pusher};
pub use reading::Progress;
pub use receive::{HEAVY_WEIGHT, IMPORT_JOB, Receipt, ReceiveError, Received, receive};
pub use rollback::{RolledBack, SourceRemoved, remove_source, republish, rollback, rollback_preview};
pub use run::{Judgement, Signature, Timings, counts as run_counts, difference, judgement};
pub use settings::{Marker, Reading, Role, Rooftops, SourceLimits, SourceSettings};
pub use setup::{Change, Changed, SetupError, add_source, change_source, settle_freshness};
pub use shown::{finding_document, finding_words, run_document, run_document_for_dealer};
pub use snapshot::{PartError, PartTaken, SnapshotPart};
pub use sources::{SecretError, TOKEN_PREFIX, missing, renew_token, set_credentials, settings_from};
pub use story::{Event, FieldStory, Story, Word, story};
