//! What the columns of feeds are called, and what they hold (FEEDS.md 4).
//!
//! Names are compared [folded](fold), so that `Stock #`, `stock_#` and `STOCK#` are one name. Words that mean different
//! things in different tools (`type`, `title`, `condition`) have a target of their own here; what a cell of theirs says
//! decides, in [`crate::mapping`].

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A name of a column without what writers differ in: accents, case, blanks, punctuation. `ñ` is `n`; `?` and `#` stay.
pub fn fold(name: &str) -> String {
    name.nfkd()
        .filter(|sign| !is_combining_mark(*sign))
        .flat_map(char::to_lowercase)
        .filter(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, '?' | '#'))
        .collect()
}

macro_rules! targets {
    ($($(#[$meaning:meta])+ $name:ident = $word:literal: $($alias:literal)*;)+) => {
        /// What a column can hold. The words of these are what a mapping by hand says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Target {
            $($(#[$meaning])+ $name,)+
        }

        impl Target {
            /// All of them.
            pub const ALL: &'static [Target] = &[$(Target::$name,)+];

            /// The word for it in a mapping.
            pub fn as_str(self) -> &'static str {
                match self { $(Target::$name => $word,)+ }
            }

            /// Folded names of columns that hold it.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Target::$name => &[$($alias,)*],)+ }
            }
        }
    };
}

targets! {
    /// Vehicle identification number.
    Vin = "vin": "vin" "vin#" "vinno" "vinnumber" "vehicleidentificationnumber" "vehiclevin" "serialno" "serialnumber"
        "chassis" "chassisno" "chassisnumber" "vehicleidentification";
    /// Stock number.
    Stock = "stock": "stock" "stock#" "stockno" "stocknum" "stocknumber" "stk" "stk#" "stkno" "stknum"
        "inventorynumber" "inventory#" "unitnumber" "unit#" "numinventario" "numeroinventario" "numerodeinventario";
    /// An id that serves as the stock number of a unit that has no other.
    Id = "id": "id" "vehicleid";
    /// Model year.
    Year = "year": "year" "modelyear" "yr" "vehicleyear" "ano" "anomodelo";
    /// Make.
    Make = "make": "make" "makename" "brand" "manufacturer" "marca" "vehiclemake";
    /// Model.
    Model = "model": "model" "modelname" "mdl" "modelo" "vehiclemodel";
    /// Trim.
    Trim = "trim": "trim" "trimlevel" "trimlvl" "trimname" "series" "version" "style" "vehicletrim";
    /// Whether it is new, used or certified.
    Condition = "condition": "newused" "nu" "usednew" "neworused" "stateofvehicle" "vehiclecondition" "stocktype"
        "inventorytype" "salecondition";
    /// Says new or used in some tools, and how worn the unit is in others that have a column for new or used beside it.
    ConditionOrWear = "condition_or_wear": "condition" "condicion";
    /// Says new or used in some tools, and what kind of vehicle it is in others.
    TypeOrCondition = "type_or_condition": "type" "tipo";
    /// How worn it is; not published.
    Wear = "wear": "wear" "conditiongrade" "grade";
    /// Whether it is a certified used unit.
    Certified = "certified": "certified" "cert" "cert?" "certified?" "iscertified" "cpo" "certifiedpreowned"
        "oemcertified" "certificado";
    /// Where the unit stands: for sale, on hold, sold …
    Status = "status": "status" "stat" "vehiclestatus" "disposition" "availability" "inventorystatus" "estado"
        "stockstatus" "salestatus";
    /// Price of the first rank: it wins whenever it is a real amount.
    InternetPrice = "internet_price": "internetprice" "internetspecialprice" "webprice" "eprice" "onlineprice";
    /// Price of the first rank that wins only where it is not above the ordinary price.
    SpecialPrice = "special_price": "specialprice" "saleprice" "special";
    /// The ordinary price.
    AskingPrice = "asking_price": "sellingprice" "price" "askingprice" "asking" "retail" "retailprice" "listprice"
        "advertisedprice" "precio" "vehicleprice" "pricevalue" "priceamount";
    /// Sticker price.
    Msrp = "msrp": "msrp" "sticker" "stickerprice" "vehiclemsrp" "retailmsrp";
    /// Currency of the amounts.
    Currency = "currency": "currency" "pricecurrency" "pricingcurrency" "currencycode" "moneda";
    /// An amount that no member takes, which the dealer's price policy may name.
    Amount = "amount": "miscprice1" "miscprice2" "miscprice3" "discount" "dealerdiscount" "rebate" "rebates"
        "incentive" "incentives" "docfee" "docfees" "documentationfee" "dealerfee" "dealerfees" "fees" "addons"
        "addonprice" "finalprice" "totalprice" "outthedoorprice" "otdprice" "allinprice" "vehicleallinprice"
        "militaryprice" "loyaltyprice" "financeprice" "cashprice" "conditionalprice" "destination"
        "destinationcharge" "freight" "baseprice";
    /// Distance driven.
    Mileage = "mileage": "miles" "mileage" "odometer" "odo" "mileagevalue" "odometervalue" "odometerreading"
        "millaje" "vehiclemileage";
    /// Distance driven, in kilometres by its name.
    Kilometers = "kilometers": "kms" "km" "kilometers" "kilometres" "kilometraje";
    /// Unit of the distance.
    MileageUnit = "mileage_unit": "mileageunit" "odometerunit" "odometerunits" "uom" "mileageunits" "odometeruom";
    /// Body style.
    Body = "body": "body" "bodystyle" "bodytype" "carroceria" "vehiclebody";
    /// Driven axles.
    Driveline = "driveline": "drivetrain" "drive" "drivetype" "driveline" "drv" "wheeldrive" "drivewheels" "traccion";
    /// Transmission.
    Transmission = "transmission": "transmission" "trans" "transmissiontype" "gearbox" "transmision"
        "transmissiondescription";
    /// Fuel.
    Fuel = "fuel": "fuel" "fueltype" "combustible";
    /// Engine.
    Engine = "engine": "engine" "enginedescription" "eng" "cyleng" "motor";
    /// Cubic centimetres.
    DisplacementCc = "displacement_cc": "enginecc" "displacementcc" "cc";
    /// Rated miles per gallon in town.
    CityMpg = "city_mpg": "citympg" "mpgcity" "epacity" "cityfueleconomy";
    /// Rated miles per gallon on the highway.
    HighwayMpg = "highway_mpg": "highwaympg" "hwympg" "mpghighway" "mpghwy" "epahighway" "highwayfueleconomy";
    /// Miles on battery power.
    ElectricRangeMi = "electric_range_mi": "electricrange" "electricrangemi" "evrange" "batteryrange" "rangemiles";
    /// Usable battery, kilowatt-hours.
    BatteryKwh = "battery_kwh": "batterykwh" "batterycapacity" "batterycapacitykwh" "batterysize";
    /// Peak power of the electric motor, horsepower.
    MotorPowerHp = "motor_power_hp": "motorpowerhp" "motorpower" "motorhp" "electricmotorhp";
    /// Whether it charges with direct current.
    DcFastCharge = "dc_fast_charge": "dcfastcharge" "dcfastcharging" "fastcharge" "dcfc";
    /// Charging connector.
    ChargePort = "charge_port": "chargeport" "chargingport" "chargeconnector" "chargingconnector" "plugtype";
    /// Colour outside.
    ExteriorColor = "exterior_color": "extcolor" "exteriorcolor" "exteriorcolour" "color" "colour" "extclr"
        "colorexterior" "colorsexterior" "extcolour" "vehiclecolor";
    /// Colour inside.
    InteriorColor = "interior_color": "intcolor" "interiorcolor" "interiorcolour" "intclr" "colorinterior"
        "colorsinterior" "intcolour";
    /// Equipment.
    Features = "features": "options" "features" "vehicleoption" "vehicleoptions" "equipment" "installedoptions"
        "featurelist" "optionlist" "equipamiento" "featuresname" "optionsname" "equipmentname";
    /// Pictures.
    Photos = "photos": "imagelist" "imageslist" "photourls" "photourl" "photourllist" "photolist" "photos" "photo"
        "images" "image" "imageurls" "imageurl" "imagesurl" "photosurl" "picurls" "pictureurls" "pictures"
        "imagelink" "additionalimagelink" "additionalimagelinks" "fotos" "imagelinks" "mainphoto" "mainimage";
    /// Place of a picture among those of its unit.
    PhotoOrder = "photo_order": "photosorder" "imagesorder" "imageorder" "photoorder";
    /// What else is said of a picture; not published.
    PhotoPart = "photo_part": "imagetag" "imagestag" "phototag" "photostag" "imagecaption" "imagescaption"
        "photocaption" "photoscaption" "imagetitle" "imagestitle" "phototitle" "photostitle";
    /// The unit's page.
    VdpUrl = "vdp_url": "vdpurl" "url" "link" "vehicleurl" "detailurl" "detailsurl" "weblink" "vdplink" "linkhref"
        "detailpageurl";
    /// The dealer's words.
    Description = "description": "description" "comments" "comment" "dealercomments" "vehiclenotes"
        "webaddescription" "sellernotes" "memo" "descripcion" "vehicledescription" "notes";
    /// The day it came into stock.
    InventoryDate = "inventory_date": "dateinstock" "instockdate" "datein" "entrydate" "datefirstonlot" "dateadded"
        "fechaentrada" "stockdate" "inventorydate";
    /// When the sender last changed it.
    UpdatedAt = "updated_at": "lastupdate" "lastupdated" "modified" "updatedat" "lastmodified" "datemodified"
        "modifiedat" "modifieddate" "updated";
    /// The rooftop.
    Rooftop = "rooftop_key": "dealerid" "dcid" "dealername" "storecode" "rooftop" "rooftopkey" "rooftopid" "location"
        "loc" "lot" "locationid" "dealercode" "storeid" "dealershipid";
    /// Car, motorcycle, trailer …
    VehicleType = "vehicle_type": "vehicletype" "category" "class" "typeofvehicle" "vehicleclass"
        "vehiclecategory" "tipodevehiculo";
    /// Brand of the title: clean, salvage, rebuilt …
    TitleStatus = "title_status": "titlestatus" "brandedtitle" "titlebrand" "titletype";
    /// Says new or used in some tools, is the brand of the title in others and a headline in most.
    Title = "title": "title";
    /// What a row of changes does.
    Action = "action": "action" "operation" "op" "changetype" "changeaction";
    /// Left out on purpose.
    Ignore = "ignore": "ignore";
}

/// Folded names of columns that are never published, whatever a mapping says: what the dealer paid and keeps to
/// themselves.
pub const NEVER_PUBLISH: &[&str] = &[
    "cost",
    "invoice",
    "bookvalue",
    "wholesale",
    "unitcost",
    "pack",
    "floor",
    "pricecost",
    "dealercost",
    "holdback",
    "invoiceprice",
    "dealerinvoice",
    "vehiclecost",
    "acquisitioncost",
    "purchaseprice",
    "totalcost",
    "costprice",
    "wholesaleprice",
    "wholesalevalue",
    "floorplan",
    "floorprice",
    "packamount",
    "costo",
    "actualcashvalue",
    "acv",
    "reconcost",
    "internalcost",
    "netcost",
    "costbasis",
    "factura",
];

static TARGETS: LazyLock<HashMap<&'static str, Target>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for target in Target::ALL.iter().filter(|target| **target != Target::Ignore) {
        for alias in target.aliases() {
            known.insert(*alias, *target);
        }
    }
    known
});

