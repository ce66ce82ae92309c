//! Two processes under constant change, notices lost at random, one process killed: nothing is ever mixed.

use std::time::{Duration, Instant};

use serde_json::json;
use store::{Database, Store};
use testkit::{Process, cluster, scratch, soak};

use super::stage::{Seen, Stage, number_of_dealers};
use super::writing::{dealers, documents};

pub(super) fn slugs() -> Vec<String> {
    (0..number_of_dealers()).map(|number| format!("d{number}")).collect()
}

fn start(database: &Database) -> (Process, String) {
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
    command.args(["--public-origin", "http://127.0.0.1:65002", "--max-connections", "8"]);
    let mut process = Process::spawn(command.env("DATABASE_URL", cluster().url(database)));
    let address = process.ready(Duration::from_secs(90));
    (process, format!("http://{address}"))
}

pub(super) fn time() -> Duration {
    Duration::from_secs(soak(5) as u64)
}

pub(super) fn report(what: &str, seen: &Seen) {
    println!(
        "{what}: {} versions, {} answers, at most {:?} behind; walks ended and refused: {:?} at one change a second, \
         {:?} at ten",
        seen.versions, seen.answers, seen.worst, seen.slow, seen.quick
    );
    assert!(seen.versions > 20 && seen.answers > 20, "too little happened");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_mixed_late_or_going_back_on_two_nodes_of_which_one_is_killed() {
    let database = cluster().fresh().await;
    let slugs = slugs();
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    let folder = scratch("rush");
    let file = folder.join("dealers.json");
    std::fs::write(&file, json!({"tenants": documents(&slugs)}).to_string()).unwrap();
    let mut command = Process::command(&["provision", file.to_str().unwrap()]);
    let done = Process::output(command.env("DATABASE_URL", cluster().url(&database)));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let _ = std::fs::remove_dir_all(folder);

    let (first, mut second) = tokio::task::block_in_place(|| (start(&database), start(&database)));
    let store = Store::connect(&database, 2).await.unwrap();
    let dealers = dealers(&store, &slugs).await;
    let stage = Stage::new(dealers, [first.1.clone(), second.1.clone()]);
    let mut killed = 0;
    let mut kill_at = Instant::now() + Duration::from_millis(1_500);
    let play = std::sync::Arc::clone(&stage);
    let seen = play
        .plays(&database, time(), async || {
            if kill_at < Instant::now() {
                second = tokio::task::block_in_place(|| {
                    second.0.kill();
                    start(&database)
                });
                second.1.clone_into(&mut stage.nodes[1].write().unwrap());
                killed += 1;
                // Time enough to become late in.
                kill_at = Instant::now() + Duration::from_secs(15);
            }
        })
        .await;
    report(&format!("{killed} times killed"), &seen);
    assert!(killed > 0);
    assert!(seen.slow.0 > 3, "hardly a walk ended");
    assert!(seen.slow.1 * 20 <= seen.slow.0 + seen.slow.1, "too many walks were refused");
    drop((first, second));
}
