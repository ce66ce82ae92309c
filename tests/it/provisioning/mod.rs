//! Bringing dealers in: every problem at its place, all or nothing, the same document twice, lots as a whole.

mod command;
mod lots;
mod many;
mod problems;
mod races;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};
use testkit::{Platform, cluster};

const TENANT_TABLES: [&str; 7] =
    ["tenants", "rooftops", "cards", "card_revisions", "tenant_inventory", "vehicles", "removed_vehicles"];
const PLATFORM_TABLES: [&str; 2] = ["tenant_slugs", "tenant_domains"];

/// Every row of every table, with the transaction that wrote it: equal only if nothing was written.
async fn everything(platform: &Platform) -> Vec<String> {
    let mut admin = cluster().superuser(&platform.database).await;
    let mut rows = Vec::new();
    for table in TENANT_TABLES.into_iter().chain(PLATFORM_TABLES) {
        let sql = format!("select '{table} ' || xmin || ' ' || t::text as row from {table} t order by 1");
        let all = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut admin).await.expect(table);
        rows.extend(all.iter().map(|row| row.get::<String, _>("row")));
    }
    rows
}

/// The pointers of the problems of one dealer, sorted; panics if there are none.
fn pointers(outcome: &Result<&'static str, Vec<String>>) -> Vec<String> {
    let problems = outcome.as_ref().expect_err("problems were expected");
    let pointer = |problem: &String| problem.split_once(": ").expect("a pointer and a sentence").0.to_owned();
    let mut pointers: Vec<String> = problems.iter().map(pointer).collect();
    pointers.sort_unstable();
    pointers
}

/// The outcome of a document about one dealer.
async fn provision_one(platform: &Platform, slug: &str, body: Value) -> Result<&'static str, Vec<String>> {
    let mut outcomes = platform.try_provision(&json!({ slug: body })).await;
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].0, slug);
    outcomes.remove(0).1
}

/// What the stored dealers look like to a document that wants nothing: unchanged, or something stored does not
/// agree with the rest (a card rendered from what is not there, above all).
async fn is_consistent(platform: &Platform, slugs: &[&str]) {
    for slug in slugs {
        assert_eq!(provision_one(platform, slug, json!({})).await, Ok("unchanged"), "{slug}");
    }
}
