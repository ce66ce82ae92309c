//! Cards and their history.

use store::{CardWrite, TenantId};
use uuid::Uuid;

use crate::support::Ground;

fn card(contract: &str, body: &str) -> CardWrite {
    CardWrite {
        contract: contract.into(),
        params_id: Uuid::now_v7(),
        content_hash: [7; 32],
        body: body.into(),
        cause: "a test".into(),
        actor: "tests".into(),
    }
}

#[tokio::test]
async fn each_card_is_kept_and_numbered_through() {
    let ground = Ground::new().await;
    let id: TenantId = ground.tenant("a").await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    let first = tx.save_card(&card("v3.0", "one")).await.unwrap();
    let second = tx.save_card(&card("v3.0", "two")).await.unwrap();
    let other = tx.save_card(&card("v1.3", "old")).await.unwrap();
    assert_eq!((first.revision, second.revision, other.revision), (1, 2, 1));
    assert!(second.changed_at > first.changed_at);
    assert_eq!(tx.cards().await.unwrap(), [other, second.clone()]);

    assert!(tx.drop_card("v3.0").await.unwrap());
    assert!(!tx.drop_card("v3.0").await.unwrap());
    let third = tx.save_card(&card("v3.0", "three")).await.unwrap();
    assert_eq!(third.revision, 3, "a number is not used twice");
    tx.commit().await.unwrap();

    let mut tx = ground.store.tenant(id).await.unwrap();
    let history = tx.card_history("v3.0").await.unwrap();
    let bodies: Vec<&str> = history.iter().map(|card| card.body.as_str()).collect();
    assert_eq!(bodies, ["three", "two", "one"]);
    assert_eq!(history[1].params_id, second.params_id);
    assert_eq!(history[1].changed_at, second.changed_at);
    assert_eq!((history[0].cause.as_str(), history[0].actor.as_str()), ("a test", "tests"));
}
