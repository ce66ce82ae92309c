//! Amounts of money (FEEDS.md 5.1).

use super::number::{self, Number};
use super::{Parsed, fold};
use crate::code::Code;

/// Below this nobody asks an amount for a vehicle.
const LEAST: i64 = 100;
/// Above this it is a slip of the keyboard.
const MOST: i64 = 3_000_000;

/// Reads an amount in whole units, rounded up: an understated price is the legal risk.
///
/// `stated` is what a currency column of the row says, empty where there is none; `tenant` is the dealer's own currency,
/// ISO 4217.
pub fn parse(cell: &str, stated: &str, tenant: &str) -> Parsed<i64> {
    let text = number::plain(cell);
    if says_ask(&text) {
        return Parsed::refused(Code::PriceNotDisclosed);
    }
    let Some((before, middle, after)) = number::around(&text) else {
        // Only signs (`$ -`) say that there is none; other words are not for us to read.
        let quiet = currency_of(&text).is_some();
        return Parsed::refused(if quiet { Code::PriceNotDisclosed } else { Code::PriceUnparseable });
    };
    let (Some(first), Some(second)) = (currency_of(before), currency_of(after)) else {
        return Parsed::refused(Code::PriceUnparseable);
    };
    let negative = is_negative(before, after);
    let read = if before.ends_with(['.', ',']) {
        // `.50`: a fraction alone.
        number::read(&format!("0{}{middle}", before.get(before.len() - 1..).unwrap_or(".")))
    } else {
        number::read(middle)
    };
    let Some(amount) = read else { return Parsed::refused(Code::PriceUnparseable) };
    if amount.is_zero() {
        return Parsed::refused(Code::PriceNotDisclosed);
    }
    match in_currency([first, second, currency_of(stated).unwrap_or(Currency::Other)], tenant) {
        Some(true) => {}
        Some(false) => return Parsed::refused(Code::PriceCurrency),
        None => return Parsed::refused(Code::PriceUnparseable),
    }
    match plausible(&amount) {
        Some(whole) if !negative => {
            if amount.fraction.is_empty() {
                Parsed::of(whole)
            } else {
                Parsed::with(whole + 1, Code::PriceRounded)
            }
        }
        _ => Parsed::refused(Code::PriceImplausible),
    }
}

fn plausible(amount: &Number) -> Option<i64> {
    let whole = amount.floor()?;
    let above = whole > MOST || (whole == MOST && !amount.fraction.is_empty());
    let same = |digit: char| amount.whole.len() >= 5 && amount.whole.chars().all(|sign| sign == digit);
    let counting = amount.whole.len() >= 6 && "1234567890".starts_with(&amount.whole);
    (whole >= LEAST && !above && !same('9') && !same('1') && !counting).then_some(whole)
}

/// Whether the cell asks the shopper to ask.
fn says_ask(text: &str) -> bool {
    let word = fold(text);
    if word.is_empty() {
        // No letter and no digit that we know; letters of other scripts are for the caller to refuse.
        return !text.chars().any(char::is_alphanumeric) && currency_of(text).is_some();
    }
    const STARTS: [&str; 11] = [
        "call",
        "contact",
        "pleasecall",
        "pleasecontact",
        "askfor",
        "askus",
        "inquire",
        "enquire",
        "llame",
        "llamar",
        "consult",
    ];
    STARTS.iter().any(|start| word.starts_with(start))
        || matches!(
            word.as_str(),
            "na" | "none"
                | "null"
                | "nil"
                | "tbd"
                | "tba"
                | "poa"
                | "ask"
                | "pending"
                | "notdisclosed"
                | "notavailable"
                | "priceonrequest"
                | "priceuponrequest"
                | "onrequest"
                | "uponrequest"
                | "noprice"
                | "notpriced"
                | "seedealer"
                | "comingsoon"
                | "preguntar"
                | "pregunte"
                | "contacte"
                | "porconfirmar"
                | "acordar"
                | "aconvenir"
                | "sinprecio"
        )
}

fn is_negative(before: &str, after: &str) -> bool {
    let closes = after.trim_end_matches(['*', ' ']);
    before.contains('-')
        || (before.contains('(') && after.contains(')'))
        // `24990.-` is how round amounts are written in some countries.
        || (closes.ends_with('-') && !closes.starts_with(['.', ',']))
}

/// What stands around an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Currency {
    /// Nothing.
    None,
    /// `$` or `dollars`: one of several currencies.
    Dollar,
    /// One currency.
    Code(&'static str),
    /// Something that is a currency of no kind we know.
    Other,
}

/// Codes that are known; a word of three letters beside these is not taken for a currency.
const CODES: [&str; 40] = [
    "USD", "CAD", "MXN", "EUR", "GBP", "JPY", "AUD", "NZD", "CHF", "CNY", "HKD", "SGD", "SEK", "NOK", "DKK",
    "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "ILS", "AED", "SAR", "KRW", "INR", "THB", "PHP", "MYR",
    "IDR", "ZAR", "BRL", "ARS", "CLP", "COP", "PEN", "DOP", "CRC", "GTQ",
];

