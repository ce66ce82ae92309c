//! Files that are no feed at all: pictures, documents, programs, pages (FEEDS.md 10).

use crate::code::Code;
use crate::encoding::Encoding;
use crate::raw::Refused;

/// How files begin that are no feed.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture or a recording"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word document; save the sheet as CSV"),
    (b"SQLite format 3\0", "a database"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"{\\rtf", "a text document of a word processor; save it as plain text"),
];

/// How archives begin that are not unpacked.
const ARCHIVES: &[(&[u8], &str)] = &[
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
];

/// Bytes that are looked at for signs of a binary file.
const LOOK: usize = 8 << 10;

/// Refuses what is no feed. `packed`: the bytes came out of an archive.
pub(super) fn refuse(head: &[u8], packed: bool) -> Result<(), Refused> {
    if let Some((_, what)) = ARCHIVES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(archive(format!("{what}; only zip and gzip are unpacked")));
    }
    if packed && (head.starts_with(&[0x1f, 0x8b]) || head.starts_with(b"PK\x03\x04")) {
        return Err(archive("there is an archive in the archive".to_owned()));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Err(archive("a tar archive; send the one file in it".to_owned()));
    }
    let look = head.get(..LOOK).unwrap_or(head);
    let what = match FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, what)) => Some(*what),
        None if is_page(look) => Some("a web page; perhaps a login page instead of the file"),
        None if is_binary(look) => Some("a binary file"),
        None => None,
    };
    match what {
        Some(what) => Err(Refused::File { code: Code::FeedNotAFeed, what: format!("it looks like {what}") }),
        None => Ok(()),
    }
}

fn archive(what: String) -> Refused {
    Refused::File { code: Code::FeedArchiveRefused, what }
}

fn is_page(look: &[u8]) -> bool {
    let start = look.strip_prefix(b"\xef\xbb\xbf").unwrap_or(look);
    let start = start.trim_ascii_start();
    if start.first() != Some(&b'<') {
        return false;
    }
    let start = start.get(..1024).unwrap_or(start).to_ascii_lowercase();
    // A name ends where the tag does: `<body_style>` is a member of vehicles.
    let ends = |after: Option<&u8>| {
        after.is_none_or(|sign| matches!(sign, b'>' | b'/') || sign.is_ascii_whitespace())
    };
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
        .iter()
        .any(|tag| memchr::memmem::find_iter(&start, tag).any(|place| ends(start.get(place + tag.len()))))
}

/// Text has next to no control characters, UTF-16 aside.
fn is_binary(look: &[u8]) -> bool {
    if Encoding::of_beginning(look).0.is_some_and(|encoding| encoding != Encoding::Utf8) {
        return false;
    }
    let control = |byte: &&u8| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1a);
    let signs = look.iter().filter(control).count();
    // A file of which only NUL is left is empty rather than binary.
    signs * 20 > look.len() && !look.iter().all(|byte| *byte == 0)
}
