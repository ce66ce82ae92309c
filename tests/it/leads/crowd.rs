//! A thousand copies of one lead at two processes.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Process, check_answer, cluster, data_of, request_body};

use super::{dealer, lead, with};

const COPIES: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(90);

/// Sends copies of a lead at once to processes in turn; every answer's data.
async fn send(http: &reqwest::Client, nodes: &[String; 2], lead: &Value) -> Vec<Value> {
    let sent = (0..COPIES).map(|n| {
        let url = format!("{}/t/harbor/v3.0/a2a", nodes[n % 2]);
        let request = http.post(&url).json(&request_body(lead.clone()));
        tokio::spawn(async move {
            let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
            check_answer("/t/harbor/v3.0/a2a", &answer);
            data_of(&answer).clone()
        })
    });
    futures_util::future::join_all(sent).await.into_iter().map(|answer| answer.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_copies_at_two_processes_are_one_lead() {
    let database = cluster().fresh().await;
    let url = cluster().url(&database);
    let file = testkit::scratch("crowd").join("dealers.json");
    std::fs::write(&file, json!({"tenants": {"harbor": dealer(json!({}))}}).to_string()).unwrap();
    let mut command = Process::command(&["provision", file.to_str().unwrap()]);
    assert!(Process::output(command.env("DATABASE_URL", &url)).status.success());
    let mut processes = [0, 1].map(|_| {
        let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
        Process::spawn(command.env("DATABASE_URL", &url))
    });
    let nodes = [0, 1].map(|n| format!("http://{}", processes[n].ready(PATIENCE)));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    let mut admin = cluster().superuser(&database).await;

    let keyed = with(lead("keyed"), "idempotency_key", json!("k"));
    let answers = send(&http, &nodes, &keyed).await;
    assert_eq!((answers.len(), &answers[0]["status"]), (COPIES, &json!("received")));
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let leads: i64 = sqlx::query_scalar("select count(*) from leads").fetch_one(&mut admin).await.unwrap();
    assert_eq!(leads, 1);

    // Without a key all but one are duplicates of that one, and nothing that they say is new.
    let answers = send(&http, &nodes, &lead("keyless")).await;
    assert!(answers.iter().all(|answer| answer["lead_id"] == answers[0]["lead_id"]));
    assert_eq!(answers.iter().filter(|answer| answer["status"] == "received").count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["status"] == "duplicate").count(), COPIES - 1);
    let counts: (i64, i64) =
        sqlx::query_as("select (select count(*) from leads), (select count(*) from lead_notes)")
            .fetch_one(&mut admin)
            .await
            .unwrap();
    assert_eq!(counts, (2, 0));
    for process in &mut processes {
        process.signal(libc::SIGTERM);
        assert_eq!(process.wait(PATIENCE).code(), Some(0), "{:#?}", process.lines());
    }
}
