//! The field reports A to C, from the file to the answer that an agent gets.
//!
//! | # | where | | # | where |
//! | --- | --- | --- | --- | --- |
//! | A1 | here | | B11 | here |
//! | A2 | `worker::fetching` (failures change no unit) | | B12 | here |
//! | A3 | here; `feed_words::story`, `feed_commands::vehicles` | | B13 | here (in; export comes with its own issue) |
//! | A4 | here; `feed_words::freshness` | | B14 | here |
//! | A5 | here | | B15 | `feeds_enemy::bombs` |
//! | A6 | here | | B16 | here |
//! | A7 | here | | C17–C20 | here |
//! | A8 | `worker::folders` | | C21 | here: the demo dealers |
//! | A9 | `worker::fetching` (both validators) | | B10 | here |

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use testkit::{Platform, cluster};

use super::{documents, tenant};
use crate::feed_commands::{Said, cars, file, run, vin};

const SEARCH: &str = "inventory.search.request";

async fn harbor() -> Platform {
    let platform = Platform::start().await;
    platform.provision(&documents(&["harbor".to_owned()])).await;
    platform
}

/// Imports bytes, and waits until the node has what came of it.
async fn import(platform: &Platform, bytes: &[u8]) -> Said {
    let path = file("lot.csv", "");
    std::fs::write(&path, bytes).unwrap();
    let said = run(platform, &["feed", "import", "harbor", path.to_str().unwrap(), "--json"]).await;
    platform.catch_up().await;
    said
}

/// The prices of the source that imports make are what buyers pay.
async fn prices_are_known(platform: &Platform) {
    let name =
        run(platform, &["feed", "source", "edit", "harbor", "import", "--price-means", "advertised_all_in"])
            .await;
    name.ended(0);
    platform.catch_up().await;
}

async fn search(platform: &Platform) -> Value {
    platform.call("harbor", json!({"type": SEARCH, "pagination": {"limit": 100}})).await
}

async fn total(platform: &Platform) -> Value {
    search(platform).await["total"].clone()
}

/// The codes of the findings of an import.
async fn found(platform: &Platform, said: &Said) -> BTreeMap<String, u64> {
    let id = said.json()["run_id"].as_str().unwrap().to_owned();
    let shown = run(platform, &["feed", "show", &id, "--json", "--findings", "all"]).await.ended(0).json();
    let mut codes = BTreeMap::new();
    gather(&shown, &mut codes);
    codes
}

