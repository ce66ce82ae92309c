//! Numbers as people and tools of several countries write them.

/// A number without a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    /// Digits before the decimal mark, without leading zeros; empty for zero.
    pub(crate) whole: String,
    /// Digits after it, without trailing zeros.
    pub(crate) fraction: String,
}

impl Number {
    pub(crate) fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// The whole part, where it fits.
    pub(crate) fn floor(&self) -> Option<i64> {
        if self.whole.is_empty() { Some(0) } else { self.whole.parse().ok() }
    }
}

/// A text around a number: what stands before its first digit, from there to its last digit, and after it.
pub(crate) fn around(text: &str) -> Option<(&str, &str, &str)> {
    let first = text.find(|sign: char| sign.is_ascii_digit())?;
    let last = text.rfind(|sign: char| sign.is_ascii_digit())? + 1;
    Some((text.get(..first)?, text.get(first..last)?, text.get(last..)?))
}

/// Blanks of every kind become plain ones, apostrophes of every kind the plain one.
pub(crate) fn plain(text: &str) -> String {
    text.trim()
        .chars()
        .map(|sign| match sign {
            sign if sign.is_whitespace() => ' ',
            '\u{2018}' | '\u{2019}' | '\u{b4}' | '`' => '\'',
            '\u{2212}' | '\u{2013}' | '\u{2014}' => '-',
            sign => sign,
        })
        .collect()
}

/// Reads digits with their separators; nothing else may be inside. None where two readings are possible and the rules
/// of FEEDS.md 5.1 do not say which.
pub(crate) fn read(text: &str) -> Option<Number> {
    if !text.chars().all(|sign| sign.is_ascii_digit() || matches!(sign, ',' | '.' | '\'' | ' ')) {
        return None;
    }
    let grouped = text.contains([' ', '\'']);
    let commas = text.matches(',').count();
    let points = text.matches('.').count();
    let decimal = match (commas, points) {
        (0, 0) => None,
        // Both: the last one is the decimal mark.
        (1.., 1..) => text.rfind([',', '.']),
        // One of them more than once can only part thousands.
        (2.., 0) | (0, 2..) => None,
        _ => {
            let place = text.find([',', '.'])?;
            let (before, after) = (text.get(..place)?, text.get(place + 1..)?);
            if after.len() != 3 {
                Some(place)
            } else if grouped {
                return None;
            } else if (1..=3).contains(&before.len()) && !before.starts_with('0') {
                None
            } else {
                Some(place)
            }
        }
    };
    let (whole, fraction) = match decimal {
        Some(place) => (text.get(..place)?, text.get(place + 1..)?),
        None => (text, ""),
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Number {
        whole: digits_of_groups(whole)?.trim_start_matches('0').to_owned(),
        fraction: fraction.trim_end_matches('0').to_owned(),
    })
}

/// The digits of `24,990` and its like: one kind of separator, groups of three after the first.
fn digits_of_groups(text: &str) -> Option<String> {
    let separator = text.chars().find(|sign| !sign.is_ascii_digit());
    let Some(separator) = separator else { return Some(text.to_owned()) };
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let fits = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let digits: String = text.chars().filter(|sign| *sign != separator).collect();
    (fits && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}
