//! First loads, later ones, the same again.

use serde_json::json;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_first_file_becomes_the_lot_and_the_next_one_changes_what_differs() {
    let lot = Lot::start(json!([])).await;
    let card = lot.platform.card("harbor").await;
    let source = lot.source("DMS", settings()).await;
    let run = lot.import(&source, &csv(&cars(0..30))).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (30, 0, 0, 0)), "{run:?}");
    assert_eq!(run.inventory_version, Some(1));
    let listed = lot.lot().await;
    assert_eq!(listed.len(), 30);
    let unit = &listed[&id(7)];
    assert_eq!(
        (&unit["price"], &unit["make"], &unit["rooftop"], &unit["stock"]),
        (&json!(20_007), &json!("Toyota"), &json!("North"), &json!("S7"))
    );
    assert_eq!(lot.story(&id(7)).await.len(), 1);

    // One price less, one unit gone, one new; all others are not touched.
    let mut next = cars(1..31);
    next[4].price = "18500".into();
    let run = lot.import(&source, &csv(&next)).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (1, 1, 1, 28)));
    assert_eq!(lot.version().await, 2);
    let now = lot.lot().await;
    assert_eq!(now.len(), 30);
    assert_eq!(now[&id(5)]["price"], 18_500);
    for number in (1..30).filter(|number| *number != 5) {
        assert_eq!(now[&id(number)], listed[&id(number)], "{number}");
    }
    assert_eq!(lot.removed().await, BTreeMap::from([(id(0), "feed".to_owned())]));
    let story = lot.story(&id(5)).await;
    assert_eq!(
        story[1],
        ("changed".into(), Some("price".into()), Some(json!(20_005)), Some(json!(18_500)), None)
    );
    assert_eq!(lot.story(&id(0)).await.last().unwrap().0, "removed");

    // Buyers see it, under the card that was there before.
    lot.platform.catch_up().await;
    let answer = lot.platform.call("harbor", json!({ "type": "inventory.search.request" })).await;
    assert_eq!(answer["total"], 30, "{answer}");
    assert_eq!(lot.platform.card("harbor").await, card, "an import never changes a card");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_again_is_a_sign_of_life_and_nothing_else() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let first = lot.import(&source, &csv(&cars(0..20))).await;
    let rows = vehicle_rows(&lot).await;
    let before = lot.store.tenant(lot.tenant).await.unwrap().source(source.source_id).await.unwrap().unwrap();

    let again = lot.import(&source, &csv(&cars(0..20))).await;
    assert_eq!(again.state, RunState::Unchanged);
    assert_eq!(again.file_id, first.file_id, "one content is stored once");
    assert_eq!((again.inventory_version, counts(&again)), (None, (0, 0, 0, 20)));
    // Other bytes that say the same: rows in another order, another line ending.
    let mut turned = cars(0..20);
    turned.reverse();
    let other = lot.import(&source, &csv(&turned).replace('\n', "\r\n")).await;
    assert_eq!((other.state, counts(&other)), (RunState::Unchanged, (0, 0, 0, 20)));
    assert_ne!(other.file_id, first.file_id);

    assert_eq!(vehicle_rows(&lot).await, rows, "no row is written");
    assert_eq!(lot.version().await, 1);
    assert_eq!(lot.story(&id(3)).await.len(), 1);
    let after = lot.store.tenant(lot.tenant).await.unwrap().source(source.source_id).await.unwrap().unwrap();
    assert!(after.last_good_at > before.last_good_at, "but the lot is confirmed");

    // And a change after it is found.
    let mut changed = cars(0..20);
    changed[0].price = "9999".into();
    assert_eq!(counts(&lot.import(&source, &csv(&changed)).await), (0, 1, 0, 19));
}

