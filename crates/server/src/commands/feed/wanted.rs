//! Settings of a source as flags: each is a member of the settings, and all go through the same checks as a document.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, UNUSABLE, io_reason};

/// How a source is set up.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How the source is set up")]
pub(crate) struct SourceFlags {
    /// Settings as a JSON document; with `edit` they are merged into those that are there, and null takes one back.
    /// Flags go before it
    #[arg(long, value_name = "FILE.json")]
    settings: Option<PathBuf>,
    /// Where the file is fetched from
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// How often it is fetched, such as 30m, 4h or 1d [default: 60m]
    #[arg(long, value_name = "TIME", value_parser = minutes)]
    every: Option<u32>,
    /// The folder below the dealer's that files are dropped into [default: the source's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) folder: Option<String>,
    /// What tells that a dropped file is whole: none, done (NAME.done beside it), sha256 (NAME.sha256 beside it)
    #[arg(long, value_name = "MARKER")]
    marker: Option<String>,
    /// full: what is not in a file is gone; delta: files hold changes [default: full]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// What its prices mean; see below
    #[arg(long, value_enum, value_name = "MEANING")]
    price_means: Option<Meaning>,
    /// A mandatory charge, such as 'Doc fee=85', in whole dollars; again for more, `none` for none. It is inside an
    /// all-in price, and added to one without charges
    #[arg(long, value_name = "NAME=AMOUNT")]
    fee: Vec<String>,
    /// Who of the dealer said what the prices mean [default: who runs this]
    #[arg(long, value_name = "WHO")]
    pub(crate) answered_by: Option<String>,
    /// A rooftop as the feed names it, and its name here; again for more
    #[arg(long, value_name = "KEY=NAME")]
    rooftop: Vec<String>,
    /// Whose word counts: the source with the lowest number wins a field [default: 100]
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// The same for one field, such as price=10; again for more
    #[arg(long, value_name = "FIELD=N")]
    field_rank: Vec<String>,
    /// additive: its vehicles are on offer; complementary: it only fills in those of others [default: additive]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// A column and what it holds, such as 'Our Price=asking_price'; again for more
    #[arg(long, value_name = "COLUMN=HOLDS")]
    column: Vec<String>,
    /// A word of the status column and what it means, such as 'Sale Pending=pending'; again for more
    #[arg(long, value_name = "WORD=STATUS")]
    status_word: Vec<String>,
    /// Without a good file for so many hours, people are told [default: 36]
    #[arg(long, value_name = "HOURS")]
    silent_after: Option<u32>,
    /// How many days files are kept [default: 30]
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<u32>,
    /// Fetch as this user; the password is asked for
    #[arg(long, value_name = "USER", conflicts_with = "token_stdin")]
    pub(crate) user: Option<String>,
    /// Fetch with a bearer token, which is asked for
    #[arg(long)]
    pub(crate) token_stdin: bool,
    /// Fetch without credentials from now on
    #[arg(long, conflicts_with_all = ["user", "token_stdin"])]
    pub(crate) no_credentials: bool,
}

/// What amounts mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Meaning {
    AdvertisedAllIn,
    Base,
    AdvertisedWithoutCharges,
    Conditional,
}

impl Meaning {
    fn as_str(self) -> &'static str {
        match self {
            Meaning::AdvertisedAllIn => "advertised_all_in",
            Meaning::Base => "base",
            Meaning::AdvertisedWithoutCharges => "advertised_without_charges",
            Meaning::Conditional => "conditional",
        }
    }
}

impl SourceFlags {
    /// What they say, as members of the settings; `None`: nothing.
    ///
    /// # Errors
    /// A flag or the document cannot be read.
    pub(crate) fn patch(&self) -> Result<Option<Value>, Failure> {
        let mut patch = match &self.settings {
            Some(file) => document(file)?,
            None => Map::new(),
        };
        let texts =
            [("url", &self.url), ("folder", &self.folder), ("marker", &self.marker), ("role", &self.role)];
        for (name, text) in texts {
            if let Some(text) = text {
                patch.insert(name.to_owned(), text.as_str().into());
            }
        }
        let numbers = [
            ("every_minutes", self.every),
            ("rank", self.rank),
            ("silent_after_hours", self.silent_after),
            ("keep_days", self.keep_days),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                patch.insert(name.to_owned(), number.into());
            }
        }
        if let Some(mode) = &self.mode {
            set(&mut patch, &["reading", "mode"], mode.as_str().into());
        }
        for (member, flag, pairs) in
            [("columns", "--column", &self.column), ("status_words", "--status-word", &self.status_word)]
        {
            for pair in pairs {
                let (name, value) = split(flag, pair)?;
                set(&mut patch, &["reading", member, name], value.into());
            }
        }
        for pair in &self.rooftop {
            let (key, name) = split("--rooftop", pair)?;
            set(&mut patch, &["rooftops", key], name.into());
        }
        for pair in &self.field_rank {
            let (field, rank) = split("--field-rank", pair)?;
            let rank: u32 = rank.parse().map_err(|_| unusable("--field-rank", pair, "price=10"))?;
            set(&mut patch, &["ranks", field], rank.into());
        }
        self.prices(&mut patch)?;
        Ok((!patch.is_empty()).then_some(Value::Object(patch)))
    }

    fn prices(&self, patch: &mut Map<String, Value>) -> Result<(), Failure> {
        let fees = match self.fee.as_slice() {
            [] => None,
            [one] if one == "none" => Some(Vec::new()),
            all => Some(all.iter().map(|pair| fee(pair)).collect::<Result<Vec<_>, _>>()?),
        };
        let Some(meaning) = self.price_means else {
            return match fees {
                None => Ok(()),
                Some(_) => {
                    Err(Failure::new("--fee needs --price-means, which says whether it is inside the price")
                        .status(UNUSABLE))
                }
            };
        };
        let inside = meaning == Meaning::AdvertisedAllIn;
        let answer = json!({ "meaning": meaning.as_str(), "fees": fees.clone().filter(|_| inside), "by": null, "at": null });
        set(patch, &["prices", "asking_price"], answer);
        let rule = fees.filter(|_| meaning == Meaning::AdvertisedWithoutCharges);
        let rule =
            rule.map_or(Value::Null, |fees| json!({ "fees": fees, "signed_by": null, "signed_at": null }));
        set(patch, &["prices", "fee_rule"], rule);
        Ok(())
    }
}

