//! Many short folded texts, one a line, in which a part of a line is found fast.
//!
//! Larger lists also keep, for every group of 64 lines, which runs of three bytes occur in it (hashed): a search
//! then reads only the few groups that can have the wanted text. The texts decide, the groups only save work.

use memchr::memmem::Finder;

use crate::bitset;

/// Lines in a group.
const GROUP: usize = 64;
/// From this many lines on, reading everything costs more than the table of runs.
const GRAMS_FROM: usize = 2048;
/// Ends a line. Neither byte occurs in UTF-8, so no wanted text reaches over it.
const END: u8 = 0xff;
/// Separates the parts of a line that were given apart.
const APART: u8 = 0xfe;

/// The texts.
#[derive(Debug)]
pub(crate) struct Lines {
    bytes: Box<[u8]>,
    /// Where each line starts, and where the next would.
    starts: Box<[u32]>,
    /// Which bytes occur at all.
    alphabet: [u64; 4],
    grams: Option<Grams>,
}

/// For every hashed run a bitset of the groups that have it.
#[derive(Debug)]
struct Grams {
    /// Bits of a hash.
    bits_used: u32,
    words: usize,
    bits: Box<[u64]>,
}

/// Collects lines.
#[derive(Debug, Default)]
pub(crate) struct LinesBuilder {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

impl LinesBuilder {
    /// Adds a line; `parts` are kept apart.
    pub(crate) fn push<'t>(&mut self, parts: impl IntoIterator<Item = &'t [u8]>) {
        self.starts.push(offset(self.bytes.len()));
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 {
                self.bytes.push(APART);
            }
            self.bytes.extend_from_slice(part);
        }
        self.bytes.push(END);
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Makes them searchable. `grams`, a power of two, is how many hashed runs are told apart: more of them pass
    /// over more groups, and take more room.
    pub(crate) fn build(self, grams: usize) -> Lines {
        self.build_from(GRAMS_FROM, grams)
    }

    /// The same, with the table of runs from so many lines on.
    pub(crate) fn build_from(mut self, from: usize, grams: usize) -> Lines {
        self.starts.push(offset(self.bytes.len()));
        let mut alphabet = [0; 4];
        for byte in &self.bytes {
            if let Some(word) = alphabet.get_mut(*byte as usize / 64) {
                *word |= 1_u64 << (byte % 64);
            }
        }
        let mut lines = Lines { bytes: self.bytes.into(), starts: self.starts.into(), alphabet, grams: None };
        if lines.len() >= from {
            lines.grams = Some(Grams::build(&lines, grams));
        }
        lines
    }
}