/// Reads what stands before or after an amount. None: words that belong to no amount.
fn currency_of(affix: &str) -> Option<Currency> {
    let word: String = affix
        .chars()
        .filter(|sign| {
            !matches!(sign, ' ' | '-' | '(' | ')' | '*' | '.' | ',' | ':' | '\'' | '\u{2020}' | '\u{2021}')
        })
        .flat_map(char::to_uppercase)
        .collect();
    Some(match word.as_str() {
        "" => Currency::None,
        "$" | "DOLLAR" | "DOLLARS" | "D\u{d3}LARES" | "DOLARES" | "$DOLLARS" => Currency::Dollar,
        "US" | "US$" | "$US" | "USD$" | "$USD" | "USDOLLARS" => Currency::Code("USD"),
        "C$" | "CA$" | "CDN$" | "CDN" | "CAD$" | "$CAD" | "$CDN" => Currency::Code("CAD"),
        "MX$" | "MXN$" | "$MXN" | "PESOS" | "$PESOS" => Currency::Code("MXN"),
        "A$" | "AU$" | "AUD$" => Currency::Code("AUD"),
        "NZ$" => Currency::Code("NZD"),
        "HK$" => Currency::Code("HKD"),
        "S$" => Currency::Code("SGD"),
        "R$" => Currency::Code("BRL"),
        "\u{20ac}" | "EURO" | "EUROS" | "\u{20ac}EUR" | "EUR\u{20ac}" => Currency::Code("EUR"),
        "\u{a3}" | "\u{a3}GBP" => Currency::Code("GBP"),
        "\u{a5}" => Currency::Code("JPY"),
        "\u{20b9}" => Currency::Code("INR"),
        "\u{20a9}" => Currency::Code("KRW"),
        "Z\u{141}" => Currency::Code("PLN"),
        word => Currency::Code(CODES.iter().find(|code| **code == word)?),
    })
}

/// Whether the amount is in the dealer's currency; none where two are named.
fn in_currency(named: [Currency; 3], tenant: &str) -> Option<bool> {
    const DOLLARS: [&str; 7] = ["USD", "CAD", "AUD", "NZD", "HKD", "SGD", "MXN"];
    let tenant = tenant.trim();
    let mut code = None;
    let mut dollar = false;
    for currency in named {
        match currency {
            Currency::None => {}
            Currency::Dollar => dollar = true,
            Currency::Other => return Some(false),
            Currency::Code(named) if code.is_none_or(|code| code == named) => code = Some(named),
            Currency::Code(_) => return None,
        }
    }
    match code {
        Some(code) => Some(code.eq_ignore_ascii_case(tenant)),
        None => Some(!dollar || DOLLARS.iter().any(|code| code.eq_ignore_ascii_case(tenant))),
    }
}

/// What kind of asking amount a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rank {
    /// The price of the internet: it wins whenever it is a real amount.
    Internet,
    /// A sale or special price: it wins where it is not above the ordinary one.
    Special,
    /// The ordinary price.
    Ordinary,
}

/// What is asked for a unit, out of several columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Place of the winner among the amounts that were given.
    pub place: Option<usize>,
    /// Whole units.
    pub value: Option<i64>,
    /// What should be said, with the place of the amount that it is about. A column that holds no amount while another
    /// one does is not worth a word.
    pub codes: Vec<(Option<usize>, Code)>,
}

/// Chooses among the asking amounts of a row, given from left to right. MSRP is never one of them.
pub fn choose(amounts: &[(Rank, Parsed<i64>)]) -> Asked {
    let first = |rank: Rank| {
        amounts
            .iter()
            .enumerate()
            .find(|(_, (of, amount))| *of == rank && amount.value.is_some())
            .and_then(|(place, (_, amount))| Some((place, amount.value?)))
    };
    let winner = first(Rank::Internet).or_else(|| match (first(Rank::Special), first(Rank::Ordinary)) {
        (Some(special), Some(ordinary)) if special.1 > ordinary.1 => Some(ordinary),
        (Some(special), _) => Some(special),
        (None, ordinary) => ordinary,
    });
    let mut codes: Vec<(Option<usize>, Code)> = Vec::new();
    for (place, (_, amount)) in amounts.iter().enumerate() {
        let lost = amount.value.is_some() && winner.is_none_or(|(best, _)| best != place);
        for code in &amount.codes {
            if !lost && *code != Code::PriceNotDisclosed && codes.iter().all(|(_, known)| known != code) {
                codes.push((Some(place), *code));
            }
        }
    }
    if winner.is_none() && codes.is_empty() {
        codes.push(((!amounts.is_empty()).then_some(0), Code::PriceNotDisclosed));
    }
    Asked { place: winner.map(|(place, _)| place), value: winner.map(|(_, value)| value), codes }
}
