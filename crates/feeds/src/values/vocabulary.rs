//! Words that are made alike: body, driveline, fuel, transmission, make, equipment (FEEDS.md 5.5).
//!
//! A word that no rule knows is kept in lower case, so that facets of one word are one value.

use super::{Parsed, fold, is_nothing, makes, text};
use crate::code::Code;

/// The body style. `vehicle_type` decides whose words are meant: `Touring` is a body of motorcycles.
pub fn body(cell: &str, vehicle_type: &str) -> Option<String> {
    let line = known(cell)?;
    let word = fold(&line);
    let of = match vehicle_type {
        "motorcycle" => motorcycle_body(&word),
        "car" | "other" => car_body(&line, &word),
        _ => None,
    };
    Some(of.map_or_else(|| line.to_lowercase(), str::to_owned))
}

fn car_body(line: &str, word: &str) -> Option<&'static str> {
    let has = |any: &[&str]| any.iter().any(|part| word.contains(part));
    let ends_in_van = || {
        word.ends_with("van")
            || line
                .split(|sign: char| !sign.is_alphanumeric())
                .any(|part| part.eq_ignore_ascii_case("van") || part.eq_ignore_ascii_case("vans"))
    };
    // `mini-van` before `van`, and a utility before the number of its doors.
    Some(if has(&["minivan"]) || word == "passenger" {
        "minivan"
    } else if has(&["sportutility", "crossover", "suv"]) || word == "cuv" {
        "suv"
    } else if has(&[
        "pickup",
        "truck",
        "crewcab",
        "extendedcab",
        "extcab",
        "regularcab",
        "quadcab",
        "doublecab",
        "kingcab",
        "supercab",
        "supercrew",
        "crewmax",
        "accesscab",
        "megacab",
        "clubcab",
    ]) {
        "truck"
    } else if has(&["convertible", "cabriolet", "roadster", "spyder", "spider"]) {
        "convertible"
    } else if has(&["hatchback", "liftback"]) || word == "hatch" {
        "hatchback"
    } else if has(&["wagon", "estate"]) {
        "wagon"
    } else if matches!(word, "5door" | "5dr" | "5doors") {
        "hatchback"
    } else if has(&["sedan", "saloon", "4drcar", "4doorcar"]) {
        "sedan"
    } else if has(&["coupe", "2drcar", "2doorcar"]) {
        "coupe"
    } else if ends_in_van() {
        "van"
    } else {
        return None;
    })
}

fn motorcycle_body(word: &str) -> Option<&'static str> {
    Some(match word {
        word if word.contains("sporttour") => "sport_touring",
        word if word.contains("scooter") || word.contains("moped") => "scooter",
        word if word.contains("adventure") => "adventure",
        word if word.contains("touring") => "touring",
        word if word.contains("cruiser") => "cruiser",
        "standard" | "standardbike" => "standard",
        "sport" | "sportbike" | "supersport" | "sports" => "sport",
        _ => return None,
    })
}

/// The driven axles. `2WD` does not say which: none, and `DRIVELINE_AMBIGUOUS`.
pub fn driveline(cell: &str) -> Parsed<String> {
    let Some(line) = known(cell) else { return Parsed::nothing() };
    let word = fold(&line);
    let has = |any: &[&str]| any.iter().any(|part| word.contains(part));
    let value = if has(&["awd", "allwheel", "tracciontotal", "traccionintegral"]) {
        "awd"
    } else if has(&["4wd", "4x4", "fourwheel", "4wheel"]) {
        "4wd"
    } else if has(&["fwd", "frontwheel", "delantera"]) {
        "fwd"
    } else if has(&["rwd", "rearwheel", "trasera"]) {
        "rwd"
    } else if has(&["2wd", "4x2", "twowheel", "2wheel"]) {
        return Parsed::refused(Code::DrivelineAmbiguous);
    } else {
        return Parsed::of(line.to_lowercase());
    };
    Parsed::of(value.to_owned())
}

