//! What servers of feeds answer, and what is to be believed of it.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod validators;
