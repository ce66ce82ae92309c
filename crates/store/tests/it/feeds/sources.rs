//! Sources: their names, their revisions, when they are due, when they are silent; credentials; freshness of a lot.

use serde_json::json;
use store::{Error, NewJob, SourceKind, TenantId, TenantState};
use uuid::Uuid;

use super::{at, source};
use crate::support::Ground;

async fn add(ground: &Ground, tenant: TenantId, source: &store::SourceRow) {
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    tx.insert_source(source).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_source_is_kept_changed_and_removed() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let mut dms = source("Nightly DMS", SourceKind::Push);
    dms.push_token_hash = Some([7; 32]);
    dms.signature = Some(json!({"delimiter": ","}));
    dms.etag = Some("\"1\"".into());
    add(&ground, a, &dms).await;
    let mut tx = ground.store.tenant(a).await.unwrap();
    assert!(tx.has_sources().await.unwrap());
    assert_eq!(tx.source(dms.source_id).await.unwrap().as_ref(), Some(&dms));
    assert_eq!(tx.source_named("nightly dms").await.unwrap().as_ref(), Some(&dms));
    assert_eq!(tx.source_named("nightly").await.unwrap(), None);
    let taken = tx.insert_source(&source("NIGHTLY dms", SourceKind::File)).await.unwrap_err();
    assert!(matches!(&taken, Error::Constraint { name } if name == "feed_sources_name"), "{taken}");
    drop(tx);
    // Another dealer may call one the same, and have the same token.
    let mut other = source("nightly dms", SourceKind::Push);
    other.push_token_hash = Some([7; 32]);
    add(&ground, b, &other).await;

    let mut tx = ground.store.tenant(a).await.unwrap();
    dms.name = "DMS".into();
    dms.enabled = false;
    dms.settings = json!({"folder": "x"});
    dms.push_token_hash = None;
    dms.next_fetch_at = Some(at(2));
    dms.silent_after_s = 60;
    assert!(tx.save_source(&dms, 1).await.unwrap());
    assert!(!tx.save_source(&dms, 1).await.unwrap(), "somebody changed it meanwhile");
    dms.revision = 2;
    assert_eq!(tx.sources().await.unwrap(), [dms.clone()]);

    tx.note_fetch(dms.source_id, Some("\"2\""), None, Some(at(3)), Some(at(1))).await.unwrap();
    tx.note_good(dms.source_id, at(5), Some(&json!("not taken: there is one"))).await.unwrap();
    tx.note_good(dms.source_id, at(4), None).await.unwrap();
    dms.etag = Some("\"2\"".into());
    dms.next_fetch_at = Some(at(3));
    dms.last_full_fetch_at = Some(at(1));
    dms.last_good_at = Some(at(5));
    assert_eq!(tx.source(dms.source_id).await.unwrap().as_ref(), Some(&dms));

    assert_eq!(tx.source_credentials(dms.source_id).await.unwrap(), None);
    assert!(tx.set_source_credentials(dms.source_id, Some(b"sealed")).await.unwrap());
    assert!(tx.source(dms.source_id).await.unwrap().unwrap().has_credentials);
    assert!(!tx.reseal_credentials(dms.source_id, b"other", b"new").await.unwrap());
    assert!(tx.reseal_credentials(dms.source_id, b"sealed", b"new").await.unwrap());
    assert_eq!(tx.source_credentials(dms.source_id).await.unwrap().as_deref(), Some(&b"new"[..]));
    tx.commit().await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.sealed_credentials().await.unwrap(), [(a, dms.source_id, b"new".to_vec())]);
    let (owner, row) = tx.source_owner(dms.source_id).await.unwrap().unwrap();
    assert_eq!((owner, row.name.as_str()), (a, "DMS"));
    drop(tx);

    let mut tx = ground.store.tenant(a).await.unwrap();
    assert!(tx.delete_source(dms.source_id).await.unwrap());
    assert!(!tx.delete_source(dms.source_id).await.unwrap());
    assert!(!tx.save_source(&dms, 3).await.unwrap());
    assert!(!tx.set_source_credentials(dms.source_id, Some(b"x")).await.unwrap());
    assert_eq!(tx.sources().await.unwrap(), []);
    assert!(!tx.has_sources().await.unwrap());
    let gone = tx.source(dms.source_id).await.unwrap().unwrap();
    assert!(gone.removed_at.is_some() && !gone.has_credentials && gone.next_fetch_at.is_none());
    tx.insert_source(&source("dms", SourceKind::File)).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.source_owner(dms.source_id).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_due_dropped_or_silent() {
    let ground = Ground::new().await;
    let (a, gone) = (ground.tenant("a").await, ground.tenant("gone").await);
    let pull = |name: &str, hours| store::SourceRow {
        next_fetch_at: Some(at(hours)),
        ..source(name, SourceKind::Https)
    };
    let (first, second, later) = (pull("first", 1), pull("second", 2), pull("later", 9));
    let asleep = store::SourceRow { enabled: false, ..pull("asleep", 1) };
    let folder = source("folder", SourceKind::Folder);
    for source in [&second, &first, &later, &asleep, &folder] {
        add(&ground, a, source).await;
    }
    add(&ground, gone, &pull("of a removed dealer", 1)).await;
    add(&ground, gone, &source("its folder", SourceKind::Folder)).await;
    let state = async |state| {
        let mut tx = ground.store.tenant(gone).await.unwrap();
        let mut row = tx.lock().await.unwrap().unwrap();
        row.state = state;
        tx.save_tenant(&row).await.unwrap();
        tx.commit().await.unwrap();
    };
    state(TenantState::Removed).await;
    let due = async |limit| -> Vec<String> {
        let mut tx = ground.store.platform().await.unwrap();
        tx.sources_due(at(3), limit).await.unwrap().into_iter().map(|(_, source)| source.name).collect()
    };
    assert_eq!(due(9).await, ["first", "second"]);
    assert_eq!(due(1).await, ["first"]);
    // One that is being fetched is not due.
    let fetch =
        NewJob { kind: "fetch", lane: "fetch", payload: json!({}), weight: 1, run_at: None, max_attempts: 1 };
    let mut tx = ground.store.platform().await.unwrap();
    tx.enqueue_once(Some(a), &fetch, &store::fetch_key(first.source_id)).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(due(9).await, ["second"]);

    let mut tx = ground.store.platform().await.unwrap();
    let folders = tx.folder_sources().await.unwrap();
    assert_eq!(folders, [(a, folder.clone())]);
    let names = |silent: Vec<store::SilentRow>| silent.into_iter().map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(names(tx.silent_sources(at(36)).await.unwrap()), [""; 0], "as long as they may be");
    drop(tx);
    let mut tx = ground.store.tenant(a).await.unwrap();
    tx.note_good(second.source_id, at(5), None).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    let silent = tx.silent_sources(at(37)).await.unwrap();
    assert_eq!(silent[0].silent_since, at(36));
    let mut silent = names(silent);
    silent.sort();
    assert_eq!(silent, ["first", "folder", "later"]);
    drop(tx);
    state(TenantState::Active).await;
    assert_eq!(due(9).await, ["of a removed dealer", "second"]);
}

#[tokio::test]
async fn freshness_is_polled_and_raises_nothing() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let mut platform = ground.store.platform().await.unwrap();
    let before = platform.versions().await.unwrap()[0];
    assert_eq!((before.confirmed_at, before.fresh_until), (None, None));
    drop(platform);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    tx.set_freshness(Some(at(1)), Some(at(37))).await.unwrap();
    tx.commit().await.unwrap();
    let mut platform = ground.store.platform().await.unwrap();
    let after = platform.versions().await.unwrap()[0];
    let expected = store::VersionRow { confirmed_at: Some(at(1)), fresh_until: Some(at(37)), ..before };
    assert_eq!(after, expected);
    let row = platform.directory_of(tenant).await.unwrap().unwrap();
    assert_eq!((row.confirmed_at, row.fresh_until), (Some(at(1)), Some(at(37))));
    assert_eq!(platform.directory().await.unwrap(), [row]);
    assert_eq!(platform.source_owner(Uuid::now_v7()).await.unwrap(), None);
}
