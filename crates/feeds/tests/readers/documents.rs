//! XML, JSON and NDJSON (FEEDS.md 2.6, 2.7, 2.9, 3.9 to 3.11).

use std::time::{Duration, Instant};

use feeds::Code;

use crate::{Row, read, refused};

const META: &str = "<?xml version=\"1.0\"?><listings><title>Lot</title><listing><vin>V1</vin><make>Ford</make>\
<model><![CDATA[Town & Country]]></model><year>2020</year><mileage><value>10</value><unit>MI</unit></mileage>\
<image><url>u1</url><tag>Front</tag></image><image><url>u2</url></image><price>1 USD</price>\
<address format=\"simple\"><component name=\"city\">Millbrook</component></address></listing>\
<listing><vin>V2</vin><model>Town &amp; Country &#174;</model></listing></listings>";

#[test]
fn meta_listings_are_rows_of_paths() {
    let read = read(META);
    assert_eq!(read.detected.format.as_deref(), Some("xml"));
    assert_eq!(read.detected.item_element.as_deref(), Some("listing"));
    let expected = [
        ("mileage.value", "10"),
        ("mileage.unit", "MI"),
        ("image[0].url", "u1"),
        ("image[0].tag", "Front"),
        ("image[1].url", "u2"),
        ("address.city", "Millbrook"),
        ("model", "Town & Country"),
    ];
    for (name, text) in expected {
        assert_eq!(read.rows[0].cell(name), Some(text), "{name}");
    }
    assert_eq!(read.rows[1].cell("model"), Some("Town & Country ®"));
    assert_eq!(read.top["title"], "Lot");
    assert!(read.codes.is_empty());
}

#[test]
fn google_names_are_known_by_their_namespace_and_win() {
    for prefix in ["g", "goog"] {
        let item = |vin: &str| {
            format!(
                "<item><title>RSS</title><Q:title>G</Q:title><Q:vin>{vin}</Q:vin><Q:make>Ford</Q:make><Q:price>1</Q:price>\
<Q:year>2020</Q:year><Q:additional_image_link>a</Q:additional_image_link><Q:additional_image_link>b</Q:additional_image_link></item>"
            )
        };
        let file = format!(
            "<rss xmlns:Q=\"http://base.google.com/ns/1.0\"><channel><title>Lot</title>{}{}</channel></rss>",
            item("V1"),
            item("V2")
        );
        let read = read(file.replace('Q', prefix));
        assert_eq!(read.detected.item_element.as_deref(), Some("item"));
        assert_eq!(read.column("vin"), [Some("V1"), Some("V2")]);
        assert_eq!(read.column("title"), [Some("G"), Some("G")]);
        assert_eq!(read.rows[0].cell("additional_image_link[1]"), Some("b"));
    }
}

#[test]
fn atom_and_ad_hoc_documents_have_rows_as_well() {
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:g=\"http://base.google.com/ns/1.0\"><title>Lot</title>\
<entry><id>1</id><link href=\"https://a\"/><g:vin>V1</g:vin><g:make>Ford</g:make><g:year>2020</g:year></entry>\
<entry><id>2</id><g:vin>V2</g:vin><g:make>Ford</g:make><g:year>2021</g:year></entry></feed>";
    let atom = read(atom);
    assert_eq!(atom.column("vin"), [Some("V1"), Some("V2")]);
    assert_eq!(atom.rows[0].cell("link"), Some("https://a"));
    let vehicle = |vin: &str| {
        format!(
            "<Vehicle stock=\"S\"><VIN>{vin}</VIN><Year>2020</Year><Make>Ford</Make><Price currency=\"USD\">9</Price>\
<Photos><Photo>a</Photo><Photo>b</Photo></Photos></Vehicle>"
        )
    };
    let file = format!(
        "<Dealer generated=\"now\"><Name>Lot</Name><Vehicles>{}{}</Vehicles></Dealer>",
        vehicle("V1"),
        vehicle("V2")
    );
    let read = read(file);
    assert_eq!(read.detected.item_element.as_deref(), Some("Vehicle"));
    for (name, text) in [("stock", "S"), ("VIN", "V1"), ("Price@currency", "USD"), ("Photos[1]", "b")] {
        assert_eq!(read.rows[0].cell(name), Some(text), "{name}");
    }
    assert_eq!(read.top["generated"], "now");
}

