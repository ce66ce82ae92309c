//! What kind of vehicle a unit is: `car`, `motorcycle`, `trailer`, `rv` or `other`.

/// Finds it out from the cells of type, category and class columns, in their order, and from the body where they say
/// nothing. Words that name no kind (`New`, `Compact`, `CAR_TRUCK`) leave it a car.
pub fn parse<'a>(kinds: impl IntoIterator<Item = &'a str>, body: &str) -> &'static str {
    kinds
        .into_iter()
        .find_map(|cell| kind(&words(cell)))
        .or_else(|| kind_of_body(&words(body)))
        .unwrap_or("car")
}

/// Whether a cell names a kind of vehicle: tells a `type` column of that sense from one that says new or used.
pub fn is_kind(cell: &str) -> bool {
    let words = words(cell);
    kind(&words).is_some()
        || has(
            &words,
            &[
                "car",
                "cars",
                "truck",
                "trucks",
                "suv",
                "suvs",
                "van",
                "vans",
                "automobile",
                "auto",
                "passenger",
            ],
        )
}

fn words(cell: &str) -> Vec<String> {
    cell.split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn has(words: &[String], any: &[&str]) -> bool {
    words.iter().any(|word| any.contains(&word.as_str()))
}

fn pair(words: &[String], first: &str, seconds: &[&str]) -> bool {
    words
        .windows(2)
        .any(|two| matches!(two, [one, other] if one == first && seconds.contains(&other.as_str())))
}

fn kind(words: &[String]) -> Option<&'static str> {
    // A travel trailer is lived in, and `motor home` is no motor: the longer names go first.
    if has(
        words,
        &[
            "rv",
            "rvs",
            "motorhome",
            "motorhomes",
            "motorcoach",
            "camper",
            "campers",
            "campervan",
            "caravan",
            "autocaravana",
        ],
    ) || pair(words, "travel", &["trailer", "trailers"])
        || pair(words, "motor", &["home", "homes", "coach"])
        || pair(words, "fifth", &["wheel", "wheels"])
        || pair(words, "5th", &["wheel", "wheels"])
        || pair(words, "toy", &["hauler", "haulers"])
        || pair(words, "recreational", &["vehicle", "vehicles"])
    {
        return Some("rv");
    }
    if has(words, &["trailer", "trailers", "remolque", "semitrailer"]) {
        return Some("trailer");
    }
    if has(
        words,
        &[
            "atv",
            "powersport",
            "powersports",
            "utv",
            "boat",
            "boats",
            "snowmobile",
            "snowmobiles",
            "watercraft",
            "pwc",
            "tractor",
            "equipment",
            "mower",
            "other",
        ],
    ) || pair(words, "side", &["by"])
        || pair(words, "jet", &["ski", "skis"])
        || pair(words, "golf", &["cart", "carts"])
    {
        return Some("other");
    }
    has(
        words,
        &[
            "motorcycle",
            "motorcycles",
            "motorbike",
            "motorbikes",
            "bike",
            "bikes",
            "scooter",
            "scooters",
            "moped",
            "mopeds",
            "moto",
            "motocicleta",
        ],
    )
    .then_some("motorcycle")
}

fn kind_of_body(words: &[String]) -> Option<&'static str> {
    // `touring` and `standard` are bodies of motorcycles and trims of cars; `other` is no kind here.
    match words {
        [one] if one == "cruiser" => Some("motorcycle"),
        _ => kind(words).filter(|kind| *kind != "other"),
    }
}
