//! Faults that other systems had, as far as one file shows them: kinds A (units that vanish), B (bytes and numbers) and
//! C (VINs). Those of doors, workers and pages are tested where these are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod table;

use feeds::Config;
use feeds::check::Decision;
use feeds::config::PreviousRun;
use table::{Checked, check, config, lot, vin};

fn after(published: u32) -> Config {
    Config { previous_full_run: Some(PreviousRun { published, ..PreviousRun::default() }), ..config() }
}

fn reasons(checked: &Checked) -> Vec<&'static str> {
    checked.report.verdict_reasons.iter().map(|code| code.as_str()).collect()
}

#[test]
fn a1_a_partial_file_is_not_taken_as_the_truth() {
    let applied = check(&lot(140), &after(200));
    assert_eq!(applied.report.verdict, Decision::Apply);
    assert_eq!(applied.report.counts.published, 140);
    assert_eq!(applied.file_codes(), ["FEED_DROP_NOTED"]);
    let held = check(&lot(139), &after(200));
    assert_eq!(held.report.verdict, Decision::Hold);
    assert_eq!(reasons(&held), ["FEED_DROP_TOO_LARGE"]);
    assert!(
        held.report.verdict_sentences[0].contains("139") && held.report.verdict_sentences[0].contains("200")
    );
}

#[test]
fn a5_one_vin_at_two_rooftops_is_published_once() {
    let file = format!(
        "dealer_id,stock,vin,year,make,model,condition,miles,price\n\
         NORTH,N1,{0},2020,Ford,Escape,used,41000,9000\n\
         SOUTH,S1,{0},2020,Ford,Escape,used,41000,9000\n",
        vin(1)
    );
    let checked = check(&file, &config());
    assert_eq!(checked.report.counts.published, 1);
    assert_eq!(checked.units[0].rooftop_key.as_deref(), Some("NORTH"));
    assert_eq!(checked.rows(), ["2 DUPLICATE_VIN_ROOFTOP vin kept 1"]);
    assert_eq!(checked.report.by_rooftop.len(), 1);
}

#[test]
fn a6_empty_files_are_held() {
    for (what, file) in [
        ("only the header", "stock,vin,year,make,model,condition,miles\n"),
        ("no bytes", ""),
        ("only blanks", " \n\t\n\r\n   \n"),
    ] {
        let checked = check(file, &after(200));
        assert_eq!(checked.report.verdict, Decision::Hold, "{what}");
        assert_eq!(reasons(&checked), ["FEED_EMPTY"], "{what}");
        assert_eq!(checked.report.counts.records, 0, "{what}");
    }
}

#[test]
fn a7_a_driven_new_unit_is_published_with_its_miles() {
    let checked = check(&one_row("new", "3,412", "24990", &vin(1), "2020"), &config());
    assert_eq!(checked.units[0].mileage, Some(3412));
    assert_eq!(checked.rows(), ["1 MILEAGE_NEW_HIGH mileage"]);
}

fn one_row(condition: &str, miles: &str, price: &str, vin: &str, year: &str) -> String {
    format!(
        "vin|stock|year|make|model|condition|miles|price\n{vin}|S1|{year}|Honda|Pilot|{condition}|{miles}|{price}\n"
    )
}

#[test]
fn b10_a_byte_order_mark_belongs_to_no_name() {
    let file = format!(
        "\u{feff}\"VIN\",\"Stock\",\"Year\",\"Make\",\"Model\",\"Type\",\"Miles\"\r\n\"{}\",\"1\",\"2020\",\"Ford\",\"Escape\",\"Used\",\"41000\"\r\n",
        vin(1)
    );
    let checked = check(&file, &config());
    assert_eq!(checked.report.counts.published, 1);
    assert_eq!(checked.units[0].vin.as_deref(), Some(vin(1).as_str()));
    assert!(checked.report.detect.bom);
    assert!(
        checked.report.mapping.iter().all(|column| column.target.is_some()),
        "{:?}",
        checked.report.mapping
    );
}

#[test]
fn b11_a_stray_quote_takes_no_other_row_with_it() {
    let mut file = String::from("stock,vin,year,make,model,type,miles,price,description\n");
    for row in 1..=5 {
        let text = if row == 2 { "\"Lifted 20\" wheels\"" } else { "\"Fine\"" };
        file.push_str(&format!("S{row},{},2020,Ford,Escape,Used,41000,9000,{text}\n", vin(row)));
    }
    let checked = check(&file, &config());
    let published: Vec<u32> = checked.units.iter().map(|unit| unit.source_row).collect();
    assert!([1, 3, 4, 5].iter().all(|row| published.contains(row)), "{published:?}");
    let told = checked.rows();
    assert!(
        told == ["2 CSV_QUOTES_REPAIRED row"] || told == ["2 ROW_FIELD_COUNT row"],
        "row 2 is repaired, or it alone is lost: {told:?}"
    );
}