/// Last steps of a path that say something only together with the step before them.
const VAGUE: &[&str] = &[
    "id",
    "name",
    "value",
    "unit",
    "units",
    "url",
    "href",
    "link",
    "type",
    "title",
    "class",
    "category",
    "condition",
    "status",
    "code",
    "order",
    "style",
    "version",
    "series",
    "color",
    "colour",
    "location",
    "updated",
    "modified",
    "special",
    "image",
    "images",
    "photo",
    "photos",
    "description",
    "comment",
    "comments",
    "notes",
];

/// What a column with this folded name holds.
pub fn target_of(folded: &str) -> Option<Target> {
    // `Internet …` prices are of one rank whatever stands between the two words (FEEDS.md 5.1).
    let of_the_internet = || folded.starts_with("internet") && folded.ends_with("price");
    TARGETS.get(folded).copied().or_else(|| of_the_internet().then_some(Target::InternetPrice))
}

/// Steps above a member that make it say something about another thing than the vehicle.
const ABOUT_OTHERS: &[&str] = &[
    "warranty",
    "lease",
    "leasing",
    "finance",
    "financing",
    "payment",
    "payments",
    "loan",
    "tradein",
    "trade",
    "service",
    "history",
    "owner",
    "previousowner",
    "certification",
    "inspection",
    "fee",
    "fees",
    "tax",
    "taxes",
];

