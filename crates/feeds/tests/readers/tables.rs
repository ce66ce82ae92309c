//! Delimited text: header, separators, quoting (FEEDS.md 3.4 to 3.8, 3.11).

use feeds::{Code, Config, Limits};

use crate::{HEADER, Row, read, refused, try_with};

#[test]
fn the_separator_is_the_one_that_makes_a_header() {
    for delimiter in ["\t", "|", ";", ",", "^"] {
        let file = format!(
            "{}\n{}\n",
            HEADER.replace(',', delimiter),
            "A1,V,2020,Ford,F-150,ok".replace(',', delimiter)
        );
        let read = read(file);
        assert_eq!(read.detected.delimiter.as_deref(), Some(delimiter));
        assert_eq!(read.detected.header_row, Some(1));
        assert_eq!(read.rows[0].cell("Model"), Some("F-150"));
        assert!(read.codes.is_empty(), "{:?}", read.codes);
    }
}

#[test]
fn lines_above_the_header_are_told_and_skipped() {
    let read = read(format!("Inventory report\n\nPrinted 11/30/2026\n{HEADER}\nA1,V,2020,Ford,F-150,\n"));
    assert_eq!(read.detected.header_row, Some(4));
    assert_eq!(read.codes, [Code::FeedHeaderOffset]);
    assert_eq!(read.rows.len(), 1);
}

#[test]
fn a_header_below_the_fifteenth_line_is_none() {
    let read = read(format!("{}{HEADER}\nA1,V,2020,Ford,F-150,\n", "title\n".repeat(15)));
    assert_eq!(read.codes, [Code::FeedHeaderUnknown]);
    assert!(read.rows.is_empty());
}

#[test]
fn names_of_the_settings_make_a_header_and_may_stand_in_for_one() {
    let mut config = Config::default();
    for name in ["Wagen", "Nummer", "Jahr", "Marke"] {
        config.columns.insert(name.to_owned(), "ignore".to_owned());
    }
    let limits = Limits::default();
    let by_hand = try_with(b"Wagen;Nummer;Jahr;Marke\na;b;c;d\n", &config, &limits).unwrap();
    assert_eq!(by_hand.rows[0].cell("Marke"), Some("d"));
    let names = ["vin", "stock", "year"].map(str::to_owned).to_vec();
    let config = Config { header: Some(names), ..Config::default() };
    let without = try_with(b"V1|S1|2020\nV2|S2|2021\n", &config, &limits).unwrap();
    assert_eq!((without.rows.len(), without.detected.header_row), (2, None));
    assert_eq!(without.column("stock"), [Some("S1"), Some("S2")]);
}

#[test]
fn repeated_headers_totals_and_blank_lines_are_no_records() {
    let file = format!(
        "{HEADER}\nA1,V,2020,Ford,F-150,x\n\n,,,,,\n{HEADER}\nA2,V,2020,Ford,F-150,y\nTotal units: 2\n*** END OF REPORT\n"
    );
    let read = read(file);
    assert_eq!(read.column("Stock"), [Some("A1"), Some("A2")]);
    assert_eq!(read.codes, [Code::FeedRepeatedHeader, Code::FeedTrailerRow]);
}

#[test]
fn in_tab_and_pipe_files_a_quote_is_an_ordinary_character() {
    let header = HEADER.replace(',', "|");
    let read = read(format!(
        "{header}\nA1|V|2020|Ford|F-150|Lifted, 35\" tires\nA2|V|2021|Ford|F-150|\"so\" it is\n"
    ));
    assert_eq!(read.column("Description"), [Some("Lifted, 35\" tires"), Some("\"so\" it is")]);
    assert_eq!(read.detected.quoting.as_deref(), Some("none"));
}

#[test]
fn tab_files_whose_every_name_is_quoted_are_quoted() {
    let header = format!("\"{}\"", HEADER.replace(',', "\"\t\""));
    let read = read(format!("{header}\n\"A1\"\t\"V\"\t\"2020\"\t\"Ford\"\t\"F-150\"\t\"two\nlines\"\n"));
    assert_eq!(read.rows[0].cell("Description"), Some("two\nlines"));
    assert_eq!(read.detected.quoting.as_deref(), Some("all"));
}