#[test]
fn b12_a_line_break_inside_quotes_becomes_a_blank() {
    let file = format!(
        "stock,vin,year,make,model,type,miles,description\r\nS1,{},2020,Ford,Escape,Used,41000,\"One owner.\r\nNo smoke.\"\r\n",
        vin(1)
    );
    let checked = check(&file, &config());
    assert_eq!(checked.report.counts.records, 1);
    assert_eq!(checked.units[0].description.as_deref(), Some("One owner. No smoke."));
}

#[test]
fn b13_accents_of_windows_are_read() {
    let text = format!(
        "stock;vin;year;make;model;type;miles;color\nS1;{};2020;Citroën;Canyon;Used;41000;Crème brûlée – “matt” €\n",
        vin(1)
    );
    let windows: Vec<u8> = text
        .chars()
        .map(|sign| match sign {
            '–' => 0x96,
            '“' => 0x93,
            '”' => 0x94,
            '€' => 0x80,
            sign => u8::try_from(u32::from(sign)).unwrap(),
        })
        .collect();
    let checked = table::check_bytes(&windows, &config());
    assert_eq!(checked.report.detect.encoding, "windows-1252");
    assert_eq!(checked.units[0].exterior_color.as_deref(), Some("Crème brûlée – “matt” €"));
    assert_eq!(checked.units[0].make.as_deref(), Some("Citroën"));
}

#[test]
fn b14_every_way_to_write_1600() {
    for price in ["1,600", "1.600", "1.600,00", "1,600.00", "1600"] {
        let checked = check(&one_row("used", "41000", price, &vin(1), "2020"), &config());
        assert_eq!(checked.units[0].asking_price, Some(1600), "{price}");
        assert!(checked.rows().is_empty(), "{price}: {:?}", checked.rows());
    }
}

#[test]
fn b15_an_entity_bomb_is_held_at_once() {
    let mut bomb =
        String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE listings [\n<!ENTITY a \"aaaaaaaaaa\">\n");
    for (one, other) in ('b'..='j').zip('a'..='i') {
        bomb.push_str(&format!("<!ENTITY {one} \"{}\">\n", format!("&{other};").repeat(10)));
    }
    bomb.push_str("]>\n<listings><listing><vin>&j;</vin><make>Ford</make></listing></listings>\n");
    let began = std::time::Instant::now();
    let checked = check(&bomb, &after(200));
    assert!(began.elapsed().as_millis() < 1000, "{:?}", began.elapsed());
    assert_eq!(checked.report.verdict, Decision::Hold);
    assert_eq!(reasons(&checked), ["FEED_NOT_WELLFORMED"]);
    assert_eq!(checked.report.counts.published, 0);
}

#[test]
fn b16_one_word_for_one_driveline() {
    let mut file = String::from("stock\tvin\tyear\tmake\tmodel\ttype\tmiles\tdrivetrain\n");
    for (row, word) in (1..).zip(["AWD", "All Wheel Drive", "awd"]) {
        file.push_str(&format!("S{row}\t{}\t2020\tFord\tEscape\tUsed\t41000\t{word}\n", vin(row)));
    }
    let checked = check(&file, &config());
    let words: Vec<_> = checked.units.iter().map(|unit| unit.driveline.as_deref()).collect();
    assert_eq!(words, [Some("awd"); 3]);
}

/// VINs of the reports: number, year as sent, what is said, model year that comes out.
#[test]
fn c17_to_c20_rules_of_numbers() {
    for (report, vin, year, told, comes_out) in [
        ("17 Europe", "WVGZZZ5NZEW069297", "2014", &[] as &[&str], 2014),
        ("18 year cycle", "1HGCM82614A004352", "", &["1 YEAR_FROM_VIN year"], 2004),
        ("19 gaps of the alphabet", "2HKRW2H82LH600201", "", &["1 YEAR_FROM_VIN year"], 2020),
        ("20 check digit X", "1M8GDM9AXKP042788", "1989", &[], 1989),
        ("20 wrong", "1M8GDM9A0KP042788", "1989", &["1 VIN_CHECK_DIGIT vin"], 1989),
    ] {
        let checked = check(&one_row("used", "41000", "9000", vin, year), &config());
        let told_now: Vec<String> = checked
            .rows()
            .into_iter()
            .filter(|line| report.starts_with("20") || !line.contains("VIN_CHECK_DIGIT"))
            .collect();
        assert_eq!(told_now, told, "{report}");
        assert_eq!(checked.units[0].year, Some(comes_out), "{report}");
        assert_eq!(checked.units[0].vin.as_deref(), Some(vin), "{report}");
    }
    assert!(
        check(&one_row("used", "41000", "9000", "WVGZZZ5NZEW069297", "2014"), &config()).rows().is_empty()
    );
}
