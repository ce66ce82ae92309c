//! What the guard holds, and what people make of it.

use dealer::feeds::DecideError;
use serde_json::json;

use super::*;

impl Lot {
    async fn approve(&self, run: &RunRow) -> Result<Ended, DecideError> {
        feeds::approve(&self.store, self.tenant, run.run_id, "Ana", &Bench::default()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seventy_percent_are_applied_and_told_one_unit_less_is_held() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..200))).await;
    let held = lot.import(&source, &csv(&cars(0..139))).await;
    assert_eq!((held.state, reasons(&held)), (RunState::Held, vec!["FEED_DROP_TOO_LARGE"]));
    assert_eq!(lot.ids().await.len(), 200);
    assert_eq!(lot.open_notices().await, ["run_held"]);
    let difference = feeds::difference(&held);
    assert_eq!((difference.removed, difference.same, difference.examples.len()), (61, 139, 61));
    let example = &difference.examples[0];
    assert_eq!((example.kind.as_str(), example.label.as_str()), ("removed", "2021 Toyota Prius, stock S139"));

    // A second one that confirms it changes nothing about that.
    let second = lot.import(&source, &csv(&cars(0..138))).await;
    assert_eq!(second.state, RunState::Held);
    assert_eq!(lot.ids().await.len(), 200);

    // A good one is applied; what waited is older than it.
    let run = lot.import(&source, &csv(&cars(0..140))).await;
    assert_eq!((run.state, lot.ids().await.len()), (APPLIED, 140));
    assert_eq!(lot.run(held.run_id).await.state, RunState::Superseded);
    assert_eq!(lot.open_notices().await, ["drop_noted"]);
    assert!(matches!(lot.approve(&held).await, Err(DecideError::State(RunState::Superseded))));
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_applies_exactly_what_was_shown() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..40))).await;
    let mut file = cars(20..42);
    file[0].price = "31000".into();
    let held = lot.import(&source, &csv(&file)).await;
    let shown = feeds::difference(&held);
    assert_eq!((shown.added, shown.changed, shown.removed, shown.repriced), (2, 1, 20, 1));
    let changed = shown.examples.iter().find(|example| example.kind == "changed").unwrap();
    assert_eq!(
        (&changed.old["asking_price"], &changed.new["asking_price"]),
        (&json!(20_020), &json!(31_000))
    );

    let ended = lot.approve(&held).await.unwrap();
    assert_eq!((ended.state, ended.version), (APPLIED, Some(2)));
    let now = lot.lot().await;
    assert_eq!((now.len(), &now[&id(20)]["price"]), (22, &json!(31_000)));
    let run = lot.run(held.run_id).await;
    assert_eq!((run.decided_by.as_deref(), counts(&run)), (Some("Ana"), (2, 1, 20, 19)));
    assert!(matches!(lot.approve(&held).await, Err(DecideError::State(APPLIED))), "only once");
    assert_eq!(lot.version().await, 2);
    // What was approved is what later files are held against.
    assert_eq!(lot.import(&source, &csv(&file)).await.state, RunState::Unchanged);
    assert_eq!(lot.import(&source, &csv(&file[..16])).await.state, APPLIED);
}

