//! UTF-8 that was read as Windows-1252 and written as UTF-8 again (FEEDS.md 3.2).

/// The signs of the bytes 80 to 9F; the five that Windows-1252 leaves open stand for themselves, as its readers do it.
pub(super) const HIGH: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

fn byte_of(sign: char) -> Option<u8> {
    match u32::from(sign) {
        code @ (0..=0x7f | 0xa0..=0xff) => u8::try_from(code).ok(),
        _ => HIGH.iter().position(|high| *high == sign).and_then(|place| u8::try_from(0x80 + place).ok()),
    }
}

/// The text as it was meant, where its signs written as Windows-1252 are UTF-8 with at least one sign of several bytes.
pub(super) fn repaired(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let bytes: Option<Vec<u8>> = text.chars().map(byte_of).collect();
    // A sign beyond ASCII is a byte beyond ASCII, so that what is UTF-8 has a sign of several bytes.
    String::from_utf8(bytes?).ok()
}
