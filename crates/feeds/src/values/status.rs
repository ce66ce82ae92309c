//! Whether a unit is on offer (FEEDS.md 5.4).

use std::collections::BTreeMap;

use super::fold;

/// Where a unit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It may appear: `available`, `pending` or `intransit`.
    Published(&'static str),
    /// It must not, and why: `sold`, `wholesale`, `removed` or `unknown_status`.
    Excluded(&'static str),
}

/// Reads a status cell. `words` are those of this source, which go first: one-letter codes differ between the systems of
/// dealers. A word that nobody knows excludes the unit and is `STATUS_UNKNOWN`.
pub fn parse(cell: &str, words: &BTreeMap<String, String>) -> Status {
    let word = fold(cell);
    // Words of other scripts fold to nothing; they must not be taken for the blank cell.
    let same = |own: &str| match fold(own) {
        folded if folded.is_empty() => own.trim().to_lowercase() == cell.trim().to_lowercase(),
        folded => folded == word,
    };
    if let Some(meaning) = words.iter().find(|(own, _)| same(own)).and_then(|(_, to)| meaning(to)) {
        return meaning;
    }
    if word.is_empty() && cell.chars().any(char::is_alphanumeric) {
        return Status::Excluded("unknown_status");
    }
    match word.as_str() {
        "" | "a" | "i" | "available" | "instock" | "active" | "live" | "retail" | "ready" | "frontline"
        | "frontlineready" | "disponible" => Status::Published("available"),
        "p" | "h" | "pending" | "salepending" | "dealpending" | "hold" | "onhold" | "retailonhold"
        | "deposit" | "reserved" | "reservado" => Status::Published("pending"),
        "t" | "it" | "o" | "intransit" | "inbound" | "allocated" | "onorder" | "entransito" => {
            Status::Published("intransit")
        }
        "s" | "d" | "sold" | "delivered" | "solddelivered" | "vendido" => Status::Excluded("sold"),
        "w" | "wholesale" => Status::Excluded("wholesale"),
        "inactive" | "removed" | "deleted" | "archived" | "notavailable" | "outofstock" => {
            Status::Excluded("removed")
        }
        _ => Status::Excluded("unknown_status"),
    }
}

/// What a word of a source's own table stands for; none where the table says something that is no status of ours.
pub fn meaning(word: &str) -> Option<Status> {
    Some(match word {
        "available" => Status::Published("available"),
        "pending" => Status::Published("pending"),
        "intransit" => Status::Published("intransit"),
        "sold" => Status::Excluded("sold"),
        "wholesale" => Status::Excluded("wholesale"),
        "removed" => Status::Excluded("removed"),
        _ => return None,
    })
}
