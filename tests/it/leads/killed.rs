//! `kill -9` at random while leads come in: what was acknowledged is there, once.

use std::collections::HashMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use store::private::{Options, PrivatePg};
use testkit::{Process, check_answer, request_body, scratch, soak, superuser};

use super::{dealer, lead, with};

const SEED: u64 = 0x0dd1_ead5;
const CLIENTS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(120);

/// The lead of a number; every second one has a key.
fn numbered(number: usize, base: &Value) -> Value {
    let mut lead = base.clone();
    lead["customer"]["email"] = json!(format!("shopper-{number}@mail.example"));
    if number.is_multiple_of(2) {
        with(lead, "idempotency_key", json!(format!("key-{number}")))
    } else {
        lead
    }
}

/// What was acknowledged: the lead's id, if an answer came.
async fn send(http: &reqwest::Client, url: &str, lead: &Value) -> Option<String> {
    let response = http.post(url).json(&request_body(lead.clone())).send().await.ok()?;
    // While it starts, the platform says so by 503.
    let is_ready = response.status() == 200;
    let bytes = response.bytes().await.ok().filter(|_| is_ready)?;
    let answer: Value = serde_json::from_slice(&bytes).ok()?;
    check_answer("/t/harbor/v3.0/a2a", &answer);
    let data = answer.pointer("/result/message/parts/0/data/data");
    if data.is_none() {
        // Only what may be repeated is said while the database is away.
        assert_eq!(
            testkit::aap_error(&answer["error"]).expect("an AAP error")["retryable"],
            true,
            "{answer}"
        );
    }
    Some(data?["lead_id"].as_str().expect("an id").to_owned())
}

#[test]
fn every_acknowledged_lead_is_there_once() {
    let leads = soak(5_000);
    let kills = soak(6);
    let folder = scratch("leads");
    let data = folder.join("data");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let start = || {
        let listen = format!("127.0.0.1:{port}");
        let mut command =
            Process::command(&["up", "--listen", &listen, "--log", "warn,store=info,server=info"]);
        let mut process = Process::spawn(command.arg("--data-dir").arg(&data));
        process.ready(PATIENCE);
        process
    };
    let mut server = start();
    let file = folder.join("dealers.json");
    std::fs::write(&file, json!({"tenants": {"harbor": dealer(json!({}))}}).to_string()).expect("a file");
    let mut command = Process::command(&["provision", file.to_str().expect("a path")]);
    assert!(Process::output(command.arg("--data-dir").arg(&data)).status.success());
    let database = || {
        let mut options = Options::new(data.clone(), "a test");
        options.roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
        PrivatePg::adopt(&options).expect("the PostgreSQL of the platform")
    };

    let next = Arc::new(AtomicUsize::new(0));
    let done = Arc::new(AtomicUsize::new(0));
    let repeated = Arc::new(AtomicUsize::new(0));
    let acknowledged: Arc<Mutex<HashMap<usize, String>>> = Arc::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http =
        reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let url = format!("http://127.0.0.1:{port}/t/harbor/v3.0/a2a");
    let base = lead("nobody");
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (next, done, repeated) = (Arc::clone(&next), Arc::clone(&done), Arc::clone(&repeated));
            let (acknowledged, http, url, base) =
                (Arc::clone(&acknowledged), http.clone(), url.clone(), base.clone());
            runtime.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= leads {
                        return;
                    }
                    let lead = numbered(number, &base);
                    let began = Instant::now();
                    let id = loop {
                        if let Some(id) = send(&http, &url, &lead).await {
                            break id;
                        }
                        repeated.fetch_add(1, Ordering::Relaxed);
                        assert!(began.elapsed() < PATIENCE, "lead {number} is not taken");
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    };
                    acknowledged.lock().unwrap().insert(number, id);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();

    let mut random = StdRng::seed_from_u64(SEED);
    for kill in 0..kills {
        let part = leads / (kills + 1);
        let when = kill * part + random.random_range(1..part);
        while done.load(Ordering::Relaxed) < when {
            assert!(
                !clients.iter().all(|client| client.is_finished()),
                "seed {SEED:#x}: the clients gave up"
            );
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(Duration::from_micros(random.random_range(0..5_000)));
        if kill.is_multiple_of(2) {
            server.kill();
            server = start();
        } else {
            let pid = i32::try_from(database().pid()).expect("a pid");
            assert!(pid > 1);
            // SAFETY: the number of the server of this test's own platform, which runs.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            server.wait_for("PostgreSQL runs again", PATIENCE);
            server.forget_lines();
        }
    }
    runtime.block_on(async {
        for client in clients {
            client.await.expect("no client gave up");
        }
        let database = database();
        let mut admin = superuser(database.socket_dir(), database.port(), "forecourt").await;
        let stored: Vec<(String, String)> =
            sqlx::query_as("select request::json #>> '{customer,email}', 'lead_' || replace(lead_id::text, '-', '') from leads")
                .fetch_all(&mut admin)
                .await
                .expect("the database is whole");
        assert_eq!(stored.len(), leads, "seed {SEED:#x}: lost or doubled");
        let stored: HashMap<String, String> = stored.into_iter().collect();
        let acknowledged = acknowledged.lock().unwrap().clone();
        assert_eq!((stored.len(), acknowledged.len()), (leads, leads), "seed {SEED:#x}");
        for (number, id) in &acknowledged {
            let known = stored.get(&format!("shopper-{number}@mail.example"));
            assert_eq!(known, Some(id), "seed {SEED:#x}: lead {number}");
        }
        let notes: i64 = sqlx::query_scalar("select count(*) from lead_notes").fetch_one(&mut admin).await.expect("a number");
        assert_eq!(notes, 0, "what is sent again says nothing new");
        // Sent again with its key, a lead is the same one still.
        for number in (0..leads).step_by(2).take(100) {
            let id = send(&http, &url, &numbered(number, &base)).await;
            assert_eq!(id.as_ref(), acknowledged.get(&number), "seed {SEED:#x}: lead {number}");
        }
    });
    println!("{} requests had to be sent again", repeated.load(Ordering::Relaxed));
    server.signal(libc::SIGTERM);
    server.wait(PATIENCE);
    let _ = std::fs::remove_dir_all(&folder);
}
