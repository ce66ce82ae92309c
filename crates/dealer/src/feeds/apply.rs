//! Writing what a run changes, in one transaction.