/// Field report 10.
#[test]
fn a_byte_order_mark_before_a_quoted_first_name_costs_nothing() {
    let read = read("\u{feff}\"VIN\",\"Stock\",\"Year\",\"Make\"\n\"V1\",\"S1\",\"2020\",\"Ford\"\n");
    assert!(read.detected.bom);
    assert_eq!(read.rows[0].cell("VIN"), Some("V1"));
}

/// Field report 11.
#[test]
fn a_stray_quote_costs_its_row_at_most() {
    let lines =
        ["A1,V,2020,Ford,F-150,x", "A2,V,2020,Ford,F-150,Lifted 20\" wheels", "A3,V,2020,Ford,F-150,x"];
    let file = format!("{HEADER}\n{}\nA4,V,2020,Ford,F-150,x\nA5,V,2020,Ford,F-150,x\n", lines.join("\n"));
    let read = read(file);
    assert_eq!(read.column("Stock"), [Some("A1"), Some("A2"), Some("A3"), Some("A4"), Some("A5")]);
    assert_eq!(read.rows[1].notes(), [Code::CsvQuotesRepaired]);
    assert_eq!(read.rows[1].cell("Description"), Some("Lifted 20\" wheels"));
    assert_eq!(read.detected.quoting.as_deref(), Some("minimal-broken"));
}

#[test]
fn a_quote_that_is_never_closed_takes_no_other_row_with_it() {
    for bad in [
        "A2,V,2020,Ford,F-150,\"Opened and left",
        "\"A2\",\"V\",\"2020\",\"Ford\",\"F-150\",\"Opened \"and left",
    ] {
        let read = read(format!("{HEADER}\nA1,V,2020,Ford,F-150,x\n{bad}\nA3,V,2020,Ford,F-150,x\n"));
        assert_eq!(read.column("Stock"), [Some("A1"), None, Some("A3")], "{bad}");
        assert_eq!(read.rows[1], Row::Lost(Code::RowFieldCount));
        assert!(read.codes.is_empty());
    }
}

/// Field report 12.
#[test]
fn a_line_break_between_quotes_is_part_of_the_record() {
    let read = read(format!("{HEADER}\r\nA1,V,2020,Ford,F-150,\"one\r\ntwo\"\r\nA2,V,2020,Ford,F-150,x\r\n"));
    assert_eq!(read.rows.len(), 2);
    assert_eq!(read.rows[0].cell("Description"), Some("one\r\ntwo"));
    assert_eq!(read.detected.line_ending.as_deref(), Some("crlf"));
}

#[test]
fn a_sound_record_over_two_lines_survives_a_bad_one_elsewhere() {
    let read = read(format!(
        "{HEADER}\nA1,V,2020,Ford,F-150,\"one\ntwo\"\nA2,V,2020,Ford,F-150,clean, cheap\nA3,V,2020,Ford,F-150,x\n"
    ));
    assert_eq!(read.column("Stock"), [Some("A1"), None, Some("A3")]);
    assert_eq!(read.rows[1], Row::Lost(Code::RowFieldCount));
}

#[test]
fn quotes_that_are_not_doubled_are_repaired_line_by_line() {
    let row = |text: &str| format!("\"A\",\"V\",\"2020\",\"Ford\",\"F-150\",\"{text}\"\n");
    let texts = ["20\" wheels", "\"Like new\"", "size 20\"", "6' 4\\\" long", "fine"];
    let file = texts.iter().fold(format!("{HEADER}\n"), |file, text| file + &row(text));
    let read = read(file);
    let expected = ["20\" wheels", "\"Like new\"", "size 20\"", "6' 4\" long", "fine"];
    assert_eq!(read.column("Description"), expected.map(Some));
    assert_eq!(read.rows[4].notes(), []);
    assert_eq!(read.detected.quoting.as_deref(), Some("all-broken"));
}

