//! Edits and the story of a unit.

use serde_json::{Value, json};
use store::{EditRow, HistoryRow};
use uuid::Uuid;

use super::at;
use crate::support::Ground;

pub(super) fn event(vehicle_id: &str, kind: &str) -> HistoryRow {
    HistoryRow {
        vehicle_id: vehicle_id.into(),
        at: at(0),
        version: 7,
        kind: kind.into(),
        field: None,
        old: None,
        new: None,
        reason: None,
        source_id: None,
        run_id: None,
        actor: None,
    }
}

pub(super) fn edit(vehicle_id: &str, field: &str, value: Value) -> EditRow {
    EditRow {
        vehicle_id: vehicle_id.into(),
        field: field.into(),
        value,
        author: "Ann".into(),
        note: None,
        edited_at: at(0),
        expires_at: None,
    }
}

#[tokio::test]
async fn a_field_is_locked_and_unlocked() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    let price = EditRow {
        note: Some("sign".into()),
        expires_at: Some(at(2)),
        ..edit("car-2", "price", json!(19_999))
    };
    let blank = edit("car-1", "description", Value::Null);
    assert_eq!(tx.set_edit(&price).await.unwrap(), None);
    assert_eq!(tx.set_edit(&blank).await.unwrap(), None);
    assert_eq!(tx.edits().await.unwrap(), [blank.clone(), price.clone()]);
    assert_eq!(tx.edits_of(&["car-2", "car-3"]).await.unwrap(), std::slice::from_ref(&price));
    let cheaper = EditRow { expires_at: Some(at(3)), ..edit("car-2", "price", json!(18_000)) };
    assert_eq!(tx.set_edit(&cheaper).await.unwrap(), Some(price));
    tx.commit().await.unwrap();
    let mut platform = ground.store.platform().await.unwrap();
    assert_eq!(platform.expired_edits(at(2), 9).await.unwrap(), []);
    assert_eq!(platform.expired_edits(at(3), 9).await.unwrap(), [(tenant, "car-2".to_owned())]);
    drop(platform);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert_eq!(tx.clear_edit("car-2", "price").await.unwrap(), Some(cheaper));
    assert_eq!(tx.clear_edit("car-2", "price").await.unwrap(), None);
    assert_eq!(tx.edits().await.unwrap(), [blank]);
}

#[tokio::test]
async fn a_story_is_told_in_its_order_and_forgotten_in_time() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let mut rows: Vec<HistoryRow> =
        (0..4_500).map(|number| event(&format!("v-{}", number % 3), "changed")).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        row.field = Some("price".into());
        row.old = (number > 0).then(|| json!(number - 1));
        row.new = Some(json!(number));
        row.at = at(i64::from(number >= 3_000));
    }
    let full = HistoryRow {
        old: Some(json!("a\u{0}b")),
        new: Some(Value::Null),
        reason: Some("rank".into()),
        source_id: Some(Uuid::now_v7()),
        run_id: Some(Uuid::now_v7()),
        actor: Some("Ann".into()),
        ..rows[1].clone()
    };
    rows[1] = full;
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    tx.add_history(&rows).await.unwrap();
    tx.add_history(&[event("v-1", "removed")]).await.unwrap();
    tx.commit().await.unwrap();
    let mut expected: Vec<HistoryRow> = rows.iter().filter(|row| row.vehicle_id == "v-1").cloned().collect();
    expected.push(event("v-1", "removed"));
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert_eq!(tx.history("v-1").await.unwrap(), expected);
    drop(tx);
    let mut platform = ground.store.platform().await.unwrap();
    assert_eq!(platform.sweep_history(at(0)).await.unwrap(), 0);
    assert_eq!(platform.sweep_history(at(1)).await.unwrap(), 3_001);
    platform.commit().await.unwrap();
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert_eq!(tx.history("v-1").await.unwrap().len(), 500);
}
