//! Many nodes, one truth: lots that change all the time, read on several nodes at once.
//!
//! What a lot looks like follows from its version number, so every answer can be held against the one version
//! that it names in `Forecourt-Inventory-Version`.

mod asking;
mod away;
mod lots;
mod own_write;
mod put_back;
mod rush;
mod stage;
mod tight;
mod walks;
mod writing;
