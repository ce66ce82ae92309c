//! No table of the feeds shows one dealer to another.

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection};
use store::{FindingRow, NewJob, NewNotice, SourceKind, TenantId};
use uuid::Uuid;

use super::story::{edit, event};
use super::units::says;
use super::{at, new_run, source, stored};
use crate::support::Ground;
use crate::tenancy::app;

/// The tables of the feeds that belong to a dealer.
pub(crate) const TABLES: [&str; 12] = [
    "feed_sources",
    "feed_files",
    "feed_file_chunks",
    "feed_runs",
    "feed_findings",
    "feed_notices",
    "source_units",
    "vehicle_aliases",
    "vehicle_edits",
    "vehicle_history",
    "jobs",
    "job_turns",
];

/// Puts something into every table; answers the source and the run.
async fn fill(ground: &Ground, tenant: TenantId) -> (Uuid, Uuid) {
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    let dms = source("dms", SourceKind::Push);
    tx.insert_source(&dms).await.unwrap();
    stored(&mut tx, 1, at(1), &[b"x"]).await;
    let run = tx.insert_run(&new_run(dms.source_id)).await.unwrap().run_id;
    tx.add_findings(run, &[FindingRow { vin: Some("V".into()), ..FindingRow::default() }]).await.unwrap();
    let notice = NewNotice {
        kind: "run_held",
        severity: "info",
        source_id: Some(dms.source_id),
        run_id: Some(run),
        sentence: "x",
        data: json!({}),
        once_key: None,
    };
    tx.add_notice(&notice).await.unwrap();
    tx.upsert_units(dms.source_id, run, &[says(dms.source_id, run, "car-1", "x")]).await.unwrap();
    tx.add_alias("vin-1", "car-1").await.unwrap();
    tx.set_edit(&edit("car-1", "price", json!(1))).await.unwrap();
    tx.add_history(&[event("car-1", "listed")]).await.unwrap();
    let job =
        NewJob { kind: "import", lane: "l", payload: json!({}), weight: 1, run_at: None, max_attempts: 1 };
    tx.enqueue(&job).await.unwrap();
    tx.commit().await.unwrap();
    // Its turn.
    let lease = std::time::Duration::from_secs(60);
    ground.store.claim_job(&["import"], "w", lease, 1).await.unwrap().unwrap();
    (dms.source_id, run)
}

async fn whole(ground: &Ground, tenant: TenantId) -> Vec<(&'static str, Vec<String>)> {
    let mut admin = ground.superuser().await;
    let mut all = Vec::new();
    for table in TABLES {
        let sql = format!("select t::text from {table} t where tenant_id = '{tenant}' order by 1");
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut admin).await.unwrap();
        assert!(!rows.is_empty(), "{table}");
        all.push((table, rows));
    }
    all
}

#[tokio::test]
async fn nothing_of_one_dealer_is_shown_to_or_changed_by_another() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    fill(&ground, a).await;
    let (of_b, run_of_b) = fill(&ground, b).await;
    let before = whole(&ground, b).await;

    // With the ids of the other, by every function that takes one.
    let mut tx = ground.store.tenant(a).await.unwrap();
    assert_eq!(tx.source(of_b).await.unwrap(), None);
    assert_eq!(tx.source_credentials(of_b).await.unwrap(), None);
    assert!(!tx.set_source_credentials(of_b, Some(b"x")).await.unwrap());
    assert!(!tx.delete_source(of_b).await.unwrap());
    assert_eq!(tx.run(run_of_b).await.unwrap(), None);
    assert_eq!(tx.runs(Some(of_b), 9, None).await.unwrap(), []);
    assert_eq!(tx.findings(run_of_b, store::FindingFilter::default(), None, 9).await.unwrap(), []);
    assert_eq!(tx.findings_about(Some("V"), None, 9).await.unwrap().len(), 1);
    assert_eq!(tx.notices(false, 9).await.unwrap().len(), 1);
    assert_eq!(tx.resolve_run_notices(run_of_b, None).await.unwrap(), 0);
    assert!(tx.unit_hashes(of_b).await.unwrap().is_empty());
    assert_eq!(tx.delete_units(of_b, &["car-1"]).await.unwrap(), 0);
    assert_eq!(tx.units_of(&["car-1"]).await.unwrap().len(), 1);
    assert_eq!(tx.history("car-1").await.unwrap().len(), 1);
    tx.clear_edit("car-1", "price").await.unwrap().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(whole(&ground, b).await, before);

    // By statements that forget the tenant or name the other, on a connection such as the pool's.
    let mut conn = app(&ground).await;
    for table in TABLES {
        let as_a = format!("begin; set local app.tenant = '{a}'");
        if table != "job_turns" {
            let sql = format!("select count(*) from {table}");
            let none: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut conn).await.unwrap();
            assert_eq!(none, 0, "{table} without a tenant");
            let mut tx = conn.begin_with(AssertSqlSafe(as_a.clone())).await.unwrap();
            let sql = format!("select count(*) from {table} where tenant_id <> '{a}'");
            let none: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *tx).await.unwrap();
            assert_eq!(none, 0, "{table} of others");
            tx.rollback().await.unwrap();
        }
        for write in [
            format!("delete from {table} where tenant_id = '{b}'"),
            format!("update {table} set tenant_id = '{a}' where tenant_id = '{b}'"),
            format!("insert into {table} select * from {table} where tenant_id = '{b}'"),
        ] {
            let mut tx = conn.begin_with(AssertSqlSafe(as_a.clone())).await.unwrap();
            match sqlx::query(AssertSqlSafe(write.clone())).execute(&mut *tx).await {
                Ok(done) => assert_eq!(done.rows_affected(), 0, "{write}"),
                // A right that the role does not have, or a column that is never written.
                Err(error) => {
                    let state = store::Error::from(error).sql_state();
                    assert!(matches!(state.as_deref(), Some("42501" | "428C9")), "{write}: {state:?}");
                }
            }
            tx.rollback().await.unwrap();
        }
    }
    // Claiming is the platform's.
    let claimed = sqlx::query("select * from claim_job(array['import'], 'x', interval '1 minute', 9)")
        .execute(&mut conn)
        .await
        .unwrap_err();
    assert_eq!(store::Error::from(claimed).sql_state().as_deref(), Some("42501"));
    assert_eq!(whole(&ground, b).await, before);
}

#[tokio::test]
async fn the_story_is_added_to_and_nothing_else() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    fill(&ground, tenant).await;
    let mut conn = app(&ground).await;
    for refused in [
        "update vehicle_history set new = ''",
        "delete from vehicle_history",
        "update feed_findings set code = ''",
        "delete from feed_runs",
        "delete from feed_sources",
        "update feed_notices set sentence = ''",
        "update jobs set owner = 'me'",
        "update feed_file_chunks set body = ''",
    ] {
        let begin = format!("begin; set local app.tenant = '{tenant}'");
        let mut tx = conn.begin_with(AssertSqlSafe(begin)).await.unwrap();
        let error = sqlx::query(AssertSqlSafe(refused.to_owned())).execute(&mut *tx).await.unwrap_err();
        assert_eq!(store::Error::from(error).sql_state().as_deref(), Some("42501"), "{refused}");
        tx.rollback().await.unwrap();
    }
}
