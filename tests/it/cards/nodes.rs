//! Cards on several nodes, while they change, without notices, and over restarts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dealer::Origin;
use serde_json::{Value, json};
use server::Settings;
use sqlx::{AssertSqlSafe, PgConnection, Row};
use testkit::{Options, Platform, Wire, car, cluster, dealer_document};

use super::{id_of, look};

const ORIGIN: &str = "http://127.0.0.1:65000";

fn at(origin: &str, platform_domain: Option<&str>) -> Settings {
    let public_origin = Some(Origin::parse(origin).expect("an origin"));
    Settings { public_origin, platform_domain: platform_domain.map(str::to_owned), ..Settings::default() }
}

async fn node(settings: Settings, beside: Option<&Platform>) -> Platform {
    let database = beside.map(|platform| platform.database.clone());
    Platform::start_with(Options { database, settings }).await
}

/// The card's name and id, as a client gets them; `None` where nothing is served.
async fn card(wire: &mut Wire, slug: &str) -> Option<(String, String)> {
    let target = format!("/t/{slug}/.well-known/agent-card.json");
    let reply = wire.send("GET", &target, &[("host", "127.0.0.1")], b"").await;
    if reply.status != 200 {
        return None;
    }
    let card = reply.json();
    assert_eq!(
        reply.header("etag"),
        Some(format!("\"{}\"", id_of(&card)).as_str()),
        "tag and card belong together"
    );
    Some((card["name"].as_str().expect("a name").to_owned(), id_of(&card)))
}

