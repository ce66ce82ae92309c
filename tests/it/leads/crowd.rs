//! A thousand copies of one lead at two processes.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgConnection;
use testkit::{Platform, Process, check_answer, cluster, data_of, request_body};

use super::{ahead, behind, dealer, lead, platform, visit, with};

const COPIES: usize = 1000;
const AT_THE_GATE: usize = 40;
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

/// Counts how often the database is asked for the turn of a lead.
const COUNTING: &str = "
    create sequence turns_taken;
    alter function lead_turn rename to lead_turn_itself;
    create function lead_turn(a uuid, b bigint[], c text, d bytea, e bytea, f bytea, g bytea, h timestamptz, i timestamptz)
        returns table (known_hash bytea, known_answer text, earlier_lead uuid, earlier_caller text)
        language plpgsql security definer set search_path = forecourt, pg_temp
        as $$ begin
            perform nextval('turns_taken');
            return query select * from lead_turn_itself(a, b, c, d, e, f, g, h, i);
        end $$;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_that_wait_are_told_and_ask_the_database_for_nothing() {
    let platform = platform(json!({})).await;
    let mut admin = behind(&platform).await;
    sqlx::raw_sql("set search_path = forecourt").execute(&mut admin).await.unwrap();
    sqlx::raw_sql(COUNTING).execute(&mut admin).await.unwrap();
    let wish = |lead: Value, hour| with(lead, "appointment", visit("sales", ahead(3, hour, 0)));
    let kinds: [(&str, &dyn Fn(Value) -> Value); 4] = [
        ("plain", &|lead| lead),
        ("free", &|lead| wish(lead, 11)),
        ("taken", &|lead| wish(lead, 11)),
        ("keyed", &|lead| wish(lead, 15)),
    ];
    for (kind, of) in kinds {
        // What comes after the answer asks again where that may have changed; a busy machine may bring all of them
        // so late.
        let mut turns = Vec::new();
        while turns.last().is_none_or(|last| *last > 6) {
            assert!(turns.len() < 6, "{turns:?} turns for {AT_THE_GATE} copies, {kind}");
            let copied = of(lead(&format!("{kind}-{}", turns.len())));
            let key = json!(format!("k{}", turns.len()));
            let copied = if kind == "keyed" { with(copied, "idempotency_key", key) } else { copied };
            turns.push(at_the_gate(&platform, &mut admin, copied).await);
        }
    }
}

/// Sends copies of a lead while nothing can be stored, and looks at what they are answered; how many turns that took.
async fn at_the_gate(platform: &Platform, admin: &mut PgConnection, copied: Value) -> i64 {
    let turns = "select case when is_called then last_value else 0 end from turns_taken";
    let before: i64 = sqlx::query_scalar(turns).fetch_one(&mut *admin).await.unwrap();
    let mut gate = behind(platform).await;
    sqlx::raw_sql("begin; lock table forecourt.leads in exclusive mode").execute(&mut gate).await.unwrap();
    let asking = platform.ask("harbor", copied.clone());
    let sent: Vec<_> = (0..AT_THE_GATE)
        .map(|_| {
            let asking = asking.clone();
            tokio::spawn(async move { asking.result().await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(2000)).await;
    sqlx::raw_sql("commit").execute(&mut gate).await.unwrap();
    let mut answers: Vec<Value> = Vec::new();
    for answer in futures_util::future::join_all(sent).await {
        answers.push(answer.unwrap());
    }
    let after: i64 = sqlx::query_scalar(turns).fetch_one(&mut *admin).await.unwrap();
    let received = answers.iter().filter(|answer| answer["status"] == "received").count();
    assert_eq!(received, if copied.get("idempotency_key").is_some() { AT_THE_GATE } else { 1 });
    let but_the_status = |answer: &Value| with(answer.clone(), "status", Value::Null);
    let first = but_the_status(&answers[0]);
    assert!(answers.iter().all(|answer| but_the_status(answer) == first), "{answers:?}");
    // What they were told is what is answered now.
    let now = asking.result().await;
    assert!(answers.contains(&now), "{now}");
    after - before
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
