//! From one version of a lot to another.

use std::collections::HashSet;

use contract::Listing;

use crate::{Removed, Snapshot};

/// What happened to a lot between two versions.
#[derive(Debug, Default)]
pub struct Delta {
    /// Units that are new or different; each replaces the one with its id. If two share an id, the later counts.
    pub changed: Vec<Listing>,
    /// Units that left the lot, or were recorded as removed without ever having been in it: answered as removed
    /// from now on. Each takes the place of what was known of a removed unit with its id.
    pub removed: Vec<Removed>,
    /// Ids that vanish from the lot, and from the removed units, without a trace: an older version is made from
    /// a newer one that way. Ids that nothing has are passed over.
    pub dropped: Vec<String>,
}

impl Snapshot {
    /// The lot after `delta`, as version `version`. It answers every question as [`Snapshot::build`] of the
    /// resulting lot would. A unit in `changed` is in the lot and not among the removed ones, whatever else the
    /// delta says of its id; one in `removed` is removed, whether dropped or not.
    pub fn apply(&self, version: u64, delta: Delta) -> Snapshot {
        let Delta { changed, mut removed, dropped } = delta;
        let (listings, gone) = &*self.source;
        let fresh: HashSet<&str> = changed.iter().map(|unit| unit.vehicle_id.as_str()).collect();
        removed.retain(|unit| !fresh.contains(unit.vehicle_id.as_str()));
        let mut ids: HashSet<&str> = fresh;
        ids.extend(removed.iter().map(|unit| unit.vehicle_id.as_str()));
        ids.extend(dropped.iter().map(String::as_str));
        let mut lot: Vec<Listing> =
            listings.iter().filter(|unit| !ids.contains(unit.vehicle_id.as_str())).cloned().collect();
        let mut all: Vec<Removed> =
            gone.iter().filter(|unit| !ids.contains(unit.vehicle_id.as_str())).cloned().collect();
        drop(ids);
        lot.extend(changed);
        all.extend(removed);
        Snapshot::build(version, lot, all)
    }

    /// Bytes that this snapshot holds and `other` does not. That is what an older version costs beside a newer.
    pub fn weight_beside(&self, other: &Snapshot) -> usize {
        if std::ptr::eq(self, other) { 0 } else { self.weight() }
    }
}
