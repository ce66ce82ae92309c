//! Runs and what was found in them; notices.

use serde_json::json;
use store::{Error, FindingFilter, FindingRow, NewNotice, NewRun, RunState, SourceKind};
use uuid::Uuid;

use super::{at, new_run, source};
use crate::support::Ground;

#[tokio::test]
async fn a_run_goes_its_way_and_is_found_in_every_way() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let (dms, photos) = (source("dms", SourceKind::File), source("photos", SourceKind::Push));
    let mut tx = ground.store.tenant(a).await.unwrap();
    tx.insert_source(&dms).await.unwrap();
    tx.insert_source(&photos).await.unwrap();
    assert_eq!(tx.last_good_run(dms.source_id).await.unwrap(), None);
    let keyed = NewRun { idempotency_key: Some("k-1"), ..new_run(dms.source_id) };
    let mut run = tx.insert_run(&keyed).await.unwrap();
    assert_eq!((run.state, run.received_at, run.findings_kept), (RunState::Received, at(0), true));
    assert_eq!(tx.run(run.run_id).await.unwrap().as_ref(), Some(&run));
    assert_eq!(tx.run_by_key(dms.source_id, "k-1").await.unwrap().as_ref(), Some(&run));
    assert_eq!(tx.run_by_key(photos.source_id, "k-1").await.unwrap(), None);
    let other = NewRun { idempotency_key: Some("k-1"), ..new_run(photos.source_id) };
    let pushed = tx.insert_run(&other).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.tenant(a).await.unwrap();
    let twice = tx.insert_run(&keyed).await.unwrap_err();
    assert!(matches!(&twice, Error::Constraint { name } if name == "feed_runs_key"), "{twice}");
    drop(tx);

    let mut tx = ground.store.tenant(a).await.unwrap();
    assert_eq!(tx.lock_run(run.run_id).await.unwrap().as_ref(), Some(&run));
    run.state = RunState::Applied;
    run.mode = "full".into();
    run.file_id = Some(Uuid::now_v7());
    run.units_file_id = Some(Uuid::now_v7());
    run.generated_at = Some(at(-3));
    run.started_at = Some(at(1));
    run.decided_at = Some(at(2));
    run.decided_by = Some("Ann".into());
    run.finished_at = Some(at(3));
    run.inventory_version = Some(7);
    run.detected = Some(json!({"format": "csv"}));
    run.signature = Some(json!({"delimiter": "|"}));
    run.counts = Some(json!({"records": 3}));
    run.by_rooftop = Some(json!({"north": 3}));
    run.by_code = Some(json!({"VIN_MISSING": 1}));
    run.verdict = Some(json!({"hold": false}));
    run.diff = Some(json!({"added": 3}));
    run.timings = Some(json!({"read_ms": 1.5}));
    run.failure = Some("none".into());
    assert!(tx.save_run(&run).await.unwrap());
    assert_eq!(tx.run(run.run_id).await.unwrap().as_ref(), Some(&run));
    // A later full run that failed, a later delta that went well: neither is a baseline. An older one that was
    // confirmed later is.
    let mut failed = tx.insert_run(&new_run(dms.source_id)).await.unwrap();
    failed.state = RunState::Failed;
    failed.finished_at = Some(at(9));
    let mut delta = tx.insert_run(&NewRun { mode: "delta", ..new_run(dms.source_id) }).await.unwrap();
    delta.state = RunState::Applied;
    delta.finished_at = Some(at(9));
    let mut held = tx.insert_run(&new_run(dms.source_id)).await.unwrap();
    held.state = RunState::Held;
    for run in [&failed, &delta, &held] {
        assert!(tx.save_run(run).await.unwrap());
    }
    assert_eq!(tx.last_good_run(dms.source_id).await.unwrap().unwrap().run_id, run.run_id);
    assert_eq!(tx.held_runs(dms.source_id).await.unwrap(), [held.clone()]);
    let ids = |runs: Vec<store::RunRow>| runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    assert_eq!(ids(tx.open_runs(None).await.unwrap()), [pushed.run_id, held.run_id]);
    let all = [held.run_id, delta.run_id, failed.run_id, pushed.run_id, run.run_id];
    assert_eq!(ids(tx.runs(None, 9, None).await.unwrap()), all);
    assert_eq!(ids(tx.runs(None, 2, Some(delta.run_id)).await.unwrap()), all[2..4]);
    assert_eq!(ids(tx.runs(Some(photos.source_id), 9, None).await.unwrap()), [pushed.run_id]);
    tx.commit().await.unwrap();

    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.run_owner(run.run_id).await.unwrap(), Some(a));
    assert_eq!(tx.run_owner(Uuid::now_v7()).await.unwrap(), None);
    let recent = tx.recent_runs(None, 9, None).await.unwrap();
    assert_eq!(recent.iter().map(|run| run.run_id).collect::<Vec<_>>(), all);
    assert_eq!((recent[4].slug.as_str(), recent[4].source_name.as_str()), ("a", "dms"));
    assert_eq!(tx.recent_runs(Some(RunState::Held), 9, None).await.unwrap()[..], recent[..1]);
    assert_eq!(tx.recent_runs(None, 1, Some(failed.run_id)).await.unwrap()[..], recent[3..4]);
    drop(tx);
    let mut tx = ground.store.tenant(b).await.unwrap();
    assert_eq!(tx.run(run.run_id).await.unwrap(), None);
    assert!(!tx.save_run(&run).await.unwrap());
}