/// Waits until a node serves what is expected; how long that took.
async fn until(wire: &mut Wire, slug: &str, wanted: impl Fn(&Option<(String, String)>) -> bool) -> Duration {
    let began = Instant::now();
    loop {
        let served = card(wire, slug).await;
        if wanted(&served) {
            return began.elapsed();
        }
        assert!(began.elapsed() < Duration::from_secs(10), "a node does not learn of a change: {served:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_card_changes_every_reader_sees_one_card_whole_and_none_goes_back() {
    let first = node(at(ORIGIN, None), None).await;
    let second = node(at(ORIGIN, None), Some(&first)).await;
    first.provision(&json!({"harbor": dealer_document("Harbor 0", json!([]))})).await;
    second.catch_up().await;
    let changes = testkit::soak(60);
    let finished = AtomicBool::new(false);

    let changing = async {
        for change in 1..=changes {
            let document = json!({"harbor": {"name": format!("Harbor {change}")}});
            let outcomes = first.try_provision(&document).await;
            assert!(matches!(outcomes[0].1, Ok("updated")), "{outcomes:?}");
        }
        // The last one must be seen by everybody who still looks.
        tokio::time::sleep(Duration::from_secs(2)).await;
        finished.store(true, Ordering::Relaxed);
    };
    let through_http = async |origin: &str| {
        let mut wire = Wire::to(origin);
        let mut last = (String::new(), String::new());
        let mut different = 0;
        while !finished.load(Ordering::Relaxed) {
            let seen = card(&mut wire, "harbor").await.expect("it is served throughout");
            assert!(seen.1 >= last.1, "an old card came back: {seen:?} after {last:?}");
            assert_eq!(seen.1 == last.1, seen.0 == last.0, "{seen:?} after {last:?}");
            different += usize::from(seen.1 != last.1);
            last = seen;
            tokio::task::yield_now().await;
        }
        assert_eq!(last.0, format!("Harbor {changes}"));
        different
    };
    let in_the_database = async {
        let mut admin = cluster().superuser(&first.database).await;
        let mut looks = 0;
        while !finished.load(Ordering::Relaxed) {
            // One statement sees one state: what belongs together must be together in it.
            let row = sqlx::query(
                "select t.name, t.revision, c.body, c.params_id::text as id, c.revision as card_revision,
                        (select count(*) from card_revisions r where r.tenant_id = t.tenant_id and r.contract = 'v3.0') as lines,
                        (select r.body || r.params_id from card_revisions r where r.tenant_id = t.tenant_id and r.contract = 'v3.0'
                         order by r.revision desc limit 1) as newest
                 from tenants t join cards c on c.tenant_id = t.tenant_id and c.contract = 'v3.0'",
            )
            .fetch_one(&mut admin)
            .await
            .expect("one dealer");
            let (name, body, id): (String, String, String) =
                (row.get("name"), row.get("body"), row.get("id"));
            let parsed: Value = serde_json::from_str(&body).expect("a card");
            assert_eq!((parsed["name"].as_str(), id_of(&parsed)), (Some(name.as_str()), id.clone()));
            assert_eq!(row.get::<String, _>("newest"), format!("{body}{id}"));
            assert_eq!(row.get::<i64, _>("lines"), i64::from(row.get::<i32, _>("card_revision")));
            assert_eq!(row.get::<i64, _>("revision"), row.get::<i64, _>("lines"), "one change each");
            looks += 1;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        looks
    };
    let ((), a, b, looks) =
        tokio::join!(changing, through_http(&first.origin), through_http(&second.origin), in_the_database);
    println!("{changes} cards: {a} seen on one node, {b} on the other, {looks} looks behind");
    assert!(a > 5 && b > 5 && looks > 20);
    first.stop().await;
    second.stop().await;
}

const LISTENERS: &str = "from pg_stat_activity where datname = current_database() and query ilike 'listen%'";

async fn run(admin: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(admin).await.expect(sql);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_keeps_losing_its_notices_learns_of_every_change() {
    let first = node(at(ORIGIN, None), None).await;
    let second = node(at(ORIGIN, None), Some(&first)).await;
    first.provision(&json!({"harbor": dealer_document("Harbor", json!([]))})).await;
    second.catch_up().await;
    let mut wire = Wire::to(&second.origin);

    let mut heard = Vec::new();
    for change in 0..5 {
        let name = format!("Heard {change}");
        first.try_provision(&json!({"harbor": {"name": name}})).await;
        heard.push(until(&mut wire, "harbor", |card| card.as_ref().is_some_and(|card| card.0 == name)).await);
    }
    println!("with notices after {heard:?}");
    assert!(median(&mut heard) < Duration::from_secs(1), "{heard:?}");

    let mut admin = cluster().superuser(&first.database).await;
    let finished = AtomicBool::new(false);
    let mut killer = cluster().superuser(&first.database).await;
    let killing = async {
        let mut killed: i64 = 0;
        while !finished.load(Ordering::Relaxed) {
            let sql = format!("select count(*) filter (where pg_terminate_backend(pid)) {LISTENERS}");
            let row = sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).fetch_one(&mut killer).await;
            killed += row.expect("the administrator may do that");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        killed
    };
    let changing = async {
        let mut times = Vec::new();
        for change in 0..6 {
            let name = format!("Unheard {change}");
            first.try_provision(&json!({"harbor": {"name": name}})).await;
            times.push(
                until(&mut wire, "harbor", |card| card.as_ref().is_some_and(|card| card.0 == name)).await,
            );
        }
        finished.store(true, Ordering::Relaxed);
        times
    };
    let (killed, mut times) = tokio::join!(killing, changing);
    println!("with {killed} lost connections after {times:?}");
    assert!(killed > 3, "nobody listened");
    assert!(median(&mut times) < Duration::from_millis(1500), "{times:?}");

    // And where no notice was ever sent: the numbers alone tell.
    let mut silent = Vec::new();
    for served in [false, true, false, true] {
        let state = if served { "active" } else { "suspended" };
        run(&mut admin, &format!("update tenants set state = '{state}', revision = revision + 1")).await;
        silent.push(until(&mut wire, "harbor", |card| card.is_some() == served).await);
    }
    println!("without notices after {silent:?}");
    assert!(median(&mut silent) < Duration::from_millis(1500), "{silent:?}");
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn a_lot_that_changed_without_a_notice_is_read_anew() {
    let platform =
        Platform::with_dealer("harbor", dealer_document("Harbor", json!([car("a", "Kia", "EV6", 40_000)])))
            .await;
    let search = json!({"type": "inventory.search.request"});
    assert_eq!(platform.call("harbor", search.clone()).await["vehicles"][0]["price"], 40_000);
    let mut admin = cluster().superuser(&platform.database).await;
    run(
        &mut admin,
        "begin; update vehicles set row_version = row_version + 1, price_usd = 39000, listing = replace(listing, '40000', '39000');
         update tenant_inventory set version = version + 1; commit",
    )
    .await;
    let began = Instant::now();
    while platform.call("harbor", search.clone()).await["vehicles"][0]["price"] != 39_000 {
        assert!(began.elapsed() < Duration::from_secs(10), "the lot is not read anew");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("without a notice after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(3));
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_addresses_at_a_start_render_every_card_once_and_the_same_ones_none() {
    let mut platform = node(at("https://dealers.example", None), None).await;
    let documents = json!({
        "harbor": dealer_document("Harbor", json!([])),
        "owner": {"name": "Owner", "rooftops": [{"name": "One"}], "domains": ["agent.owner.example"]},
        "asleep": {"name": "Asleep", "rooftops": [{"name": "One"}], "state": "suspended"},
    });
    platform.provision(&documents).await;
    let url = |seen: &super::Seen| seen.card["supportedInterfaces"][0]["url"].as_str().unwrap().to_owned();
    let mut before = look(&platform, "harbor").await;
    let owner = look(&platform, "owner").await;
    assert_eq!(url(&before), "https://dealers.example/t/harbor/v3.0/a2a");
    assert_eq!(url(&owner), "https://agent.owner.example/v3.0/a2a");

    let starts = [
        ("https://dealers.example", None, None),
        ("https://cars.example", None, Some("https://cars.example/t/harbor/v3.0/a2a")),
        ("https://cars.example", None, None),
        ("https://cars.example", Some("cars.example"), Some("https://harbor.cars.example/v3.0/a2a")),
        ("https://cars.example", Some("cars.example"), None),
        ("https://dealers.example", None, Some("https://dealers.example/t/harbor/v3.0/a2a")),
    ];
    for (origin, domain, changed) in starts {
        let database = Some(platform.database.clone());
        platform.stop().await;
        // Two at once, as in a roll-out: only one of them finds anything to do.
        let (one, two) = tokio::join!(
            Platform::start_with(Options { database: database.clone(), settings: at(origin, domain) }),
            Platform::start_with(Options { database, settings: at(origin, domain) })
        );
        two.stop().await;
        platform = one;
        platform.catch_up().await;
        let after = look(&platform, "harbor").await;
        match changed {
            None => assert_eq!(after, before, "{origin} {domain:?}"),
            Some(address) => {
                assert_eq!(url(&after), address);
                assert_ne!(after.id, before.id);
                assert_eq!(after.history[1..], before.history[..], "rendered once");
                let why = (after.history[0].cause.as_str(), after.history[0].actor.as_str());
                assert_eq!(why, ("addresses or build changed", "platform"));
            }
        }
        before = after;
    }
    // The canonical address of one with a domain of its own is not the platform's; only its page is.
    let after = look(&platform, "owner").await;
    assert_eq!(url(&after), url(&owner));

    // A dealer that nobody saw in the meantime has the right card the moment it is seen again.
    let database = Some(platform.database.clone());
    platform.stop().await;
    let platform =
        Platform::start_with(Options { database, settings: at("https://late.example", None) }).await;
    platform.provision(&json!({"asleep": {"state": "active"}})).await;
    let awake = look(&platform, "asleep").await;
    assert_eq!(url(&awake), "https://late.example/t/asleep/v3.0/a2a");
    assert_eq!(awake.history[0].cause, "addresses or build changed");
    platform.stop().await;
}
