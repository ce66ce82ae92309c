//! Vehicle identification numbers (FEEDS.md 6).

use super::fold;
use crate::code::Code;

/// Model year from which on every vehicle has a number of 17 signs.
pub const STANDARD_FROM: i32 = 1981;

/// What a VIN cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vin {
    /// Nothing, or a word for nothing.
    Absent,
    /// 17 signs of the alphabet; whether `VIN_CHECK_DIGIT` is to be said.
    Standard(String, bool),
    /// The number of a vehicle from before the standard: `VIN_PRE1981`, published as `chassis_number`.
    Chassis(String),
    /// `VIN_MALFORMED`.
    Malformed,
}

impl Vin {
    /// The 17 signs, where there are some.
    pub fn standard(&self) -> Option<&str> {
        match self {
            Vin::Standard(vin, _) => Some(vin),
            _ => None,
        }
    }

    /// What should be said of it. That there is none is for the caller to say: it depends on the stock number.
    pub fn code(&self) -> Option<Code> {
        match self {
            Vin::Standard(_, true) => Some(Code::VinCheckDigit),
            Vin::Chassis(_) => Some(Code::VinPre1981),
            Vin::Malformed => Some(Code::VinMalformed),
            Vin::Absent | Vin::Standard(_, false) => None,
        }
    }
}

/// The number without what spreadsheets and people put around it, in capitals; empty for a placeholder.
pub fn clean(cell: &str) -> String {
    let vin: String = cell
        .trim()
        .chars()
        .filter(|sign| {
            !(sign.is_whitespace()
                || sign.is_control()
                || matches!(sign, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{feff}' | '\u{200b}'))
        })
        .flat_map(char::to_uppercase)
        .collect();
    let vin = vin.trim_start_matches(['\'', '\u{2018}', '\u{2019}', '`']);
    let same = |of: char| !vin.is_empty() && vin.chars().all(|sign| sign == of);
    let placeholder = matches!(
        fold(vin).as_str(),
        "na" | "none"
            | "null"
            | "nil"
            | "tbd"
            | "tba"
            | "novin"
            | "unknown"
            | "pending"
            | "vin"
            | "notavailable"
            | "intransit"
    );
    let signs_only = !vin.chars().any(char::is_alphanumeric);
    if placeholder || signs_only || same('0') || same('X') { String::new() } else { vin.to_owned() }
}

/// Reads a VIN cell. `year` is the model year that the feed states, where it could be read.
pub fn parse(cell: &str, year: Option<i32>) -> Vin {
    let vin = clean(cell);
    if vin.is_empty() {
        return Vin::Absent;
    }
    if year.is_some_and(|year| year < STANDARD_FROM) {
        let fits =
            (5..=17).contains(&vin.chars().count()) && vin.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return if fits { Vin::Chassis(vin) } else { Vin::Malformed };
    }
    if !is_well_formed(&vin) {
        return Vin::Malformed;
    }
    // Seventeen digits are a number to spreadsheets and JSON writers, which lose its last ones: without a letter only the
    // arithmetic says that it is a VIN.
    if vin.bytes().all(|byte| byte.is_ascii_digit()) && !check_digit_fits(&vin) {
        return Vin::Malformed;
    }
    let doubtful = is_north_american(&vin) && !check_digit_fits(&vin);
    Vin::Standard(vin, doubtful)
}

/// 17 digits and letters without I, O and Q.
pub fn is_well_formed(vin: &str) -> bool {
    vin.len() == 17 && vin.bytes().all(|byte| value(byte).is_some())
}

/// Whether the vehicle was built in North America, where the check digit is the rule.
pub fn is_north_american(vin: &str) -> bool {
    vin.starts_with(['1', '2', '3', '4', '5'])
}

/// Value of a sign in the check arithmetic; none for what may not stand in a VIN.
fn value(sign: u8) -> Option<u32> {
    Some(u32::from(match sign {
        b'0'..=b'9' => sign - b'0',
        b'A'..=b'H' => sign - b'A' + 1,
        b'J'..=b'N' => sign - b'J' + 1,
        b'P' => 7,
        b'R' => 9,
        b'S'..=b'Z' => sign - b'S' + 2,
        _ => return None,
    }))
}

const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// The sign that belongs at position 9; none for what is no VIN.
pub fn check_digit(vin: &str) -> Option<char> {
    if !is_well_formed(vin) {
        return None;
    }
    let sum: u32 = vin.bytes().zip(WEIGHTS).filter_map(|(sign, weight)| Some(value(sign)? * weight)).sum();
    match sum % 11 {
        10 => Some('X'),
        digit => char::from_digit(digit, 10),
    }
}

/// Whether the arithmetic is right. It proves little: 17 ones pass.
pub fn check_digit_fits(vin: &str) -> bool {
    check_digit(vin).is_some_and(|digit| vin.chars().nth(8) == Some(digit))
}

/// The likely meaning of a VIN that is malformed or whose check digit is wrong: one of its signs was mistaken for its
/// twin (O for 0, I for 1, S for 5, B for 8), and exactly one such replacement makes the arithmetic right. It is offered
/// to a person, never applied.
pub fn likely_fix(cell: &str) -> Option<String> {
    let vin = clean(cell);
    if vin.len() != 17 || !vin.is_ascii() || check_digit_fits(&vin) {
        return None;
    }
    let mut fixes = vin.char_indices().filter_map(|(place, sign)| {
        let twin = match sign {
            'O' => '0',
            'I' => '1',
            'S' => '5',
            'B' => '8',
            _ => return None,
        };
        let mut fixed = vin.clone();
        fixed.replace_range(place..=place, twin.encode_utf8(&mut [0; 4]));
        check_digit_fits(&fixed).then_some(fixed)
    });
    let fix = fixes.next()?;
    fixes.next().is_none().then_some(fix)
}
