//! Another dealer's runs, sources, files, vehicles and tokens are not there: for no function, command, door or query.

use dealer::feeds::{self, Bench, SourceSettings, Wish};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};
use store::SourceKind;
use testkit::{Platform, cluster};
use uuid::Uuid;

use super::{documents, tenant};
use crate::feed_commands::{cars, file, run, vin};
use crate::ground::search;

/// Two dealers; the first has runs of all kinds, a held one, a locked field, a push source, findings and notices.
async fn two() -> (Platform, Uuid) {
    let platform = Platform::start().await;
    let slugs = ["harbor".to_owned(), "pier".to_owned()];
    platform.provision(&documents(&slugs)).await;
    let faulty = cars(40, 20_000).replace(",20010\n", ",Call\n");
    for (slug, text, status) in [
        ("harbor", faulty, 0),
        ("harbor", cars(40, 21_000), 0),
        ("pier", cars(12, 30_000), 0),
        ("harbor", cars(5, 22_000), 3),
    ] {
        let path = file("lot.csv", &text);
        run(&platform, &["feed", "import", slug, path.to_str().unwrap()]).await.ended(status);
    }
    run(&platform, &["vehicle", "edit", "harbor", "S1", "trim=EX"]).await.ended(0);
    let store = platform.application().store();
    let harbor = tenant(store, "harbor").await;
    let held = super::runs(store, harbor).await.unwrap().last().unwrap().run_id;
    (platform, held)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_dealer_has_is_not_there() {
    let (platform, held) = two().await;
    let store = platform.application().store();
    let (harbor, pier) = (tenant(store, "harbor").await, tenant(store, "pier").await);
    let run_row = store.tenant(harbor).await.unwrap().run(held).await.unwrap().unwrap();
    let (source, file_id) = (run_row.source_id, run_row.file_id.unwrap());
    let before = super::stored(store, harbor).await.unwrap();

    // By the functions that pages and commands call, with the ids of the other.
    let mut tx = store.tenant(pier).await.unwrap();
    assert!(tx.source(source).await.unwrap().is_none());
    assert!(tx.run(held).await.unwrap().is_none());
    assert!(tx.lock_run(held).await.unwrap().is_none());
    assert!(tx.file_chunk(file_id, 0).await.unwrap().is_none());
    assert!(tx.runs(Some(source), 50, None).await.unwrap().is_empty());
    assert!(tx.unit_hashes(source).await.unwrap().is_empty());
    assert!(tx.history(&format!("vin-{}", vin(20))).await.unwrap().is_empty());
    assert!(tx.edits().await.unwrap().is_empty());
    drop(tx);
    let bench = Bench::default();
    assert!(feeds::approve(store, pier, held, "eve", &bench).await.is_err());
    assert!(feeds::reject(store, pier, held, "eve", "no").await.is_err());
    assert!(feeds::rollback(store, pier, held, "eve", &bench).await.is_err());
    // VINs of both dealers are told apart: car 1 is at both, car 20 at one.
    let wish =
        Wish { key: &vin(20), field: "trim", value: json!("X"), actor: "eve", expires_at: None, note: None };
    assert!(feeds::edit(store, pier, &wish).await.is_err());
    assert!(feeds::story(store, pier, &vin(20)).await.is_err());
    let story = feeds::story(store, pier, &vin(1)).await.unwrap();
    assert!(!format!("{story:?}").contains("EX"), "{story:?}");
    assert!(feeds::unlock(store, pier, &vin(1), "trim", "eve").await.is_err());

    // By the commands, with a dealer's own slug and the other's ids.
    let (held, of) = (held.to_string(), source.to_string());
    let lot = file("lot.csv", &cars(12, 31_000));
    for arguments in [
        &["feed", "rollback", "pier", "import", "--to", &held, "--yes"][..],
        &["feed", "import", "pier", lot.to_str().unwrap(), "--source", &of],
        &["feed", "source", "edit", "pier", &of, "--disable"],
        &["feed", "source", "remove", "pier", &of, "--yes"],
        &["vehicle", "history", "pier", &vin(20)],
        &["vehicle", "show", "pier", &vin(20)],
        &["vehicle", "edit", "pier", &vin(20), "trim=X"],
        &["vehicle", "unlock", "pier", &vin(20), "trim"],
    ] {
        let said = run(&platform, arguments).await;
        assert_ne!(said.status, 0, "{arguments:?}: {}{}", said.out, said.err);
    }
    let runs = run(&platform, &["feed", "runs", "pier"]).await.ended(0);
    assert!(!runs.out.contains(&held) && runs.out.contains("import"), "{}", runs.out);
    let notices = run(&platform, &["feed", "notices", "pier"]).await.ended(0);
    assert!(!notices.out.contains(&held), "{}", notices.out);

    assert_eq!(super::stored(store, harbor).await.unwrap(), before);
    platform.catch_up().await;
    assert_eq!(platform.call("harbor", search()).await["total"], 40);
    assert_eq!(platform.call("pier", search()).await["total"], 12);
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_its_own_source_and_no_other() {
    let (platform, held) = two().await;
    let store = platform.application().store();
    let mut sources = Vec::new();
    for slug in ["harbor", "pier"] {
        let tenant = tenant(store, slug).await;
        let settings = SourceSettings::read(&json!({})).unwrap();
        let source =
            feeds::add_source(store, tenant, "push", SourceKind::Push, settings, "test").await.unwrap();
        let token = feeds::renew_token(store, tenant, source.source_id, "test").await.unwrap();
        sources.push((tenant, source.source_id, token));
    }
    let nothing = Uuid::now_v7();
    let by_hand = super::runs(store, sources[0].0).await.unwrap()[0].source_id;
    let mut answers = Vec::new();
    for (source, token) in [
        (sources[0].1, &sources[1].2),
        (sources[1].1, &sources[0].2),
        (nothing, &sources[0].2),
        (by_hand, &sources[0].2),
        (held, &sources[0].2),
    ] {
        let address = format!("{}/push/feeds/{source}", platform.origin);
        let answer =
            platform.http.post(&address).bearer_auth(token).body(cars(3, 1000)).send().await.unwrap();
        let status = answer.status().as_u16();
        let mut problem: Value = answer.json().await.unwrap();
        assert!([401, 403, 404].contains(&status), "{status} {problem}");
        problem.as_object_mut().unwrap().remove("request_id");
        assert!(!problem.to_string().contains(&source.to_string()), "{problem}");
        answers.push((status, problem));
    }
    // Nobody learns which sources there are.
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    for (tenant, source, _) in &sources {
        let runs = store.tenant(*tenant).await.unwrap().runs(Some(*source), 10, None).await.unwrap();
        assert!(runs.is_empty(), "{runs:?}");
    }
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_of_feeds_is_behind_the_wall() {
    let (platform, _) = two().await;
    let store = platform.application().store();
    let (harbor, pier) = (tenant(store, "harbor").await, tenant(store, "pier").await);
    let mut admin = cluster().superuser(&platform.database).await;
    let tables = sqlx::query(
        "select c.relname::text as name, c.relrowsecurity as walled,
                (select count(*) from pg_policy p where p.polrelid = c.oid) as policies
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
         where c.relnamespace = 'forecourt'::regnamespace and c.relkind in ('r', 'p') order by 1",
    )
    .fetch_all(&mut admin)
    .await
    .unwrap();
    let mut names: Vec<String> = Vec::new();
    let mut open = Vec::new();
    for table in &tables {
        let name: String = table.get("name");
        // Tables of the platform, which know tenants and belong to none.
        if ["tenant_slugs", "tenant_domains"].contains(&name.as_str()) {
            continue;
        }
        if !table.get::<bool, _>("walled") || table.get::<i64, _>("policies") == 0 {
            open.push(name.clone());
        }
        names.push(name);
    }
    assert!(open.is_empty(), "not behind the wall: {open:?}");
    let mut filled = Vec::new();
    for name in &names {
        let count = |tenant: String| format!("select count(*) from {name} where tenant_id = '{tenant}'");
        let of_harbor: i64 = sqlx::query_scalar(AssertSqlSafe(count(harbor.0.to_string())))
            .fetch_one(&mut admin)
            .await
            .unwrap();
        if of_harbor > 0 {
            filled.push(name.as_str());
        }
        // As a transaction of the other dealer sees it; some tables it may not even read.
        let mut tx = sqlx::Connection::begin(&mut admin).await.unwrap();
        let role = format!("set local role forecourt_app; set local app.tenant = '{}'", pier.0);
        sqlx::raw_sql(AssertSqlSafe(role)).execute(&mut *tx).await.unwrap();
        let seen: Result<i64, _> =
            sqlx::query_scalar(AssertSqlSafe(count(harbor.0.to_string()))).fetch_one(&mut *tx).await;
        assert!(seen.as_ref().is_ok_and(|seen| *seen == 0) || seen.is_err(), "{name}: {seen:?}");
        drop(seen);
        tx.rollback().await.unwrap();
    }
    for name in [
        "feed_sources",
        "feed_files",
        "feed_file_chunks",
        "feed_runs",
        "feed_findings",
        "feed_notices",
        "source_units",
        "vehicle_edits",
        "vehicle_history",
    ] {
        assert!(filled.contains(&name), "{name} has nothing to hide: {filled:?}");
    }
    let _: Value = platform.call("pier", search()).await;
    platform.stop().await;
}