#[test]
fn empty_cells_at_the_end_are_dropped_and_other_counts_lose_the_row() {
    let read = read(format!(
        "{HEADER}\nA1,V,2020,Ford,F-150,x,,,\nA2,V,2020,Ford\nA3,V,2020,Ford,F-150,x,y\nA4,V,2020,Ford,F-150,z\n"
    ));
    let lost = Row::Lost(Code::RowFieldCount);
    assert_eq!(read.rows[0].cell("Description"), Some("x"));
    assert_eq!((&read.rows[1], &read.rows[2]), (&lost, &lost));
    assert_eq!(read.rows[3].cell("Stock"), Some("A4"));
}

#[test]
fn a_file_that_ends_in_a_quoted_field_is_truncated() {
    let read = read(format!("{HEADER}\nA1,V,2020,Ford,F-150,\"x\"\n\"A2\",\"V\",\"2020\",\"Fo"));
    assert_eq!(read.rows[1], Row::Lost(Code::RowUnparseable));
    assert_eq!(read.codes, [Code::FeedTruncated]);
}

#[test]
fn a_last_line_without_end_that_is_too_short_is_truncated() {
    let whole = format!("{HEADER}\nA1,V,2020,Ford,F-150,x\nA2,V,20");
    let read_ = read(&whole);
    assert_eq!(read_.codes, [Code::FeedTruncated]);
    assert_eq!(read_.rows[1], Row::Lost(Code::RowFieldCount));
    assert!(read(format!("{whole}\n")).codes.is_empty());
}

/// Field report 6.
#[test]
fn empty_files_are_empty() {
    for file in ["", " \r\n\r\n ", "\0\0\0", "\u{feff}", HEADER, &format!("{HEADER}\r\n\r\n")] {
        let read = read(file);
        assert_eq!((read.codes, read.rows.len()), (vec![Code::FeedEmpty], 0), "{file:?}");
    }
}

#[test]
fn control_characters_go_and_no_break_spaces_are_spaces() {
    let read = read(format!("{HEADER}\nA1\0,V,2020,Ford,F\u{a0}150,\u{a0}x\u{1}y\u{a0}\n"));
    assert_eq!(read.rows[0].cell("Stock"), Some("A1"));
    assert_eq!(read.rows[0].cell("Model"), Some("F 150"));
    assert_eq!(read.rows[0].cell("Description"), Some("xy"));
}

#[test]
fn old_macintosh_line_ends_are_lines() {
    let read = read(format!("{HEADER}\rA1,V,2020,Ford,F-150,x\rA2,V,2020,Ford,F-150,y\r"));
    assert_eq!(read.column("Stock"), [Some("A1"), Some("A2")]);
    assert_eq!(read.detected.line_ending.as_deref(), Some("cr"));
}

#[test]
fn more_columns_or_records_than_allowed_refuse_the_file() {
    let wide = HEADER.to_owned() + &",Extra".repeat(495) + "\nA1,V,2020,Ford,F-150,x\n";
    assert_eq!(refused(wide), Code::FeedTooManyColumns);
    assert_eq!(refused(format!("{HEADER}\n{}\n", ",".repeat(20_000))), Code::FeedTooManyColumns);
    let limits = Limits { records: 3, ..Limits::default() };
    let file = format!("{HEADER}\n{}", "A1,V,2020,Ford,F-150,x\n".repeat(4));
    let refused = try_with(file.as_bytes(), &Config::default(), &limits);
    assert!(format!("{:?}", refused.unwrap_err()).contains("FeedTooManyRecords"));
}

#[test]
fn a_field_that_is_too_large_costs_its_row() {
    let large = "x".repeat((1 << 20) + 1);
    let read = read(format!("{HEADER}\nA1,V,2020,Ford,F-150,{large}\nA2,V,2020,Ford,F-150,x\n"));
    assert_eq!(read.rows[0], Row::Lost(Code::FieldTooLarge));
    assert_eq!(read.rows[1].cell("Stock"), Some("A2"));
    let larger = "x".repeat(6 << 20);
    let read = crate::read(format!("{HEADER}\nA1,V,2020,Ford,F-150,\"{larger}\"\nA2,V,2020,Ford,F-150,x\n"));
    assert_eq!(read.rows[0], Row::Lost(Code::FieldTooLarge));
    assert_eq!(read.rows[1].cell("Stock"), Some("A2"));
}
