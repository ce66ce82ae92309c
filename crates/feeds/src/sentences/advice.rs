//! What to do about a finding.

use crate::code::Code;

impl Code {
    /// What a person can do about it, or that there is nothing to do.
    pub fn advice(self) -> &'static str {
        match self {
            Code::FeedNotAFeed => {
                "Send the export itself: a CSV, XML or JSON file. A picture, a spreadsheet file or a login page is none; look where the file comes from."
            }
            Code::FeedArchiveRefused => "Pack one file only, as .zip or .gz, or send it unpacked.",
            Code::FeedTooLarge => {
                "Leave long texts or sold vehicles out of the export, or split it into one file for each location."
            }
            Code::FeedTooManyRecords => {
                "Check that the export holds the vehicles on offer only, and not the history of all sales."
            }
            Code::FeedTooManyColumns => {
                "Choose fewer columns for the export, or check that the right separator is set."
            }
            Code::FeedTruncated => "The upload probably broke off. Send the file again, whole.",
            Code::FeedEmpty => {
                "Check the export at its source and send it again. If the lot really is empty, approve this file."
            }
            Code::FeedNotWellformed => {
                "Ask the maker of the export to write valid XML or JSON, and send the file again."
            }
            Code::FeedHeaderUnknown => {
                "Switch on the line of column names in the export, or tell us the columns in the settings of this source."
            }
            Code::FeedHeaderChanged => {
                "If the change of the export was meant, check the preview and approve the file once. Otherwise reject it and ask the sender."
            }
            Code::FeedDropTooLarge => {
                "If the vehicles really are gone, approve the file. Otherwise reject it and send a complete one."
            }
            Code::RooftopVanished => {
                "If that location really is closed or cleared out, approve the file. Otherwise check its export."
            }
            Code::FeedErrorRate => {
                "Look at the rows with errors below, put them right at the source and send the file again; or approve it for the good rows."
            }
            Code::FeedPriceShift => {
                "Compare a few prices with your own list. Approve the file if they are right; otherwise check whether columns were mixed up."
            }
            Code::FeedDeletesTooMany => {
                "If those vehicles really are gone, approve the file. Otherwise reject it and ask the sender."
            }
            Code::FeedEncodingMixed => {
                "Have the export written as UTF-8 throughout. Until then look over names with accents."
            }
            Code::FeedHeaderOffset => "Nothing to do. An export without title lines is safer.",
            Code::FeedRepeatedHeader => "Nothing to do. Switch off page breaks in the report if you can.",
            Code::FeedTrailerRow => "Nothing to do. Switch off totals in the report if you can.",
            Code::FeedDropNoted => {
                "Check that the vehicles that are gone were sold. If not, roll back to the run before."
            }
            Code::PriceMeaningUnanswered => {
                "Say in the settings of this source what its prices mean: whether all fees that every buyer must pay are inside."
            }
            Code::FeedColumnRefused => {
                "Take cost and invoice columns out of the export; nobody but you should have them."
            }
            Code::RowFieldCount => {
                "Look in this row for a stray separator or quotation mark, often an inch sign in a text, and take it out."
            }
            Code::RowUnparseable => "Have this entry written like the others, or remove it from the export.",
            Code::VinMalformed => {
                "Compare the VIN with the title or the vehicle and correct it at the source. In a spreadsheet, set the column to text."
            }
            Code::IdentityMissing => "Enter the VIN or a stock number for this vehicle.",
            Code::MakeMissing => "Enter the make of this vehicle.",
            Code::ModelMissing => "Enter the model of this vehicle.",
            Code::YearMissing => "Enter the model year with four digits.",
            Code::YearInvalid => "Correct the model year: four digits, like 2019.",
            Code::ConditionMissing => "Enter New, Used or Certified for this vehicle.",
            Code::ConditionUnknown => {
                "Use New, Used or Certified. Words for wear, like Good, belong in another column."
            }
            Code::RooftopUnknown => {
                "Add this location in the settings, or correct the location of the vehicle."
            }
            Code::ActionUnknown => "Use A for add, U for update and D for delete.",
            Code::FieldTooLarge => {
                "Shorten the text of that field. Photos belong in as addresses, not as pictures."
            }
            Code::ContractViolation => "Correct the value at the source; if it is right, tell support.",
            Code::VinMissing => {
                "Add the VIN as soon as you have it. For trailers and vehicles on their way there may be none."
            }
            Code::VinCheckDigit => {
                "Compare the VIN with the title or the vehicle, and correct it at the source if one sign is wrong."
            }
            Code::VinPre1981 => "Nothing to do, if the model year is right.",
            Code::YearVinMismatch => "Check the model year and the VIN; one of them is probably mistyped.",
            Code::YearFromVin => "Check the year, and enter it at the source.",
            Code::YearTwoDigit => "Check the year. Four digits leave no doubt.",
            Code::PriceNotDisclosed => "Enter a price if you want one shown.",
            Code::PriceUnparseable => {
                "Write the price as a plain number, like 24990. Check for a letter O in place of a zero."
            }
            Code::PriceImplausible => "Enter the real price, or leave the field empty if there is none.",
            Code::PriceRounded => "Nothing to do. Prices in whole dollars are shown as they are.",
            Code::PriceCurrency => {
                "Enter the price in your own currency, or correct the currency of your business in the settings."
            }
            Code::MileageMissing => "Enter the mileage. Shoppers often filter by it.",
            Code::MileageNotActual => {
                "Nothing to do. Say in the description what buyers should know about the odometer."
            }
            Code::MileageUnparseable => "Write the mileage as a plain number, like 61000.",
            Code::MileageImplausible => "Read the odometer again and correct the number.",
            Code::MileageConvertedKm => "Nothing to do, if the odometer really counts kilometers.",
            Code::MileageNewHigh => "Check whether it is a demonstrator or a used vehicle.",
            Code::ConditionInferred => "Enter New, Used or Certified, so that nothing has to be guessed.",
            Code::ConditionDemo => {
                "Check the setting for demonstrators: the law on calling them new differs from state to state."
            }
            Code::CertifiedOnNew => "Take the mark away, or correct the condition if the vehicle is used.",
            Code::StatusUnknown => {
                "Say in the settings of this source what this status means, or correct it."
            }
            Code::DrivelineAmbiguous => "Enter FWD or RWD in place of 2WD.",
            Code::PhotoPlaceholder => "Add real photos when you have them.",
            Code::PhotoUrlInvalid => "Have photos sent with complete addresses that begin with https://.",
            Code::PhotoNotHttps => {
                "Ask the host of the photos for addresses that begin with https://. Some sites do not show others."
            }
            Code::PhotosTooMany => "Put the best photos first, or send fewer.",
            Code::VdpUrlInvalid => "Have the link sent as a complete address that begins with https://.",
            Code::DateUnparseable => {
                "Write dates like 2026-11-30. If days come first in your dates, say so in the settings of this source."
            }
            Code::DateFuture => {
                "Correct the date. If days come first in your dates, say so in the settings of this source."
            }
            Code::CsvQuotesRepaired => {
                "Check the text of this row. Ask the maker of the export to double quotation marks inside texts."
            }
            Code::EncodingFallback => {
                "Check names with accents in this row. Have the export written as UTF-8."
            }
            Code::EncodingRepaired => {
                "Nothing to do. The sender should have the export written as UTF-8 once only."
            }
            Code::DuplicateRow => "Nothing to do. Remove the second line at the source if you can.",
            Code::DuplicateVin => "Remove the older entry of this vehicle at the source.",
            Code::DuplicateVinRooftop => {
                "Leave the vehicle at the location where it stands, and take it out of the other one."
            }
            Code::StockReused => "Give one of the two vehicles another stock number.",
            Code::SupersededInFile => "Nothing to do.",
            Code::DeleteUnknown => "Nothing to do. If this happens often, send a complete file once.",
        }
    }
}