fn fee(pair: &str) -> Result<Value, Failure> {
    let (name, amount) = split("--fee", pair)?;
    let amount = amount.trim_start_matches('$').parse::<u32>();
    let amount = amount.map_err(|_| unusable("--fee", pair, "'Doc fee=85', in whole dollars"))?;
    Ok(json!({ "name": name, "amount": amount }))
}

/// Sets a member of a member.
fn set(members: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(members.insert((*name).to_owned(), value)),
        [name, below @ ..] => {
            let inside = members.entry((*name).to_owned()).or_insert(Value::Null);
            if !inside.is_object() {
                *inside = Value::Object(Map::new());
            }
            if let Value::Object(inside) = inside {
                set(inside, below, value);
            }
        }
    }
}

fn split<'p>(flag: &str, pair: &'p str) -> Result<(&'p str, &'p str), Failure> {
    // Names of columns may hold the sign, what they hold does not.
    let parts = pair.rsplit_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or_else(|| unusable(flag, pair, "NAME=VALUE"))
}

fn unusable(flag: &str, pair: &str, example: &str) -> Failure {
    Failure::new(format!("{flag} {pair:?} cannot be read; write it like {example}")).status(UNUSABLE)
}

/// A time in minutes.
fn minutes(text: &str) -> Result<u32, String> {
    let (digits, each) = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
        Some((digits, "m")) => (digits, 1),
        Some((digits, "h")) => (digits, 60),
        Some((digits, "d")) => (digits, 24 * 60),
        _ => (text.trim(), 1),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(each));
    number.ok_or_else(|| "write it like 30m, 4h or 1d".to_owned())
}

fn document(file: &Path) -> Result<Map<String, Value>, Failure> {
    let unusable =
        |why: String| Failure::new(format!("{} cannot be used: {why}", file.display())).status(UNUSABLE);
    let text = std::fs::read(file).map_err(|error| unusable(io_reason(&error)))?;
    match serde_json::from_slice(&text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(unusable("it is no JSON object".to_owned())),
        Err(error) => Err(unusable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes() {
        for (text, minutes_) in [("30", 30), ("30m", 30), ("4h", 240), ("1d", 1440)] {
            assert_eq!(minutes(text), Ok(minutes_), "{text}");
        }
        for wrong in ["", "h", "1w", "-1m", "9999999d"] {
            assert!(minutes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn flags_are_members_of_the_settings() {
        let flags = SourceFlags {
            url: Some("https://a.example/f.csv".into()),
            every: Some(240),
            mode: Some("delta".into()),
            price_means: Some(Meaning::AdvertisedAllIn),
            fee: vec!["Doc fee=85".into()],
            rooftop: vec!["D1=Main".into()],
            field_rank: vec!["price=10".into()],
            column: vec!["Our=Price=asking_price".into()],
            ..SourceFlags::default()
        };
        let patch = flags.patch().unwrap().unwrap();
        assert_eq!(
            patch,
            json!({
                "url": "https://a.example/f.csv", "every_minutes": 240,
                "reading": {"mode": "delta", "columns": {"Our=Price": "asking_price"}},
                "rooftops": {"D1": "Main"}, "ranks": {"price": 10},
                "prices": {"asking_price": {"meaning": "advertised_all_in", "fees": [{"name": "Doc fee", "amount": 85}],
                                             "by": null, "at": null}, "fee_rule": null},
            })
        );
        assert_eq!(SourceFlags::default().patch().unwrap(), None);
        for wrong in [
            SourceFlags { fee: vec!["Doc=85".into()], ..SourceFlags::default() },
            SourceFlags { rooftop: vec!["D1".into()], ..SourceFlags::default() },
            SourceFlags { field_rank: vec!["price=best".into()], ..SourceFlags::default() },
        ] {
            assert_eq!(wrong.patch().unwrap_err().status, UNUSABLE);
        }
    }
}
