//! The normalised units of a run, stored as one file: approving a run applies exactly it, going back to a run too.
//!
//! `gzip(lines of units) gzip(trailer) length of the trailer's member (8 bytes, little endian)`. Which rows of a file
//! lose to others is known only when all were read, so the trailer names those that count, with what is needed to
//! find out what the run changes; a unit is read from its line only where it does change something.

use std::io::{self, BufRead, BufReader, BufWriter, Read, SeekFrom, Write};

use feeds::Unit;
use feeds::outcome::Excluded;
use feeds::source::ReadSeek;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::spool::Spooled;

/// What is known of each unit of a file while the file as a whole is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Brief {
    /// Number of the record.
    #[serde(rename = "r")]
    pub(super) row: u32,
    /// SHA-256 of what the unit says; of volatile stamps nothing.
    #[serde(rename = "h", with = "hex")]
    pub(super) hash: [u8; 32],
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub(super) vin: Option<Box<str>>,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) stock: Option<Box<str>>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(super) rooftop: Option<Box<str>>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(super) price: Option<i64>,
}

/// A unit that the file says is gone: deleted by a delta, or listed as sold and the like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Gone {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) vin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stock: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rooftop: Option<String>,
    /// `sold`, `delete_action`, `wholesale` …
    pub(super) reason: String,
}

impl Gone {
    /// As the reader says it.
    pub(super) fn excluded(&self) -> Excluded {
        Excluded {
            source_row: 0,
            reason: self.reason.clone(),
            vin: self.vin.clone(),
            stock: self.stock.clone(),
            rooftop_key: self.rooftop.clone(),
        }
    }
}

/// The end of a units file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trailer {
    /// The file was what changed, not the whole lot.
    pub(super) delta: bool,
    /// The units that count, in the order of the file.
    pub(super) briefs: Vec<Brief>,
    /// Units that the file takes away or names as gone.
    pub(super) gone: Vec<Gone>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    form: u8,
    delta: bool,
    gone: Vec<Gone>,
}

/// Raised when a units file is written otherwise.
const FORM: u8 = 1;

/// Writes a units file, unit by unit.
pub(super) struct Writer<W: Write> {
    lines: GzEncoder<BufWriter<Counted<W>>>,
    briefs: Vec<Brief>,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(to: W) -> Writer<W> {
        let to = BufWriter::with_capacity(64 * 1024, Counted { to, count: 0 });
        Writer { lines: GzEncoder::new(to, Compression::fast()), briefs: Vec::new(), line: Vec::new() }
    }

    pub(super) fn add(&mut self, unit: &Unit) -> io::Result<()> {
        let said = Unit { source_row: 0, updated_at: None, ..unit.clone() };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &said)?;
        let stamp = unit.updated_at.as_deref().unwrap_or_default();
        write!(self.lines, "{}\t{stamp}\t", unit.source_row)?;
        self.lines.write_all(&self.line)?;
        self.lines.write_all(b"\n")?;
        let short = |text: &Option<String>| text.as_deref().map(Into::into);
        self.briefs.push(Brief {
            row: unit.source_row,
            hash: Sha256::digest(&self.line).into(),
            vin: short(&unit.vin),
            stock: short(&unit.stock),
            rooftop: short(&unit.rooftop_key),
            price: unit.asking_price,
        });
        Ok(())
    }

    /// Ends the file. `lost` says of a row whether another one won over it.
    pub(super) fn finish(
        self,
        delta: bool,
        gone: Vec<Gone>,
        lost: impl Fn(u32) -> bool,
    ) -> io::Result<(W, Trailer)> {
        let mut briefs = self.briefs;
        briefs.retain(|brief| !lost(brief.row));
        briefs.shrink_to_fit();
        let to = self.lines.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        let before = to.count;
        let mut end = GzEncoder::new(BufWriter::with_capacity(64 * 1024, to), Compression::fast());
        serde_json::to_writer(&mut end, &Head { form: FORM, delta, gone: gone.clone() })?;
        end.write_all(b"\n")?;
        for brief in &briefs {
            serde_json::to_writer(&mut end, brief)?;
            end.write_all(b"\n")?;
        }
        let mut to = end.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        let length = to.count - before;
        to.write_all(&length.to_le_bytes())?;
        Ok((to.to, Trailer { delta, briefs, gone }))
    }
}