/// The place and the writer of every row of the lot: they change with any write.
async fn vehicle_rows(lot: &Lot) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for table in ["vehicles", "source_units", "vehicle_history"] {
        let sql = format!(
            "select vehicle_id, ctid::text, xmin::text from forecourt.{table} where tenant_id = $1 order by 1, 2"
        );
        let mut connection = testkit::cluster().superuser(&lot.platform.database).await;
        let rows: Vec<(String, String, String)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(lot.tenant.0)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        all.extend(rows);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_feed_replaces_the_provisioned_lot_unless_it_is_far_smaller() {
    let inventory: Vec<Value> = (0..40)
        .map(|number| {
            let mut unit = testkit::car(&format!("own-{number}"), "Toyota", "Prius", 20_000 + number);
            unit["vin"] = car(u32::try_from(number).unwrap(), 0).vin.into();
            unit["rooftop"] = "North".into();
            unit
        })
        .collect();
    let lot = Lot::start(inventory.into()).await;
    let source = lot.source("DMS", settings()).await;
    // 27 of 40 are fewer than 70 %.
    let small = lot.import(&source, &csv(&cars(0..27))).await;
    assert_eq!((small.state, reasons(&small)), (RunState::Held, vec!["FEED_DROP_TOO_LARGE"]));
    assert_eq!(lot.ids().await.len(), 40);
    let run = lot.import(&source, &csv(&cars(10..45))).await;
    assert_eq!(run.state, APPLIED, "{run:?}");
    assert_eq!(feeds::difference(&run).replaced, 10);
    let ids = lot.ids().await;
    assert_eq!(ids.len(), 35);
    // A unit that was there keeps the id that buyers know.
    assert!(ids.contains(&"own-12".to_owned()) && ids.contains(&id(44)) && !ids.contains(&id(12)), "{ids:?}");
    assert_eq!(lot.removed().await.len(), 10);
    assert_eq!(lot.run(small.run_id).await.state, RunState::Superseded);

    // From now on the lot is the feeds', not the document's.
    let refused = lot
        .platform
        .try_provision(&json!({ "harbor": { "inventory": [testkit::car("x", "Kia", "Rio", 1_000)] } }))
        .await;
    let problems = refused[0].1.as_ref().unwrap_err();
    assert!(
        problems[0].contains("/tenants/harbor/inventory") && problems[0].contains("feed"),
        "{problems:?}"
    );
    assert_eq!(lot.ids().await.len(), 35);
}

#[tokio::test(flavor = "multi_thread")]
async fn units_keep_their_ids_when_they_move_get_a_vin_or_come_back() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let mut file = cars(0..12);
    file[3].vin.clear();
    lot.import(&source, &csv(&file)).await;
    assert!(lot.ids().await.contains(&"stock-S3".to_owned()));

    // One moves to another rooftop under another number; one gets its VIN; one is sold.
    file[0].rooftop = "South";
    file[0].stock = "T900".into();
    file[3].vin = car(3, 0).vin;
    file[5].status = "Sold";
    let run = lot.import(&source, &csv(&file)).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (0, 2, 1, 9)), "{run:?}");
    let now = lot.lot().await;
    assert_eq!(now[&id(0)]["rooftop"], "South");
    assert_eq!(now["stock-S3"]["vin"], car(3, 0).vin);
    assert!(!now.contains_key(&id(5)) && !now.contains_key(&id(3)));
    assert_eq!(lot.removed().await, BTreeMap::from([(id(5), "sold".to_owned())]));
    let moved = lot.story(&id(0)).await;
    assert!(moved.iter().any(|row| row.0 == "moved" && row.3 == Some(json!("South"))), "{moved:?}");

    file[5].status = "Available";
    let run = lot.import(&source, &csv(&file)).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (1, 0, 0, 11)));
    assert_eq!(lot.removed().await.len(), 0);
    let kinds: Vec<String> = lot.story(&id(5)).await.into_iter().map(|row| row.0).collect();
    assert_eq!(kinds, ["listed", "removed", "returned"]);
}
