//! Where the bytes of a feed come from.

use std::io::{self, Cursor, Read, Seek};

/// What an opened source gives.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// Bytes that can be read more than once: finding out encoding, separator and quoting takes a look at the whole file
/// before its rows are read.
pub trait Source: Send + Sync {
    /// The bytes from their beginning.
    ///
    /// # Errors
    /// The bytes cannot be had.
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>>;

    /// The name that the file came with; its ending is a hint and never decides.
    fn name(&self) -> &str;
}

/// A source that is in memory already.
#[derive(Debug, Clone)]
pub struct InMemory<B> {
    /// The name it came with.
    pub name: String,
    /// Its bytes.
    pub bytes: B,
}

impl<B: AsRef<[u8]> + Send + Sync> Source for InMemory<B> {
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(Box::new(Cursor::new(self.bytes.as_ref())))
    }

    fn name(&self) -> &str {
        &self.name
    }
}
