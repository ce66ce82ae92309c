//! Several sources of one dealer, and what only changes.

use dealer::feeds::Mode;
use serde_json::json;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_on_offer_while_any_additive_source_has_it() {
    let lot = Lot::start(json!([])).await;
    let dms = lot.source("DMS", settings()).await;
    let mut cheap = settings();
    cheap["rank"] = json!(50);
    let tool = lot.source("Tool", cheap).await;
    lot.import(&dms, &csv(&cars(0..20))).await;
    let mut of_tool = cars(10..30);
    for car in &mut of_tool {
        car.price = "15000".into();
    }
    let run = lot.import(&tool, &csv(&of_tool)).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (20, 0, 0, 0)));
    let now = lot.lot().await;
    assert_eq!(now.len(), 30);
    assert_eq!(
        (&now[&id(9)]["price"], &now[&id(10)]["price"]),
        (&json!(20_009), &json!(15_000)),
        "the lower rank wins"
    );

    // The DMS does not have units 10 to 15 any more; the tool does.
    let mut of_dms = cars(0..10);
    of_dms.extend(cars(16..20));
    let run = lot.import(&dms, &csv(&of_dms)).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (0, 0, 6, 14)), "{run:?}");
    assert_eq!(
        (lot.ids().await.len(), run.inventory_version),
        (30, None),
        "nothing that buyers see has changed"
    );
    // And the tool gives 10 up: nobody has it.
    let run = lot.import(&tool, &csv(&of_tool[1..])).await;
    assert_eq!(counts(&run), (0, 0, 1, 19));
    assert_eq!(lot.removed().await, BTreeMap::from([(id(10), "feed".to_owned())]));

    // Without the tool, units are what the DMS says of them, and those that only the tool had leave.
    let gone = feeds::remove_source(&lot.store, lot.tenant, tool.source_id, "Ana", false).await.unwrap();
    assert_eq!((gone.units, gone.removed), (19, 15));
    let now = lot.lot().await;
    assert_eq!((now.len(), &now[&id(17)]["price"]), (14, &json!(20_017)));
    assert!(lot.receive(&tool, Received::new("x.csv", "import", "test"), "VIN\n").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_given_up_may_leave_its_units() {
    let lot = Lot::start(json!([])).await;
    let dms = lot.source("DMS", settings()).await;
    lot.import(&dms, &csv(&cars(0..12))).await;
    let was = lot.lot().await;
    let gone = feeds::remove_source(&lot.store, lot.tenant, dms.source_id, "Ana", true).await.unwrap();
    assert_eq!((gone.removed, gone.version), (0, None));
    assert_eq!(lot.lot().await, was);
    // Until another whole lot replaces them.
    let next = lot.source("DMS", settings()).await;
    let run = lot.import(&next, &csv(&cars(2..12))).await;
    assert_eq!((run.state, feeds::difference(&run).replaced), (APPLIED, 2));
    assert_eq!(lot.ids().await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complementary_source_fills_in_and_offers_nothing() {
    let lot = Lot::start(json!([])).await;
    let mut no_prices = json!({});
    no_prices["rank"] = json!(10);
    let dms = lot.source("DMS", no_prices).await;
    let mut prices = settings();
    prices["role"] = json!("complementary");
    let list = lot.source("Prices", prices).await;
    // By stock number, before the cars are there.
    let text = |numbers: std::ops::Range<u32>| {
        let row = |number: u32| format!("S{number},2021,Toyota,Prius,Used,{}\n", 30_000 + number);
        format!("Stock,Year,Make,Model,Type,Price\n{}", numbers.map(row).collect::<String>())
    };
    let run = lot.import(&list, &text(0..12)).await;
    assert_eq!((run.state, lot.ids().await.len()), (APPLIED, 0), "{run:?}");
    lot.import(&dms, &csv(&cars(0..10))).await;
    assert!(lot.open_notices().await.contains(&"price_meaning_unanswered".to_owned()));
    assert_eq!(lot.lot().await[&id(3)].get("price"), None);
    lot.import(&list, &text(0..13)).await;
    let now = lot.lot().await;
    assert_eq!((now.len(), &now[&id(3)]["price"]), (10, &json!(30_003)));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_alone_add_change_and_delete() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..20))).await;
    let delta = |rows: &[(&str, Car)]| {
        let mut text = format!("Action,{HEADER}\n");
        for (action, car) in rows {
            let row = csv(std::slice::from_ref(car));
            text.push_str(&format!("{action},{}\n", row.lines().nth(1).unwrap()));
        }
        text
    };
    let changes = || Received { mode: Some(Mode::Delta), ..Received::new("changes.csv", "push", "test") };
    let file = delta(&[("U", car(1, 17_777)), ("D", car(2, 1)), ("A", car(40, 40_000)), ("D", car(77, 1))]);
    let run = lot.import_as(&source, changes(), &file).await;
    assert_eq!((run.state, run.mode.as_str(), counts(&run)), (APPLIED, "delta", (1, 1, 1, 0)), "{run:?}");
    let now = lot.lot().await;
    assert_eq!((now.len(), &now[&id(1)]["price"], now.contains_key(&id(2))), (20, &json!(17_777), false));
    assert_eq!(run.by_code.as_ref().unwrap()["DELETE_UNKNOWN"], 1);
    // The same whole lot as before, byte for byte, is no confirmation now: it reconciles.
    let run = lot.import(&source, &csv(&cars(0..20))).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (1, 1, 1, 18)));
    assert_eq!(lot.ids().await, cars(0..20).iter().map(|car| format!("vin-{}", car.vin)).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_outlives_the_next_file() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..10))).await;
    let mut tx = lot.store.tenant(lot.tenant).await.unwrap();
    let edit = store::EditRow {
        vehicle_id: id(4),
        field: "price".into(),
        value: json!(12_345),
        author: "Ana".into(),
        note: None,
        edited_at: Utc::now(),
        expires_at: None,
    };
    tx.set_edit(&edit).await.unwrap();
    let version = feeds::republish(&mut tx, Some(vec![id(4)]), Some("Ana")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(version, Some(2));
    let mut file = cars(0..10);
    file[4].price = "29000".into();
    file[5].price = "29500".into();
    lot.import(&source, &csv(&file)).await;
    let now = lot.lot().await;
    assert_eq!((&now[&id(4)]["price"], &now[&id(5)]["price"]), (&json!(12_345), &json!(29_500)));
    let mut tx = lot.store.tenant(lot.tenant).await.unwrap();
    tx.clear_edit(&id(4), "price").await.unwrap();
    feeds::republish(&mut tx, Some(vec![id(4)]), Some("Ana")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(lot.lot().await[&id(4)]["price"], 29_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_dealers_ids_are_nothing_to_another() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let first = lot.import(&source, &csv(&cars(0..20))).await;
    let held = lot.import(&source, &csv(&cars(0..5))).await;
    let Lot { platform, .. } = lot;
    let other = Lot::on(platform, "second", json!([])).await;
    let bench = Bench::default();
    let (store, tenant) = (&other.store, other.tenant);
    assert!(matches!(
        feeds::approve(store, tenant, held.run_id, "Eve", &bench).await,
        Err(feeds::DecideError::NoRun)
    ));
    assert!(feeds::reject(store, tenant, held.run_id, "Eve", "").await.is_err());
    assert!(feeds::rollback(store, tenant, first.run_id, "Eve", &bench).await.is_err());
    assert!(feeds::remove_source(store, tenant, source.source_id, "Eve", false).await.is_err());
    let stolen = other.receive(&source, Received::new("x.csv", "push", "Eve"), &csv(&cars(0..3))).await;
    assert!(matches!(stolen, Err(ReceiveError::NoSource)), "{stolen:?}");
    // The same VINs here are other units, and the same bytes another file.
    let own = other.source("DMS", settings()).await;
    let run = other.import(&own, &csv(&cars(0..20))).await;
    assert_eq!(counts(&run), (20, 0, 0, 0));
    assert_ne!(run.file_id, first.file_id);
    assert_eq!(other.slug, "second");
}
