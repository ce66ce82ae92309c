//! What the amounts of a source mean, and what of them is published.
