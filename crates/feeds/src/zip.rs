//! As much of the zip format as a feed needs: the one member, stored or deflated.

use std::io::{self, Read, SeekFrom};

use flate2::Crc;

use crate::code::Code;
use crate::container::{Fault, fill};
use crate::raw::Refused;
use crate::source::ReadSeek;

/// Bytes of a directory that are looked at. An archive with one feed in it has a few hundred.
const DIRECTORY_BYTES: u64 = 1 << 20;
/// The end record and the longest comment behind it.
const END_BYTES: u64 = 22 + 65_535;

/// The data member of an archive, by its directory entry.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Where its own header is.
    header: u64,
    /// Bytes packed.
    pub(crate) packed: u64,
    /// Bytes unpacked, as declared: compared at the end, never relied on before.
    size: u64,
    crc: u32,
    pub(crate) deflated: bool,
}

fn refused(what: impl Into<String>) -> Refused {
    Refused::File { code: Code::FeedArchiveRefused, what: what.into() }
}

/// The one data member. Folders, and what macOS and Windows add on their own, do not count.
pub(crate) fn only_member(bytes: &mut dyn ReadSeek, size: u64) -> Result<Member, Refused> {
    let mut found: Option<Member> = None;
    let mut rest = &*directory(bytes, size)?;
    while rest.starts_with(b"PK\x01\x02") {
        let entry =
            Entry::read(&mut rest).ok_or_else(|| refused("the directory of the zip file is damaged"))?;
        if entry.name.starts_with(b"xl/") || entry.name == b"[Content_Types].xml" {
            let what = "an Excel or other Office document; save the sheet as CSV".to_owned();
            return Err(Refused::File { code: Code::FeedNotAFeed, what });
        }
        if entry.is_chaff() {
            continue;
        }
        if found.is_some() {
            return Err(refused("the zip file has more than one file in it"));
        }
        found = Some(entry.member()?);
    }
    found.ok_or_else(|| refused("the zip file has no file in it"))
}

/// The directory, which stands at the end.
fn directory(bytes: &mut dyn ReadSeek, size: u64) -> Result<Vec<u8>, Refused> {
    let tail = size.min(END_BYTES);
    bytes.seek(SeekFrom::Start(size - tail))?;
    let mut end = vec![0; tail as usize];
    let read = fill(bytes, &mut end)?;
    end.truncate(read);
    let at = memchr::memmem::rfind(&end, b"PK\x05\x06");
    let record = at.and_then(|at| end.get(at..)).filter(|record| record.len() >= 22);
    let record = record.ok_or_else(|| refused("the zip file is cut short: its directory is missing"))?;
    let (length, start) = (number(record, 12, 4), number(record, 16, 4));
    if length.saturating_add(start) > size {
        return Err(refused("the zip file is cut short or is of the zip64 kind, which is not read"));
    }
    if length > DIRECTORY_BYTES {
        return Err(refused("the zip file has more than one file in it"));
    }
    bytes.seek(SeekFrom::Start(start))?;
    let mut directory = vec![0; length as usize];
    let read = fill(bytes, &mut directory)?;
    directory.truncate(read);
    Ok(directory)
}

/// Where the packed bytes of a member begin.
pub(crate) fn data_start(bytes: &mut dyn ReadSeek, member: &Member) -> io::Result<u64> {
    bytes.seek(SeekFrom::Start(member.header))?;
    let mut header = [0; 30];
    fill(bytes, &mut header)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(Fault::error(Code::FeedArchiveRefused, "the zip file is damaged"));
    }
    Ok(member.header + 30 + number(&header, 26, 2) + number(&header, 28, 2))
}

/// A little-endian number; what is missing counts as zero.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let digits = bytes.get(at..at + length).unwrap_or(&[]);
    digits.iter().rev().fold(0, |number, digit| number << 8 | u64::from(*digit))
}

struct Entry<'a> {
    fixed: &'a [u8],
    name: &'a [u8],
    extra: &'a [u8],
}

impl<'a> Entry<'a> {
    fn read(rest: &mut &'a [u8]) -> Option<Self> {
        let (fixed, after) = rest.split_at_checked(46)?;
        let (name, after) = after.split_at_checked(number(fixed, 28, 2) as usize)?;
        let (extra, after) = after.split_at_checked(number(fixed, 30, 2) as usize)?;
        let (_, after) = after.split_at_checked(number(fixed, 32, 2) as usize)?;
        *rest = after;
        Some(Self { fixed, name, extra })
    }

    fn is_chaff(&self) -> bool {
        let last = self.name.rsplit(|byte| *byte == b'/').next().unwrap_or(&[]);
        last.is_empty()
            || self.name.starts_with(b"__MACOSX/")
            || last.starts_with(b"._")
            || [&b".DS_Store"[..], b"Thumbs.db", b"desktop.ini"].contains(&last)
    }

    fn member(&self) -> Result<Member, Refused> {
        if number(self.fixed, 8, 2) & 1 != 0 {
            return Err(refused("the file in the zip file is encrypted"));
        }
        let deflated = match number(self.fixed, 10, 2) {
            0 => false,
            8 => true,
            _ => return Err(refused("the zip file is packed in a way that is not read; use plain zip")),
        };
        let mut wide = self.wide();
        let mut field = |at| match number(self.fixed, at, 4) {
            0xffff_ffff => {
                let value = number(wide, 0, 8);
                wide = wide.get(8..).unwrap_or(&[]);
                value
            }
            value => value,
        };
        let (size, packed, header) = (field(24), field(20), field(42));
        Ok(Member { header, packed, size, crc: number(self.fixed, 16, 4) as u32, deflated })
    }

    /// The zip64 numbers: those that do not fit into four bytes, in the order size, packed size, place.
    fn wide(&self) -> &'a [u8] {
        let mut extra = self.extra;
        while let Some((head, after)) = extra.split_at_checked(4) {
            let Some((value, after)) = after.split_at_checked(number(head, 2, 2) as usize) else { break };
            if number(head, 0, 2) == 1 {
                return value;
            }
            extra = after;
        }
        &[]
    }
}

/// Compares what came out with what the directory says, at the end.
pub(crate) struct Checked<R> {
    inner: R,
    crc: Crc,
    given: u64,
    expected: (u32, u64),
}

impl<R: Read> Checked<R> {
    pub(crate) fn new(inner: R, member: &Member) -> Self {
        Self { inner, crc: Crc::new(), given: 0, expected: (member.crc, member.size) }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            if self.given < self.expected.1 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if (self.crc.sum(), self.given) != self.expected {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        self.given += read as u64;
        self.crc.update(buffer.get(..read).unwrap_or(&[]));
        Ok(read)
    }
}
