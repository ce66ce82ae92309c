//! The same on nodes that have hardly any memory for lots, of a database that loses former versions: walks may end
//! early, and that is all.

use std::time::{Duration, Instant};

use server::Settings;
use testkit::{Options, Platform, cluster};

use super::rush::{report, slugs, time};
use super::stage::Stage;
use super::writing::{dealers, documents};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_mixed_late_or_going_back_with_little_memory_and_former_versions_lost() {
    let slugs = slugs();
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    // A few lots fit.
    let small = || Settings { cache_bytes: 600 * 1024, ..Settings::default() };
    let first = Platform::start_with(Options { settings: small(), ..Options::default() }).await;
    first.provision(&documents(&slugs)).await;
    let database = first.database.clone();
    let second = Platform::start_with(Options { settings: small(), database: Some(database.clone()) }).await;
    let dealers = dealers(first.application().store(), &slugs).await;
    let stage = Stage::new(dealers, [first.origin.clone(), second.origin.clone()]);
    let mut admin = cluster().superuser(&database).await;
    let mut lose_at = Instant::now() + Duration::from_millis(1_500);
    let mut lost = 0;
    let seen = stage
        .plays(&database, time(), async || {
            if lose_at < Instant::now() {
                // As after a crash of the database, and as they are cleared away in time.
                let sql = if lost % 2 == 0 {
                    "delete from superseded_vehicles; delete from inventory_versions"
                } else {
                    "with gone as (delete from inventory_versions v using tenant_inventory i
                         where i.tenant_id = v.tenant_id and v.version < i.version - 5
                         returning v.tenant_id, v.version)
                     delete from superseded_vehicles s using gone
                     where s.tenant_id = gone.tenant_id and s.replaced_by = gone.version"
                };
                sqlx::raw_sql(sql).execute(&mut admin).await.unwrap();
                lost += 1;
                lose_at = Instant::now() + Duration::from_millis(700);
            }
        })
        .await;
    report(&format!("{lost} times lost"), &seen);
    for node in [first, second] {
        let counts = node.application().dealer().figures().counts;
        println!("{counts:?}");
        node.stop().await;
    }
}
