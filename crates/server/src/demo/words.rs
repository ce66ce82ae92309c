//! Colours, equipment and sentences.

use super::catalog::{Kind, Model, Powertrain};
use super::dice::Dice;

/// A paint and how a photo shows it.
pub(super) struct Paint {
    pub(super) name: &'static str,
    pub(super) hex: &'static str,
    share: usize,
}

const fn paint(name: &'static str, hex: &'static str, share: usize) -> Paint {
    Paint { name, hex, share }
}

const CAR_PAINTS: [Paint; 16] = [
    paint("Glacier White Pearl", "f1f2ee", 12),
    paint("Chalk White", "e7e6df", 9),
    paint("Midnight Black Metallic", "17191d", 12),
    paint("Obsidian Black", "0f1012", 6),
    paint("Slate Gray Metallic", "6a7178", 11),
    paint("Graphite Metallic", "44484e", 7),
    paint("Silver Frost Metallic", "c2c7cc", 9),
    paint("Harbor Blue Metallic", "1f4e8c", 8),
    paint("Lagoon Blue", "2f7fa8", 4),
    paint("Ember Red Metallic", "a1161f", 7),
    paint("Garnet Pearl", "5f1524", 3),
    paint("Juniper Green", "3f5a47", 4),
    paint("Sandstone Beige", "b9aa8b", 3),
    paint("Copper Dusk", "9a5a34", 2),
    paint("Solar Yellow", "f0c232", 1),
    paint("Tangerine Orange", "e2701f", 2),
];

const CYCLE_PAINTS: [Paint; 10] = [
    paint("Matte Black", "1c1d20", 8),
    paint("Gloss Black", "0d0e10", 6),
    paint("Pearl White", "f2f2ef", 5),
    paint("Racing Red", "b3161d", 6),
    paint("Electric Blue", "1d5fc4", 5),
    paint("Lime Green", "5fb32a", 4),
    paint("Gunmetal Gray", "5b6067", 5),
    paint("Desert Sand", "c4ad84", 3),
    paint("Candy Orange", "e06a1b", 2),
    paint("Silver Storm", "b9bec4", 3),
];

const TRAILER_PAINTS: [Paint; 4] = [
    paint("Black", "1c1d20", 5),
    paint("White", "f0f0ec", 4),
    paint("Charcoal Gray", "4a4e54", 3),
    paint("Red", "9d1c20", 1),
];

const CLOTH: [&str; 3] = ["Black Cloth", "Gray Cloth", "Beige Cloth"];
const LEATHER: [&str; 6] =
    ["Black Leather", "Gray Leather", "Tan Leather", "Ivory Leather", "Espresso Leather", "Red Leather"];

pub(super) fn exterior(dice: &mut Dice, kind: Kind) -> Option<&'static Paint> {
    let paints: &'static [Paint] = match kind {
        Kind::Car => &CAR_PAINTS,
        Kind::Motorcycle => &CYCLE_PAINTS,
        Kind::Trailer => &TRAILER_PAINTS,
    };
    dice.weighted(&paints.iter().collect::<Vec<_>>(), |paint| paint.share)
}

/// Cars only; the higher trims have leather.
pub(super) fn interior(dice: &mut Dice, kind: Kind, level: usize) -> Option<&'static str> {
    match (kind, level) {
        (Kind::Car, 0) => dice.pick(&CLOTH).copied(),
        (Kind::Car, _) => dice.pick(&LEATHER).copied(),
        _ => None,
    }
}

const BASIC: [&str; 8] = [
    "Apple CarPlay and Android Auto",
    "Rear-view camera",
    "Automatic emergency braking",
    "Lane departure warning",
    "LED headlights",
    "Keyless entry",
    "Bluetooth",
    "Alloy wheels",
];
const COMFORT: [&str; 9] = [
    "Heated front seats",
    "Blind-spot monitor",
    "Adaptive cruise control",
    "Power driver seat",
    "Remote start",
    "Dual-zone climate control",
    "Push-button start",
    "Wireless phone charging",
    "Power moonroof",
];
const LUXURY: [&str; 8] = [
    "Ventilated front seats",
    "Panoramic sunroof",
    "Premium audio",
    "Head-up display",
    "360-degree camera",
    "Heated steering wheel",
    "Heated rear seats",
    "Navigation",
];
const CYCLE: [&str; 8] = [
    "ABS",
    "LED lighting",
    "Riding modes",
    "Traction control",
    "Bluetooth display",
    "Slipper clutch",
    "Adjustable suspension",
    "USB charging",
];
const TRAILER: [&str; 7] = [
    "LED lights",
    "Radial tires",
    "Spare tire",
    "Electric brakes",
    "D-ring tie-downs",
    "Treated wood deck",
    "Adjustable coupler",
];

