//! Everything a file can be told off for, as a table (FEEDS.md 11).

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The file cannot be read at all, and nobody can approve it.
    Refusal,
    /// The file is held until a person decides.
    Verdict,
    /// About the file; it is applied all the same.
    File,
    /// The row is not published.
    Error,
    /// The row is published; something about it was changed or left out.
    Warning,
}

macro_rules! codes {
    ($($level:ident { $($name:ident = $wire:literal;)+ })+) => {
        /// A code. Its wire name is what FEEDS.md calls it; those that FEEDS.md lacks are ours.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $($(#[doc = $wire] #[serde(rename = $wire)] $name,)+)+
        }

        impl Code {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Code] = &[$($(Code::$name,)+)+];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $($(Code::$name => $wire,)+)+ }
            }

            /// How much it weighs.
            pub fn level(self) -> Level {
                match self { $($(Code::$name => Level::$level,)+)+ }
            }
        }
    };
}

codes! {
    Refusal {
        FeedNotAFeed = "FEED_NOT_A_FEED";
        FeedArchiveRefused = "FEED_ARCHIVE_REFUSED";
        FeedTooLarge = "FEED_TOO_LARGE";
        FeedTooManyRecords = "FEED_TOO_MANY_RECORDS";
        FeedTooManyColumns = "FEED_TOO_MANY_COLUMNS";
    }
    Verdict {
        FeedTruncated = "FEED_TRUNCATED";
        FeedEmpty = "FEED_EMPTY";
        FeedNotWellformed = "FEED_NOT_WELLFORMED";
        FeedHeaderUnknown = "FEED_HEADER_UNKNOWN";
        FeedHeaderChanged = "FEED_HEADER_CHANGED";
        FeedDropTooLarge = "FEED_DROP_TOO_LARGE";
        RooftopVanished = "ROOFTOP_VANISHED";
        FeedErrorRate = "FEED_ERROR_RATE";
        FeedPriceShift = "FEED_PRICE_SHIFT";
        FeedDeletesTooMany = "FEED_DELETES_TOO_MANY";
    }
    File {
        FeedEncodingMixed = "FEED_ENCODING_MIXED";
        FeedHeaderOffset = "FEED_HEADER_OFFSET";
        FeedRepeatedHeader = "FEED_REPEATED_HEADER";
        FeedTrailerRow = "FEED_TRAILER_ROW";
        FeedDropNoted = "FEED_DROP_NOTED";
        PriceMeaningUnanswered = "PRICE_MEANING_UNANSWERED";
        FeedColumnRefused = "FEED_COLUMN_REFUSED";
    }
    Error {
        RowFieldCount = "ROW_FIELD_COUNT";
        RowUnparseable = "ROW_UNPARSEABLE";
        VinMalformed = "VIN_MALFORMED";
        IdentityMissing = "IDENTITY_MISSING";
        MakeMissing = "MAKE_MISSING";
        ModelMissing = "MODEL_MISSING";
        YearMissing = "YEAR_MISSING";
        YearInvalid = "YEAR_INVALID";
        ConditionMissing = "CONDITION_MISSING";
        ConditionUnknown = "CONDITION_UNKNOWN";
        RooftopUnknown = "ROOFTOP_UNKNOWN";
        ActionUnknown = "ACTION_UNKNOWN";
        FieldTooLarge = "FIELD_TOO_LARGE";
        ContractViolation = "CONTRACT_VIOLATION";
    }
    Warning {
        VinMissing = "VIN_MISSING";
        VinCheckDigit = "VIN_CHECK_DIGIT";
        VinPre1981 = "VIN_PRE1981";
        YearVinMismatch = "YEAR_VIN_MISMATCH";
        YearFromVin = "YEAR_FROM_VIN";
        YearTwoDigit = "YEAR_TWO_DIGIT";
        PriceNotDisclosed = "PRICE_NOT_DISCLOSED";
        PriceUnparseable = "PRICE_UNPARSEABLE";
        PriceImplausible = "PRICE_IMPLAUSIBLE";
        PriceRounded = "PRICE_ROUNDED";
        PriceCurrency = "PRICE_CURRENCY";
        MileageMissing = "MILEAGE_MISSING";
        MileageNotActual = "MILEAGE_NOT_ACTUAL";
        MileageUnparseable = "MILEAGE_UNPARSEABLE";
        MileageImplausible = "MILEAGE_IMPLAUSIBLE";
        MileageConvertedKm = "MILEAGE_CONVERTED_KM";
        MileageNewHigh = "MILEAGE_NEW_HIGH";
        ConditionInferred = "CONDITION_INFERRED";
        ConditionDemo = "CONDITION_DEMO";
        CertifiedOnNew = "CERTIFIED_ON_NEW";
        StatusUnknown = "STATUS_UNKNOWN";
        DrivelineAmbiguous = "DRIVELINE_AMBIGUOUS";
        PhotoPlaceholder = "PHOTO_PLACEHOLDER";
        PhotoUrlInvalid = "PHOTO_URL_INVALID";
        PhotoNotHttps = "PHOTO_NOT_HTTPS";
        PhotosTooMany = "PHOTOS_TOO_MANY";
        VdpUrlInvalid = "VDP_URL_INVALID";
        DateUnparseable = "DATE_UNPARSEABLE";
        DateFuture = "DATE_FUTURE";
        CsvQuotesRepaired = "CSV_QUOTES_REPAIRED";
        EncodingFallback = "ENCODING_FALLBACK";
        EncodingRepaired = "ENCODING_REPAIRED";
        DuplicateRow = "DUPLICATE_ROW";
        DuplicateVin = "DUPLICATE_VIN";
        DuplicateVinRooftop = "DUPLICATE_VIN_ROOFTOP";
        StockReused = "STOCK_REUSED";
        SupersededInFile = "SUPERSEDED_IN_FILE";
        DeleteUnknown = "DELETE_UNKNOWN";
    }
}
