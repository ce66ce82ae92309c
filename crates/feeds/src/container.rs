//! A feed may come packed: the one file in a zip or gzip, unpacked as it is read (FEEDS.md 1).
//!
//! Nothing that an archive says of its sizes is believed: what comes out is counted while it comes out.

use std::io::{self, Read, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::{DeflateDecoder, MultiGzDecoder};

use crate::code::{Code, Level};
use crate::limits::Limits;
use crate::raw::Refused;
use crate::source::Source;
use crate::zip::{self, Member};

/// An archive may unfold to so many bytes whatever its packed size: the ratio says nothing of a small file.
const EXPANSION_FLOOR: u64 = 1 << 20;

/// How the bytes are wrapped.
#[derive(Debug, Clone)]
enum Wrapping {
    None,
    Gzip,
    Zip(Member),
}

/// The bytes of a feed, out of their container. Can be read as often as wanted.
pub(crate) struct Unpacked<'s> {
    source: &'s dyn Source,
    wrapping: Wrapping,
    limits: Limits,
    /// Bytes as they came.
    size: u64,
}

/// Says through an [`io::Error`] what is wrong with a file, so that it passes through readers.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", code.as_str())]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn error(code: Code, what: impl Into<String>) -> io::Error {
        io::Error::other(Self { code, what: what.into() })
    }

    /// Whether an error tells of a file that ends early or is damaged, whose bytes so far are worth reading.
    pub(crate) fn is_verdict(error: &io::Error) -> bool {
        error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Self>())
            .is_some_and(|fault| fault.code.level() == Level::Verdict)
    }
}

impl<'s> Unpacked<'s> {
    /// Finds out what the bytes are wrapped in.
    pub(crate) fn find(source: &'s dyn Source, limits: &Limits) -> Result<Self, Refused> {
        let mut bytes = source.open()?;
        let size = bytes.seek(SeekFrom::End(0))?;
        if size > limits.file_bytes {
            return Err(too_large(limits).into());
        }
        bytes.seek(SeekFrom::Start(0))?;
        let mut magic = [0; 4];
        let read = fill(&mut bytes, &mut magic)?;
        let wrapping = match magic.get(..read).unwrap_or(&[]) {
            [0x1f, 0x8b, ..] => Wrapping::Gzip,
            [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6] => Wrapping::Zip(zip::only_member(&mut bytes, size)?),
            _ => Wrapping::None,
        };
        let unpacked = Self { source, wrapping, limits: *limits, size };
        if unpacked.container().is_some() {
            unpacked.unfold()?;
        }
        Ok(unpacked)
    }

    /// Unfolds an archive once for nothing but to see that it does not unfold too far: a bomb is found out before
    /// anybody looks at what is in it.
    fn unfold(&self) -> io::Result<()> {
        let mut bytes = self.open()?;
        let mut chunk = vec![0; 64 << 10];
        loop {
            match bytes.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Told with the rows, which may be worth something.
                Err(error) if Fault::is_verdict(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Name of the container, if there is one.
    pub(crate) fn container(&self) -> Option<&'static str> {
        match self.wrapping {
            Wrapping::None => None,
            Wrapping::Gzip => Some("gzip"),
            Wrapping::Zip(_) => Some("zip"),
        }
    }

    /// The bytes from their beginning.
    pub(crate) fn open(&self) -> io::Result<Bytes<'s>> {
        let mut bytes = self.source.open()?;
        let taken = Arc::new(AtomicU64::new(0));
        let input: Box<dyn Read + Send + 's> = match &self.wrapping {
            Wrapping::None => Box::new(Counted { inner: bytes, taken: Arc::clone(&taken) }),
            Wrapping::Gzip => {
                Box::new(MultiGzDecoder::new(Counted { inner: bytes, taken: Arc::clone(&taken) }))
            }
            Wrapping::Zip(member) => {
                let start = zip::data_start(&mut bytes, member)?;
                bytes.seek(SeekFrom::Start(start))?;
                taken.store(start, Ordering::Relaxed);
                let packed = Counted { inner: bytes, taken: Arc::clone(&taken) }.take(member.packed);
                if member.deflated {
                    Box::new(zip::Checked::new(DeflateDecoder::new(packed), member))
                } else {
                    Box::new(zip::Checked::new(packed, member))
                }
            }
        };
        let packed = !matches!(self.wrapping, Wrapping::None);
        let unfolded = self.size.saturating_mul(self.limits.expansion).max(EXPANSION_FLOOR);
        Ok(Bytes { input, taken, given: 0, packed, unfolded, limits: self.limits })
    }
}

/// Reads until the buffer is full or the input ends.
pub(crate) fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What came before the damage is still worth a look.
            Err(error) if filled > 0 && Fault::is_verdict(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn too_large(limits: &Limits) -> io::Error {
    let mib = limits.file_bytes >> 20;
    Fault::error(Code::FeedTooLarge, format!("the file is larger than {mib} MiB"))
}

/// Unpacked bytes, within the limits.
pub(crate) struct Bytes<'s> {
    input: Box<dyn Read + Send + 's>,
    taken: Arc<AtomicU64>,
    given: u64,
    packed: bool,
    unfolded: u64,
    limits: Limits,
}

impl Bytes<'_> {
    /// A handle on how many bytes of the file, as it came, have been taken.
    pub(crate) fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.input.read(buffer) {
            Ok(read) => read,
            Err(error) if self.packed => return Err(damaged(error)),
            Err(error) => return Err(error),
        };
        self.given += read as u64;
        if self.given > self.limits.file_bytes {
            return Err(too_large(&self.limits));
        }
        if self.packed && self.given > self.unfolded {
            let times = self.limits.expansion;
            let what = format!("the archive unfolds to more than {times} times its size");
            return Err(Fault::error(Code::FeedArchiveRefused, what));
        }
        Ok(read)
    }
}

fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Fault::error(Code::FeedTruncated, "the archive ends before its content does")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Fault::error(Code::FeedNotWellformed, "the archive is damaged")
        }
        _ => error,
    }
}

struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
