//! The words of the descriptions, for free text.

use std::collections::HashMap;
use std::ops::Range;

use contract::text::fold;

use crate::dictionary::NONE;
use crate::hash::Seed;
use crate::source::Multi;
use crate::{text, unit};

/// Numbers the words and notes which unit has which. A text that many units share, as new cars do, is read once.
pub(crate) struct Reader {
    /// The list of each description that was read. Told apart as units' descriptions are, see [`unit::digest`].
    known: HashMap<u64, u32, Seed>,
    vocabulary: Vocabulary,
    multi: Multi,
    /// For each word the last list it was put on.
    last: Vec<u32>,
    /// Room to work in.
    values: Vec<u32>,
}

impl Reader {
    pub(crate) fn new() -> Reader {
        Reader {
            known: HashMap::with_hasher(Seed::random()),
            vocabulary: Vocabulary::default(),
            multi: Multi::default(),
            last: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The description of the next unit.
    pub(crate) fn push(&mut self, description: Option<&str>) {
        let Reader { known, vocabulary, multi, last, values } = self;
        let Some(description) = description else {
            multi.push_row(NONE);
            return;
        };
        let list = *known.entry(unit::digest(Some(description))).or_insert_with(|| {
            let list = multi.lists();
            let folded = fold(description);
            values.clear();
            values.resize(folded.len() / 2 + 1, 0);
            let mut different = 0;
            text::each_span(&folded, |span| {
                let value = vocabulary.number_in(folded.as_bytes(), span, |word| {
                    multi.texts.push(word.into());
                    last.push(NONE);
                    count(multi.texts.len() - 1)
                });
                // Whether a word comes again is as good as chance, so nothing is made to depend on it but a sum.
                if let (Some(last), Some(place)) = (last.get_mut(value as usize), values.get_mut(different)) {
                    *place = value;
                    different += usize::from(*last != list);
                    *last = list;
                }
            });
            values.iter().take(different).for_each(|value| multi.push_value(*value));
            multi.end_list()
        });
        multi.push_row(list);
    }

    /// All units have been read.
    pub(crate) fn finish(self) -> Multi {
        self.multi
    }
}

/// Numbers for words. Nearly all words have at most fifteen bytes; those are compared where they lie in the table.
pub(crate) struct Vocabulary {
    short: HashMap<u128, u32, Seed>,
    long: HashMap<Box<[u8]>, u32, Seed>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        let seed = Seed::random();
        Vocabulary { short: HashMap::with_hasher(seed), long: HashMap::with_hasher(seed) }
    }
}

impl Vocabulary {
    /// The number of a word; of a new one, the one that `new` gives.
    #[inline]
    pub(crate) fn number(&mut self, word: &[u8], new: impl FnOnce() -> u32) -> u32 {
        let mut bytes = [0; SHORT + 1];
        if word.len() <= SHORT
            && let Some(place) = bytes.get_mut(..word.len())
        {
            place.copy_from_slice(word);
            return self.short(key(bytes, word.len()), new);
        }
        match self.long.get(word) {
            Some(number) => *number,
            None => *self.long.entry(word.into()).or_insert_with(new),
        }
    }

    /// The same for the word that stands in a text there.
    #[inline]
    pub(crate) fn number_in(
        &mut self,
        text: &[u8],
        span: Range<usize>,
        new: impl FnOnce(&[u8]) -> u32,
    ) -> u32 {
        let word = text.get(span.clone()).unwrap_or_default();
        // Reading past its end and cutting off what is too much is quicker than copying so many bytes.
        match text.get(span.start..).and_then(|text| text.first_chunk()) {
            Some(bytes) if word.len() <= SHORT => self.short(key(*bytes, word.len()), || new(word)),
            _ => self.number(word, || new(word)),
        }
    }

    #[inline]
    fn short(&mut self, key: u128, new: impl FnOnce() -> u32) -> u32 {
        match self.short.get(&key) {
            Some(number) => *number,
            None => *self.short.entry(key).or_insert_with(new),
        }
    }
}

/// Words of so many bytes are short.
const SHORT: usize = 15;

/// The first so many bytes, and how many. The length keeps words apart that differ only by zero bytes at the end.
#[inline]
fn key(bytes: [u8; SHORT + 1], length: usize) -> u128 {
    let cut = (1_u128 << (length * 8)) - 1;
    (u128::from_le_bytes(bytes) & cut) | (length as u128) << (SHORT * 8)
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(NONE)
}
