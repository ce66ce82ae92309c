//! Each finding in the words of the people who sell cars: what was seen, what was done ([`Code::sentence`]), and what to
//! do about it ([`Code::advice`]).

use crate::code::{Code, Level};
use crate::finding::Finding;
use crate::values::vin;

mod advice;

/// Places of a finding that sentences are made of.
struct Seen<'f>(&'f Finding);

impl Seen<'_> {
    /// The row and who is on it, to begin a sentence: `Row 12 (stock T100, VIN 1HG…)`.
    fn row(&self) -> String {
        let mut who = Vec::new();
        if let Some(stock) = self.0.stock.as_deref().filter(|stock| !stock.trim().is_empty()) {
            who.push(format!("stock {}", stock.trim()));
        }
        if let Some(vin) = self.0.vin.as_deref().filter(|vin| !vin.trim().is_empty()) {
            who.push(format!("VIN {}", vin.trim()));
        }
        let row = self.0.row.map_or_else(|| "A row".to_owned(), |row| format!("Row {row}"));
        if who.is_empty() { row } else { format!("{row} ({})", who.join(", ")) }
    }

    /// What the cell says: `“Miles” says “61k”`, or as much of that as is known. `what` names the value in words.
    fn cell(&self, what: &str) -> String {
        let column = self.0.column.as_deref().map(str::trim).filter(|column| !column.is_empty());
        match (column, self.value()) {
            (Some(column), Some(value)) => format!("\u{201c}{column}\u{201d} says \u{201c}{value}\u{201d}"),
            (Some(column), None) => format!("\u{201c}{column}\u{201d} is empty"),
            (None, Some(value)) => format!("the {what} is \u{201c}{value}\u{201d}"),
            (None, None) => format!("there is no {what}"),
        }
    }

    /// What was sent, behind a sentence: ` (it reads “…”)`.
    fn quoted(&self) -> String {
        self.value().map_or_else(String::new, |value| format!(" (it reads \u{201c}{value}\u{201d})"))
    }

    /// A measure that a file finding carries: `: 139 of 200 units`.
    fn measure(&self) -> String {
        self.value().map_or_else(String::new, |value| format!(": {value}"))
    }

    fn value(&self) -> Option<&str> {
        self.0.value.as_deref().map(str::trim).filter(|value| !value.is_empty())
    }

    /// The row that stays.
    fn kept(&self) -> String {
        self.0.kept_row.map_or_else(|| "another row".to_owned(), |row| format!("row {row}"))
    }

    fn stock(&self) -> String {
        let stock = self
            .0
            .stock
            .as_deref()
            .or(self.0.value.as_deref())
            .map(str::trim)
            .filter(|stock| !stock.is_empty());
        stock.map_or_else(|| "This stock number".to_owned(), |stock| format!("Stock number {stock}"))
    }

    /// The VIN that was likely meant, for the end of a sentence.
    fn likely_vin(&self) -> String {
        let sent = self.0.value.as_deref().or(self.0.vin.as_deref());
        sent.and_then(vin::likely_fix).map_or_else(String::new, |fix| format!(" It may be meant as {fix}."))
    }
}

impl Code {
    /// What was seen and what was done, in one or two plain sentences. For a row it names the row, the unit on it and the
    /// text as it came.
    pub fn sentence(self, finding: &Finding) -> String {
        let seen = Seen(finding);
        match self.level() {
            Level::Refusal | Level::Verdict | Level::File => of_file(self, &seen),
            Level::Error => of_lost_row(self, &seen),
            Level::Warning => of_row(self, &seen),
        }
    }
}

