//! Dates, pictures, addresses.

use chrono::NaiveDate;

use super::super::photos::{self, Cell, Photos};
use super::super::{dates, url};
use super::*;

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 30).unwrap()
}

fn day(year: i32, month: u32, day: u32) -> Parsed<NaiveDate> {
    Parsed::of(NaiveDate::from_ymd_opt(year, month, day).unwrap())
}

#[test]
fn dates_of_every_form() {
    let third = day(2026, 11, 3);
    for cell in [
        "2026-11-03",
        "2026-11-03T08:15:00",
        "2026-11-03T08:15:00Z",
        "2026-11-03 00:00:00",
        "2026-11-03T08:15:00.123-06:00",
        "20261103",
        "11/3/2026",
        "11/03/26",
        "11/3/26",
        "03-Nov-2026",
        "3-Nov-26",
        "Nov 3, 2026",
        "November 3 2026",
        "3 nov 2026",
        "46329",
        "46329.5",
        "2026/11/03",
        "11-3-2026",
        "'2026-11-03",
        " 11/3/2026 11:45 PM ",
        "11/3/2026, 11:45 PM",
    ] {
        assert_eq!(dates::date(cell, today(), false), third, "{cell:?}");
    }
    for cell in ["3/11/2026", "03/11/26", "3.11.2026", "2026-11-03", "20261103", "03-Nov-2026", "46329"] {
        assert_eq!(dates::date(cell, today(), true), third, "{cell:?}");
    }
    assert_eq!(dates::date("03-ene-2026", today(), true), day(2026, 1, 3));
    for cell in ["", " ", "N/A", "-"] {
        assert_eq!(dates::date(cell, today(), false), Parsed::nothing(), "{cell:?}");
    }
}

#[test]
fn dates_that_are_none() {
    for cell in [
        "31/10/2026",
        "00/00/00",
        "0000-00-00",
        "2026-02-29",
        "2026-13-01",
        "13/13/2026",
        "soon",
        "0",
        "12",
        "1/2",
        "20261345",
        "2026-11-03T25:00",
        "2026-11-03 garbage",
        "01/01/1900",
        "4632",
        "463290",
        "2026-11-03T08:15:00 Mars",
        "1/2/3",
        "11/3/026",
        "99999999999999999999",
        "2026-11-03T08:15:00+99:00",
        "13:15",
        "11//3//2026x",
        "2026\u{5e74}11\u{6708}",
    ] {
        assert_eq!(dates::date(cell, today(), false), Parsed::refused(Code::DateUnparseable), "{cell:?}");
    }
    // The order of the dealer is kept in both directions.
    assert_eq!(dates::date("10/31/2026", today(), true), Parsed::refused(Code::DateUnparseable));
    for cell in ["12/24/2031", "2026-12-02", "12/24/31"] {
        assert_eq!(dates::date(cell, today(), false), Parsed::refused(Code::DateFuture), "{cell:?}");
    }
    assert_eq!(dates::date("2026-12-01", today(), false), day(2026, 12, 1));
}

#[test]
fn times_without_a_zone_are_the_rooftops() {
    let of = |cell: &str, zone: &str| dates::timestamp(cell, today(), false, dates::zone(zone)).value;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(of("2026-11-29T22:10:00Z", ""), some("2026-11-29T22:10:00Z"));
    assert_eq!(of("2026-11-29T22:10:00+0100", ""), some("2026-11-29T22:10:00+01:00"));
    assert_eq!(of("11/29/2026 11:45 PM", "America/Chicago"), some("2026-11-29T23:45:00-06:00"));
    assert_eq!(of("7/4/2026 12:05 AM", "America/Chicago"), some("2026-07-04T00:05:00-05:00"));
    assert_eq!(of("7/4/2026 12:05 PM", "America/New_York"), some("2026-07-04T12:05:00-04:00"));
    assert_eq!(of("11/29/2026 11:45 PM EST", ""), some("2026-11-29T23:45:00-05:00"));
    assert_eq!(of("46355.5", "UTC"), some("2026-11-29T12:00:00Z"));
    assert_eq!(of("20261129081530", "UTC"), some("2026-11-29T08:15:30Z"));
    // Nobody knows the zone: no instant, and no fault of the row.
    assert_eq!(dates::timestamp("11/29/2026 11:45 PM", today(), false, None), Parsed::nothing());
    // Spring leaves an hour out, autumn has one twice.
    assert_eq!(of("2026-03-08T02:30:00", "America/Chicago"), some("2026-03-08T03:30:00-05:00"));
    assert_eq!(of("2026-11-01T01:30:00", "America/Chicago"), some("2026-11-01T01:30:00-05:00"));
    assert_eq!(
        dates::timestamp("2041-01-01T00:00:00Z", today(), false, None),
        Parsed::refused(Code::DateFuture)
    );
    assert_eq!(dates::zone("Mars/Base"), None);
}

fn read(cells: &[&str]) -> Photos {
    photos::read(cells.iter().map(|cell| Cell::at_its_place(cell)), 100)
}

fn list(cells: &[&str]) -> String {
    read(cells).addresses.join(" ")
}

