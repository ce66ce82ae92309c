//! How a source of a dealer's vehicles is set up.
