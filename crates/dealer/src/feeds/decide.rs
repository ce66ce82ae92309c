//! Approving and rejecting runs that the guard held.