struct Counted<W> {
    to: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.to.write(bytes)?;
        self.count += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The trailer of a units file.
pub(super) fn trailer(file: &Spooled) -> io::Result<Trailer> {
    let mut bytes = file.reader();
    let mut length = [0; 8];
    bytes.seek(SeekFrom::End(-8))?;
    bytes.read_exact(&mut length)?;
    let back = u64::from_le_bytes(length).checked_add(8).and_then(|back| i64::try_from(back).ok());
    bytes.seek(SeekFrom::End(-back.ok_or_else(broken)?))?;
    let mut lines = BufReader::new(GzDecoder::new(bytes)).lines();
    let head: Head = serde_json::from_str(&lines.next().ok_or_else(broken)??)?;
    if head.form != FORM {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "another program wrote the units of this run",
        ));
    }
    let briefs = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<_>>()?;
    Ok(Trailer { delta: head.delta, briefs, gone: head.gone })
}

/// The units of a file, in its order.
pub(super) struct Units<'f> {
    lines: BufReader<GzDecoder<Box<dyn ReadSeek + 'f>>>,
    line: Vec<u8>,
}

impl<'f> Units<'f> {
    pub(super) fn of(file: &'f Spooled) -> Units<'f> {
        Units { lines: BufReader::with_capacity(64 * 1024, GzDecoder::new(file.reader())), line: Vec::new() }
    }

    /// The next unit whose row is wanted.
    pub(super) fn next(&mut self, wanted: impl Fn(u32) -> bool) -> io::Result<Option<Unit>> {
        loop {
            self.line.clear();
            if self.lines.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            let mut parts = self.line.splitn(3, |byte| *byte == b'\t');
            let (row, stamp, said) = (parts.next(), parts.next(), parts.next());
            let row: Option<u32> = row.and_then(|row| std::str::from_utf8(row).ok()?.parse().ok());
            let (Some(row), Some(stamp), Some(said)) = (row, stamp, said) else { return Err(broken()) };
            if !wanted(row) {
                continue;
            }
            let mut unit: Unit = serde_json::from_slice(said)?;
            unit.source_row = row;
            let stamp = std::str::from_utf8(stamp).map_err(|_| broken())?;
            unit.updated_at = (!stamp.is_empty()).then(|| stamp.to_owned());
            return Ok(Some(unit));
        }
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the stored units of this run cannot be read")
}

/// Hashes as hexadecimal digits.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
        let text: String = hash.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(D::Error::custom("not a hash"));
        }
        for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
            let pair = text.get(at..at + 2).unwrap_or_default();
            *byte = u8::from_str_radix(pair, 16).map_err(D::Error::custom)?;
        }
        Ok(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(row: u32, vin: &str, price: i64) -> Unit {
        Unit {
            source_row: row,
            vin: Some(vin.into()),
            asking_price: Some(price),
            description: Some("Tab\there, line\nthere".into()),
            updated_at: Some(format!("2026-11-30T08:00:{row:02}Z")),
            ..Unit::default()
        }
    }

    #[test]
    fn what_was_written_is_read_and_rows_that_lost_do_not_count() {
        let units = [unit(1, "A", 10), unit(2, "B", 20), unit(3, "A", 30)];
        let mut writer = Writer::new(Vec::new());
        for one in &units {
            writer.add(one).unwrap();
        }
        let gone = vec![Gone { vin: Some("C".into()), stock: None, rooftop: None, reason: "sold".into() }];
        let (bytes, written) = writer.finish(false, gone, |row| row == 1).unwrap();
        let file = Spooled::Memory(std::sync::Arc::new(bytes));
        let read = trailer(&file).unwrap();
        assert_eq!(read, written);
        assert_eq!(read.briefs.iter().map(|brief| brief.row).collect::<Vec<_>>(), [2, 3]);
        let mut all = Units::of(&file);
        assert_eq!(all.next(|row| row > 1).unwrap().as_ref(), Some(&units[1]));
        assert_eq!(all.next(|_| true).unwrap().as_ref(), Some(&units[2]));
        assert_eq!(all.next(|_| true).unwrap(), None);
    }

    #[test]
    fn a_stamp_or_another_place_in_the_file_is_no_change() {
        let mut writer = Writer::new(Vec::new());
        for one in [unit(1, "A", 10), unit(2, "A", 10), unit(3, "A", 11)] {
            writer.add(&one).unwrap();
        }
        let (_, trailer) = writer.finish(false, Vec::new(), |_| false).unwrap();
        let hashes: Vec<_> = trailer.briefs.iter().map(|brief| brief.hash).collect();
        assert!(hashes[0] == hashes[1] && hashes[1] != hashes[2]);
    }

    #[test]
    fn a_cut_off_file_is_no_units_file() {
        let mut writer = Writer::new(Vec::new());
        writer.add(&unit(1, "A", 10)).unwrap();
        let (bytes, _) = writer.finish(false, Vec::new(), |_| false).unwrap();
        for length in 0..bytes.len() {
            let cut = Spooled::Memory(std::sync::Arc::new(bytes[..length].to_vec()));
            assert!(trailer(&cut).is_err(), "{length}");
        }
    }
}
