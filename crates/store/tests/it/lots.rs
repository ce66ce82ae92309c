//! Lots: what is written is what is read, versions, removed units.

use chrono::{DateTime, TimeZone, Utc};
use contract::Listing;
use serde_json::json;
use store::{Error, Removed, TenantId};

use crate::support::{Ground, run};

/// A plain unit.
pub(crate) fn unit(vehicle_id: &str) -> Listing {
    let vehicle = json!({"vehicle_id": vehicle_id, "vin": format!("VIN{vehicle_id}"), "stock": format!("S-{vehicle_id}"),
                         "status": "available", "price": 20_000});
    Listing::from_vehicle(vehicle.as_object().unwrap(), "dealer", noon()).unwrap()
}

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap()
}

/// A unit with everything, in every alphabet, and numbers at their edges.
pub(crate) fn full(number: i64) -> Listing {
    let vehicle = json!({
        "vehicle_id": format!("ид-{number}"), "vin": format!("1HGCM82633A{number:06}"), "stock": format!("№{number}"),
        "status": "intransit", "condition": "cpo", "vehicle_type": "motorcycle", "rooftop": "Zürich\u{1f}Süd",
        "year": 2020 + number % 7, "make": "Škoda", "model": "東風", "trim": "\"quoted\" \\ back", "body": "😀",
        "fuel": "electric", "driveline": "awd", "transmission": "automatic", "engine": "dual motor",
        "exterior_color": "röd", "interior_color": "noir", "charge_port": "nacs", "dc_fast_charge": number % 2 == 0,
        "price": number, "list_price": 9_007_199_254_740_991_i64, "msrp": 0, "mileage": 12, "displacement_cc": 649,
        "electric_range_mi": 250.0 + 1.0 / 3.0, "features": ["", "a\u{1f}b", "c", "c", "\u{e000}", "null", "{}"],
        "description": "line\nline\ttab \u{2028} end", "updated_at": "2026-01-02T03:04:05.678901Z"
    });
    Listing::from_vehicle(vehicle.as_object().unwrap(), "dealer", noon()).unwrap()
}

async fn write(ground: &Ground, id: TenantId, listings: &[Listing]) -> u64 {
    let mut tx = ground.store.tenant(id).await.unwrap();
    let version = tx.lock_inventory().await.unwrap() + 1;
    tx.upsert_listings(version, listings).await.unwrap();
    tx.publish_inventory(version).await.unwrap();
    tx.commit().await.unwrap();
    version
}

#[tokio::test]
async fn five_thousand_units_come_back_as_they_were() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut listings: Vec<Listing> = (0..4_990).map(full).collect();
    listings.extend((0..10).map(|number| unit(&format!("plain-{number}"))));
    let began = std::time::Instant::now();
    assert_eq!(write(&ground, id, &listings).await, 1);
    eprintln!("wrote 5,000 units in {:?}", began.elapsed());
    listings.sort_by(|a, b| a.vehicle_id.as_bytes().cmp(b.vehicle_id.as_bytes()));

    let mut tx = ground.store.tenant_snapshot(id).await.unwrap();
    let began = std::time::Instant::now();
    let lot = tx.lot().await.unwrap();
    eprintln!("read 5,000 units in {:?}", began.elapsed());
    assert_eq!(lot.version, 1);
    assert!(lot.removed.is_empty());
    assert_eq!(lot.listings.len(), 5_000);
    for (stored, given) in lot.listings.iter().zip(&listings) {
        assert_eq!(stored, given);
    }
    assert_eq!(lot.listings[0].electric_range_mi, None);
    let hashes = tx.lot_hashes().await.unwrap();
    assert!(listings.iter().all(|unit| hashes[&unit.vehicle_id] == unit.content_hash));
}

#[tokio::test]
async fn a_version_is_one_state_and_only_grows() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    assert_eq!(tx.lot().await.unwrap().version, 0);
    drop(tx);
    write(&ground, id, &[unit("a"), unit("b")]).await;

    // A reader of one state sees it to the end.
    let mut reader = ground.store.tenant_snapshot(id).await.unwrap();
    assert_eq!(reader.inventory_version().await.unwrap(), 1);
    let mut cheaper = unit("a");
    cheaper.price = Some(1);
    assert_eq!(write(&ground, id, &[cheaper.clone()]).await, 2);
    let lot = reader.lot().await.unwrap();
    assert_eq!((lot.version, lot.listings[0].price), (1, Some(20_000)));
    let mut units = Vec::new();
    let by_unit = reader.lot_by_unit(|unit| units.push(unit)).await.unwrap();
    assert!(by_unit.listings.is_empty());
    assert_eq!(store::Lot { listings: units, ..by_unit }, lot);
    drop(reader);
    let lot = ground.store.read(id, |tx| Box::pin(async move { tx.lot().await })).await.unwrap();
    assert_eq!((lot.version, lot.listings[0].clone()), (2, cheaper));

    let mut tx = ground.store.tenant(id).await.unwrap();
    for wrong in [0, 2, 4] {
        assert!(matches!(tx.publish_inventory(wrong).await, Err(Error::Corrupt { .. })), "{wrong} after 2");
    }
    drop(tx);
    let mut tx = ground.store.tenant_snapshot(id).await.unwrap();
    assert!(tx.upsert_listings(3, &[unit("c")]).await.is_err(), "it only reads");
    let mut nobody = ground.store.tenant(TenantId::new()).await.unwrap();
    assert!(nobody.lock_inventory().await.is_err());
    assert_eq!(nobody.lock().await.unwrap(), None);
}