fn of_file(code: Code, seen: &Seen<'_>) -> String {
    let measure = seen.measure();
    match code {
        Code::FeedNotAFeed => {
            format!("This file is no list of vehicles that we can read{measure}. Nothing was changed.")
        }
        Code::FeedArchiveRefused => {
            format!(
                "The packed file was refused: it must hold exactly one list of vehicles, and no packed file inside{measure}."
            )
        }
        Code::FeedTooLarge => format!("The file is larger than we take{measure}. Nothing of it was read in."),
        Code::FeedTooManyRecords => {
            format!("The file has more rows than we take{measure}. Nothing of it was read in.")
        }
        Code::FeedTooManyColumns => {
            format!("The file has more columns than we take{measure}. Nothing of it was read in.")
        }
        Code::FeedTruncated => {
            format!("The file stops in the middle{measure}. The vehicles on offer stay as they were.")
        }
        Code::FeedEmpty => {
            format!("The file has no vehicle in it{measure}. The vehicles on offer stay as they were.")
        }
        Code::FeedNotWellformed => {
            format!(
                "The file breaks the rules of its format and cannot be read to its end{measure}. The vehicles on offer stay as they were."
            )
        }
        Code::FeedHeaderUnknown => {
            format!(
                "No line of the file names columns that we know{measure}, so we cannot tell what its cells mean."
            )
        }
        Code::FeedHeaderChanged => {
            format!(
                "The columns of the file, or what separates them, are not those of the last good file{measure}. It waits for a person."
            )
        }
        Code::FeedDropTooLarge => {
            format!(
                "The file has far fewer vehicles than the last good one{measure}. Nothing was taken off the site; it waits for a person."
            )
        }
        Code::RooftopVanished => {
            format!(
                "A location that had vehicles has none in this file{measure}. Nothing was taken off the site; it waits for a person."
            )
        }
        Code::FeedErrorRate => {
            format!("Too many rows of the file cannot be used{measure}. It waits for a person.")
        }
        Code::FeedPriceShift => format!(
            "Too many prices changed a lot or went missing at once{measure}. The file waits for a person."
        ),
        Code::FeedDeletesTooMany => {
            format!(
                "The file asks to take off more vehicles at once than is usual{measure}. It waits for a person."
            )
        }
        Code::FeedEncodingMixed => {
            format!(
                "The accents and special signs of the file are written in two different ways{measure}. We read each line the way that fits it."
            )
        }
        Code::FeedHeaderOffset => {
            format!("There are lines above the names of the columns{measure}. We skipped them.")
        }
        Code::FeedRepeatedHeader => {
            format!("The names of the columns come again further down{measure}. We skipped those lines.")
        }
        Code::FeedTrailerRow => {
            format!("The file has a line with totals or an end mark{measure}. We skipped it.")
        }
        Code::FeedDropNoted => {
            format!(
                "The file has noticeably fewer vehicles than the last good one{measure}. It was applied all the same."
            )
        }
        Code::PriceMeaningUnanswered => {
            format!(
                "Nobody has told us yet what the price column of this source means{measure}. Vehicles are shown without a price until then."
            )
        }
        Code::FeedColumnRefused => {
            format!(
                "A column that holds what the vehicles cost you is never shown to anybody{measure}. We ignored it."
            )
        }
        // Rows have functions of their own; `every_code_has_words_of_its_own` sees that none ends here.
        _ => format!("{}{measure}", code.as_str()),
    }
}

fn of_lost_row(code: Code, seen: &Seen<'_>) -> String {
    let row = seen.row();
    let lost = "It was left out.";
    match code {
        Code::RowFieldCount => {
            format!("{row} has more or fewer fields than the file has columns{}. {lost}", seen.quoted())
        }
        Code::RowUnparseable => format!("{row} cannot be read as a vehicle{}. {lost}", seen.quoted()),
        Code::VinMalformed => format!(
            "{row} has a VIN that is not valid: {}. A VIN has 17 letters and digits and never I, O or Q. {lost}{}",
            seen.cell("VIN"),
            seen.likely_vin()
        ),
        Code::IdentityMissing => format!("{row} has neither a VIN nor a stock number. {lost}"),
        Code::MakeMissing => format!("{row} does not say the make. {lost}"),
        Code::ModelMissing => format!("{row} does not say the model. {lost}"),
        Code::YearMissing => {
            format!("{row} does not say the model year, and the VIN does not tell it either. {lost}")
        }
        Code::YearInvalid => {
            format!("{row} has a model year that cannot be right: {}. {lost}", seen.cell("year"))
        }
        Code::ConditionMissing => {
            format!(
                "{row} does not say whether the vehicle is new or used, and its mileage does not tell. {lost}"
            )
        }
        Code::ConditionUnknown => {
            format!(
                "{row} does not say in a way we know whether the vehicle is new, used or certified: {}. {lost}",
                seen.cell("condition")
            )
        }
        Code::RooftopUnknown => {
            format!("{row} belongs to a location that we do not know: {}. {lost}", seen.cell("location"))
        }
        Code::ActionUnknown => {
            format!(
                "{row} does not say in a way we know whether to add, change or delete: {}. {lost}",
                seen.cell("action")
            )
        }
        Code::FieldTooLarge => {
            format!("{row} has a field that is longer than we take{}. {lost}", seen.quoted())
        }
        Code::ContractViolation => {
            format!(
                "{row} makes a vehicle that cannot be published by the rules of the interface: {}. {lost}",
                seen.cell("value")
            )
        }
        _ => of_row(code, seen),
    }
}