/// The fuel: `gas`, `diesel`, `hybrid`, `phev`, `bev`, `flex`, `cng`, `hydrogen`, or another word.
pub fn fuel(cell: &str) -> Option<String> {
    let line = known(cell)?;
    let word = fold(&line);
    let has = |any: &[&str]| any.iter().any(|part| word.contains(part));
    // The narrower one first: a plug-in is a hybrid, a hybrid runs on electricity too, most of them on gas.
    let value = if has(&["plugin", "phev", "enchufable"]) {
        "phev"
    } else if has(&["hybrid", "hibrid"]) || matches!(word.as_str(), "hev" | "mhev") {
        "hybrid"
    } else if has(&["hydrogen", "fuelcell", "fcev"]) {
        "hydrogen"
    } else if has(&["flex", "e85", "ethanol"]) {
        "flex"
    } else if has(&["electric", "electrico"]) || matches!(word.as_str(), "ev" | "bev") {
        "bev"
    } else if has(&["diesel", "gasoil", "gasoleo"]) || word == "d" {
        "diesel"
    } else if has(&["cng", "naturalgas"]) {
        "cng"
    } else if has(&["gas", "unleaded", "petrol"]) || word == "g" {
        "gas"
    } else {
        return Some(line.to_lowercase());
    };
    Some(value.to_owned())
}

/// The transmission: `automatic`, `manual`, `cvt`, `dct`, or another word.
pub fn transmission(cell: &str) -> Option<String> {
    let line = known(cell)?;
    let word = fold(&line);
    let has = |any: &[&str]| any.iter().any(|part| word.contains(part));
    // `6-Speed A/T`, `8AT`, `6 M`: a letter of its own, behind a number or not.
    let letter = |any: [&str; 3]| {
        line.split(|sign: char| !(sign.is_alphanumeric() || sign == '/')).any(|part| {
            let part = part.trim_start_matches(|sign: char| sign.is_ascii_digit());
            any.iter().any(|short| part.eq_ignore_ascii_case(short))
        })
    };
    let value = if has(&["dualclutch", "doubleclutch", "dct", "dsg", "pdk"]) {
        "dct"
    } else if has(&["cvt", "continuouslyvariable", "variabletransmission"]) {
        "cvt"
    } else if has(&["auto"]) {
        "automatic"
    } else if has(&["manual"]) {
        "manual"
    } else if letter(["a", "a/t", "at"]) {
        "automatic"
    } else if letter(["m", "m/t", "mt"]) {
        "manual"
    } else {
        return Some(line.to_lowercase());
    };
    Some(value.to_owned())
}

/// The make in its canonical spelling; one that is not known stays as sent.
pub fn make(cell: &str) -> Option<String> {
    let line = text::name(cell)?;
    Some(makes::canonical(&line).map_or(line, str::to_owned))
}

/// Equipment of a list cell, in order, each thing once. It is split at `|`, else at `;`, else at `,`; a list in JSON is
/// taken as such.
pub fn features(cell: &str) -> Vec<String> {
    let trimmed = cell.trim();
    if trimmed.starts_with('[')
        && let Ok(list) = serde_json::from_str::<Vec<String>>(trimmed)
    {
        return each_once(list.iter().map(String::as_str));
    }
    // Before the separators are looked for: `&amp;` has one of them inside.
    let decoded = text::decode_entities(trimmed);
    let separator = ['|', ';'].into_iter().find(|sign| decoded.contains(*sign)).unwrap_or(',');
    each_once(decoded.split(separator))
}

/// Equipment that came as a list already.
pub fn each_once<'a>(items: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    items.into_iter().filter_map(text::line).filter(|item| seen.insert(item.to_lowercase())).collect()
}

/// What is to be told of a title: nothing of a clean one, else its brand in lower case.
pub fn title_status(cell: &str) -> Option<String> {
    let line = text::name(cell)?;
    match fold(&line).as_str() {
        "clean" | "clear" | "cleantitle" | "cleartitle" | "actual" | "no" | "n" | "0" | "false" | "ok" => {
            None
        }
        _ => Some(line.to_lowercase()),
    }
}

/// A line that is a word of a vocabulary: `NONE` and `OTHER` are none.
fn known(cell: &str) -> Option<String> {
    let line = text::line(cell)?;
    (!is_nothing(&line) && !matches!(fold(&line).as_str(), "other" | "otro")).then_some(line)
}
