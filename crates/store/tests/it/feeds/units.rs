//! What sources say of units, and finding units.

use store::{SourceKind, SourceUnitRow, UnitKey};
use uuid::Uuid;

use super::source;
use crate::lots::unit;
use crate::support::Ground;

pub(super) fn says(source_id: Uuid, run_id: Uuid, vehicle_id: &str, text: &str) -> SourceUnitRow {
    let mut hash = [0; 32];
    hash[..text.len().min(32)].copy_from_slice(&text.as_bytes()[..text.len().min(32)]);
    SourceUnitRow {
        source_id,
        vehicle_id: vehicle_id.into(),
        vin: Some(format!("VIN-{vehicle_id}")),
        stock: None,
        rooftop_key: Some("Nörd".into()),
        price: Some(20_000),
        hash,
        run_id,
        source_row: 3,
        unit: format!(r#"{{"make":"Škoda","description":"{text}\u0000"}}"#),
    }
}

#[tokio::test]
async fn what_sources_say_is_read_back_replaced_and_forgotten() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let (dms, photos) = (source("dms", SourceKind::File), source("photos", SourceKind::File));
    let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    tx.insert_source(&dms).await.unwrap();
    tx.insert_source(&photos).await.unwrap();
    let long = "long ".repeat(2_000);
    let mut units: Vec<SourceUnitRow> = (0..4_500)
        .map(|number| says(dms.source_id, first, &format!("v-{number:04}"), &format!("{number}")))
        .collect();
    units[7] = says(dms.source_id, first, "v-0007", &long);
    units[8].unit = String::new();
    assert_eq!(tx.upsert_units(dms.source_id, first, &units).await.unwrap(), 4_500);
    let other = says(photos.source_id, first, "v-0007", "photos");
    tx.upsert_units(photos.source_id, first, std::slice::from_ref(&other)).await.unwrap();

    assert_eq!(tx.source_units(dms.source_id, None, 10_000).await.unwrap(), units);
    assert_eq!(tx.source_units(dms.source_id, Some("v-0003"), 2).await.unwrap(), units[4..6]);
    let of_both = tx.units_of(&["v-0007", "v-0002", "nothing"]).await.unwrap();
    assert_eq!(of_both, [units[2].clone(), units[7].clone(), other.clone()]);
    let hashes = tx.unit_hashes(dms.source_id).await.unwrap();
    assert_eq!(hashes.len(), 4_500);
    let UnitKey { hash, vin, stock, rooftop_key, price } = &hashes["v-0004"];
    assert_eq!((hash, vin.as_deref(), stock), (&units[4].hash, Some("VIN-v-0004"), &None));
    assert_eq!((rooftop_key.as_deref(), price), (Some("Nörd"), &Some(20_000)));

    let mut changed = says(dms.source_id, second, "v-0004", "changed");
    changed.vin = None;
    changed.stock = Some("S4".into());
    changed.price = None;
    tx.upsert_units(dms.source_id, second, std::slice::from_ref(&changed)).await.unwrap();
    assert_eq!(tx.units_of(&["v-0004"]).await.unwrap(), [changed]);
    assert_eq!(tx.delete_units(dms.source_id, &["v-0007", "nothing"]).await.unwrap(), 1);
    assert_eq!(tx.units_of(&["v-0007"]).await.unwrap(), [other]);
    assert_eq!(tx.unit_hashes(dms.source_id).await.unwrap().len(), 4_499);
}

#[tokio::test]
async fn a_unit_is_found_by_whatever_it_is_called() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let dms = source("dms", SourceKind::File);
    let mut tx = ground.store.tenant(a).await.unwrap();
    tx.insert_source(&dms).await.unwrap();
    tx.upsert_listings(1, &[unit("car-1"), unit("car-2")]).await.unwrap();
    tx.remove_listings(1, &["car-2"], "feed").await.unwrap();
    tx.upsert_units(dms.source_id, Uuid::now_v7(), &[says(dms.source_id, Uuid::now_v7(), "lower", "x")])
        .await
        .unwrap();
    tx.add_alias("vin-1FTEW1EP", "stock-9").await.unwrap();
    tx.add_alias("vin-other", "stock-8").await.unwrap();
    tx.add_alias("vin-1FTEW1EP", "stock-10").await.unwrap();
    let aliases: Vec<_> =
        tx.aliases().await.unwrap().into_iter().map(|row| (row.identity, row.vehicle_id)).collect();
    assert_eq!(
        aliases,
        [("vin-1FTEW1EP".into(), "stock-10".into()), ("vin-other".into(), "stock-8".to_owned())]
    );
    let identities = tx.lot_identity().await.unwrap();
    assert_eq!(identities.len(), 2);
    assert_eq!(
        (identities[0].vehicle_id.as_str(), identities[0].hash),
        ("car-1", Some(unit("car-1").content_hash))
    );
    assert_eq!((identities[1].vin.as_deref(), identities[1].hash), (Some("VINcar-2"), None));
    tx.commit().await.unwrap();

    let mut tx = ground.store.tenant(a).await.unwrap();
    for (key, expected) in [
        ("car-1", Some(("car-1", true))),
        ("vinCAR-1", Some(("car-1", true))),
        ("s-car-2", Some(("car-2", false))),
        ("VIN-LOWER", Some(("lower", false))),
        ("1ftew1ep", Some(("stock-10", false))),
        ("car", None),
    ] {
        let found = tx.find_vehicle(key).await.unwrap();
        assert_eq!(found.first().map(|one| (one.vehicle_id.as_str(), one.on_offer)), expected, "{key}");
        assert!(found.len() <= 1, "{key}: {found:?}");
    }
    let mut tx = ground.store.tenant(b).await.unwrap();
    assert_eq!(tx.find_vehicle("car-1").await.unwrap(), []);
}
