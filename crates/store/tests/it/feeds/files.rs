//! Files: one for one content, also when it comes twice at once, and kept as long as they are needed.

use store::{Error, NewRun, RunState, SourceKind};

use super::{at, end, new_run, source, stored};
use crate::support::Ground;

async fn chunks(ground: &Ground) -> i64 {
    let mut admin = ground.superuser().await;
    sqlx::query_scalar("select count(*) from feed_file_chunks").fetch_one(&mut admin).await.unwrap()
}

#[tokio::test]
async fn a_file_is_read_back_as_it_came() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let mut tx = ground.store.tenant(a).await.unwrap();
    assert_eq!(tx.file_by_sha(&[1; 32]).await.unwrap(), None);
    let large = vec![0xff; 256 * 1024];
    let file = stored(&mut tx, 1, at(1), &[b"first\0", &large, b""]).await;
    assert_eq!((file.bytes, file.packed_bytes, file.keep_until), (100, 10, at(1)));
    assert_eq!(tx.file_by_sha(&[1; 32]).await.unwrap().as_ref(), Some(&file));
    assert_eq!(tx.file(file.file_id).await.unwrap().as_ref(), Some(&file));
    assert_eq!(tx.file_chunk(file.file_id, 0).await.unwrap().as_deref(), Some(&b"first\0"[..]));
    assert_eq!(tx.file_chunk(file.file_id, 1).await.unwrap(), Some(large));
    assert_eq!(tx.file_chunk(file.file_id, 2).await.unwrap().as_deref(), Some(&b""[..]));
    assert_eq!(tx.file_chunk(file.file_id, 3).await.unwrap(), None);
    // What is finished is not added to, what was not begun neither.
    for file in [file.file_id, uuid::Uuid::now_v7()] {
        let refused = tx.add_chunk(file, 9, b"x").await.unwrap_err();
        assert!(matches!(refused, Error::Corrupt { table: "feed_files", .. }), "{refused}");
    }
    tx.commit().await.unwrap();

    // The same content again is the same file, kept for longer.
    let mut tx = ground.store.tenant(a).await.unwrap();
    let again = stored(&mut tx, 1, at(5), &[b"first\0"]).await;
    assert_eq!((again.file_id, again.keep_until), (file.file_id, at(5)));
    let again = stored(&mut tx, 1, at(2), &[]).await;
    assert_eq!((again.file_id, again.keep_until), (file.file_id, at(5)), "not for less long");
    // Finished twice, by one who did not hear the first answer.
    let twice = tx.finish_file(file.file_id, &end(1, at(1))).await.unwrap();
    assert_eq!(twice.file_id, file.file_id);
    assert!(tx.extend_file(file.file_id, at(9)).await.unwrap());
    assert!(!tx.extend_file(uuid::Uuid::now_v7(), at(9)).await.unwrap());
    let unwanted = tx.begin_file().await.unwrap();
    tx.add_chunk(unwanted, 0, b"x").await.unwrap();
    assert_eq!(tx.file(unwanted).await.unwrap(), None, "it is not finished");
    tx.drop_unfinished(unwanted).await.unwrap();
    tx.drop_unfinished(file.file_id).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(chunks(&ground).await, 3);

    let mut tx = ground.store.tenant(b).await.unwrap();
    assert_eq!(tx.file_by_sha(&[1; 32]).await.unwrap(), None, "the same content of another dealer");
    assert_ne!(stored(&mut tx, 1, at(1), &[]).await.file_id, file.file_id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_content_from_twelve_sides_at_once_is_one_file() {
    let ground = Ground::with_connections(20).await;
    let tenant = ground.tenant("a").await;
    for round in 0..5_u8 {
        let mut senders = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let store = ground.store.clone();
            senders.spawn(async move {
                let mut tx = store.tenant(tenant).await.unwrap();
                let file = tx.begin_file().await.unwrap();
                tx.commit().await.unwrap();
                for no in 0..3 {
                    let mut tx = store.tenant(tenant).await.unwrap();
                    tx.add_chunk(file, no, &[round; 10]).await.unwrap();
                    tx.commit().await.unwrap();
                }
                let mut tx = store.tenant(tenant).await.unwrap();
                let file = tx.finish_file(file, &end(round, at(1))).await.unwrap();
                tx.commit().await.unwrap();
                file.file_id
            });
        }
        let mut files: Vec<_> = senders.join_all().await;
        files.dedup();
        assert_eq!(files.len(), 1);
        assert_eq!(chunks(&ground).await, 3 * (i64::from(round) + 1));
    }
}

#[tokio::test]
async fn files_go_when_nobody_needs_them() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    let feed = source("dms", SourceKind::File);
    tx.insert_source(&feed).await.unwrap();
    let mut files = Vec::new();
    for content in 0..6 {
        files.push(stored(&mut tx, content, at(1), &[&[content]]).await.file_id);
    }
    let kept_long = stored(&mut tx, 100, at(1000), &[b"long"]).await.file_id;
    // Of an older good run: not needed. Of the last good one: its file and its units. Of a held one: both.
    for (place, state, hours) in
        [(0, RunState::Applied, 1), (1, RunState::Unchanged, 2), (3, RunState::Held, 3)]
    {
        let run = NewRun {
            file_id: Some(files[place]),
            units_file_id: Some(files[place + 1]),
            ..new_run(feed.source_id)
        };
        let mut run = tx.insert_run(&run).await.unwrap();
        run.state = state;
        run.finished_at = state.is_end().then(|| at(hours));
        assert!(tx.save_run(&run).await.unwrap());
    }
    let unfinished = tx.begin_file().await.unwrap();
    tx.add_chunk(unfinished, 0, b"begun").await.unwrap();
    tx.commit().await.unwrap();
    let left = async || -> Vec<uuid::Uuid> {
        let mut admin = ground.superuser().await;
        sqlx::query_scalar("select file_id from feed_files order by 1").fetch_all(&mut admin).await.unwrap()
    };
    let sweep = async |now| {
        let mut tx = ground.store.platform().await.unwrap();
        let swept = tx.sweep_files(now).await.unwrap();
        tx.commit().await.unwrap();
        swept.files
    };
    assert_eq!(sweep(at(0)).await, 0);
    assert_eq!(sweep(at(2)).await, 2);
    assert_eq!(left().await, [files[1], files[2], files[3], files[4], kept_long, unfinished]);
    assert_eq!(chunks(&ground).await, 6);
    assert_eq!(sweep(at(26)).await, 1);
    assert_eq!(left().await, [files[1], files[2], files[3], files[4], kept_long]);

    // Rejected, the held one's files are needed no more; nor is anything of a source that was removed.
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    let mut held = tx.held_runs(feed.source_id).await.unwrap().remove(0);
    held.state = RunState::Rejected;
    assert!(tx.save_run(&held).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(sweep(at(26)).await, 2);
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert!(tx.delete_source(feed.source_id).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(sweep(at(26)).await, 2);
    assert_eq!(left().await, [kept_long]);
    assert_eq!(sweep(at(2000)).await, 1);
    assert_eq!(chunks(&ground).await, 0);
}
