//! What a run would change, for people to look at.
