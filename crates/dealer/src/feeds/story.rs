//! Everything that happened to one vehicle, in order.
