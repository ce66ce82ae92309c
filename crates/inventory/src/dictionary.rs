//! Turning the texts of a field into terms: texts that are equal when folded are one term.

use std::collections::HashMap;

use contract::text::fold;

use crate::hash::Seed;

/// One distinct value of a field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// As it is compared.
    pub(crate) folded: String,
    /// As it is told: the spelling that most units use, the smallest of several.
    pub(crate) shown: String,
}

/// The code of a row without a value.
pub(crate) const NONE: u32 = u32::MAX;

/// The values of a field, sorted, and the code of every row.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) terms: Vec<Term>,
    pub(crate) codes: Vec<u32>,
    /// (code, spelling, rows) of the spellings that are not told.
    pub(crate) others: Vec<(u32, String, Vec<u32>)>,
}

/// Collects spellings; folding each once is what makes building quick.
#[derive(Debug)]
pub(crate) struct Spellings<'t> {
    table: HashMap<&'t str, u32, Seed>,
    seen: Vec<(&'t str, u32)>,
}

impl<'t> Spellings<'t> {
    pub(crate) fn new() -> Spellings<'t> {
        Spellings { table: HashMap::with_hasher(Seed::random()), seen: Vec::new() }
    }

    /// Counts one more use of a spelling; its number.
    #[expect(clippy::cast_possible_truncation, reason = "no lot has 2^32 spellings")]
    pub(crate) fn note(&mut self, spelling: &'t str) -> u32 {
        let number = *self.table.entry(spelling).or_insert_with(|| {
            self.seen.push((spelling, 0));
            self.seen.len() as u32 - 1
        });
        if let Some((_, uses)) = self.seen.get_mut(number as usize) {
            *uses += 1;
        }
        number
    }

    /// The terms in folded order, and for every spelling's number the code of its term.
    #[expect(clippy::cast_possible_truncation, reason = "no lot has 2^32 spellings")]
    pub(crate) fn terms(&self) -> (Vec<Term>, Vec<u32>) {
        let mut sorted: Vec<_> = self
            .seen
            .iter()
            .enumerate()
            .map(|(number, (spelling, uses))| (fold(spelling), std::cmp::Reverse(*uses), *spelling, number))
            .collect();
        sorted.sort_unstable();
        let mut terms: Vec<Term> = Vec::new();
        let mut codes = vec![NONE; sorted.len()];
        for (folded, _, spelling, number) in sorted {
            if terms.last().is_none_or(|last| last.folded != folded) {
                terms.push(Term { folded, shown: spelling.to_owned() });
            }
            if let Some(code) = codes.get_mut(number) {
                *code = terms.len() as u32 - 1;
            }
        }
        (terms, codes)
    }
}

/// A text field that is being read.
#[derive(Debug)]
pub(crate) struct Reading<'t> {
    spellings: Spellings<'t>,
    numbers: Vec<u32>,
}

impl<'t> Reading<'t> {
    pub(crate) fn new(rows: usize) -> Reading<'t> {
        Reading { spellings: Spellings::new(), numbers: Vec::with_capacity(rows) }
    }

    /// The value of the next row.
    pub(crate) fn push(&mut self, text: Option<&'t str>) {
        let number = text.map_or(NONE, |text| self.spellings.note(text));
        self.numbers.push(number);
    }

    /// All rows have been read.
    pub(crate) fn finish(self) -> Dictionary {
        let (terms, of_spelling) = self.spellings.terms();
        let code = |number: u32| of_spelling.get(number as usize).copied().unwrap_or(NONE);
        let mut others: Vec<(u32, String, Vec<u32>)> = Vec::new();
        let seen = &self.spellings.seen;
        // Most fields have one spelling for each value.
        if seen.len() > terms.len() {
            let mut places = vec![None; seen.len()];
            for ((number, (spelling, _)), place) in (0..).zip(seen).zip(&mut places) {
                if terms.get(code(number) as usize).is_some_and(|term| term.shown != *spelling) {
                    *place = Some(others.len());
                    others.push((code(number), (*spelling).to_owned(), Vec::new()));
                }
            }
            for (row, number) in (0..).zip(&self.numbers) {
                let place = places.get(*number as usize).copied().flatten();
                if let Some((_, _, rows)) = place.and_then(|place| others.get_mut(place)) {
                    rows.push(row);
                }
            }
        }
        let codes = self.numbers.iter().map(|number| code(*number)).collect();
        Dictionary { terms, codes, others }
    }
}

impl Dictionary {
    /// A field of whole numbers; in numerical order.
    pub(crate) fn of_numbers(rows: &[Option<i64>]) -> Dictionary {
        let mut values: Vec<i64> = rows.iter().copied().flatten().collect();
        values.sort_unstable();
        values.dedup();
        let code = |value: i64| values.binary_search(&value).ok().and_then(|code| u32::try_from(code).ok());
        Dictionary {
            codes: rows.iter().map(|row| row.and_then(code).unwrap_or(NONE)).collect(),
            terms: values.iter().map(|v| Term { folded: v.to_string(), shown: v.to_string() }).collect(),
            others: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_one_term_told_as_most_units_tell_it() {
        let rows = ["AWD", "awd", " Awd", "awd", "FWD", "", "  ", "AWD"].map(Some);
        let mut reading = Reading::new(rows.len() + 1);
        rows.into_iter().chain([None]).for_each(|text| reading.push(text));
        let dictionary = reading.finish();
        let told: Vec<_> = dictionary.terms.iter().map(|t| (t.folded.as_str(), t.shown.as_str())).collect();
        assert_eq!(told, [("", ""), ("awd", "AWD"), ("fwd", "FWD")]);
        assert_eq!(dictionary.codes, [1, 1, 1, 1, 2, 0, 0, 1, NONE]);
        let mut others = dictionary.others;
        others.sort_unstable();
        let other = |code: u32, spelling: &str, rows: &[u32]| (code, spelling.to_owned(), rows.to_vec());
        assert_eq!(others, [other(0, "  ", &[6]), other(1, " Awd", &[2]), other(1, "awd", &[1, 3])]);
    }

    #[test]
    fn numbers_are_in_numerical_order() {
        let dictionary = Dictionary::of_numbers(&[Some(10), Some(9), None, Some(100)]);
        assert_eq!(dictionary.codes, [1, 0, NONE, 2]);
        assert_eq!(dictionary.terms.iter().map(|t| t.shown.as_str()).collect::<Vec<_>>(), ["9", "10", "100"]);
    }
}
