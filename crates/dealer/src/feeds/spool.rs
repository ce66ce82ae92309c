//! Files in the database, as a reader needs them: in pieces on the way in, seekable on the way out.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use feeds::source::ReadSeek;
use tokio::sync::mpsc;

/// Bytes of a piece of a stored file.
pub(super) const PIECE: usize = 256 * 1024;

/// Files up to so many bytes are held in memory, larger ones on disk.
const IN_MEMORY: usize = 4 << 20;

/// Takes bytes and hands them on in pieces of [`PIECE`]. For a thread that may block: it waits where the pieces are
/// not taken as fast as they come.
pub(super) struct Pieces {
    to: mpsc::Sender<Vec<u8>>,
    piece: Vec<u8>,
    /// Bytes taken so far.
    pub(super) written: u64,
}

impl Pieces {
    pub(super) fn new(to: mpsc::Sender<Vec<u8>>) -> Pieces {
        Pieces { to, piece: Vec::with_capacity(PIECE), written: 0 }
    }

    fn send(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        // The other end is gone when the work around it has failed or was given up.
        self.to.blocking_send(piece).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }

    /// Hands on what is left.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        if !self.piece.is_empty() {
            self.send()?;
        }
        Ok(self.written)
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        self.written += taken as u64;
        if self.piece.len() == PIECE {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The pieces of a stored file as they are read from the database, in their order. For a thread that may block.
pub(super) struct Incoming {
    from: mpsc::Receiver<Vec<u8>>,
    piece: Cursor<Vec<u8>>,
}

impl Incoming {
    pub(super) fn new(from: mpsc::Receiver<Vec<u8>>) -> Incoming {
        Incoming { from, piece: Cursor::default() }
    }
}

impl Read for Incoming {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let got = self.piece.read(into)?;
            if got > 0 || into.is_empty() {
                return Ok(got);
            }
            match self.from.blocking_recv() {
                Some(piece) => self.piece = Cursor::new(piece),
                None => return Ok(0),
            }
        }
    }
}

/// A whole file at hand: small ones in memory, others in a file that has no name and so leaves nothing behind, also
/// where the process is killed.
#[derive(Debug, Clone)]
pub(super) enum Spooled {
    Memory(Arc<Vec<u8>>),
    Disk { file: Arc<File>, length: u64 },
}

impl Spooled {
    /// Takes in everything that `from` gives; for more than `most` bytes it fails.
    pub(super) fn take(from: &mut impl Read, folder: &Path, most: u64) -> io::Result<Spooled> {
        let mut start = Vec::new();
        from.take(IN_MEMORY as u64 + 1).read_to_end(&mut start)?;
        if start.len() <= IN_MEMORY {
            start.shrink_to_fit();
            return Ok(Spooled::Memory(Arc::new(start)));
        }
        let mut file = nameless(folder)?;
        file.write_all(&start)?;
        let mut length = start.len() as u64;
        drop(start);
        length += io::copy(&mut from.take(most.saturating_sub(length) + 1), &mut file)?;
        if length > most {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is larger than it was"));
        }
        Ok(Spooled::Disk { file: Arc::new(file), length })
    }

    /// From the beginning.
    pub(super) fn reader(&self) -> Box<dyn ReadSeek + '_> {
        match self {
            Spooled::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
            Spooled::Disk { file, length } => {
                Box::new(io::BufReader::with_capacity(PIECE, Positioned { file, at: 0, length: *length }))
            }
        }
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Spooled::Memory(bytes) => bytes.len() as u64,
            Spooled::Disk { length, .. } => *length,
        }
    }
}

/// A file of our own that nobody else can open, gone with its last handle.
fn nameless(folder: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = folder.join(format!(".forecourt-{}", uuid::Uuid::new_v4().simple()));
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// A view of a file with a place of its own, so that several can read it at once.
struct Positioned<'f> {
    file: &'f File,
    at: u64,
    length: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        let got = self.file.read_at(into, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for Positioned<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// A spooled file under the name it came with, for the reader of feeds.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) bytes: Spooled,
}

impl feeds::Source for Named {
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(self.bytes.reader())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_read_as_it_came_by_several_at_once_and_leaves_no_name() {
        let folder = std::env::temp_dir().join(format!("spool-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).unwrap();
        let bytes: Vec<u8> = (0..IN_MEMORY + 70_000).map(|i| (i % 251) as u8).collect();
        let spooled = Spooled::take(&mut bytes.as_slice(), &folder, 1 << 30).unwrap();
        assert!(matches!(spooled, Spooled::Disk { .. }));
        assert_eq!(spooled.length(), bytes.len() as u64);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        let (mut one, mut other) = (spooled.reader(), spooled.reader());
        let mut first = [0; 1000];
        other.read_exact(&mut first).unwrap();
        let mut all = Vec::new();
        one.read_to_end(&mut all).unwrap();
        assert!(all == bytes && first == bytes[..1000]);
        one.seek(SeekFrom::End(-3)).unwrap();
        let mut end = Vec::new();
        one.read_to_end(&mut end).unwrap();
        assert_eq!(end, bytes[bytes.len() - 3..]);
        assert!(Spooled::take(&mut bytes.as_slice(), &folder, bytes.len() as u64 - 1).is_err());
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn pieces_come_out_as_they_went_in() {
        let (to, from) = mpsc::channel(2);
        let bytes: Vec<u8> = (0..PIECE * 3 + 17).map(|i| (i % 253) as u8).collect();
        let sent = bytes.clone();
        let sender = std::thread::spawn(move || {
            let mut pieces = Pieces::new(to);
            for part in sent.chunks(100_001) {
                pieces.write_all(part).unwrap();
            }
            pieces.finish().unwrap()
        });
        let mut got = Vec::new();
        Incoming::new(from).read_to_end(&mut got).unwrap();
        assert_eq!((sender.join().unwrap(), got == bytes), (bytes.len() as u64, true));
    }
}