fn of_row(code: Code, seen: &Seen<'_>) -> String {
    let row = seen.row();
    match code {
        Code::VinMissing => format!("{row} has no VIN. The vehicle is shown and known by its stock number."),
        Code::VinCheckDigit => format!(
            "{row} has a VIN with a slip in it, by its own check digit: {}. The vehicle is shown all the same.{}",
            seen.cell("VIN"),
            seen.likely_vin()
        ),
        Code::VinPre1981 => {
            format!(
                "{row} is from before 1981, when VINs had no standard: {}. It is shown with that as its chassis number.",
                seen.cell("VIN")
            )
        }
        Code::YearVinMismatch => {
            format!(
                "{row} has a model year that its VIN contradicts: {}. We show the year of the file.",
                seen.cell("year")
            )
        }
        Code::YearFromVin => format!("{row} does not say the model year. We took it from the VIN."),
        Code::YearTwoDigit => format!(
            "{row} writes the model year with two digits: {}. We added the century.",
            seen.cell("year")
        ),
        Code::PriceNotDisclosed => {
            format!("{row} has no price: {}. The vehicle is shown without one.", seen.cell("price"))
        }
        Code::PriceUnparseable => {
            format!(
                "{row} has a price that we cannot read for certain: {}. The vehicle is shown without that price.",
                seen.cell("price")
            )
        }
        Code::PriceImplausible => {
            format!(
                "{row} has a price that nobody would ask: {}. The vehicle is shown without that price.",
                seen.cell("price")
            )
        }
        Code::PriceRounded => format!(
            "{row} has a price with cents: {}. We rounded it up to the next whole amount.",
            seen.cell("price")
        ),
        Code::PriceCurrency => {
            format!(
                "{row} has a price in another currency than yours: {}. The vehicle is shown without that price.",
                seen.cell("price")
            )
        }
        Code::MileageMissing => {
            format!("{row} has no mileage: {}. The vehicle is shown without it.", seen.cell("mileage"))
        }
        Code::MileageNotActual => {
            format!(
                "{row} says that the true mileage is not known: {}. The vehicle is shown without it.",
                seen.cell("mileage")
            )
        }
        Code::MileageUnparseable => {
            format!(
                "{row} has a mileage that is not a number: {}. The vehicle is shown without it.",
                seen.cell("mileage")
            )
        }
        Code::MileageImplausible => {
            format!(
                "{row} has a mileage that cannot be right: {}. The vehicle is shown without it.",
                seen.cell("mileage")
            )
        }
        Code::MileageConvertedKm => {
            format!("{row} gives kilometers: {}. We turned them into miles.", seen.cell("mileage"))
        }
        Code::MileageNewHigh => {
            format!(
                "{row} is a new vehicle with many miles: {}. It is shown as new, with its mileage.",
                seen.cell("mileage")
            )
        }
        Code::ConditionInferred => {
            format!("{row} does not say new or used. By its mileage we show it as used.")
        }
        Code::ConditionDemo => format!(
            "{row} is a demonstrator or loaner: {}. We show it as your settings say.",
            seen.cell("condition")
        ),
        Code::CertifiedOnNew => {
            format!("{row} is marked as certified although it is new. We show it as new.")
        }
        Code::StatusUnknown => {
            format!(
                "{row} has a status that we do not know: {}. To be safe the vehicle is not shown.",
                seen.cell("status")
            )
        }
        Code::DrivelineAmbiguous => {
            format!(
                "{row} does not say which wheels are driven: {}. We left the drivetrain out.",
                seen.cell("drivetrain")
            )
        }
        Code::PhotoPlaceholder => format!(
            "{row} has a picture that only says \u{201c}no photo yet\u{201d}{}. We left it out.",
            seen.quoted()
        ),
        Code::PhotoUrlInvalid => format!(
            "{row} has a photo whose web address is not complete{}. We left that photo out.",
            seen.quoted()
        ),
        Code::PhotoNotHttps => {
            format!("{row} has a photo at an address without encryption{}. We kept it.", seen.quoted())
        }
        Code::PhotosTooMany => {
            format!("{row} has more photos than we take{}. We kept the first ones.", seen.quoted())
        }
        Code::VdpUrlInvalid => {
            format!(
                "{row} has a link to its page that is not a complete web address: {}. We left the link out.",
                seen.cell("link")
            )
        }
        Code::DateUnparseable => {
            format!("{row} has a date that we cannot read: {}. We left it out.", seen.cell("date"))
        }
        Code::DateFuture => {
            format!("{row} has a date that has not come yet: {}. We left it out.", seen.cell("date"))
        }
        Code::CsvQuotesRepaired => {
            format!("{row} had quotation marks in the wrong places{}. We could repair it.", seen.quoted())
        }
        Code::EncodingFallback => {
            format!(
                "{row} writes accents in another way than the rest of the file{}. We read it the older Windows way.",
                seen.quoted()
            )
        }
        Code::EncodingRepaired => {
            format!("{row} had garbled signs in a text{}. We put them right.", seen.quoted())
        }
        Code::DuplicateRow => format!("{row} says the same as {}. We dropped it.", seen.kept()),
        Code::DuplicateVin => format!(
            "{row} is about the same vehicle as {}, which counts. This one was not used.",
            seen.kept()
        ),
        Code::DuplicateVinRooftop => {
            format!(
                "{row} is about the same vehicle as {} at another location. It is shown once, at the location that comes first.",
                seen.kept()
            )
        }
        Code::StockReused => {
            format!("{} is used for two different VINs. {row} is shown all the same.", seen.stock())
        }
        Code::SupersededInFile => format!(
            "{row} is overtaken by a later line about the same vehicle, {}. Only the later one counts.",
            seen.kept()
        ),
        Code::DeleteUnknown => {
            format!("{row} asks to delete a vehicle that is not on offer. There was nothing to do.")
        }
        _ => of_file(code, seen),
    }
}

#[cfg(test)]
mod tests;