#[test]
fn generic_fields_are_called_by_their_names() {
    let row = "<row><field name=\"vin\">V1</field><field name=\"stock\">S</field><field name=\"make\">F</field><field name=\"year\">2020</field></row>";
    let read = read(format!("<rows>{row}{row}</rows>"));
    assert_eq!(read.column("vin"), [Some("V1"), Some("V1")]);
}

#[test]
fn one_vehicle_is_enough() {
    let read = read(
        "<listings><listing><vin>V</vin><make>F</make><model>M</model><year>2020</year></listing></listings>",
    );
    assert_eq!(read.column("vin"), [Some("V")]);
    assert_eq!(crate::read("<listings><title>Lot</title></listings>").codes, [Code::FeedEmpty]);
}

#[test]
fn xml_that_is_not_well_formed_keeps_the_rows_before_and_holds() {
    let second = "<listing><vin>V2</vin>";
    for bad in [
        META.replace(second, "<listing><vin>V&nbsp;2</vin>"),
        META.replace(second, "<listing><vin>A & B</vin>"),
        META.replace(second, "<listing><vin>V2</wrong>"),
        META.replace(second, &("<listing>".to_owned() + &"<a>".repeat(40))),
    ] {
        let read = read(bad);
        assert_eq!(read.codes, [Code::FeedNotWellformed]);
        assert_eq!(read.rows.len(), 2);
        assert_eq!((read.rows[0].cell("vin"), &read.rows[1]), (Some("V1"), &Row::Lost(Code::RowUnparseable)));
    }
    assert_eq!(read(format!("{META}<x/>")).codes, [Code::FeedNotWellformed]);
}

