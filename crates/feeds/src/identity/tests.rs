use super::*;

/// A row in one line: `unit 7 VIN NORTH S1 =h` or `sold 7 VIN NORTH S1`; `-` stands for nothing.
fn rows(lines: &[&str]) -> Identities {
    let mut identities = Identities::default();
    for (place, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let row = u32::try_from(place + 1).unwrap();
        let kind = match words[0] {
            "unit" => Kind::Unit(words.get(4).map_or(u64::from(row), |same| same.len() as u64 + 1000)),
            "sold" => Kind::Excluded,
            "gone" => Kind::Deleted,
            other => unreachable!("{other}"),
        };
        let word = |place: usize| Some(words[place]).filter(|word| *word != "-");
        identities.add(row, kind, word(1), word(2), word(3));
    }
    identities
}

fn told(settled: &Settled) -> Vec<String> {
    let remark = |remark: &Remark| match remark.kept_row {
        Some(kept) => format!("{} {} {kept}", remark.row, remark.code.as_str()),
        None => format!("{} {}", remark.row, remark.code.as_str()),
    };
    settled.remarks.iter().map(remark).collect()
}

#[test]
fn the_table_of_section_7() {
    type Case = (&'static str, &'static [&'static str], &'static [u32], &'static [&'static str]);
    let cases: &[Case] = &[
        // what, rows, dropped, told
        ("alone", &["unit V N 1", "unit W N 2", "sold X N 3"], &[], &[]),
        ("the same twice", &["unit V N 1 =", "unit V N 1 ="], &[2], &["2 DUPLICATE_ROW 1"]),
        ("rows differ", &["unit V N 1", "unit V N 1"], &[1], &["1 DUPLICATE_VIN 2"]),
        (
            "three rows, two of them equal",
            &["unit V N 1 =", "unit V N 1 =", "unit V N 1"],
            &[1, 2],
            &["1 DUPLICATE_VIN 3", "2 DUPLICATE_ROW 3"],
        ),
        ("a trade came back", &["sold V N 1", "unit V N 2"], &[], &["1 DUPLICATE_VIN 2"]),
        ("…whichever stands first", &["unit V N 2", "sold V N 1"], &[], &["2 DUPLICATE_VIN 1"]),
        ("sold after all", &["unit V N 1", "sold V N 1"], &[1], &["1 DUPLICATE_VIN 2"]),
        ("sold, stock unknown", &["unit V N -", "sold V N 1"], &[1], &["1 DUPLICATE_VIN 2"]),
        ("the sale fell through", &["sold V N 1", "unit V N 1"], &[], &["1 DUPLICATE_VIN 2"]),
        ("two rooftops", &["unit V N 1", "unit V S 2"], &[2], &["2 DUPLICATE_VIN_ROOFTOP 1"]),
        (
            "two rooftops, one of them twice",
            &["unit V N 1", "unit V S 2", "unit V N 1"],
            &[1, 2],
            &["1 DUPLICATE_VIN 3", "2 DUPLICATE_VIN_ROOFTOP 3"],
        ),
        ("sold here, on offer there", &["sold V N 1", "unit V S 2"], &[], &[]),
        ("two VINs, one number", &["unit V N 1", "unit W N 1"], &[], &["2 STOCK_REUSED"]),
        ("…at two rooftops", &["unit V N 1", "unit W S 1"], &[], &[]),
        ("…one of them sold", &["sold V N 1", "unit W N 1"], &[], &[]),
        ("no VIN, the same twice", &["unit - N 1 =", "unit - N 1 ="], &[2], &["2 DUPLICATE_ROW 1"]),
        ("no VIN, rows differ", &["unit - N 1", "unit - N 1"], &[1], &["1 DUPLICATE_VIN 2"]),
        ("no VIN, two rooftops", &["unit - N 1", "unit - S 1"], &[], &[]),
    ];
    for (what, lines, dropped, remarks) in cases {
        let settled = rows(lines).settle(Mode::Full, None);
        assert_eq!(settled.dropped.iter().copied().collect::<Vec<_>>(), *dropped, "{what}");
        assert_eq!(told(&settled), *remarks, "{what}");
        assert!(settled.last_words.is_empty(), "{what}");
    }
}

#[test]
fn published_units_are_counted_by_rooftop() {
    let settled = rows(&["unit V N 1", "unit V S 2", "unit W S 3", "unit X - 4", "sold Y N 5"])
        .settle(Mode::Full, None);
    assert_eq!(settled.by_rooftop, BTreeMap::from([("N".to_owned(), 1), ("S".to_owned(), 1)]));
}

#[test]
fn in_changes_the_last_word_counts() {
    let on_offer: BTreeSet<String> = ["V", "W", "1"].map(String::from).into();
    type Words = &'static [&'static str];
    type Rows = &'static [u32];
    let cases: &[(&str, Words, Rows, Rows, Words)] = &[
        // what, rows, dropped, last words of deletes, told
        ("a delete", &["gone V N 1"], &[], &[1], &[]),
        ("a delete of nothing", &["gone Z N 1"], &[], &[1], &["1 DELETE_UNKNOWN"]),
        ("a change", &["unit V N 1", "unit V N 1"], &[1], &[], &["1 SUPERSEDED_IN_FILE 2"]),
        ("over rooftops", &["unit V N 1", "unit V S 1"], &[1], &[], &["1 SUPERSEDED_IN_FILE 2"]),
        ("the same twice", &["unit V N 1 =", "unit V N 1 ="], &[2], &[], &["2 DUPLICATE_ROW 1"]),
        ("added and deleted", &["unit Z N 9", "gone Z N 9"], &[1], &[2], &["1 SUPERSEDED_IN_FILE 2"]),
        ("deleted and back", &["gone V N 1", "unit V N 1"], &[], &[], &["1 SUPERSEDED_IN_FILE 2"]),
        ("sold", &["sold V N 1"], &[], &[1], &[]),
        ("by number alone", &["gone - N 1"], &[], &[1], &[]),
        (
            "by number, given with a VIN",
            &["unit V N 1", "gone - N 1"],
            &[1],
            &[2],
            &["1 SUPERSEDED_IN_FILE 2"],
        ),
        ("by number, before it came", &["gone - N 1", "unit V N 1"], &[], &[1], &[]),
    ];
    for (what, lines, dropped, last_words, remarks) in cases {
        let settled = rows(lines).settle(Mode::Delta, Some(&on_offer));
        assert_eq!(settled.dropped.iter().copied().collect::<Vec<_>>(), *dropped, "{what}");
        assert_eq!(settled.last_words.iter().copied().collect::<Vec<_>>(), *last_words, "{what}");
        assert_eq!(told(&settled), *remarks, "{what}");
    }
    // Where nobody knows what is on offer, no delete is called unknown.
    assert!(told(&rows(&["gone Z N 1"]).settle(Mode::Delta, None)).is_empty());
}
