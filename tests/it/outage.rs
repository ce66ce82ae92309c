//! The database goes away while the platform serves: what is held is answered, up to the age limit, and it recovers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::Settings;
use testkit::{
    Options, OwnServer, Platform, Reply, Wire, aap_error, car, cluster, data_of, dealer_document,
    request_body,
};

/// How old data may be here; usually it is minutes.
const MAX_AGE: Duration = Duration::from_secs(8);
/// The longest that anybody may be kept waiting for a refusal.
const PROMPT: Duration = Duration::from_secs(20);

struct Watch {
    platform: Platform,
    wire: Wire,
}

impl Watch {
    /// A platform with one dealer that everybody asked and one that nobody asked yet.
    async fn on(server: &OwnServer) -> Watch {
        let settings = Settings { max_age: MAX_AGE, ..Settings::default() };
        let database = Some(server.database().clone());
        let platform = Platform::start_with(Options { settings, database }).await;
        let stock = json!([car("a", "Honda", "CR-V", 29_495), car("b", "Ford", "F-150", 61_200)]);
        let dealers =
            json!({"warm": dealer_document("Warm", stock.clone()), "cold": dealer_document("Cold", stock)});
        platform.provision(&dealers).await;
        let mut watch = Watch { wire: Wire::to(&platform.origin), platform };
        watch.serves("warm").await.expect("everything is there");
        watch
    }

    async fn get(&mut self, target: &str) -> Reply {
        let began = Instant::now();
        let reply = self.wire.send("GET", target, &[("host", "127.0.0.1")], b"").await;
        assert!(began.elapsed() < PROMPT, "{target} took {:?}", began.elapsed());
        reply
    }

    async fn call(&mut self, slug: &str, data: Value) -> Reply {
        let began = Instant::now();
        let headers = [("host", "127.0.0.1"), ("content-type", "application/json")];
        let body = request_body(data).to_string();
        let reply = self.wire.send("POST", &format!("/t/{slug}/a2a"), &headers, body.as_bytes()).await;
        assert!(began.elapsed() < PROMPT, "{body} took {:?}", began.elapsed());
        reply
    }

    /// Every skill and the card of a dealer; or the first thing that is not answered.
    async fn serves(&mut self, slug: &str) -> Result<(), String> {
        let card = self.get(&format!("/t/{slug}/.well-known/agent-card.json")).await;
        if card.status != 200 {
            return Err(format!("the card: {card:?}"));
        }
        for (data, pointer, wanted) in [
            (json!({"type": "inventory.search.request", "filters": {"make": ["honda"]}}), "/total", json!(1)),
            (json!({"type": "inventory.facets.request"}), "/makes/0/count", json!(1)),
            (json!({"type": "inventory.vehicle.request", "vehicle_id": "b"}), "/price", json!(61_200)),
            (
                json!({"type": "dealer.information.request"}),
                "/rooftops/0/timezone",
                json!("America/Los_Angeles"),
            ),
        ] {
            let reply = self.call(slug, data.clone()).await;
            if reply.status != 200 || reply.json().get("result").is_none() {
                return Err(format!("{data}: {} {}", reply.status, String::from_utf8_lossy(&reply.body)));
            }
            assert_eq!(data_of(&reply.json()).pointer(pointer), Some(&wanted), "{data}");
        }
        Ok(())
    }