/// Steps above an amount of which it is the price of the vehicle.
const OF_THE_VEHICLE: &[&str] = &[
    "price",
    "prices",
    "pricing",
    "vehicle",
    "car",
    "auto",
    "listing",
    "item",
    "unit",
    "offer",
    "offers",
    "inventory",
    "details",
    "detail",
    "attributes",
    "product",
    "data",
    "amounts",
];

/// What a column of this name holds: its whole name counts, then, in a document with steps (`pricing.price`,
/// `image[0].url`), its last two steps and its last one. What stands in a list of parts is nothing of the vehicle's
/// own: `options[3].price` is no price of it.
pub fn target_of_name(name: &str) -> Option<Target> {
    let steps = steps(name);
    if let Some(target) = target_of(&steps.concat()) {
        return Some(target);
    }
    let [above @ .., last] = steps.as_slice() else { return None };
    let before = above.last()?;
    if above.iter().any(|step| ABOUT_OTHERS.contains(&step.as_str())) {
        return None;
    }
    let fits = |target: &Target| match target {
        Target::Photos | Target::PhotoOrder | Target::PhotoPart | Target::Features => true,
        Target::InternetPrice | Target::SpecialPrice | Target::AskingPrice | Target::Msrp => {
            !in_a_list(name) && OF_THE_VEHICLE.contains(&before.as_str())
        }
        _ => !in_a_list(name),
    };
    let pair = target_of(&format!("{before}{last}")).filter(fits);
    pair.or_else(|| target_of(last).filter(|target| !VAGUE.contains(&last.as_str()) && fits(target)))
}

