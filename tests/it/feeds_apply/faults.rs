//! Work that is broken off, done twice, or hopeless.

use serde_json::json;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_taken_up_wherever_the_worker_before_was_stopped() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..300))).await;
    let old = lot.lot().await;
    let mut file = cars(0..300);
    for car in &mut file {
        car.price = (car.price.parse::<u32>().unwrap() + 100).to_string();
    }
    let receipt =
        lot.receive(&source, Received::new("lot.csv", "import", "test"), &csv(&file)).await.unwrap();
    let mut tries = 0;
    for patience in [1, 3, 6, 10, 15, 20, 30, 45, 60, 90, 120, 180].into_iter().cycle() {
        tries += 1;
        let job = lot
            .store
            .claim_job(&[IMPORT_JOB], "worker-1", Duration::from_millis(1), 10)
            .await
            .unwrap()
            .map(|job| Job { max_attempts: 1000, ..job });
        let Some(job) = job else {
            // The transaction of the one that was stopped is still being undone.
            if lot.run(receipt.run_id).await.state.is_end() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let done = tokio::time::timeout(Duration::from_millis(patience * tries), lot.work(&job)).await;
        let now = lot.lot().await;
        if done.is_ok_and(|done| done.is_ok()) {
            break;
        }
        if lot.run(receipt.run_id).await.state != APPLIED {
            assert_eq!(now, old, "the old lot or the new one");
        }
        assert!(tries < 200, "it must end");
    }
    let run = lot.run(receipt.run_id).await;
    assert_eq!((run.state, counts(&run)), (APPLIED, (0, 300, 0, 0)), "after {tries} tries");
    let now = lot.lot().await;
    assert!((0..300).all(|number| now[&id(number)]["price"] == json!(20_100 + number)));
    assert_eq!(lot.version().await, 2);
    assert_eq!(lot.story(&id(1)).await.len(), 2, "and nothing is done twice");
    assert!(lot.claim().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lost_the_lease_writes_nothing() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let receipt =
        lot.receive(&source, Received::new("lot.csv", "import", "test"), &csv(&cars(0..20))).await.unwrap();
    let lost = lot.store.claim_job(&[IMPORT_JOB], "a", Duration::from_millis(1), 10).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let held = lot.claim().await.expect("given to another one");
    assert!(matches!(lot.work(&lost).await, Err(ProcessError::LostLease)));
    assert_eq!((lot.ids().await.len(), lot.version().await), (0, 0));
    assert_eq!(lot.work(&held).await.unwrap().state, APPLIED);
    assert_eq!(lot.ids().await.len(), 20);
    assert!(lot.work(&lost).await.is_ok_and(|ended| ended.state == APPLIED), "it hears how it ended");
    assert_eq!((lot.run(receipt.run_id).await.state, lot.version().await), (APPLIED, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_one_source_at_once_end_as_if_one_after_the_other() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let other = lot.source("Tool", settings()).await;
    lot.import(&source, &csv(&cars(0..100))).await;
    for (source, range) in [(&source, 0..101), (&other, 50..120), (&source, 0..102), (&other, 50..121)] {
        lot.receive(source, Received::new("lot.csv", "import", "test"), &csv(&cars(range))).await.unwrap();
    }
    // A lane gives one at a time, whoever asks.
    let mut done = 0;
    while let Some(job) = lot.claim().await {
        assert!(lot.claim().await.is_none(), "one import of a dealer at a time");
        let state = lot.work(&job).await.unwrap().state;
        assert!(state == APPLIED || state == RunState::Unchanged, "{state}");
        done += 1;
    }
    assert_eq!((done, lot.ids().await.len()), (4, 121));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hopeless_run_is_given_up_with_its_cause() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..20))).await;
    let png = "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR";
    let run = lot.import(&source, png).await;
    assert_eq!(run.state, RunState::Failed, "{run:?}");
    assert!(run.failure.is_some());
    assert_eq!(lot.open_notices().await, ["run_failed"]);

    let receipt =
        lot.receive(&source, Received::new("lot.csv", "import", "test"), &csv(&cars(0..21))).await.unwrap();
    for _ in 0..3 {
        let job = lot.claim().await.unwrap();
        assert!(lot.store.retry_job(&job, None, "the disk is full").await.unwrap());
    }
    let job = lot.claim().await.expect("once more, to be recorded");
    assert!(job.is_exhausted());
    assert_eq!(lot.work(&job).await.unwrap().state, RunState::Failed);
    let run = lot.run(receipt.run_id).await;
    assert!(run.failure.as_deref().unwrap().contains("the disk is full"), "{run:?}");
    assert!(lot.claim().await.is_none());
    // The next good one ends what people were told.
    assert_eq!(lot.import(&source, &csv(&cars(0..22))).await.state, APPLIED);
    assert_eq!(lot.open_notices().await, Vec::<String>::new());
    assert_eq!(lot.ids().await.len(), 22);
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_cut_files_are_held() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..20))).await;
    for (body, code) in [
        (format!("{HEADER}\n"), "FEED_EMPTY"),
        (String::new(), "FEED_EMPTY"),
        (" \n \n".to_owned(), "FEED_EMPTY"),
    ] {
        let run = lot.import(&source, &body).await;
        assert_eq!((run.state, reasons(&run)), (RunState::Held, vec![code]), "{body:?}");
    }
    // Fewer bytes than were announced.
    let body = csv(&cars(0..21));
    let received =
        Received { announced: Some(body.len() as u64 + 500), ..Received::new("lot.csv", "fetch", "test") };
    let run = lot.import_as(&source, received, &body).await;
    assert_eq!((run.state, reasons(&run)), (RunState::Held, vec!["FEED_TRUNCATED"]));
    assert_eq!(lot.ids().await.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_ends_in_mid_line_is_held_where_they_never_did() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let whole = csv(&cars(0..20));
    assert!(whole.ends_with('\n'));
    lot.import(&source, &whole).await;
    // All cars are there, and the last cell of the last one is half there.
    let run = lot.import(&source, &whole[..whole.len() - 3]).await;
    assert_eq!((run.state, reasons(&run)), (RunState::Held, vec!["FEED_TRUNCATED"]));

    // Files that never have one are whole all the same.
    let other = lot.source("Tool", settings()).await;
    let bare = csv(&cars(30..50));
    for _ in 0..2 {
        let run = lot.import(&other, bare.trim_end()).await;
        assert!(run.state.is_good(), "{run:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_other_cars_do_not_make_up_for_those_that_are_gone() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    lot.import(&source, &csv(&cars(0..40))).await;
    // Another dealer's file.
    let run = lot.import(&source, &csv(&cars(100..140))).await;
    assert_eq!((run.state, reasons(&run)), (RunState::Held, vec!["FEED_DROP_TOO_LARGE"]));
    // The usual turn of a lot is none of that.
    let run = lot.import(&source, &csv(&cars(10..52))).await;
    assert_eq!((run.state, lot.ids().await.len()), (RunState::Applied, 42));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_file_that_comes_late_never_overwrites() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let named = |name: &str| Received::new(name, "folder", "test");
    lot.import_as(&source, named("lot_20261129.csv"), &csv(&cars(0..20))).await;
    let late = lot.import_as(&source, named("lot_20261128.csv"), &csv(&cars(0..19))).await;
    assert_eq!(late.state, RunState::Superseded, "{late:?}");
    assert_eq!(lot.ids().await.len(), 20);
    assert_eq!(lot.open_notices().await, ["run_superseded"]);
    assert_eq!(lot.import_as(&source, named("lot_20261130.csv"), &csv(&cars(0..21))).await.state, APPLIED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_one_run() {
    let lot = Lot::start(json!([])).await;
    let source = lot.source("DMS", settings()).await;
    let keyed =
        || Received { idempotency_key: Some("n-1".into()), ..Received::new("lot.csv", "push", "test") };
    let body = csv(&cars(0..20));
    let first = lot.receive(&source, keyed(), &body).await.unwrap();
    let again = lot.receive(&source, keyed(), &body).await.unwrap();
    assert_eq!((first.run_id, first.repeated, again.repeated), (again.run_id, false, true));
    let other = lot.receive(&source, keyed(), &csv(&cars(0..21))).await;
    assert!(matches!(other, Err(ReceiveError::KeyUsed { run_id }) if run_id == first.run_id), "{other:?}");
    let at_once = futures_util::future::join_all((0..8).map(|_| {
        let received =
            Received { idempotency_key: Some("n-2".into()), ..Received::new("lot.csv", "push", "test") };
        lot.receive(&source, received, &body)
    }));
    let runs: std::collections::BTreeSet<Uuid> =
        at_once.await.into_iter().map(|receipt| receipt.unwrap().run_id).collect();
    assert_eq!(runs.len(), 1);
    let job = lot.claim().await.unwrap();
    assert_eq!(lot.work(&job).await.unwrap().state, APPLIED);
    let job = lot.claim().await.unwrap();
    assert_eq!(lot.work(&job).await.unwrap().state, RunState::Unchanged);
    assert!(lot.claim().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_many_pieces_is_read_as_it_came_and_one_that_is_too_large_leaves_nothing() {
    let lot = Lot::start(json!([])).await;
    let mut small = settings();
    small["limits"] = json!({ "file_bytes": 12_000_000 });
    let source = lot.source("DMS", small).await;
    // Descriptions that do not pack well, so that there is more than one piece.
    let mut text = format!("{HEADER},Description\n");
    let mut noise: u64 = 88_172_645_463_325_252;
    for (row, car) in csv(&cars(0..900)).lines().skip(1).zip(0..) {
        write!(text, "{row},Number {car} ").unwrap();
        for _ in 0..150 {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            write!(text, "{noise:x} ").unwrap();
        }
        text.push('\n');
    }
    let run = lot.import(&source, &text).await;
    assert_eq!((run.state, lot.ids().await.len()), (APPLIED, 900), "{run:?}");
    let lines: Vec<&str> = text.lines().collect();
    let wanted = lines[500].split("Number ").nth(1).unwrap().trim();
    assert!(lot.lot().await[&id(499)]["description"].as_str().unwrap().ends_with(wanted));
    let refused = lot.receive(&source, Received::new("lot.csv", "push", "test"), &text.repeat(10)).await;
    assert!(matches!(refused, Err(ReceiveError::TooLarge { limit: 12_000_000 })), "{refused:?}");
    let mut connection = testkit::cluster().superuser(&lot.platform.database).await;
    let open: i64 = sqlx::query_scalar("select count(*) from forecourt.feed_files where sha256 is null")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(open, 0);
}