#[tokio::test]
async fn a_lot_read_while_it_is_written_is_never_a_mixture() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let of_version = |version: i64| -> Vec<Listing> {
        (0..300).map(|number| Listing { price: Some(version), ..unit(&format!("{number}")) }).collect()
    };
    write(&ground, id, &of_version(1)).await;
    let store = ground.store.clone();
    let reader = tokio::spawn(async move {
        let mut seen = 0;
        while seen < 20 {
            // Not a transaction of one state: the loop inside has to do it.
            let lot = store.tenant(id).await.unwrap().lot().await.unwrap();
            let expected = Some(i64::try_from(lot.version).unwrap());
            assert!(lot.listings.iter().all(|unit| unit.price == expected), "a mixture at {expected:?}");
            seen = lot.version;
        }
    });
    for version in 2..=20 {
        write(&ground, id, &of_version(version)).await;
    }
    reader.await.unwrap();
}

#[tokio::test]
async fn a_unit_is_on_offer_or_removed_and_never_both() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    write(&ground, id, &[unit("a"), unit("b"), unit("c")]).await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    tx.lock_inventory().await.unwrap();
    assert_eq!(tx.remove_listings(2, &["a", "nothing"], "feed").await.unwrap(), 1);
    let sold = [
        Removed { vehicle_id: "b".into(), vin: Some("V".into()), stock: None },
        Removed { vehicle_id: "x".into(), vin: None, stock: Some("first".into()) },
        Removed { vehicle_id: "x".into(), vin: None, stock: Some("last".into()) },
    ];
    tx.upsert_removed(2, &sold, "sold").await.unwrap();
    tx.publish_inventory(2).await.unwrap();
    let lot = tx.lot().await.unwrap();
    assert_eq!(lot.listings.iter().map(|unit| unit.vehicle_id.as_str()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(
        lot.removed[0],
        Removed { vehicle_id: "a".into(), vin: Some("VINa".into()), stock: Some("S-a".into()) }
    );
    assert_eq!(lot.removed[1..], [sold[0].clone(), sold[2].clone()]);
    let removed = tx.removed_ids().await.unwrap();
    assert_eq!((removed["a"].reason.as_str(), removed["x"].reason.as_str()), ("feed", "sold"));

    // It comes back.
    tx.upsert_listings(3, &[unit("a")]).await.unwrap();
    let lot = tx.lot().await.unwrap();
    assert_eq!((lot.listings.len(), lot.removed.len()), (2, 2));
    assert_eq!(tx.forget_removed(&["x", "a"]).await.unwrap(), 1);
    // Of two with one id the last one counts.
    let mut second = unit("d");
    second.price = Some(2);
    assert_eq!(tx.upsert_listings(3, &[unit("d"), second]).await.unwrap(), 1);
    assert_eq!(tx.lot().await.unwrap().listings[2].price, Some(2));
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn removed_units_are_known_for_180_days() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    write(&ground, id, &[unit("old"), unit("new")]).await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    tx.remove_listings(2, &["old", "new"], "sold").await.unwrap();
    tx.commit().await.unwrap();
    let mut admin = ground.superuser().await;
    run(
        &mut admin,
        "update removed_vehicles set removed_at = now() - interval '181 days' where vehicle_id = 'old'",
    )
    .await;
    run(
        &mut admin,
        "update removed_vehicles set removed_at = now() - interval '179 days' where vehicle_id = 'new'",
    )
    .await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    assert_eq!(tx.lot().await.unwrap().removed.len(), 1);
    assert_eq!(tx.removed_ids().await.unwrap().len(), 2);
    drop(tx);
    let mut platform = ground.store.platform().await.unwrap();
    assert_eq!(platform.purge_removed().await.unwrap(), 1);
    platform.commit().await.unwrap();
    let mut tx = ground.store.tenant(id).await.unwrap();
    assert_eq!(tx.removed_ids().await.unwrap().keys().collect::<Vec<_>>(), ["new"]);
}

#[tokio::test]
async fn units_of_an_older_rendering_count_as_changed() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    write(&ground, id, &[unit("a")]).await;
    run(&mut ground.superuser().await, "update vehicles set render_version = render_version - 1").await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    assert_eq!(tx.lot_hashes().await.unwrap()["a"], [0; 32]);
}
