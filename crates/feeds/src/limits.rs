//! What a feed may be at most (FEEDS.md 1).

/// Beyond any of these a file is refused, or the row is lost, whichever the limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file as it came, and after unpacking.
    pub file_bytes: u64,
    /// Records.
    pub records: u32,
    /// Bytes of one field.
    pub field_bytes: usize,
    /// Columns.
    pub columns: usize,
    /// Photos of one unit; further ones are left out.
    pub photos: usize,
    /// How many times its packed size an archive may unfold to.
    pub expansion: u64,
    /// How deep XML and JSON may nest.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 1 << 30,
            records: 200_000,
            field_bytes: 1 << 20,
            columns: 500,
            photos: 100,
            expansion: 20,
            depth: 32,
        }
    }
}
