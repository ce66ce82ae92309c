//! Files made to hurt: refused within two seconds of the part that offends, in memory that does not grow with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use feeds::raw::{self, RawRow, Refused, Stopped};
use feeds::source::{InMemory, ReadSeek, Source};
use feeds::{Code, Config, Limits};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Counts what a thread has allocated at once.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// One file at a time, so that the time is that file's.
static ALONE: Mutex<()> = Mutex::new(());

fn count(bytes: isize) {
    // A thread that ends frees what it had after its counters are gone.
    let held = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        held.get()
    });
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.unwrap_or(0))));
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file that is never there as a whole: a beginning, a piece again and again, an end.
struct Made {
    beginning: &'static [u8],
    piece: &'static [u8],
    times: u64,
    end: &'static [u8],
}

struct Reading<'a> {
    made: &'a Made,
    at: u64,
}

impl Made {
    fn size(&self) -> u64 {
        (self.beginning.len() + self.end.len()) as u64 + self.piece.len() as u64 * self.times
    }
}

impl Source for Made {
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(Box::new(Reading { made: self, at: 0 }))
    }

    fn name(&self) -> &str {
        "made"
    }
}

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < buffer.len() {
            let (made, first) = (self.made, self.made.beginning.len() as u64);
            let repeated = made.piece.len() as u64 * made.times;
            let part = if self.at < first {
                &made.beginning[self.at as usize..]
            } else if self.at < first + repeated {
                let offset = (self.at - first) % made.piece.len() as u64;
                &made.piece[offset as usize..]
            } else {
                &made.end[((self.at - first - repeated) as usize).min(made.end.len())..]
            };
            if part.is_empty() {
                break;
            }
            let length = part.len().min(buffer.len() - written);
            buffer[written..written + length].copy_from_slice(&part[..length]);
            written += length;
            self.at += length as u64;
        }
        Ok(written)
    }
}

impl Seek for Reading<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => self.made.size().saturating_add_signed(by),
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

/// What came of a file.
struct Seen {
    /// Its refusal or stop.
    code: Option<Code>,
    rows: u32,
    took: Duration,
    /// Bytes allocated at most.
    peak: usize,
}

fn see(source: &dyn Source) -> Seen {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = HELD.get();
    PEAK.set(before);
    let start = Instant::now();
    let mut rows = 0;
    let code = match raw::open(source, &Config::default(), &Limits::default()) {
        Err(Refused::File { code, .. }) => Some(code),
        Err(Refused::Io(error)) => panic!("{error}"),
        Ok(mut opened) => loop {
            match opened.rows.next() {
                Ok(None) => break opened.findings.first().map(|finding| finding.code),
                Ok(Some(RawRow::Read { .. } | RawRow::Lost { .. })) => rows += 1,
                Err(Stopped::File { code, .. }) => break Some(code),
                Err(Stopped::Io(error)) => panic!("{error}"),
            }
        },
    };
    let peak = (PEAK.get() - before).unsigned_abs();
    Seen { code, rows, took: start.elapsed(), peak }
}

const MIB: usize = 1 << 20;
const HEADER: &[u8] = b"Stock,VIN,Year,Make,Model,Memo\n";
/// Repeated in pieces of a few kilobytes, so that making the file is not what takes the time.
static LETTERS: [u8; 4096] = [b'x'; 4096];
static COLUMNS: [u8; 4096] = {
    let mut bytes = [b','; 4096];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = b'c';
        at += 2;
    }
    bytes
};

/// Within two seconds and 24 MiB. On a machine that does other things as well a reading may take longer; not each.
fn assert_gentle(source: &dyn Source, code: Code) {
    let mut took = Vec::new();
    for _ in 0..3 {
        let seen = see(source);
        assert_eq!(seen.code, Some(code));
        assert!(seen.peak < 24 * MIB, "{} KiB", seen.peak >> 10);
        if seen.took < Duration::from_secs(2) {
            return;
        }
        took.push(seen.took);
    }
    panic!("took {took:?}");
}