/// Every member `code` of a document.
fn gather(value: &Value, codes: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(members) => {
            if let Some(code) = members.get("code").and_then(Value::as_str) {
                *codes.entry(code.to_owned()).or_default() += 1;
            }
            members.values().for_each(|inner| gather(inner, codes));
        }
        Value::Array(all) => all.iter().for_each(|inner| gather(inner, codes)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a1_a_lot_that_shrinks_to_seventy_percent_is_told_of_and_below_is_held() {
    for (left, status) in [(140, 0), (139, 3)] {
        let platform = harbor().await;
        import(&platform, cars(200, 20_000).as_bytes()).await.ended(0);
        let before = search(&platform).await;
        let said = import(&platform, cars(left, 20_000).as_bytes()).await.ended(status);
        let notices = run(&platform, &["feed", "notices", "harbor"]).await.ended(0).out;
        if status == 0 {
            assert_eq!(total(&platform).await, left);
            assert!(notices.contains("200") && notices.contains("140"), "{notices}");
        } else {
            assert_eq!(search(&platform).await["vehicles"], before["vehicles"]);
            assert_eq!(total(&platform).await, 200);
            assert!(said.out.contains("FEED_DROP_TOO_LARGE"), "{}", said.out);
        }
        platform.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a3_a_locked_price_stays_and_both_words_are_shown() {
    let platform = harbor().await;
    import(&platform, cars(12, 20_000).as_bytes()).await.ended(0);
    prices_are_known(&platform).await;
    run(&platform, &["vehicle", "edit", "harbor", &vin(3), "price=18888"]).await.ended(0);
    import(&platform, cars(12, 20_100).as_bytes()).await.ended(0);
    let car = platform.call("harbor", json!({"type": "inventory.vehicle.request", "vin": vin(3)})).await;
    assert_eq!(car["price"], 18_888, "{car}");
    let shown = run(&platform, &["vehicle", "show", "harbor", &vin(3)]).await.ended(0).out;
    assert!(shown.contains("18888") || shown.contains("18,888"), "{shown}");
    assert!(shown.contains("20130") || shown.contains("20,130"), "{shown}");
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a4_a_held_feed_grows_old_and_answers_say_so() {
    let platform = harbor().await;
    import(&platform, cars(40, 20_000).as_bytes()).await.ended(0);
    let before = search(&platform).await;
    import(&platform, cars(5, 20_000).as_bytes()).await.ended(3);
    // Three days pass.
    let store = platform.application().store();
    let mut tx = store.tenant(tenant(store, "harbor").await).await.unwrap();
    let then = Utc::now() - TimeDelta::days(3);
    tx.set_freshness(Some(then), Some(then + TimeDelta::hours(36))).await.unwrap();
    tx.commit().await.unwrap();
    let asked = json!({"type": SEARCH, "pagination": {"limit": 100}});
    let mut message = Value::Null;
    for _ in 0..100 {
        platform.catch_up().await;
        let answer = platform.ask("harbor", asked.clone()).send().await;
        message = answer.pointer("/result/message/parts/0/data/message").cloned().unwrap_or_default();
        if message.is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(message.as_str().is_some_and(|text| text.contains("last confirmed")), "{message}");
    assert_eq!(search(&platform).await["vehicles"], before["vehicles"], "each keeps its own updated_at");
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a5_one_vin_at_two_rooftops_is_found_and_counted_once() {
    let platform = harbor().await;
    let row = |rooftop: &str, stock: &str| {
        format!("{rooftop},{stock},{},2023,Honda,Accord,Used,41000,19000\n", vin(1))
    };
    let text = format!(
        "store_code,stock,vin,year,make,model,condition,miles,price\n{}{}",
        row("North", "N1"),
        row("South", "S1")
    );
    let said = import(&platform, text.as_bytes()).await.ended(0);
    let answer = search(&platform).await;
    assert_eq!(answer["total"], 1);
    assert_eq!(answer["vehicles"][0]["rooftop"], "North", "{answer}");
    let facets = platform.call("harbor", json!({"type": "inventory.facets.request"})).await;
    assert_eq!(facets["makes"], json!([{"value": "Honda", "count": 1}]), "{facets}");
    assert_eq!(found(&platform, &said).await.get("DUPLICATE_VIN_ROOFTOP"), Some(&1));
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a6_files_with_nothing_in_them_touch_nothing() {
    let platform = harbor().await;
    import(&platform, cars(12, 20_000).as_bytes()).await.ended(0);
    let before = search(&platform).await;
    let header = cars(0, 0);
    for (what, bytes) in [("a header", header.as_str()), ("no bytes", ""), ("blanks", " \n\t\r\n  \n")] {
        let said = import(&platform, bytes.as_bytes()).await.ended(3);
        assert!(said.out.contains("FEED_EMPTY"), "{what}: {}", said.out);
        assert_eq!(search(&platform).await["vehicles"], before["vehicles"], "{what}");
    }
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a7_b10_to_b14_b16_cells_come_out_as_people_meant_them() {
    let platform = harbor().await;
    let header = "\u{feff}\"VIN\",\"Stock\",\"Year\",\"Make\",\"Model\",\"Type\",\"Miles\",\"Price\",\"Drivetrain\",\"Description\"\r\n";
    let mut text = header.to_owned();
    for (no, (kind, miles, price, drive, words)) in [
        ("New", "\"3,412\"", "\"1,600\"", "AWD", "\"One owner.\r\nNo smoke.\""),
        ("Used", "41000", "1.600", "All Wheel Drive", "\"Lifted 20\" wheels\""),
        ("Used", "41000", "\"1.600,00\"", "awd", "Fine"),
        ("Used", "41000", "\"1,600.00\"", "FWD", "=1+1"),
        ("Used", "41000", "1600", "RWD", "Last"),
    ]
    .iter()
    .enumerate()
    {
        text.push_str(&format!(
            "{},S{no},2023,Honda,Pilot,{kind},{miles},{price},{drive},{words}\r\n",
            vin(no)
        ));
    }
    let said = import(&platform, text.as_bytes()).await.ended(0);
    prices_are_known(&platform).await;
    let codes = found(&platform, &said).await;
    assert_eq!(codes.get("MILEAGE_NEW_HIGH"), Some(&1), "{codes:?}");
    assert!(codes.contains_key("CSV_QUOTES_REPAIRED"), "{codes:?}");
    let answer = search(&platform).await;
    assert_eq!(answer["total"], 5, "{answer}");
    for car in answer["vehicles"].as_array().unwrap() {
        assert_eq!(car["price"], 1600, "{car}");
    }
    let facets = platform.call("harbor", json!({"type": "inventory.facets.request"})).await;
    let drives = facets["drivelines"].as_array().unwrap();
    assert!(drives.contains(&json!({"value": "awd", "count": 3})) && drives.len() == 3, "{facets}");
    let first = platform.call("harbor", json!({"type": "inventory.vehicle.request", "vin": vin(0)})).await;
    assert_eq!(first["mileage"], 3412, "{first}");
    assert_eq!(first["description"], "One owner. No smoke.");
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b13_accents_of_an_old_encoding_are_right() {
    let platform = harbor().await;
    let mut bytes = format!("VIN,Stock,Year,Make,Model,Type,Miles,Price,Ext Color\n{},S1,2023,Citro", vin(1))
        .into_bytes();
    bytes.extend(b"\xebn,C4 \x96 Caf\xe9,Used,41000,19000,Beige cr\xe8me\n");
    import(&platform, &bytes).await.ended(0);
    let car = &search(&platform).await["vehicles"][0];
    assert_eq!((&car["make"], &car["model"]), (&json!("Citroën"), &json!("C4 – Café")), "{car}");
    assert_eq!(car["exterior_color"], "Beige crème");
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c17_to_c20_numbers_of_all_regions_and_years() {
    let platform = harbor().await;
    let mut text = "VIN,Stock,Year,Make,Model,Type,Miles,Price\n".to_owned();
    let rows = [
        ("WVGZZZ5NZEW069297", "2014", 2014, None),
        ("1HGCM82614A004352", "", 2004, Some("YEAR_FROM_VIN")),
        ("2HKRW2H82LH600201", "", 2020, Some("YEAR_FROM_VIN")),
        ("1M8GDM9AXKP042788", "1989", 1989, None),
        ("1M8GDM9A0KP042788", "1989", 1989, Some("VIN_CHECK_DIGIT")),
    ];
    for (no, (number, year, _, _)) in rows.iter().enumerate() {
        text.push_str(&format!("{number},S{no},{year},Honda,Accord,Used,41000,19000\n"));
    }
    let said = import(&platform, text.as_bytes()).await.ended(0);
    let id = said.json()["run_id"].as_str().unwrap().to_owned();
    let shown = run(&platform, &["feed", "show", &id, "--findings", "all"]).await.ended(0).out;
    for (number, _, year, code) in rows {
        let car = platform.call("harbor", json!({"type": "inventory.vehicle.request", "vin": number})).await;
        assert_eq!((&car["vin"], &car["year"]), (&json!(number), &json!(year)), "{car}");
        assert!(code.is_none_or(|code| shown.contains(code)), "{number}: {shown}");
    }
    let codes = found(&platform, &said).await;
    assert_eq!(codes.get("VIN_CHECK_DIGIT"), Some(&1), "{codes:?}");
    platform.stop().await;
}

/// The demo dealers show one number on purpose that does not add up; every other number of ours does.
#[tokio::test(flavor = "multi_thread")]
async fn c21_our_own_numbers_pass_our_own_check() {
    let folder = testkit::scratch("demo");
    let database = cluster().fresh().await;
    let mut command = testkit::Process::command(&["up", "--demo", "--listen", "127.0.0.1:0"]);
    command.env("DATABASE_URL", cluster().url(&database)).env("FORECOURT_DATA_DIR", &folder);
    command.env("FORECOURT_LOG_FORMAT", "json");
    let mut process = testkit::Process::spawn(&mut command);
    process.ready(super::PATIENCE);
    let mut admin = cluster().superuser(&database).await;
    let mut numbers: Vec<String> = Vec::new();
    let until = std::time::Instant::now() + super::PATIENCE;
    while numbers.len() < 50 && std::time::Instant::now() < until {
        numbers = sqlx::query_scalar("select vin from vehicles where vin is not null")
            .fetch_all(&mut admin)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    process.signal(libc::SIGTERM);
    process.wait(super::PATIENCE);
    assert!(numbers.len() >= 50, "{}", numbers.len());
    let told: Vec<String> = sqlx::query_scalar(
        "select distinct vin from feed_findings where code = 'VIN_CHECK_DIGIT' and vin is not null",
    )
    .fetch_all(&mut admin)
    .await
    .unwrap();
    for number in &numbers {
        let right = check_digit(number) == number.chars().nth(8).unwrap();
        let north_american = matches!(number.as_bytes()[0], b'1'..=b'5');
        assert!(right || !north_american || told.contains(number), "{number} is wrong and nobody says so");
    }
    let wrong = numbers.iter().filter(|number| check_digit(number) != number.chars().nth(8).unwrap()).count();
    assert!(wrong <= 3, "{wrong} of {} numbers do not add up", numbers.len());
}

/// The arithmetic once more, independent of the product's.
fn check_digit(number: &str) -> char {
    let value = |sign: char| match sign {
        '0'..='9' => u32::from(sign) - u32::from('0'),
        _ => "ABCDEFGH.JKLMN.P.R..STUVWXYZ".find(sign).map_or(0, |place| {
            [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 0, 7, 0, 9, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9][place]
        }),
    };
    let weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let sum: u32 = number.chars().zip(weights).map(|(sign, weight)| value(sign) * weight).sum();
    char::from_digit(sum % 11, 10).unwrap_or('X')
}
