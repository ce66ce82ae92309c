//! Makes in the spelling of their makers, and what dealers' systems call them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::fold;

/// Canonical names. Case, hyphens and blanks of a cell do not matter.
const NAMES: &[&str] = &[
    "Acura",
    "Alfa Romeo",
    "Aston Martin",
    "Audi",
    "Bentley",
    "BMW",
    "Bugatti",
    "Buick",
    "Cadillac",
    "Chevrolet",
    "Chrysler",
    "Daewoo",
    "Daihatsu",
    "Datsun",
    "DeLorean",
    "Dodge",
    "Eagle",
    "Ferrari",
    "Fiat",
    "Fisker",
    "Ford",
    "Freightliner",
    "Genesis",
    "Geo",
    "GMC",
    "Hino",
    "Honda",
    "Hummer",
    "Hyundai",
    "Infiniti",
    "International",
    "Isuzu",
    "Jaguar",
    "Jeep",
    "Karma",
    "Kenworth",
    "Kia",
    "Lamborghini",
    "Land Rover",
    "Lexus",
    "Lincoln",
    "Lotus",
    "Lucid",
    "Mack",
    "Maserati",
    "Maybach",
    "Mazda",
    "McLaren",
    "Mercedes-Benz",
    "Mercury",
    "MG",
    "MINI",
    "Mitsubishi",
    "Nissan",
    "Oldsmobile",
    "Opel",
    "Peterbilt",
    "Peugeot",
    "Plymouth",
    "Polestar",
    "Pontiac",
    "Porsche",
    "Ram",
    "Renault",
    "Rivian",
    "Rolls-Royce",
    "Saab",
    "Saturn",
    "Scion",
    "Seat",
    "Skoda",
    "Smart",
    "Subaru",
    "Suzuki",
    "Tesla",
    "Toyota",
    "VinFast",
    "Volkswagen",
    "Volvo",
    "Western Star",
    "Aprilia",
    "Arctic Cat",
    "Big Tex",
    "Can-Am",
    "Coachmen",
    "Ducati",
    "Forest River",
    "Harley-Davidson",
    "Husqvarna",
    "Indian",
    "Jayco",
    "Kawasaki",
    "KTM",
    "Kymco",
    "Moto Guzzi",
    "Piaggio",
    "Polaris",
    "Royal Enfield",
    "Ski-Doo",
    "Thor",
    "Triumph",
    "Vespa",
    "Winnebago",
    "Yamaha",
];

/// Short names and the four letters of police and registration files.
const ALIASES: &[(&str, &str)] = &[
    ("chevy", "Chevrolet"),
    ("chev", "Chevrolet"),
    ("chevrolettruck", "Chevrolet"),
    ("vw", "Volkswagen"),
    ("volk", "Volkswagen"),
    ("toyt", "Toyota"),
    ("mercedes", "Mercedes-Benz"),
    ("merz", "Mercedes-Benz"),
    ("mb", "Mercedes-Benz"),
    ("gmctruck", "GMC"),
    ("ramtruck", "Ram"),
    ("ramtrucks", "Ram"),
    ("dodg", "Dodge"),
    ("dodgetruck", "Dodge"),
    ("chry", "Chrysler"),
    ("cadi", "Cadillac"),
    ("cad", "Cadillac"),
    ("buic", "Buick"),
    ("pont", "Pontiac"),
    ("olds", "Oldsmobile"),
    ("linc", "Lincoln"),
    ("merc", "Mercury"),
    ("plym", "Plymouth"),
    ("strn", "Saturn"),
    ("fordtruck", "Ford"),
    ("hond", "Honda"),
    ("acur", "Acura"),
    ("niss", "Nissan"),
    ("infi", "Infiniti"),
    ("infinity", "Infiniti"),
    ("lexs", "Lexus"),
    ("mazd", "Mazda"),
    ("mits", "Mitsubishi"),
    ("suba", "Subaru"),
    ("isuz", "Isuzu"),
    ("suzi", "Suzuki"),
    ("hyun", "Hyundai"),
    ("pors", "Porsche"),
    ("volv", "Volvo"),
    ("jagu", "Jaguar"),
    ("lndr", "Land Rover"),
    ("rangerover", "Land Rover"),
    ("mnni", "MINI"),
    ("minicooper", "MINI"),
    ("tesl", "Tesla"),
    ("alfa", "Alfa Romeo"),
    ("rolls", "Rolls-Royce"),
    ("harley", "Harley-Davidson"),
    ("hd", "Harley-Davidson"),
    ("yama", "Yamaha"),
    ("kawk", "Kawasaki"),
    ("indianmotorcycle", "Indian"),
];

static CANONICAL: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let names = NAMES.iter().map(|name| (fold(name), *name));
    names.chain(ALIASES.iter().map(|(alias, name)| ((*alias).to_owned(), *name))).collect()
});

/// The canonical name, where the make is known.
pub(super) fn canonical(make: &str) -> Option<&'static str> {
    CANONICAL.get(&fold(make)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_a_name_and_hides_none() {
        for (alias, name) in ALIASES {
            assert!(NAMES.contains(name), "{name}");
            assert_eq!(*alias, fold(alias));
            assert!(NAMES.iter().all(|other| fold(other) != *alias), "{alias}");
        }
        let folded: std::collections::HashSet<String> = NAMES.iter().map(|name| fold(name)).collect();
        assert_eq!(folded.len(), NAMES.len());
    }
}