fn finding(no: i32, code: &str, level: &str, vin: Option<&str>, stock: Option<&str>) -> FindingRow {
    FindingRow {
        no,
        code: code.into(),
        level: level.into(),
        source_row: Some(no + 1),
        field: Some("vin".into()),
        column: Some("VIN #".into()),
        value: Some("½ \"x\"".into()),
        vin: vin.map(Into::into),
        stock: stock.map(Into::into),
        kept_row: None,
    }
}

#[tokio::test]
async fn findings_are_read_in_pages_and_by_unit_and_go_before_their_run() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let dms = source("dms", SourceKind::File);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    tx.insert_source(&dms).await.unwrap();
    let (mut old, mut good) = (
        tx.insert_run(&new_run(dms.source_id)).await.unwrap(),
        tx.insert_run(&new_run(dms.source_id)).await.unwrap(),
    );
    let many: Vec<FindingRow> = (0..4_500)
        .map(|no| {
            let (code, level) =
                if no % 2 == 0 { ("VIN_MISSING", "warning") } else { ("MAKE_MISSING", "error") };
            finding(no, code, level, (no == 7).then_some("VIN7"), (no == 9).then_some("S9"))
        })
        .collect();
    tx.add_findings(old.run_id, &many).await.unwrap();
    tx.add_findings(old.run_id, &many[..3]).await.unwrap();
    let last = finding(0, "VIN_MISSING", "warning", Some("OTHER"), Some("S9"));
    tx.add_findings(good.run_id, std::slice::from_ref(&last)).await.unwrap();
    let all = FindingFilter::default();
    assert_eq!(tx.findings(old.run_id, all, None, 10_000).await.unwrap(), many);
    assert_eq!(tx.findings(old.run_id, all, Some(4_400), 5).await.unwrap(), many[4_401..4_406]);
    let errors = FindingFilter { level: Some("error"), ..all };
    assert_eq!(tx.findings(old.run_id, errors, None, 2).await.unwrap(), [many[1].clone(), many[3].clone()]);
    let missing = FindingFilter { code: Some("VIN_MISSING"), ..all };
    assert_eq!(tx.findings(old.run_id, missing, Some(0), 1).await.unwrap(), [many[2].clone()]);
    let about = tx.findings_about(Some("VIN7"), Some("S9"), 9).await.unwrap();
    assert_eq!(
        about,
        [(good.run_id, last), (old.run_id, many[7].clone()), (old.run_id, many[9].clone())],
        "the latest run first"
    );
    assert_eq!(tx.findings_about(None, Some("S-9"), 9).await.unwrap(), []);
    old.state = RunState::Applied;
    old.finished_at = Some(at(1));
    good.state = RunState::Unchanged;
    good.finished_at = Some(at(2));
    let open = tx.insert_run(&new_run(dms.source_id)).await.unwrap();
    tx.save_run(&old).await.unwrap();
    tx.save_run(&good).await.unwrap();
    tx.commit().await.unwrap();

    let sweep = async |findings, runs| {
        let mut tx = ground.store.platform().await.unwrap();
        let swept = tx.sweep_runs(findings, runs).await.unwrap();
        tx.commit().await.unwrap();
        swept
    };
    assert_eq!(sweep(at(0), at(0)).await, 0);
    assert_eq!(sweep(at(1), at(0)).await, 2);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert_eq!(tx.findings(old.run_id, all, None, 1).await.unwrap(), []);
    assert!(!tx.run(old.run_id).await.unwrap().unwrap().findings_kept);
    drop(tx);
    assert_eq!(sweep(at(1), at(1)).await, 1);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    let left: Vec<Uuid> = tx.runs(None, 9, None).await.unwrap().into_iter().map(|run| run.run_id).collect();
    assert_eq!(left, [open.run_id, good.run_id], "not the last good one, not one that did not end");
}