/// Field report 15.
#[test]
fn an_entity_bomb_goes_nowhere() {
    let mut bomb = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\">".to_owned();
    for (one, other) in ("abcdefghi".chars()).zip("bcdefghij".chars()) {
        bomb += &format!("<!ENTITY {other} \"{}\">", format!("&{one};").repeat(10));
    }
    bomb += "]><listings><listing><vin>&j;</vin></listing></listings>";
    let start = Instant::now();
    let read = read(bomb);
    assert_eq!((read.codes, read.rows.len()), (vec![Code::FeedNotWellformed], 0));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn documents_that_stop_are_truncated_wherever_they_stop() {
    let json =
        r#"{"count":2,"vehicles":[{"vin":"V1","make":"a"},{"vin":"V2","p":[1,{"u":true}]}],"end":"é"}"#;
    for whole in [META, json] {
        let all = read(whole).rows;
        for at in (40..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            let read = read(&whole[..at]);
            assert!(read.codes.contains(&Code::FeedTruncated), "{at}: {:?}", read.codes);
            let good = read.rows.iter().filter(|row| matches!(row, Row::Read(..))).count();
            assert_eq!(read.rows[..good], all[..good], "{at}");
        }
    }
}

#[test]
fn vehicles_are_found_wherever_they_are_in_a_document() {
    let vehicle = r#"{"vin":"V1","make":"Ford","pricing":{"price":9,"msrp":null},"ok":true,"photos":["a",{"url":"b","order":1}]}"#;
    for (file, path) in [
        (format!("[{vehicle}]"), ""),
        (format!(r#"{{"errors":[],"tags":[{{"id":1}}],"vehicles":[{vehicle}]}}"#), "/vehicles"),
        (format!(r#"{{"data":{{"a/b":[{vehicle}]}},"generated_at":"now"}}"#), "/data/a~1b"),
    ] {
        let read = read(file);
        assert_eq!(read.detected.items_path.as_deref(), Some(path));
        let cells = [
            ("vin", "V1"),
            ("pricing.price", "9"),
            ("ok", "true"),
            ("photos[0]", "a"),
            ("photos[1].url", "b"),
        ];
        for (name, text) in cells {
            assert_eq!(read.rows[0].cell(name), Some(text), "{name}");
        }
        assert_eq!(read.rows[0].cell("pricing.msrp"), None);
    }
    assert_eq!(read(r#"{"at":{"x":"now"},"v":[{"vin":"1"}]}"#).top["at.x"], "now");
}

#[test]
fn the_last_of_two_equal_names_wins_with_all_that_is_in_it() {
    let read = read(r#"[{"vin":"a","photos":["x","y"],"p":{"q":1},"vin":"b","photos":["z"],"p":null}]"#);
    let row = &read.rows[0];
    assert_eq!((row.cell("vin"), row.cell("photos[0]"), row.cell("photos[1]")), (Some("b"), Some("z"), None));
    assert_eq!(row.cell("p.q"), None);
}

#[test]
fn what_is_no_object_is_a_lost_row() {
    let read = read(r#"{"v":[{"vin":"1"},null,"text",[1,[2]],{"vin":"2"}]}"#);
    let lost = Row::Lost(Code::RowUnparseable);
    assert_eq!(read.rows[1..4], [lost.clone(), lost.clone(), lost]);
    assert_eq!(read.rows[4].cell("vin"), Some("2"));
}

#[test]
fn a_declared_count_that_differs_is_a_truncated_file() {
    for (file, truncated) in [
        (r#"{"count":3,"v":[{"vin":"1"},{"vin":"2"}]}"#, true),
        (r#"{"v":[{"vin":"1"},{"vin":"2"}],"count":3}"#, true),
        (r#"{"v":[{"vin":"1"},{"vin":"2"}],"count":2}"#, false),
    ] {
        let read = read(file);
        assert_eq!(read.codes.contains(&Code::FeedTruncated), truncated, "{file}");
        assert!(read.detected.declared_count.is_some());
    }
}

#[test]
fn json_that_is_none_keeps_the_rows_before_and_holds() {
    for bad in [
        r#"[{"vin":"1"},{"vin":"2",}]"#,
        r#"[{"vin":"1"} {"vin":"2"}]"#,
        r#"[{"vin":"1"},{vin:"2"}]"#,
        r#"[{"vin":"1"},{"vin":02}]"#,
        r#"[{"vin":"1"}] x"#,
    ] {
        let read = read(bad);
        assert_eq!(read.codes, [Code::FeedNotWellformed], "{bad}");
        assert_eq!(read.rows[0].cell("vin"), Some("1"));
    }
    let deep = format!(r#"[{{"vin":"1"}},{{"a":{}{}}}]"#, "[".repeat(40), "]".repeat(40));
    assert_eq!(read(deep).codes, [Code::FeedNotWellformed]);
}

#[test]
fn escapes_are_signs() {
    let read = read(r#"[{"a":"\u00e9\ud83d\ude97\n\/\"\\ \ud800x \ud800\n"}]"#);
    assert_eq!(read.rows[0].cell("a"), Some("é🚗\n/\"\\ \u{fffd}x \u{fffd}"));
}

#[test]
fn ndjson_loses_only_bad_lines() {
    let read = read("{\"vin\":\"1\"}\r\n{\"vin\":\"2\"}\n\n{oops}\n[]\n{\"vin\":\"3\"} x\n{\"vin\":\"4\"}");
    assert_eq!(read.detected.format.as_deref(), Some("ndjson"));
    assert_eq!(read.column("vin"), [Some("1"), Some("2"), None, None, None, Some("4")]);
    assert!(read.codes.is_empty());
    let cut = crate::read("{\"vin\":\"1\"}\n{\"vin\":\"2\"}\n{\"vin\":\"3");
    assert_eq!((cut.codes, cut.rows.len()), (vec![Code::FeedTruncated], 3));
}

#[test]
fn objects_without_vehicles_are_empty() {
    for file in ["{}", "[]", r#"{"error":"denied"}"#, r#"{"vehicles":[]}"#] {
        assert_eq!(read(file).codes, [Code::FeedEmpty], "{file}");
    }
}

#[test]
fn documents_have_limits_too() {
    let wide: Vec<String> = (0..600).map(|number| format!("\"c{number}\":1")).collect();
    assert_eq!(refused(format!("[{{{}}}]", wide.join(","))), Code::FeedTooManyColumns);
    let many: Vec<String> = (0..600).map(|number| format!("\"{number}\"")).collect();
    assert!(read(format!("[{{\"photos\":[{}]}}]", many.join(","))).codes.is_empty());
    let large = "x".repeat((1 << 20) + 1);
    let read = read(format!("[{{\"vin\":\"1\",\"d\":\"{large}\"}},{{\"vin\":\"2\"}}]"));
    assert_eq!(read.rows[0], Row::Lost(Code::FieldTooLarge));
    assert_eq!(read.rows[1].cell("vin"), Some("2"));
    let xml = format!("<l><v><vin>1</vin><d>{large}</d></v><v><vin>2</vin></v></l>");
    assert_eq!(crate::read(xml).rows[0], Row::Lost(Code::FieldTooLarge));
}
