//! The one rule by which texts are compared (AAP.md 7.4.1): dictionaries, filters, tokens and sorting all use it.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A text as it is compared: Unicode NFC, blanks around it removed, lower case. Accents count.
pub fn fold(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.is_ascii() {
        return trimmed.to_ascii_lowercase();
    }
    if is_nfc(trimmed) {
        return trimmed.to_lowercase().nfc().collect();
    }
    trimmed.nfc().collect::<String>().trim().to_lowercase().nfc().collect()
}

/// Whether `term` occurs in `value` at word boundaries; both must be folded already.
///
/// A boundary is the start, the end, or a change between letters or digits and anything else.
pub fn contains_at_word_boundary(value: &str, term: &str) -> bool {
    if term.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(found) = value.get(from..).and_then(|rest| rest.find(term)) {
        let start = from + found;
        let end = start + term.len();
        let before = value.get(..start).and_then(|s| s.chars().next_back());
        let after = value.get(end..).and_then(|s| s.chars().next());
        if boundary(before, term.chars().next()) && boundary(term.chars().next_back(), after) {
            return true;
        }
        from = start + term.chars().next().map_or(1, char::len_utf8);
    }
    false
}

fn boundary(left: Option<char>, right: Option<char>) -> bool {
    match (left, right) {
        (Some(a), Some(b)) => !(a.is_alphanumeric() && b.is_alphanumeric()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn folding_keeps_accents_and_joins_normal_forms() {
        assert_eq!(fold(" Citroe\u{308}n "), fold("CITROËN"));
        assert_ne!(fold("Citroën"), fold("Citroen"));
    }

    #[test]
    fn blanks_around_and_case_do_not_count_blanks_inside_do() {
        assert_eq!(fold("\u{a0}\tCR-V \n"), "cr-v");
        assert_ne!(fold("Land  Rover"), fold("Land Rover"));
        assert_eq!(fold("ÉLÉGANCE"), fold("e\u{301}le\u{301}gance"));
        assert_eq!(fold("\u{212a}ia"), "kia");
        assert_eq!(fold("  "), "");
    }

    #[test]
    fn words_are_found_only_whole() {
        assert!(contains_at_word_boundary("8-speed automatic", "automatic"));
        assert!(contains_at_word_boundary("crystal black pearl", "black"));
        assert!(contains_at_word_boundary("black", "black"));
        assert!(contains_at_word_boundary("black/grey", "grey"));
        assert!(contains_at_word_boundary("blackish black", "black"));
        assert!(contains_at_word_boundary("10-speed automatic", "-speed"));
        assert!(!contains_at_word_boundary("semiautomatic", "automatic"));
        assert!(!contains_at_word_boundary("blackish", "black"));
        assert!(!contains_at_word_boundary("18-speed", "8-speed"));
        assert!(!contains_at_word_boundary("éblack", "black"));
        assert!(!contains_at_word_boundary("black", ""));
        assert!(!contains_at_word_boundary("", "black"));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in any::<String>()) {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once.clone());
            prop_assert_eq!(once.trim(), once.as_str());
        }

        #[test]
        fn normal_forms_and_case_fold_together(text in any::<String>()) {
            let composed: String = text.nfc().collect();
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(fold(&composed), fold(&decomposed));
        }

        #[test]
        fn what_is_found_is_there_and_a_whole_text_finds_itself(value in "[a-c é🚗-]{0,12}", term in "[a-c é-]{1,3}") {
            if contains_at_word_boundary(&value, &term) {
                prop_assert!(value.contains(&term));
            }
            prop_assert!(contains_at_word_boundary(&term, &term));
            let apart = format!("{value} {term} {value}");
            prop_assert!(contains_at_word_boundary(&apart, &term));
        }
    }
}
