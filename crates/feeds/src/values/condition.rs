//! New, used or certified (FEEDS.md 5.3).

use super::{Parsed, fold, is_nothing};
use crate::code::Code;

/// From so many miles on a unit whose condition is not said is a used one.
const USED_FROM: i64 = 1_000;

/// Whether a flag (`certified`, `dc fast charge` …) says yes. Anything but a clear yes is no.
pub fn flag(cell: &str) -> bool {
    matches!(
        fold(cell).as_str(),
        "y" | "yes" | "true" | "t" | "1" | "si" | "certified" | "cpo" | "certificado"
    )
}

/// The words for a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    New,
    Used,
    Certified,
    Demo,
}

fn word(cell: &str) -> Option<Word> {
    Some(match fold(cell).as_str() {
        "n" | "new" | "nuevo" | "nueva" => Word::New,
        "u" | "used" | "preowned" | "p" | "salvage" | "usado" | "usada" | "seminuevo" => Word::Used,
        "c" | "cpo" | "certified" | "certifiedpreowned" | "certifiedused" | "usedcertified"
        | "certificado" | "certificada" => Word::Certified,
        "demo" | "demonstrator" | "loaner" | "dealerdemo" | "courtesy" | "courtesyvehicle" => Word::Demo,
        _ => return None,
    })
}

/// Whether a cell is a word for new, used or certified: tells a `type` or `condition` column that means it from one that
/// means the kind of vehicle or its wear.
pub fn is_condition(cell: &str) -> bool {
    word(cell).is_some()
}

/// Finds out the condition: `new`, `used` or `cpo`. `certified` is what the flag column says, `miles` what is known of
/// the mileage, `demo_as` what the dealer counts demonstrators as.
pub fn parse(cell: &str, certified: bool, miles: Option<i64>, demo_as: &str) -> Parsed<&'static str> {
    let used = if certified { "cpo" } else { "used" };
    let new = |mut parsed: Parsed<&'static str>| {
        if certified {
            parsed.codes.push(Code::CertifiedOnNew);
        }
        parsed
    };
    if is_nothing(cell) {
        return match miles {
            Some(miles) if miles >= USED_FROM => Parsed::with(used, Code::ConditionInferred),
            _ => Parsed::refused(Code::ConditionMissing),
        };
    }
    match word(cell) {
        Some(Word::New) => new(Parsed::of("new")),
        Some(Word::Used) => Parsed::of(used),
        Some(Word::Certified) => Parsed::of("cpo"),
        Some(Word::Demo) if demo_as == "used" => Parsed::with(used, Code::ConditionDemo),
        Some(Word::Demo) => new(Parsed::with("new", Code::ConditionDemo)),
        None => Parsed::refused(Code::ConditionUnknown),
    }
}