fn special(model: &Model, powertrain: &Powertrain) -> &'static [&'static str] {
    match (model.kind, model.body) {
        (Kind::Car, _) if powertrain.is_electric() => {
            &["Heat pump", "Battery preconditioning", "Home charging cable", "One-pedal driving"]
        }
        (_, "truck") => &[
            "Tow package",
            "Spray-in bed liner",
            "Trailer brake controller",
            "Tonneau cover",
            "Running boards",
        ],
        (_, "minivan") => {
            &["Power sliding doors", "Third-row seats", "Second-row captain's chairs", "Rear entertainment"]
        }
        (_, "suv" | "wagon") => &["Hands-free liftgate", "Roof rails", "Cargo cover", "Tow hitch"],
        (_, "coupe") => &["Sport exhaust", "Limited-slip differential", "Sport seats"],
        (_, "convertible") => &["Power soft top", "Wind deflector", "Neck-level heating"],
        (Kind::Car, _) => &["Rear spoiler", "60/40 folding rear seat", "Fog lights"],
        (_, "touring") => &["Hard saddlebags", "Heated grips", "Cruise control", "Top case", "Audio system"],
        (_, "adventure") => &["Hard panniers", "Heated grips", "Crash bars", "Skid plate", "Center stand"],
        (_, "sport") => &["Quickshifter", "Steering damper", "Frame sliders"],
        (_, "cruiser") => &["Passenger backrest", "Forward controls", "Engine guard"],
        (_, "scooter") => &["Under-seat storage", "Windscreen", "Top case"],
        (_, "standard") => &["Quickshifter", "Fly screen", "Heated grips"],
        (_, "enclosed") => &["Rear ramp door", "Side door", "Roof vent", "Interior lights"],
        _ => &["Ramp gate", "Stake pockets", "Removable fenders"],
    }
}

/// Equipment fitting the kind and the trim; `level` 0 is the plainest, 2 the best.
pub(super) fn features(
    dice: &mut Dice,
    model: &Model,
    powertrain: &Powertrain,
    level: usize,
) -> Vec<&'static str> {
    let mut list = Vec::new();
    match model.kind {
        Kind::Car => {
            list.extend(dice.some(&BASIC, 4 + level));
            list.extend(dice.some(&COMFORT, 1 + 3 * level));
            list.extend(dice.some(&LUXURY, level * level));
        }
        Kind::Motorcycle => list.extend(dice.some(&CYCLE, 3 + level)),
        Kind::Trailer => list.extend(dice.some(&TRAILER, 3)),
    }
    list.extend(dice.some(special(model, powertrain), 1 + level.min(2)));
    if powertrain.driveline == Some("4wd") && dice.chance(40) {
        list.push("Hill descent control");
    }
    list
}

/// What a description may speak of.
pub(super) struct Subject<'a> {
    pub(super) name: String,
    pub(super) paint: &'static str,
    pub(super) condition: &'static str,
    pub(super) mileage: Option<i64>,
    pub(super) features: &'a [&'static str],
    pub(super) rooftop: &'a str,
    pub(super) electric_range: Option<String>,
    pub(super) kind: Kind,
}

/// Two or three plain sentences.
pub(super) fn description(dice: &mut Dice, subject: &Subject<'_>) -> Option<String> {
    let Subject { name, paint, features, rooftop, .. } = subject;
    let (first, last) = (features.get(1)?, features.last()?);
    let mut text = match (subject.condition, subject.mileage) {
        ("new", _) => format!("A new {name} in {paint}. Highlights: {first}, {last}."),
        ("cpo", Some(miles)) => format!(
            "A certified {name} in {paint} with {miles} miles. It passed the maker's inspection and carries the \
             maker's extended warranty. Highlights: {first}, {last}."
        ),
        (_, Some(miles)) => format!("{name} in {paint} with {miles} miles. Highlights: {first}, {last}."),
        _ => format!("{name}, used, in {paint}. Highlights: {first}, {last}."),
    };
    if let Some(range) = &subject.electric_range {
        text.push_str(&format!(" Rated for {range} miles on a charge."));
    }
    text.push(' ');
    let farewells: &[&str] = match (subject.condition, subject.kind) {
        ("used", Kind::Car) => &[
            "Two keys and the service records are in the folder.",
            "Our workshop checked brakes, tires and fluids; the report is yours to read.",
            "Taken in trade from its only owner.",
            "Priced to the market this week; trades are welcome.",
        ],
        (_, Kind::Trailer) => &[
            "Hitch and wiring can be fitted while you wait.",
            "Ask what your vehicle may tow before you choose.",
        ],
        (_, Kind::Motorcycle) => {
            &["Demo rides on dry days – bring your licence and your gear.", "First service is included."]
        }
        _ => &["Ask us for a test drive.", "Ready to be shown, in person or by video."],
    };
    text.push_str(dice.pick(farewells)?);
    if dice.chance(40) {
        text.push_str(&format!(" See it at {rooftop}."));
    }
    Some(text)
}
