//! Words of others where a line break would begin something of its own: a row, a heading, a sentence of ours.

use std::borrow::Cow;

/// The text with a blank for every character that ends a line, steers a terminal or turns the direction of reading.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(steers) { Cow::Owned(text.replace(steers, " ")) } else { Cow::Borrowed(text) }
}

/// Control characters, the separators of lines and paragraphs, and Unicode's `Bidi_Control`.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_a_blank_and_all_else_stays() {
        for c in "\0\n\r\t\u{b}\u{c}\u{1b}\u{1f}\u{7f}\u{85}\u{9f}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}"
            .chars()
        {
            assert_eq!(one_line(&format!("a{c}b")), "a b", "{c:?}");
        }
        let fine = "Citroën Ë-C4 \u{a0}\u{200d} 東京 \u{5d0} #\\";
        assert!(matches!(one_line(fine), Cow::Borrowed(text) if text == fine));
    }
}