    /// What holds from the first moment of an outage, for as long as the data is young enough.
    async fn goes_on(&mut self, gone: Instant) {
        let mut rounds = 0;
        while gone.elapsed() < MAX_AGE / 2 {
            self.serves("warm").await.expect("what is held is answered");
            for unknown in ["/t/nobody/.well-known/agent-card.json", "/t/nobody/a2a", "/v9/a2a"] {
                assert_eq!(self.get(unknown).await.status, 404, "{unknown}");
            }
            let ready = self.get("/readyz").await;
            assert_eq!(ready.status, 200, "{}", ready.json());
            rounds += 1;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(rounds > 3, "there was time for {rounds} rounds only");
    }

    /// Beyond the age limit nothing of a lot is claimed any more, and the load balancer hears of it.
    async fn gives_up(&mut self, gone: Instant) {
        while self.get("/readyz").await.status == 200 {
            assert!(gone.elapsed() < MAX_AGE + Duration::from_secs(10), "it is never too old");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // What was confirmed last was confirmed at most a moment before the outage.
        assert!(gone.elapsed() > MAX_AGE - Duration::from_secs(3), "given up after {:?}", gone.elapsed());
        let ready = self.get("/readyz").await;
        assert_eq!((ready.status, &ready.json()["status"]), (503, &json!("not ready")));
        for data in [
            json!({"type": "inventory.search.request"}),
            json!({"type": "inventory.facets.request"}),
            json!({"type": "inventory.vehicle.request", "vehicle_id": "b"}),
        ] {
            let answer = self.call("warm", data).await.json();
            let error = aap_error(&answer["error"]).unwrap_or_else(|| panic!("an AAP error: {answer}"));
            assert_eq!((&error["code"], &error["retryable"]), (&json!("INTERNAL_ERROR"), &json!(true)));
            assert!(
                error["error_id"].as_str().is_some_and(|id| answer["error"]["message"] != id),
                "{answer}"
            );
        }
        assert_eq!(self.get("/t/nobody/.well-known/agent-card.json").await.status, 404);
        assert_eq!(self.get("/healthz").await.status, 200);
    }

    /// A dealer that is not held can only be refused, and soon.
    async fn refuses_what_it_does_not_hold(&mut self) {
        let refused = self.call("cold", json!({"type": "inventory.search.request"})).await;
        assert_eq!(refused.status, 503, "{refused:?}");
        assert!(refused.header("retry-after").is_some());
    }

    /// All by itself, and what changes from now on is seen.
    async fn recovers(&mut self) {
        let began = Instant::now();
        for slug in ["warm", "cold"] {
            while let Err(why) = self.serves(slug).await {
                assert!(began.elapsed() < Duration::from_secs(40), "not back: {why}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        while self.get("/readyz").await.status != 200 {
            assert!(began.elapsed() < Duration::from_secs(40), "never ready again");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        println!("back after {:?}", began.elapsed());
        let stock = json!({"inventory": [car("c", "Kia", "EV6", 40_000)], "name": "Warmer"});
        self.platform.provision(&json!({ "warm": stock })).await;
        let answer = self.call("warm", json!({"type": "inventory.search.request"})).await.json();
        assert_eq!(data_of(&answer)["vehicles"][0]["vehicle_id"], "c");
        assert_eq!(self.platform.card("warm").await["name"], "Warmer");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_for_a_while() {
    let server = OwnServer::start("gone");
    let mut watch = Watch::on(&server).await;
    tokio::task::block_in_place(|| drop(server));
    let gone = Instant::now();
    watch.goes_on(gone).await;
    watch.gives_up(gone).await;
    watch.refuses_what_it_does_not_hold().await;
    let server = tokio::task::block_in_place(|| OwnServer::start("gone"));
    watch.recovers().await;
    watch.platform.stop().await;
    drop(server);
}

/// The server and all its processes.
fn processes(server: u32) -> Vec<i32> {
    let parent = |pid: i32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all = std::fs::read_dir("/proc").expect("Linux").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let own = i32::try_from(server).expect("a pid");
    numbers.filter(|pid| *pid == own || parent(*pid) == Some(server)).collect()
}

/// A server that does not move; it moves again when this is dropped, whatever happened meanwhile.
struct Frozen(Vec<i32>);

impl Frozen {
    fn freeze(server: &OwnServer) -> Frozen {
        // The server itself first, so that it starts no further process.
        send(i32::try_from(server.pid()).expect("a pid"), libc::SIGSTOP);
        let frozen = Frozen(processes(server.pid()));
        assert!(frozen.0.len() > 3, "{:?}", frozen.0);
        frozen.0.iter().for_each(|pid| send(*pid, libc::SIGSTOP));
        frozen
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.0.iter().for_each(|pid| send(*pid, libc::SIGCONT));
    }
}

fn send(pid: i32, signal: i32) {
    assert!(pid > 1);
    // SAFETY: processes of this test's own server, which lives.
    unsafe { libc::kill(pid, signal) };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_does_not_answer_for_a_while() {
    let server = OwnServer::start("frozen");
    let mut watch = Watch::on(&server).await;
    let frozen = Frozen::freeze(&server);
    let gone = Instant::now();
    watch.goes_on(gone).await;
    watch.gives_up(gone).await;
    watch.refuses_what_it_does_not_hold().await;
    drop(frozen);
    watch.recovers().await;
    watch.platform.stop().await;
    drop(server);
}

#[tokio::test]
async fn what_cannot_be_read_when_it_changes_is_read_as_soon_as_it_can_be() {
    let stock = json!([car("a", "Honda", "CR-V", 29_495)]);
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", stock)).await;
    let search = json!({"type": "inventory.search.request"});
    let seen = async || {
        let price = platform.call("harbor", search.clone()).await["vehicles"][0]["price"].clone();
        (platform.card("harbor").await["name"].clone(), price)
    };
    let before = (json!("Harbor"), json!(29_495));
    assert_eq!(seen().await, before);
    let mut admin = cluster().superuser(&platform.database).await;
    let mut run = async |sql: &'static str| {
        sqlx::raw_sql(sql).execute(&mut admin).await.expect(sql);
    };
    run("revoke select on vehicles, rooftops from forecourt_app").await;
    run("begin;
         update vehicles set row_version = row_version + 1, price_usd = 28000, listing = replace(listing, '29495', '28000');
         update tenant_inventory set version = version + 1;
         update cards set body = replace(body, 'Harbor', 'Haven');
         update tenants set name = 'Haven', revision = revision + 1;
         select pg_notify('forecourt_tenant', tenant_id::text) from tenants;
         select pg_notify('forecourt_inventory', tenant_id || ':' || version) from tenant_inventory;
         commit")
    .await;
    // Time enough for the notices and for some polls; nobody gets half of it.
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        assert_eq!(seen().await, before, "the former state is served");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    run("grant select on vehicles, rooftops to forecourt_app").await;
    let began = Instant::now();
    while seen().await != (json!("Haven"), json!(28_000)) {
        assert!(began.elapsed() < Duration::from_secs(10), "it was given up: {:?}", seen().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    platform.stop().await;
}