/// Whether a step above the last one has a number, beside that of a list of vehicles.
fn in_a_list(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(above, _)| above.contains('['))
}

/// A name as mappings by hand are compared: [folded](fold), and without the numbers of a path.
pub fn fold_name(name: &str) -> String {
    steps(name).concat()
}

/// The steps of a name, folded, without their numbers: `image[0].url` is `image`, `url`. A full stop parts steps where
/// a sign follows it at once: `Misc. Price` has one step.
fn steps(name: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut inside = false;
    let mut signs = name.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => {}
            '.' if signs.peek().is_some_and(|next| next.is_alphanumeric()) => steps.push(String::new()),
            _ => {
                if let Some(step) = steps.last_mut() {
                    step.push(sign);
                }
            }
        }
    }
    steps.iter().map(|step| fold(step)).filter(|step| !step.is_empty()).collect()
}

/// Whether a folded name is one that section 4 of FEEDS.md knows: a header row has several of them.
pub fn is_known(folded: &str) -> bool {
    target_of(folded).is_some() || NEVER_PUBLISH.contains(&folded)
}

/// Words that make a name one of those columns wherever they stand in it: `Vehicle Cost (net)`, `invoiceAmount`.
const NEVER_PUBLISH_WORDS: &[&str] =
    &["cost", "costs", "invoice", "holdback", "wholesale", "floorplan", "acv"];

/// Whether a column of this name holds what must not be published. Rather one column too many than one too few: it is
/// left out, and said to be.
pub fn is_never_published(name: &str) -> bool {
    let steps = steps(name);
    NEVER_PUBLISH.contains(&steps.concat().as_str())
        || steps.last().is_some_and(|last| NEVER_PUBLISH.contains(&last.as_str()))
        || words(name).iter().any(|word| NEVER_PUBLISH_WORDS.contains(&word.as_str()))
}

