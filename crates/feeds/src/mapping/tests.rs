use super::*;

fn mapped(config: &Config, header: &[&str]) -> (Mapping, Columns) {
    let mut columns = Columns::default();
    for name in header {
        columns.push(name);
    }
    let mut mapping = Mapping::new(config);
    mapping.grow(&columns);
    (mapping, columns)
}

fn cells(texts: &[&str]) -> Vec<(ColumnId, String)> {
    texts.iter().enumerate().map(|(place, text)| (place, (*text).to_owned())).collect()
}

fn config(columns: &[(&str, &str)]) -> Config {
    let columns = columns.iter().map(|(name, target)| ((*name).to_owned(), (*target).to_owned())).collect();
    Config { columns, ..Config::default() }
}

#[test]
fn the_first_column_counts_and_later_ones_fill_gaps() {
    let (mut mapping, _) = mapped(&Config::default(), &["Stock #", "Unit Number", "VIN"]);
    let row = cells(&["A1", "77", "x"]);
    assert_eq!(mapping.pick(&row).text(Target::Stock), "A1");
    let row = cells(&[" \u{a0}", " 77 ", ""]);
    let picked = mapping.pick(&row);
    assert_eq!(picked.text(Target::Stock), "77");
    assert_eq!(picked.text(Target::Vin), "");
}

#[test]
fn a_mapping_by_hand_goes_before_aliases() {
    let settings =
        config(&[("MiscPrice1", "asking_price"), ("location", "ignore"), ("image[].url", "ignore")]);
    let (mut mapping, columns) = mapped(&settings, &["Price", "Misc_Price1", "Location", "image[0].url"]);
    let row = cells(&["1000", "900", "Bay 4", "https://x.example/1.jpg"]);
    let picked = mapping.pick(&row);
    assert_eq!(picked.text(Target::AskingPrice), "900");
    assert_eq!(picked.text(Target::Rooftop), "");
    assert_eq!(picked.text(Target::Photos), "");
    let list = mapping.list(&columns);
    assert!(list[1].by_hand && !list[0].by_hand);
    assert_eq!(list[2].target.as_deref(), Some("ignore"));
    assert_eq!(
        unknown_targets(&config(&[("a", "prize"), ("b", "vin")])),
        [("a".to_owned(), "prize".to_owned())]
    );
}

#[test]
fn what_the_dealer_paid_is_refused_by_name() {
    let settings = config(&[("Invoice", "asking_price"), ("Cost", "ignore")]);
    let (mut mapping, columns) = mapped(&settings, &["Invoice", "Cost", "Book Value", "Price"]);
    let row = cells(&["20000", "19000", "18000", "23000"]);
    let picked = mapping.pick(&row);
    assert_eq!(picked.cells().len(), 1);
    assert_eq!(picked.text(Target::AskingPrice), "23000");
    let refused = mapping.refused(&columns);
    assert_eq!(refused.len(), 1);
    assert_eq!((refused[0].code, refused[0].column.as_deref()), (Code::FeedColumnRefused, Some("Invoice")));
    assert!(
        mapping.list(&columns)[..3].iter().all(|column| column.target.as_deref() == Some("never_published"))
    );
}

#[test]
fn ambiguous_words_are_settled_by_what_they_say() {
    type Cells = &'static [&'static str];
    let table: &[(&str, Cells, Cells, &str, &str, &str)] = &[
        // layout, header, row, condition, kind, title status
        ("HomeNet", &["Type", "Stock"], &["Used", "1"], "Used", "", ""),
        ("kind of vehicle", &["Type", "Condition"], &["Truck", "New"], "New", "Truck", ""),
        ("kind and wear", &["Type", "Condition"], &["Used", "Good"], "Used", "", ""),
        ("neither", &["Type"], &["Good"], "Good", "", ""),
        ("AutoXloo", &["title", "condition"], &["Certified", "Excellent"], "Certified", "", ""),
        ("Meta", &["title", "condition", "state_of_vehicle"], &["2020 Ford", "GOOD", "USED"], "USED", "", ""),
        ("Meta, unsaid", &["title", "condition", "state_of_vehicle"], &["2020 Ford", "GOOD", ""], "", "", ""),
        ("Google", &["condition", "vin"], &["used", ""], "used", "", ""),
        ("brands", &["title", "new/used"], &["Salvage", "U"], "U", "", "Salvage"),
        ("used in the kind", &["Vehicle Type", "vin"], &["Used", ""], "Used", "", ""),
    ];
    for (layout, header, row, new_or_used, kind, title) in table {
        let (mut mapping, _) = mapped(&Config::default(), header);
        let row = cells(row);
        let picked = mapping.pick(&row);
        assert_eq!(picked.text(Target::Condition), *new_or_used, "{layout}");
        assert_eq!(picked.text(Target::VehicleType), *kind, "{layout}");
        assert_eq!(picked.text(Target::TitleStatus), *title, "{layout}");
    }
}

#[test]
fn wear_stays_wear_once_titles_have_said_new_or_used() {
    let (mut mapping, _) = mapped(&Config::default(), &["title", "condition"]);
    let first = cells(&["Used", "Good"]);
    assert_eq!(mapping.pick(&first).text(Target::Condition), "Used");
    let second = cells(&["", "Good"]);
    assert_eq!(mapping.pick(&second).text(Target::Condition), "");
}
