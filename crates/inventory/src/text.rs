//! Free text: every token must occur somewhere in the unit.
//!
//! A token has no blank in it, so it occurs in a text exactly if it occurs in one of the text's words. Terms are
//! therefore searched once for all units that share them, descriptions by their distinct words; only VIN and
//! stock number are looked at unit by unit.

use std::ops::Range;

use contract::text::fold;
use memchr::memmem::Finder;

use crate::Snapshot;
use crate::bitset::Bits;

/// The folded tokens of a query, sorted, each once.
pub(crate) fn tokens(query: &str) -> Vec<String> {
    let mut tokens: Vec<String> =
        query.split_whitespace().map(fold).filter(|token| !token.is_empty()).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

/// Keeps the units in which every token of `query` occurs. A blank query keeps all.
pub(crate) fn restrict(snapshot: &Snapshot, bits: &mut Option<Bits>, query: &str) {
    let tokens = tokens(query);
    // Where a longer token occurs, a part of it does too.
    let implied =
        |token: &String| tokens.iter().any(|other| other.len() > token.len() && other.contains(token));
    // Longer tokens leave fewer units for the next.
    let mut needed: Vec<&String> = tokens.iter().filter(|token| !implied(token)).collect();
    needed.sort_by_key(|token| std::cmp::Reverse(token.len()));
    for token in needed {
        let wanted = bits.take().unwrap_or_else(|| Bits::full(snapshot.rows));
        *bits = Some(having(snapshot, wanted, token));
    }
}

/// Those of `wanted` in which the token occurs.
fn having(snapshot: &Snapshot, mut wanted: Bits, token: &str) -> Bits {
    let finder = Finder::new(token.as_bytes());
    let terms = &snapshot.terms;
    let mut found = Bits::empty(snapshot.rows);
    let mut patience = Patience::default();
    terms.lines().search(
        &finder,
        terms.searched(),
        |_| true,
        |term| {
            terms.sets().rows(u32::try_from(term).unwrap_or(u32::MAX)).add_to(&mut found);
            patience.go_on(&wanted, &found)
        },
    );
    if !patience.complete && !wanted.within(&found) {
        snapshot.texts.search(&finder, &wanted, &mut found);
    }
    wanted.and(found.words());
    wanted
}

/// Asks now and then whether any unit is still unfound.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    added: usize,
    pub(crate) complete: bool,
}

impl Patience {
    /// How many sets are added before asking.
    const SETS: usize = 32;

    /// Whether another set may find more of `wanted`.
    pub(crate) fn go_on(&mut self, wanted: &Bits, found: &Bits) -> bool {
        self.added += 1;
        self.complete = self.added.is_multiple_of(Self::SETS) && wanted.within(found);
        !self.complete
    }
}

/// Visits where the words of a text are: what stands between blanks, in the sense of [`str::split_whitespace`].
pub(crate) fn each_span(text: &str, mut visit: impl FnMut(Range<usize>)) {
    if !text.is_ascii() {
        let start = text.as_ptr().addr();
        text.split_whitespace().for_each(|word| {
            let at = word.as_ptr().addr() - start;
            visit(at..at + word.len());
        });
        return;
    }
    let mut begin = 0;
    let mut blank = |at: usize| {
        if at > begin {
            visit(begin..at);
        }
        begin = at + 1;
    };
    let (chunks, rest) = text.as_bytes().as_chunks::<8>();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut blanks = blanks(u64::from_le_bytes(*chunk));
        while blanks != 0 {
            blank(number * 8 + blanks.trailing_zeros() as usize / 8);
            blanks &= blanks - 1;
        }
    }
    for (place, byte) in rest.iter().enumerate() {
        if matches!(byte, b'\t'..=b'\r' | b' ') {
            blank(chunks.len() * 8 + place);
        }
    }
    blank(text.len());
}

/// The highest bit of each of eight ASCII characters that is a blank. No sum of two numbers below 128 reaches the
/// next character.
fn blanks(characters: u64) -> u64 {
    const fn eight(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let from = |first: u8| characters + eight(128 - first);
    let other = (characters ^ eight(b' ')) + eight(127);
    ((from(b'\t') & !from(b'\r' + 1)) | !other) & eight(128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_every_kind_of_blank() {
        for code in 0..0x3000_u32 {
            let Some(c) = char::from_u32(code) else { continue };
            for text in [format!("ab{c}cd"), format!("{c}a {c}bcdefghijklmnopqr{c}{c}s tu v wxy{c}")] {
                let mut words = Vec::new();
                each_span(&text, |span| words.push(&text[span]));
                let expected: Vec<_> = text.split_whitespace().collect();
                assert_eq!(words, expected, "U+{code:04X}");
            }
        }
    }

    #[test]
    fn tokens_are_folded_and_unique() {
        assert_eq!(tokens(" Civic\u{a0}HONDA\u{b}civic \n"), ["civic", "honda"]);
        assert!(tokens(" \t\u{2003}").is_empty());
    }
}
