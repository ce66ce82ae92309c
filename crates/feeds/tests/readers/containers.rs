//! Archives, and files that are no feed (FEEDS.md 1, 10).

use std::io::Write;

use feeds::Code;
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

use crate::{HEADER, read, refused};

/// A zip archive of deflated members.
pub(crate) fn zip(members: &[(&str, &[u8])], flags: u16) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = Crc::new();
        crc.update(content);
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(content).unwrap();
        let packed = packed.finish().unwrap();
        let mut common = Vec::new();
        for half in [20, flags, 8, 0, 0] {
            common.extend(half.to_le_bytes());
        }
        for word in [crc.sum(), packed.len() as u32, content.len() as u32] {
            common.extend(word.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let start = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = archive.len() as u32;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn table() -> Vec<u8> {
    format!("{HEADER}\nA1,V,2020,Ford,F-150,x\nA2,V,2020,Ford,F-150,y\n").into_bytes()
}

#[test]
fn packed_tables_are_read_as_if_they_were_not() {
    let chaff: &[(&str, &[u8])] =
        &[("out/", b""), ("out/feed.csv", &table()), ("__MACOSX/._feed.csv", b"x"), ("out/.DS_Store", b"x")];
    for (file, container) in [(zip(chaff, 0), "zip"), (gzip(&table()), "gzip")] {
        let read = read(file);
        assert_eq!(read.detected.container.as_deref(), Some(container));
        assert_eq!((read.rows.len(), read.codes), (2, vec![]));
    }
}

#[test]
fn archives_that_are_not_one_feed_are_refused() {
    let inner = zip(&[("a.csv", &table())], 0);
    for (file, why) in [
        (zip(&[("a.csv", &table()), ("b.csv", &table())], 0), "two members"),
        (zip(&[("a/", b"")], 0), "no member"),
        (zip(&[("a.zip", &inner)], 0), "an archive in an archive"),
        (gzip(&gzip(&table())), "gzip in gzip"),
        (zip(&[("a.csv", &table())], 1), "encrypted"),
        (inner[..inner.len() / 2].to_vec(), "cut short"),
        (b"Rar!\x1a\x07\x00".to_vec(), "rar"),
        (b"7z\xbc\xaf\x27\x1c".to_vec(), "7z"),
    ] {
        assert_eq!(refused(file), Code::FeedArchiveRefused, "{why}");
    }
}

#[test]
fn a_gzip_that_stops_is_truncated_and_a_damaged_archive_holds() {
    let content: String =
        (0..2000).map(|row| format!("A{row},V{},2020,Ford,F-150,{}\n", row * 7919, row * 104_729)).collect();
    let content = format!("{HEADER}\n{content}");
    let packed = gzip(content.as_bytes());
    let cut = read(&packed[..packed.len() / 2]);
    assert!(cut.codes.contains(&Code::FeedTruncated), "{:?}", cut.codes);
    assert!(cut.rows.len() > 500);
    let mut zipped = zip(&[("a.csv", content.as_bytes())], 0);
    let directory = zipped.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    zipped[directory + 16] ^= 1;
    let damaged = read(&zipped);
    assert_eq!(damaged.codes, [Code::FeedNotWellformed]);
    assert_eq!(damaged.rows.len(), 2000);
}

#[test]
fn an_archive_that_unfolds_too_far_is_refused_and_a_small_one_may() {
    let row = "A1,V,2020,Ford,F-150,same text again and again\n";
    let many = format!("{HEADER}\n{}", row.repeat(100_000));
    assert_eq!(refused(gzip(many.as_bytes())), Code::FeedArchiveRefused);
    assert_eq!(refused(zip(&[("a.csv", many.as_bytes())], 0)), Code::FeedArchiveRefused);
    let few = format!("{HEADER}\n{}", row.repeat(2_000));
    assert_eq!(read(gzip(few.as_bytes())).rows.len(), 2_000);
}

#[test]
fn what_is_no_feed_is_called_by_its_name() {
    for file in [
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
        b"%PDF-1.7\n",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"<!DOCTYPE html><html><body>Please log in</body></html>",
        b"\xef\xbb\xbf\r\n<HTML><head></head></HTML>",
        b"\x00\x01\x02\x03\x04\x05\x06\x07",
    ] {
        assert_eq!(refused(file), Code::FeedNotAFeed, "{file:?}");
    }
    let sheet = zip(&[("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")], 0);
    assert_eq!(refused(sheet), Code::FeedNotAFeed);
    assert_eq!(read("Dear dealer,\nplease find attached the file.\n").codes, [Code::FeedHeaderUnknown]);
}