#[test]
fn lists_of_photos_are_split_where_an_address_begins() {
    let two = "https://a.example/1.jpg https://a.example/2.jpg";
    for cell in [
        "https://a.example/1.jpg,https://a.example/2.jpg",
        "https://a.example/1.jpg, https://a.example/2.jpg",
        "https://a.example/1.jpg|https://a.example/2.jpg",
        "https://a.example/1.jpg | https://a.example/2.jpg |",
        "https://a.example/1.jpg;https://a.example/2.jpg;",
        "https://a.example/1.jpg https://a.example/2.jpg",
        "//a.example/1.jpg,//a.example/2.jpg",
        "https://a.example/1.jpg,//a.example/1.jpg, https://a.example/2.jpg",
        "[\"https://a.example/1.jpg\",\"https://a.example/2.jpg\"]",
        "[{\"url\": \"https://a.example/1.jpg\", \"tag\": [\"Exterior\"]}, {\"url\": \"https://a.example/2.jpg\"}]",
        "[{\"url\": \"https://a.example/2.jpg\", \"order\": 1}, {\"url\": \"https://a.example/1.jpg\", \"order\": 0}]",
    ] {
        assert_eq!(list(&[cell]), two, "{cell}");
        assert_eq!(read(&[cell]).codes, vec![], "{cell}");
    }
    assert_eq!(list(&["https://a.example/1.jpg", "https://a.example/2.jpg"]), two);
    assert_eq!(
        list(&["https://a.example/w_1280,h_960,c_fill/1.jpg,https://a.example/w_1280,h_960/2.jpg"]),
        "https://a.example/w_1280,h_960,c_fill/1.jpg https://a.example/w_1280,h_960/2.jpg"
    );
    assert_eq!(
        list(&["//a.example/a.jpg, https://a.example/b front.jpg"]),
        "https://a.example/a.jpg https://a.example/b%20front.jpg"
    );
    assert_eq!(list(&["https://a.example/1;v=2.jpg"]), "https://a.example/1;v=2.jpg");
}

#[test]
fn photos_that_are_left_out() {
    let codes = |cells: &[&str]| read(cells).codes.into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    let mixed = read(&["http://old.example/1.jpg,/images/2.jpg"]);
    assert_eq!(mixed.addresses, ["http://old.example/1.jpg"]);
    assert_eq!(
        mixed.codes,
        [
            (Code::PhotoNotHttps, "http://old.example/1.jpg".to_owned()),
            (Code::PhotoUrlInvalid, "/images/2.jpg".to_owned())
        ]
    );
    for here in ["http://127.0.0.1:8080/1.jpg", "http://localhost/1.jpg", "http://[::1]/1.jpg"] {
        assert_eq!((list(&[here]).as_str(), read(&[here]).codes), (here, vec![]));
    }
    assert_eq!(codes(&["http://127.0.0.1.example/1.jpg"]), [Code::PhotoNotHttps]);
    for cell in [
        "/images/2.jpg",
        "images/2.jpg",
        "",
        "[{\"url\":\"https://a.example/v/x",
        "[{\"tag\":1}]",
        "[7]",
        "ftp://a.example/1.jpg",
        "https://",
        "https://u:p@a.example/1.jpg",
    ] {
        assert_eq!(codes(&[cell]), [Code::PhotoUrlInvalid], "{cell}");
    }
    for name in [
        "photo-coming-soon.png",
        "no-image.jpg",
        "no_photo.gif",
        "NoImage.png",
        "placeholder.jpg",
        "img_placeholder2.jpg",
        "default.jpg",
        "default.png",
        "Coming%20Soon.jpg",
    ] {
        assert_eq!(codes(&[&format!("https://a.example/stock/{name}")]), [Code::PhotoPlaceholder], "{name}");
    }
    for name in ["default-1.jpg", "casino-image.jpg", "1.jpg?fallback=no-image.png", "piano.jpg"] {
        assert_eq!(codes(&[&format!("https://a.example/placeholder/{name}")]), [], "{name}");
    }
    let many: Vec<String> = (0..120).map(|number| format!("https://a.example/{number}.jpg")).collect();
    let kept = photos::read(many.iter().map(|cell| Cell::at_its_place(cell)), 100);
    assert_eq!(kept.addresses, many[..100]);
    assert_eq!(kept.codes, [(Code::PhotosTooMany, "https://a.example/100.jpg".to_owned())]);
}

#[test]
fn the_stated_order_of_photos_wins() {
    let cells = [
        ("https://a.example/3.jpg", Some(2)),
        ("https://a.example/x.jpg", None),
        ("https://a.example/1.jpg", Some(0)),
    ];
    let photos = photos::read(cells.map(|(text, order)| Cell { text, order }), 100);
    assert_eq!(
        photos.addresses,
        ["https://a.example/1.jpg", "https://a.example/3.jpg", "https://a.example/x.jpg"]
    );
}

#[test]
fn pages() {
    for (cell, wanted) in [
        ("https://a.example/car/1?src=fb&v=1", "https://a.example/car/1?src=fb&v=1"),
        (" http://a.example/x y ", "http://a.example/x%20y"),
        ("//a.example/x", "https://a.example/x"),
        ("https://a.example/caf\u{e9}|1", "https://a.example/caf%C3%A9%7C1"),
        ("HTTPS://A.example/X", "https://a.example/X"),
        ("https://a.example/100%", "https://a.example/100%25"),
        ("https://a.example", "https://a.example/"),
    ] {
        assert_eq!(url::page(cell), Parsed::of(wanted.to_owned()), "{cell}");
    }
    for cell in [
        "www.a.example/v/old",
        "/v/old",
        "javascript:alert(1)",
        "mailto:a@b.example",
        "https://",
        "https://u:p@a.example/",
    ] {
        assert_eq!(url::page(cell), Parsed::refused(Code::VdpUrlInvalid), "{cell}");
    }
    assert_eq!(url::page(""), Parsed::nothing());
    assert_eq!(
        url::page(&format!("https://a.example/{}", "x".repeat(5_000))),
        Parsed::refused(Code::VdpUrlInvalid)
    );
}