/// The words of a name: `invoiceAmount` and `Invoice Amount` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for sign in name.chars() {
        if !sign.is_alphanumeric() || (sign.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(sign.to_lowercase().filter(|sign| sign.is_alphanumeric()));
        }
        after_small = sign.is_lowercase();
    }
    words
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is nothing that a column can hold")]
pub struct UnknownTarget(pub String);

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Target::ALL
            .iter()
            .find(|target| target.as_str() == word)
            .copied()
            .ok_or_else(|| UnknownTarget(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_to_what_writers_agree_in() {
        for (name, folded) in [
            ("Stock #", "stock#"),
            ("Cert?", "cert?"),
            ("Año", "ano"),
            ("núm. inventario", "numinventario"),
            ("VDP_URL", "vdpurl"),
            ("mileage.value", "mileagevalue"),
            ("\u{feff}VIN", "vin"),
            ("New/Used", "newused"),
            ("Ｍａｋｅ", "make"),
        ] {
            assert_eq!(fold(name), folded, "{name}");
        }
    }

    #[test]
    fn every_alias_is_folded_and_means_one_thing() {
        let mut seen = HashMap::new();
        for target in Target::ALL {
            assert_eq!(target.as_str().parse(), Ok(*target));
            for alias in target.aliases() {
                assert_eq!(fold(alias), **alias);
                assert_eq!(seen.insert(*alias, *target), None, "{alias} twice");
                assert!(!NEVER_PUBLISH.contains(alias), "{alias} is never published");
            }
        }
        assert!("cost".parse::<Target>().is_err());
    }

    #[test]
    fn columns_of_all_layouts_are_known() {
        for (name, target) in [
            ("pricing.price", Some(Target::AskingPrice)),
            ("pricing.msrp", Some(Target::Msrp)),
            ("pricing.currency", Some(Target::Currency)),
            ("odometer.value", Some(Target::Mileage)),
            ("odometer.unit", Some(Target::MileageUnit)),
            ("colors.exterior", Some(Target::ExteriorColor)),
            ("locationId", Some(Target::Rooftop)),
            ("image[0].url", Some(Target::Photos)),
            ("image[12].tag[0]", Some(Target::PhotoPart)),
            ("photos[3].order", Some(Target::PhotoOrder)),
            ("photos[3]", Some(Target::Photos)),
            ("vehicle.identity.stockNumber", Some(Target::Stock)),
            ("dealer.id", Some(Target::Rooftop)),
            ("seller.person.id", None),
            ("INTCOLOR", Some(Target::InteriorColor)),
            ("CYL/ENG", Some(Target::Engine)),
            ("Vehicle", None),
            ("Series Detail", None),
            ("Make/Model", None),
            ("Misc. Price", None),
            ("options[3].price", None),
            ("options[3].name", Some(Target::Features)),
            ("lease.price", None),
            ("warranty.mileage", None),
            ("vehicle.price", Some(Target::AskingPrice)),
            ("engine.fuel", Some(Target::Fuel)),
            ("history[0].odometer", None),
            ("features[7]", Some(Target::Features)),
        ] {
            assert_eq!(target_of_name(name), target, "{name}");
        }
    }

    #[test]
    fn what_the_dealer_paid_is_known_by_name() {
        for name in [
            "Cost",
            "INVOICE",
            "Book Value",
            "price_cost",
            "pricing.cost",
            "pricing.dealer_cost",
            "Holdback",
            "Vehicle Cost (net)",
            "invoiceAmount",
            "pricing.floor",
        ] {
            assert!(is_never_published(name), "{name}");
            assert_eq!(target_of_name(name), None, "{name}");
        }
        for name in ["Price", "pricing.price", "Costume", "Cargo Floor Mats"] {
            assert!(!is_never_published(name), "{name}");
        }
        assert!(is_known("holdback") && is_known("vin") && !is_known("wexfordnorth"));
    }
}