#[test]
fn a_line_of_a_gibibyte() {
    let alone = Made { beginning: b"", piece: &LETTERS, times: 1 << 18, end: b"" };
    assert_gentle(&alone, Code::FeedTooLarge);
    let below = Made { beginning: HEADER, piece: &LETTERS, times: (1 << 18) - 1, end: b"" };
    assert_gentle(&below, Code::FeedTooLarge);
    let quoted = Made {
        beginning: b"Stock,VIN,Year,Make,Model,Memo\nA,V,2020,F,M,\"",
        piece: &LETTERS,
        times: (1 << 18) - 1,
        end: b"\"\n",
    };
    assert_gentle(&quoted, Code::FeedTooLarge);
    let json =
        Made { beginning: b"[{\"vin\":\"", piece: &LETTERS, times: 1 << 12, end: b"\"},{\"vin\":\"2\"}]" };
    let json = see(&json);
    assert_eq!((json.code, json.rows), (None, 2));
    assert!(json.peak < 24 * MIB, "{} KiB", json.peak >> 10);
    let xml =
        Made { beginning: b"<l><v><vin>", piece: &LETTERS, times: (1 << 18) - 1, end: b"</vin></v></l>" };
    assert_gentle(&xml, Code::FeedTooLarge);
}

#[test]
fn half_a_million_columns() {
    let header = Made { beginning: b"", piece: &COLUMNS, times: 245, end: b"\n" };
    assert_gentle(&header, Code::FeedTooManyColumns);
    let row = Made { beginning: HEADER, piece: &COLUMNS, times: 245, end: b"\n" };
    assert_gentle(&row, Code::FeedTooManyColumns);
    let pipes = Made { beginning: b"Stock|VIN|Year|Make\n", piece: b"||||||||", times: 62_501, end: b"\n" };
    assert_gentle(&pipes, Code::FeedTooManyColumns);
}

#[test]
fn more_bytes_than_a_file_may_have() {
    let large = Made { beginning: HEADER, piece: b"A,V,2020,F,M,x\n", times: 1 << 27, end: b"" };
    assert_gentle(&large, Code::FeedTooLarge);
}

#[test]
fn a_bomb_that_unfolds_to_gibibytes() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(HEADER).unwrap();
    let rows = b"A,V,2020,F,M,x\n".repeat(MIB / 15);
    for _ in 0..200 {
        bomb.write_all(&rows).unwrap();
    }
    let bomb = InMemory { name: "bomb.gz".to_owned(), bytes: bomb.finish().unwrap() };
    assert_gentle(&bomb, Code::FeedArchiveRefused);
}

#[test]
fn a_table_of_open_quotes_is_read_in_time_that_grows_with_its_size() {
    let quotes =
        Made { beginning: HEADER, piece: b"A,V,2020,F,M,\"open\n", times: 40_000, end: b"A,V,2020,F,M,x\n" };
    let seen = see(&quotes);
    assert_eq!((seen.code, seen.rows), (None, 40_001));
    assert!(seen.took < Duration::from_secs(20), "took {:?}", seen.took);
    assert!(seen.peak < 24 * MIB, "{} KiB", seen.peak >> 10);
}

#[test]
fn an_element_of_countless_children_or_attributes() {
    let children = Made {
        beginning: b"<l><v><vin>1</vin><make>F</make><year>2020</year><model>M</model>",
        piece: b"<a/>",
        times: 200_000,
        end: b"</v></l>",
    };
    let seen = see(&children);
    assert_eq!((seen.code, seen.rows), (None, 1));
    assert!(seen.peak < 24 * MIB, "{} KiB", seen.peak >> 10);
    let attributes = Made { beginning: b"<l><v ", piece: b"a='1' ", times: 500_000, end: b"/></l>" };
    assert_gentle(&attributes, Code::FeedNotWellformed);
}