#[tokio::test]
async fn notices_are_told_once_and_resolved() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let (source, run) = (Uuid::now_v7(), Uuid::now_v7());
    let silent = NewNotice {
        kind: "source_silent",
        severity: "warning",
        source_id: Some(source),
        run_id: None,
        sentence: "Nothing good came for 36 hours.",
        data: json!({"hours": 36}),
        once_key: Some("silent"),
    };
    let held = NewNotice {
        kind: "run_held",
        severity: "error",
        run_id: Some(run),
        once_key: None,
        ..silent.clone()
    };
    let mut tx = ground.store.tenant(a).await.unwrap();
    let first = tx.add_notice(&silent).await.unwrap().unwrap();
    assert_eq!(tx.add_notice(&silent).await.unwrap(), None);
    tx.add_notice(&held).await.unwrap().unwrap();
    tx.add_notice(&held).await.unwrap().unwrap();
    tx.notices_seen(&[first]).await.unwrap();
    let notices = tx.notices(true, 9).await.unwrap();
    assert_eq!(notices.len(), 3);
    assert_eq!((notices[2].notice_id, notices[2].seen_at.is_some()), (first, true));
    assert_eq!((&notices[2].data, notices[2].source_id), (&silent.data, Some(source)));
    assert_eq!(tx.resolve_notices("source_silent", None).await.unwrap(), 0, "not the one about a source");
    assert_eq!(tx.resolve_notices("source_silent", Some(source)).await.unwrap(), 1);
    assert_eq!(tx.resolve_run_notices(run, Some("run_failed")).await.unwrap(), 0);
    assert_eq!(tx.resolve_run_notices(run, None).await.unwrap(), 2);
    assert_eq!(tx.notices(true, 9).await.unwrap(), []);
    assert_eq!(tx.notices(false, 2).await.unwrap().len(), 2);
    assert!(tx.add_notice(&silent).await.unwrap().is_some(), "silent once more");
    tx.commit().await.unwrap();
    let mut tx = ground.store.tenant(b).await.unwrap();
    assert!(tx.add_notice(&silent).await.unwrap().is_some());
    tx.commit().await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    let open: Vec<_> =
        tx.recent_notices(true, 9).await.unwrap().into_iter().map(|one| one.tenant_id).collect();
    assert_eq!(open, [b, a]);
    assert_eq!(tx.sweep_notices(at(9)).await.unwrap(), 3);
    assert_eq!(tx.recent_notices(false, 9).await.unwrap().len(), 2);
}
