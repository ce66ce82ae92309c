//! Dealers with the same ids, asked at once in every way that could lead to the wrong one: nothing crosses.

mod dealers;
mod tries;
mod ways;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use server::Settings;
use testkit::{Options, Platform, Wire, request_body, soak};

use self::dealers::{ACTIVE, documents, interface_tenant, mark};
use self::tries::{Cursors, Intruder};

const SEED: u64 = 0x150_1a7e;
const AT_ONCE: usize = 8;

/// Nodes of one platform have one public origin.
fn settings() -> Settings {
    let origin = dealer::Origin::parse("http://127.0.0.1:65000").expect("an origin");
    Settings { public_origin: Some(origin), ..Settings::default() }
}

async fn two_nodes() -> (Platform, Platform) {
    let first = Platform::start_with(Options { settings: settings(), ..Options::default() }).await;
    let database = Some(first.database.clone());
    let second = Platform::start_with(Options { settings: settings(), database }).await;
    (first, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_crosses_from_one_dealer_to_another() {
    let (first, second) = two_nodes().await;
    first.provision(&documents()).await;
    second.catch_up().await;
    let mut tags = Vec::new();
    for dealer in 0..ACTIVE {
        let target = format!("/t/{}/v3.0/.well-known/agent-card.json", mark(dealer));
        let reply = Wire::to(&second.origin).send("GET", &target, &[("host", "127.0.0.1")], b"").await;
        tags.push(reply.header("etag").expect("a tag").to_owned());
    }
    let tags = Arc::new(tags);
    let cursors = Cursors::default();
    let tries = soak(10_000);

    // Meanwhile lots change again and again, so that snapshots are replaced under those who search them.
    let finished = AtomicBool::new(false);
    let changing = async {
        let mut mileage = 100;
        // Not more often than nodes hold versions for those who still have a cursor.
        while !finished.load(Ordering::Relaxed) && mileage < 100 + 20 * ACTIVE {
            mileage += 1;
            let dealer = mileage % ACTIVE;
            let outcomes =
                first.try_provision(&json!({ mark(dealer): dealers::document(dealer, mileage) })).await;
            assert!(matches!(outcomes[0].1, Ok("updated")), "{outcomes:?}");
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        mileage - 100
    };
    let began = Instant::now();
    let trying = async {
        let mut running = Vec::new();
        for number in 0..AT_ONCE {
            let node = number % 2;
            let mut intruder = Intruder {
                wire: Wire::to([&first.origin, &second.origin][node]),
                node,
                random: StdRng::seed_from_u64(SEED + number as u64),
                cursors: Arc::clone(&cursors),
                tags: Arc::clone(&tags),
                name: format!("seed {SEED:#x}, intruder {number}"),
            };
            running.push(tokio::spawn(async move {
                for _ in 0..tries / AT_ONCE {
                    intruder.once().await;
                }
            }));
        }
        for one in running {
            one.await.expect("nothing crosses");
        }
        finished.store(true, Ordering::Relaxed);
    };
    let ((), changes) = tokio::join!(trying, changing);
    println!("{tries} tries and {changes} changes of lots in {:?}", began.elapsed());
    first.stop().await;
    second.stop().await;
}

/// What a node answers at every address of a dealer: whether it is served there.
async fn served(wire: &mut Wire, dealer: usize) -> Vec<bool> {
    let mut body = request_body(json!({"type": "inventory.search.request", "pagination": {"limit": 1}}));
    let mut served = Vec::new();
    let domain = dealers::domain(dealer);
    let by_host = format!("{}.localhost", mark(dealer));
    let by_path = format!("/t/{}/a2a", mark(dealer));
    for (target, host) in [("/a2a", &domain), ("/a2a", &by_host), (by_path.as_str(), &"127.0.0.1".to_owned())]
    {
        body["params"]["tenant"] = interface_tenant(dealer).map_or(Value::Null, Value::from);
        let headers = [("host", host.as_str()), ("content-type", "application/json")];
        let reply = wire.send("POST", target, &headers, body.to_string().as_bytes()).await;
        served.push(reply.status == 200);
        let card = target.replace("a2a", ".well-known/agent-card.json");
        served.push(wire.send("GET", &card, &headers[..1], b"").await.status == 200);
    }
    body["params"]["tenant"] = mark(dealer).into();
    let headers = [("host", "127.0.0.1"), ("content-type", "application/json")];
    let reply = wire.send("POST", "/v3.0/a2a", &headers, body.to_string().as_bytes()).await;
    served.push(reply.json().get("result").is_some());
    served
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dealer_that_is_switched_off_or_on_is_so_on_every_node_within_a_second() {
    let (first, second) = two_nodes().await;
    first.provision(&documents()).await;
    second.catch_up().await;
    let (dealer, bystander) = (1, 2);
    let mut wires = [Wire::to(&first.origin), Wire::to(&second.origin)];
    for wire in &mut wires {
        assert_eq!(served(wire, dealer).await, [true; 7]);
    }
    let mut times = Vec::new();
    for state in ["suspended", "active", "removed", "active", "suspended", "removed", "active"] {
        first.try_provision(&json!({ mark(dealer): {"state": state} })).await;
        let switched = Instant::now();
        let expected = [state == "active"; 7];
        for wire in &mut wires {
            while served(wire, dealer).await != expected {
                assert!(switched.elapsed() < Duration::from_secs(10), "still not {state}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            times.push(switched.elapsed());
            // It does not come back, at no address and by no connection.
            for _ in 0..3 {
                assert_eq!(served(wire, dealer).await, expected, "{state}, and then not");
            }
            assert_eq!(served(wire, bystander).await, [true; 7], "others are not touched");
        }
    }
    times.sort_unstable();
    println!("switched after {times:?}");
    // A busy machine may once make a node wait; it is not the rule.
    assert!(times[times.len() / 2] < Duration::from_secs(1), "{times:?}");
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn only_a_trusted_proxy_says_for_whom_it_asks_and_only_by_its_own_word() {
    let trusted_proxies = api::TrustedProxies::parse("127.0.0.1").expect("a network");
    let settings = Settings { trusted_proxies, ..settings() };
    let trusting = Platform::start_with(Options { settings, ..Options::default() }).await;
    trusting.provision(&documents()).await;
    let database = Some(trusting.database.clone());
    let wary = Platform::start_with(Options { settings: self::settings(), database }).await;

    let (mine, theirs) = (dealers::domain(0), dealers::domain(1));
    let name = async |node: &Platform, headers: &[(&str, &str)]| {
        let target = "/.well-known/agent-card.json";
        let reply = Wire::to(&node.origin).send("GET", target, headers, b"").await;
        (reply.status == 200).then(|| reply.json()["name"].clone())
    };
    let is = |dealer: usize| Some(json!(format!("Dealer {}", mark(dealer))));
    // What the client said stands first, the proxy's own word last, on one line or on several.
    for forwarded in [
        vec![("x-forwarded-host", mine.as_str())],
        vec![("x-forwarded-host", theirs.as_str()), ("x-forwarded-host", mine.as_str())],
    ] {
        let headers = [vec![("host", "127.0.0.1")], forwarded].concat();
        assert_eq!(name(&trusting, &headers).await, is(0), "{headers:?}");
        assert_eq!(name(&wary, &headers).await, None, "{headers:?}");
    }
    let both = format!("{theirs}, {mine}");
    let headers = [("host", theirs.as_str()), ("x-forwarded-host", both.as_str())];
    assert_eq!(name(&trusting, &headers).await, is(0));
    assert_eq!(name(&wary, &headers).await, is(1));
    trusting.stop().await;
    wary.stop().await;
}
