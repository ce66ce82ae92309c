//! Which characters the bytes stand for (FEEDS.md 3.1, field report 13).

use feeds::Code;

use crate::{HEADER, read};

fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let text = if mark { format!("\u{feff}{text}") } else { text.to_owned() };
    text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

#[test]
fn utf_16_is_read_both_ways_with_and_without_a_mark() {
    let text = format!("{HEADER}\r\nA1,V,2020,Citroën,C4,“nice” 🚗\r\n");
    for (big, mark) in [(false, true), (true, true), (false, false), (true, false)] {
        let read = read(utf16(&text, big, mark));
        assert_eq!(read.detected.encoding, if big { "utf-16be" } else { "utf-16le" });
        assert_eq!(read.detected.bom, mark);
        assert_eq!(read.rows[0].cell("Make"), Some("Citroën"));
        assert_eq!(read.rows[0].cell("Description"), Some("“nice” 🚗"));
    }
}

#[test]
fn a_file_without_any_utf_8_is_windows_1252() {
    let mut file = format!("{HEADER}\nA1,V,2020,Ford,F-150,caf").into_bytes();
    file.extend(b"\xe9 \x93nice\x94 \x80\nA2,V,2020,Ford,F-150,plain\n");
    let read = read(file);
    assert_eq!(read.detected.encoding, "windows-1252");
    assert_eq!(read.column("Description"), [Some("café “nice” €"), Some("plain")]);
    assert!(read.codes.is_empty() && read.rows[0].notes().is_empty());
}

#[test]
fn lines_of_two_encodings_are_told_apart() {
    let mut file = format!("{HEADER}\nA1,V,2020,Ford,F-150,naïve\nA2,V,2020,Ford,F-150,caf").into_bytes();
    file.extend(b"\xe9\nA3,V,2020,Ford,F-150,plain\n");
    let read = read(file);
    assert_eq!(read.detected.encoding, "mixed");
    assert_eq!(read.codes, [Code::FeedEncodingMixed]);
    assert_eq!(read.column("Description"), [Some("naïve"), Some("café"), Some("plain")]);
    let notes: Vec<_> = read.rows.iter().map(|row| row.notes().to_vec()).collect();
    assert_eq!(notes, [vec![], vec![Code::EncodingFallback], vec![]]);
}

#[test]
fn documents_of_two_encodings_are_told_apart_by_vehicle() {
    let json =
        [b"[{\"vin\":\"1\",\"a\":\"na\xc3\xafve\"},{\"vin\":\"2\",\"a\":\"caf\xe9\"},{\"vin\":\"3\"}]"
            .to_vec()];
    let xml =
        b"<l><v><vin>1</vin><a>na\xc3\xafve</a></v><v><vin>2</vin><a>caf\xe9</a></v><v><vin>3</vin></v></l>";
    for file in [json[0].clone(), xml.to_vec()] {
        let read = read(file);
        assert_eq!(read.codes, [Code::FeedEncodingMixed]);
        assert_eq!(read.column("a"), [Some("naïve"), Some("café"), None]);
        let notes: Vec<_> = read.rows.iter().map(|row| row.notes().to_vec()).collect();
        assert_eq!(notes, [vec![], vec![Code::EncodingFallback], vec![]]);
    }
}

#[test]
fn a_file_that_ends_within_a_character_is_truncated() {
    let mut file = format!("{HEADER}\nA1,V,2020,Ford,F-150,naïve\nA2,V,2020,Ford,F-150,na").into_bytes();
    file.push(0xc3);
    let read = read(file);
    assert_eq!(read.detected.encoding, "utf-8");
    assert_eq!(read.codes, [Code::FeedTruncated]);
}