/// Text beyond 4 GB is not searched; a lot of that size does not fit a node anyway.
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Lines {
    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The text of a line.
    #[inline]
    pub(crate) fn line(&self, line: usize) -> &[u8] {
        match self.starts.get(line..line + 2) {
            Some([start, end]) => {
                self.bytes.get(*start as usize..(*end as usize).saturating_sub(1)).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The line of `range` with exactly this text; the lines of the range are sorted.
    pub(crate) fn position(&self, range: std::ops::Range<u32>, text: &str) -> Option<u32> {
        self.place(range, |line| line.cmp(text.as_bytes())).ok()
    }

    /// The line of `range` that `order` finds equal to what is wanted, else the one that it would come before.
    pub(crate) fn place(
        &self,
        range: std::ops::Range<u32>,
        order: impl Fn(&[u8]) -> std::cmp::Ordering,
    ) -> Result<u32, u32> {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match order(self.line(middle as usize)) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Visits, in order, the lines of `range` that contain `wanted`, until `hit` says no. Groups that `useful`
    /// says no to are passed over.
    pub(crate) fn search(
        &self,
        wanted: &Finder<'_>,
        range: std::ops::Range<usize>,
        useful: impl Fn(usize) -> bool,
        mut hit: impl FnMut(usize) -> bool,
    ) {
        let needle = wanted.needle();
        if range.is_empty() || !needle.iter().all(|byte| self.spells(*byte)) {
            return;
        }
        let groups = range.start / GROUP..range.end.div_ceil(GROUP);
        let possible = self.grams.as_ref().and_then(|grams| grams.groups(needle));
        let worth = |group: usize| {
            useful(group) && possible.as_ref().is_none_or(|possible| bitset::has(possible, offset(group)))
        };
        let mut group = groups.start;
        while group < groups.end {
            if !worth(group) {
                group += 1;
                continue;
            }
            // Neighbours are read in one go.
            let first = group;
            while group < groups.end && worth(group) {
                group += 1;
            }
            let lines = (first * GROUP).max(range.start)..(group * GROUP).min(range.end);
            if !self.search_lines(wanted, lines, &mut hit) {
                return;
            }
        }
    }

    fn search_lines(
        &self,
        wanted: &Finder<'_>,
        lines: std::ops::Range<usize>,
        hit: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let starts = self.starts.get(lines.start..=lines.end).unwrap_or_default();
        let end = starts.last().map_or(0, |end| *end as usize);
        let mut at = starts.first().map_or(0, |start| *start as usize);
        let mut before = 0;
        while let Some(found) = self.bytes.get(at..end).and_then(|text| wanted.find(text)) {
            let here = offset(at + found);
            let later = starts.get(before..).unwrap_or_default();
            let next = before + later.partition_point(|start| *start <= here);
            if !hit(lines.start + next - 1) {
                return false;
            }
            // A line counts once, however often the text occurs in it.
            at = starts.get(next).map_or(end, |start| *start as usize);
            before = next;
        }
        true
    }

    fn spells(&self, byte: u8) -> bool {
        self.alphabet.get(byte as usize / 64).is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + self.starts.len() * 4 + self.grams.as_ref().map_or(0, |grams| grams.bits.len() * 8)
    }
}

impl Grams {
    fn build(lines: &Lines, grams: usize) -> Grams {
        let bits_used = grams.ilog2();
        let groups = lines.len().div_ceil(GROUP);
        let words = bitset::words(groups);
        let mut bits = vec![0_u64; words << bits_used];
        for group in 0..groups {
            let start = lines.starts.get(group * GROUP).copied().unwrap_or(0) as usize;
            let end =
                lines.starts.get((group + 1) * GROUP).or(lines.starts.last()).copied().unwrap_or(0) as usize;
            for run in lines.bytes.get(start..end).unwrap_or_default().windows(3) {
                if let Some(word) = bits.get_mut(gram(run, bits_used) * words + group / 64) {
                    *word |= 1 << (group % 64);
                }
            }
        }
        Grams { bits_used, words, bits: bits.into() }
    }

    /// The groups that can have the text; `None` if it is too short to tell.
    fn groups(&self, text: &[u8]) -> Option<Vec<u64>> {
        let mut runs = text.windows(3).map(|run| {
            let start = gram(run, self.bits_used) * self.words;
            self.bits.get(start..start + self.words).unwrap_or_default()
        });
        let mut groups = runs.next()?.to_vec();
        for run in runs {
            for (mine, theirs) in groups.iter_mut().zip(run) {
                *mine &= theirs;
            }
        }
        Some(groups)
    }
}

#[inline]
fn gram(run: &[u8], bits: u32) -> usize {
    let spelled = run.iter().fold(0_u32, |all, byte| (all << 8) | u32::from(*byte));
    (spelled.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> (Vec<String>, Lines) {
        let texts: Vec<String> = (0..count)
            .map(|i| format!("{:x} unit é{}", i.wrapping_mul(2_654_435_761) % 9973, i % 7))
            .collect();
        let mut builder = LinesBuilder::default();
        for text in &texts {
            builder.push([text.as_bytes(), b"tail"]);
        }
        assert_eq!(builder.len(), count);
        (texts, builder.build(1024))
    }

    #[test]
    fn a_search_finds_what_reading_every_line_finds() {
        for count in [0, 1, 63, 64, 65, 700, 5000] {
            let (texts, lines) = lines(count);
            assert_eq!(lines.grams.is_some(), count >= GRAMS_FROM);
            let common =
                ["1", "a1", "1f", "26f", "unit", "é3", "é", "zzz", "t é1", "tail", "ltail", "\u{e9}5"];
            // How a group begins and ends is part of it too.
            let edges = [0, 63, 64, 127, 128, 4032].into_iter().filter_map(|line| texts.get(line));
            for wanted in common.into_iter().chain(edges.map(String::as_str)) {
                for range in [0..count, count / 3..count / 2 + usize::from(count > 0)] {
                    let mut found = Vec::new();
                    lines.search(
                        &Finder::new(wanted),
                        range.clone(),
                        |_| true,
                        |line| {
                            found.push(line);
                            true
                        },
                    );
                    let expected: Vec<usize> =
                        range.filter(|i| texts[*i].contains(wanted) || "tail".contains(wanted)).collect();
                    assert_eq!(found, expected, "{wanted} in {count}");
                }
            }
        }
    }

    #[test]
    fn a_search_stops_and_passes_over_groups() {
        let (_, lines) = lines(5000);
        let mut found = Vec::new();
        lines.search(
            &Finder::new("tail"),
            0..5000,
            |group| group != 0,
            |line| {
                found.push(line);
                found.len() < 3
            },
        );
        assert_eq!(found, [64, 65, 66]);
    }
}