#[tokio::test(flavor = "multi_thread")]
async fn approving_after_the_source_was_heard_from_shows_the_new_difference_first() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let first = lot.import(&source, &csv(&cars(0..40))).await;
    lot.import(&source, &csv(&cars(0..36))).await;
    let held = lot.import(&source, &csv(&cars(0..10))).await;
    assert_eq!(held.state, RunState::Held);
    // Going back is no word of the source that would replace what waits, but the lot is another one now.
    let back = feeds::rollback(&lot.store, lot.tenant, first.run_id, "Ben", &Bench::default()).await.unwrap();
    assert_eq!(lot.run(held.run_id).await.state, RunState::Superseded, "{back:?}");

    let held = lot.import(&source, &csv(&cars(0..9))).await;
    let mut tx = lot.store.tenant(lot.tenant).await.unwrap();
    let mut stale = tx.run(held.run_id).await.unwrap().unwrap();
    stale.verdict.as_mut().unwrap()["base"] = json!(Uuid::now_v7());
    tx.save_run(&stale).await.unwrap();
    tx.commit().await.unwrap();
    let Err(DecideError::Changed(difference)) = lot.approve(&held).await else {
        panic!("it must be looked at again")
    };
    assert_eq!((difference.removed, difference.same), (31, 9));
    assert_eq!(lot.ids().await.len(), 40);
    assert_eq!(lot.approve(&held).await.unwrap().state, APPLIED);
    assert_eq!(lot.ids().await.len(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_file_changes_nothing_and_is_no_measure_for_later_ones() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..100))).await;
    let held = lot.import(&source, &csv(&cars(0..50))).await;
    let ended = feeds::reject(&lot.store, lot.tenant, held.run_id, "Ana", "half a file").await.unwrap();
    assert_eq!(ended.state, RunState::Rejected);
    let run = lot.run(held.run_id).await;
    assert_eq!((run.failure.as_deref(), run.decided_by.as_deref()), (Some("half a file"), Some("Ana")));
    assert!(matches!(lot.approve(&held).await, Err(DecideError::State(RunState::Rejected))));
    assert_eq!(lot.ids().await.len(), 100);
    let next = lot.import(&source, &csv(&cars(0..49))).await;
    assert_eq!(next.state, RunState::Held, "measured against 100, not against 50");
    assert_eq!(lot.open_notices().await.iter().filter(|kind| *kind == "run_held").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_to_a_run_makes_the_lot_what_it_was_then() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let first = lot.import(&source, &csv(&cars(0..30))).await;
    let was = lot.lot().await;
    let mut file = cars(5..35);
    file[0].price = "11000".into();
    let second = lot.import(&source, &csv(&file)).await;
    assert_eq!(second.state, APPLIED);
    let preview =
        feeds::rollback_preview(&lot.store, lot.tenant, first.run_id, &Bench::default()).await.unwrap();
    let back = feeds::rollback(&lot.store, lot.tenant, first.run_id, "Ana", &Bench::default()).await.unwrap();
    assert_eq!(back.difference, preview);
    assert_eq!((preview.added, preview.changed, preview.removed), (5, 1, 5));
    assert_eq!((back.state, back.version), (APPLIED, Some(3)));
    let mut now = lot.lot().await;
    // What happened to them happened: only the stamps tell.
    for (id, unit) in &mut now {
        unit["updated_at"] = was[id]["updated_at"].clone();
    }
    assert_eq!(now, was);
    let run = lot.run(back.run_id).await;
    assert_eq!((run.cause.as_str(), run.of_run), ("rollback", Some(first.run_id)));
    // The next file is held against the lot that is there now, and the file gone back from may come again.
    assert_eq!(lot.import(&source, &csv(&cars(0..30))).await.state, RunState::Unchanged);
    assert_eq!(lot.import(&source, &csv(&file)).await.state, APPLIED);
    let held = lot.import(&source, &csv(&cars(0..3))).await;
    let refused = feeds::rollback(&lot.store, lot.tenant, held.run_id, "Ana", &Bench::default()).await;
    assert!(matches!(refused, Err(DecideError::State(RunState::Held))), "only to what was on offer");
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_that_jump_or_vanish_hold_a_file() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..20))).await;
    let mut file = cars(0..20);
    for car in &mut file[..11] {
        car.price = "9000".into();
    }
    let held = lot.import(&source, &csv(&file)).await;
    assert_eq!((held.state, reasons(&held)), (RunState::Held, vec!["FEED_PRICE_SHIFT"]));
    let mut file = cars(0..20);
    for car in &mut file[..6] {
        car.price = "Call".into();
    }
    let held = lot.import(&source, &csv(&file)).await;
    assert_eq!((held.state, feeds::difference(&held).unpriced), (RunState::Held, 6));
    assert_eq!(lot.lot().await[&id(0)]["price"], 20_000);
}
