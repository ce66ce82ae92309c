//! `kill -9` of whatever runs, at random moments: afterwards every card and every lot is the old or the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};
use store::private::{Options, PrivatePg};
use testkit::{Process, Wire, data_of, request_body, scratch, soak, superuser, try_superuser};
use tokio::runtime::Runtime;

const SEED: u64 = 0xdead_c0de;
const DEALERS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(120);

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    /// The platform; its PostgreSQL ends with it.
    Server,
    /// `forecourt provision`.
    Command,
    /// The PostgreSQL of the platform, and none of its sessions with it.
    Postmaster,
    /// The platform while it renders all cards for another address.
    Rendering,
}

/// A platform in a folder of its own, as an operator runs it.
struct Site {
    folder: PathBuf,
    port: u16,
    origin: usize,
    server: Option<Process>,
    runtime: Runtime,
}

/// What is stored of a dealer: the version of its document, and how often its card changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    version: usize,
    card_revision: i32,
}

fn slug(dealer: usize) -> String {
    format!("dealer-{dealer}")
}

/// How many units a lot has in a version.
fn units(dealer: usize, version: usize) -> usize {
    20 + (dealer + 3 * version) % 11
}

fn document(version: usize) -> Value {
    let tenants: Value = (0..DEALERS)
        .map(|dealer| {
            let unit = |n: usize| {
                json!({"vehicle_id": format!("u-{n}"), "status": "available", "make": format!("V{version}"),
                    "price": 1000 * version + n, "description": "Words that take some room. ".repeat(20)})
            };
            let body = json!({
                "name": format!("Dealer {dealer}, version {version}"),
                "rooftops": [{"name": "One", "address": {"city": format!("City {version}")}}],
                "inventory": (0..units(dealer, version)).map(unit).collect::<Vec<_>>(),
            });
            (slug(dealer), body)
        })
        .collect();
    json!({ "tenants": tenants })
}

impl Site {
    fn new() -> Site {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Site { folder: scratch("crash"), port, origin: 0, server: None, runtime }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn spawn_server(&self) -> Process {
        let listen = format!("127.0.0.1:{}", self.port);
        let origin = format!("https://site-{}.example", self.origin);
        let mut command =
            Process::command(&["up", "--listen", &listen, "--public-origin", &origin, "--log", "info"]);
        Process::spawn(command.arg("--data-dir").arg(self.data()))
    }

    /// Starts the platform and waits until it is ready.
    fn start(&mut self) {
        let mut server = self.spawn_server();
        server.ready(PATIENCE);
        self.server = Some(server);
    }

    fn provision(&self, version: usize) -> Process {
        let file = self.folder.join(format!("{version}.json"));
        std::fs::write(&file, document(version).to_string()).expect("a file");
        let mut command = Process::command(&["provision", "--log", "warn"]);
        Process::spawn(command.arg(file).arg("--data-dir").arg(self.data()))
    }

    fn database(&self) -> PrivatePg {
        let mut options = Options::new(self.data(), "a test");
        options.roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
        PrivatePg::adopt(&options).expect("the PostgreSQL of the platform")
    }

    /// Reads everything that is stored and checks that it belongs together. Waits for a server that starts anew.
    fn stored(&self, context: &str) -> BTreeMap<String, Stored> {
        let database = self.database();
        assert!(database.is_adopted(), "the platform runs its PostgreSQL. {context}");
        let (socket_dir, port) = (database.socket_dir().to_owned(), database.port());
        let rows = self.runtime.block_on(async {
            let mut admin = superuser(&socket_dir, port, "forecourt").await;
            // A session of a killed command may still be at its last statement; whatever that leads to.
            let writing = "select count(*) from pg_stat_activity where backend_xid is not null";
            while sqlx::query_scalar::<_, i64>(writing).fetch_one(&mut admin).await.expect("an answer") > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            sqlx::query(
                "select t.slug, t.name, i.version as lot_version, c.body, c.params_id::text as id, c.revision,
                        (select r.body || r.params_id::text || r.revision from card_revisions r
                         where r.tenant_id = t.tenant_id and r.contract = c.contract
                         order by r.revision desc limit 1) as newest,
                        (select count(*) from card_revisions r
                         where r.tenant_id = t.tenant_id and r.contract = c.contract) as lines,
                        (select array_agg(distinct v.make || ' ' || (v.listing::json->>'make') || ' ' ||
                                          (v.price_usd / 1000)) from vehicles v where v.tenant_id = t.tenant_id) as makes,
                        (select count(*) from vehicles v where v.tenant_id = t.tenant_id) as units,
                        (select max(v.row_version) from vehicles v where v.tenant_id = t.tenant_id) as newest_unit,
                        (select count(*) from vehicles v join removed_vehicles r using (tenant_id, vehicle_id)
                         where v.tenant_id = t.tenant_id) as both,
                        (select r.profile->'address'->>'city' from rooftops r where r.tenant_id = t.tenant_id) as city
                 from tenants t join tenant_inventory i using (tenant_id) left join cards c using (tenant_id)
                 order by t.slug, c.contract",
            )
            .fetch_all(&mut admin)
            .await
            .expect("the database is whole")
        });
        let mut stored = BTreeMap::new();
        for row in rows {
            let slug: String = row.get("slug");
            let name: String = row.get("name");
            let context = format!("{slug}, {name:?}. {context}");
            let (dealer, version) = name.split_once(", version ").expect("a version");
            let dealer: usize = dealer.trim_start_matches("Dealer ").parse().expect("a number");
            let version: usize = version.parse().expect("a number");
            // The card of each contract; the default one comes last and is kept.
            let (body, id): (String, String) = (row.get("body"), row.get("id"));
            let card: Value = serde_json::from_str(&body).expect("a card");
            let revision: i32 = row.get("revision");
            assert_eq!(card["name"], name, "card. {context}");
            assert!(
                card["description"].as_str().unwrap().contains(&format!("City {version}:")),
                "{card} {context}"
            );
            assert_eq!(card["capabilities"]["extensions"][0]["params"]["id"], id, "{context}");
            assert_eq!(row.get::<String, _>("newest"), format!("{body}{id}{revision}"), "history. {context}");
            assert_eq!(row.get::<i64, _>("lines"), i64::from(revision), "history. {context}");
            // The lot.
            let makes: Vec<String> = row.get("makes");
            assert_eq!(makes, [format!("V{version} V{version} {version}")], "lot. {context}");
            assert_eq!(row.get::<i64, _>("units"), units(dealer, version) as i64, "lot. {context}");
            assert_eq!(row.get::<i64, _>("newest_unit"), row.get::<i64, _>("lot_version"), "lot. {context}");
            assert_eq!(row.get::<i64, _>("both"), 0, "on offer and removed. {context}");
            assert_eq!(row.get::<String, _>("city"), format!("City {version}"), "{context}");
            stored.insert(slug, Stored { version, card_revision: revision });
        }
        stored
    }

    /// The platform answers what is stored.
    fn serves(&self, stored: &BTreeMap<String, Stored>, context: &str) {
        self.runtime.block_on(async {
            let mut wire = Wire::to(&format!("http://127.0.0.1:{}", self.port));
            let began = Instant::now();
            loop {
                match served(&mut wire, stored, self.origin).await {
                    Ok(()) => return,
                    Err(why) => assert!(began.elapsed() < Duration::from_secs(15), "{why}. {context}"),
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
    }
}

async fn served(wire: &mut Wire, stored: &BTreeMap<String, Stored>, origin: usize) -> Result<(), String> {
    let host = ("host", "127.0.0.1");
    for (dealer, slug) in (0..DEALERS).map(|dealer| (dealer, slug(dealer))) {
        let card = wire.send("GET", &format!("/t/{slug}/.well-known/agent-card.json"), &[host], b"").await;
        let Some(known) = stored.get(&slug) else {
            if card.status == 404 {
                continue;
            }
            return Err(format!("{slug} is not stored and answers {}", card.status));
        };
        if card.status != 200 {
            return Err(format!("the card of {slug} answers {}", card.status));
        }
        let card = card.json();
        let wanted = format!("Dealer {dealer}, version {}", known.version);
        let url = format!("https://site-{origin}.example/t/{slug}/v3.0/a2a");
        if card["name"] != wanted || card["supportedInterfaces"][0]["url"] != url {
            return Err(format!("not {wanted} at {url}, but {card}"));
        }
        let body = request_body(json!({"type": "inventory.search.request", "pagination": {"limit": 100}}));
        let headers = [host, ("content-type", "application/json")];
        let reply = wire.send("POST", &format!("/t/{slug}/a2a"), &headers, body.to_string().as_bytes()).await;
        let answer = reply.json();
        if answer.get("result").is_none() {
            return Err(format!("{slug}: {answer}"));
        }
        let found = data_of(&answer);
        let makes: BTreeSet<&str> =
            found["vehicles"].as_array().unwrap().iter().map(|unit| unit["make"].as_str().unwrap()).collect();
        let make = format!("V{}", known.version);
        if found["total"] != units(dealer, known.version) || makes != BTreeSet::from([make.as_str()]) {
            return Err(format!("the lot of {slug} is not {make}: {} of {makes:?}", found["total"]));
        }
    }
    Ok(())
}

/// The dealers of which a command said, before its end, that they were written.
fn reported(command: &mut Process) -> BTreeSet<String> {
    let written = |line: &String| {
        line.strip_suffix(": updated").or_else(|| line.strip_suffix(": created")).map(str::to_owned)
    };
    command.last_lines().iter().filter_map(written).collect()
}

#[test]
fn after_kill_9_at_any_moment_everything_is_the_old_or_the_new() {
    let rounds = soak(12);
    let mut random = StdRng::seed_from_u64(SEED);
    let mut site = Site::new();
    site.start();
    let began = Instant::now();
    let mut first = site.provision(0);
    assert!(first.wait(PATIENCE).success(), "{:?}", first.lines());
    let usual = began.elapsed();
    let mut before = site.stored("before anything was killed");
    assert_eq!(before.len(), DEALERS);

    let mut undecided = 0;
    for round in 1..=rounds {
        let victim = match round % 4 {
            0 => Victim::Rendering,
            1 => Victim::Command,
            2 => Victim::Server,
            _ => Victim::Postmaster,
        };
        // Anywhere in the run, or just after the first dealer was written, when most is going on.
        let early = random.random_ratio(2, 3);
        let wait = usual.mul_f64(random.random_range(0.0..if early { 0.3 } else { 1.2 }));
        let context =
            format!("seed {SEED:#x}, round {round}: {victim:?} killed after {wait:?}, early: {early}");
        println!("{context}");
        let after = match victim {
            Victim::Rendering => {
                site.rendering_killed(wait, early, &before, &context);
                site.stored(&context)
            }
            _ => {
                let mut command = site.provision(round);
                if early {
                    until_first_line(&mut command);
                }
                std::thread::sleep(wait);
                site.kill(victim, &mut command);
                let said = reported(&mut command);
                let done = matches!(victim, Victim::Command)
                    .then(|| command.has_ended().is_some_and(|s| s.success()));
                let after = site.stored(&context);
                for (slug, now) in &after {
                    let old = before[slug];
                    let new = Stored { version: round, card_revision: old.card_revision + 1 };
                    assert!(*now == old || *now == new, "{slug} is {now:?}, was {old:?}. {context}");
                    // What was said to be written is written.
                    assert!(
                        *now == new || !(said.contains(slug) || done == Some(true)),
                        "{slug} was lost. {context}"
                    );
                }
                let written = after.values().filter(|stored| stored.version == round).count();
                undecided += usize::from(written > 0 && written < DEALERS);
                after
            }
        };
        assert_eq!(after.len(), DEALERS, "{context}");
        site.serves(&after, &context);
        before = after;
    }
    println!("{undecided} of {rounds} rounds left some dealers old and others new");

    // The same document again brings everybody to it, and then nothing is left to do.
    let last = rounds + 1;
    for expected in ["16 updated, 0 unchanged, 0 failed", "0 updated, 16 unchanged, 0 failed"] {
        let mut command = site.provision(last);
        assert!(command.wait(PATIENCE).success(), "{:?}", command.lines());
        let lines = command.last_lines();
        assert!(lines.iter().any(|line| line.contains(expected)), "{lines:?}");
    }
    let after = site.stored("at the end");
    assert!(after.values().all(|stored| stored.version == last));
    site.serves(&after, "at the end");
    drop(site.server.take());
    let _ = std::fs::remove_dir_all(&site.folder);
}

fn until_first_line(command: &mut Process) {
    let began = Instant::now();
    while command.lines().is_empty() && command.has_ended().is_none() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Site {
    /// Kills, and brings the platform back where it is gone.
    fn kill(&mut self, victim: Victim, command: &mut Process) {
        match victim {
            Victim::Command => command.kill(),
            Victim::Server => {
                self.server.as_mut().expect("a server").kill();
                // Its database is gone too; the command can only fail, or had ended already.
                command.wait(PATIENCE);
                self.start();
            }
            Victim::Postmaster | Victim::Rendering => {
                let pid = i32::try_from(self.database().pid()).expect("a pid");
                assert!(pid > 1);
                // SAFETY: the number of the server of this test's own platform, which runs.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                command.wait(PATIENCE);
                self.server.as_mut().expect("a server").wait_for("PostgreSQL runs again", PATIENCE);
                // The next round waits for a line of its own.
                self.server.as_ref().expect("a server").forget_lines();
            }
        }
    }

    /// Waits until the platform, which is starting, has rendered a card for its new address.
    fn until_first_card(&self, (socket_dir, port): &(PathBuf, u16)) {
        let sql = format!("select exists (select from cards where body like '%//site-{}.%')", self.origin);
        let began = Instant::now();
        self.runtime.block_on(async {
            while began.elapsed() < PATIENCE {
                let Ok(mut admin) = try_superuser(socket_dir, *port, "forecourt").await else { continue };
                while let Ok(found) =
                    sqlx::query_scalar(AssertSqlSafe(sql.clone())).fetch_one(&mut admin).await
                {
                    if found {
                        return;
                    }
                }
            }
            panic!("no card was rendered");
        });
    }

    /// The platform is stopped and started at another address, killed while it renders, and started again.
    fn rendering_killed(
        &mut self,
        wait: Duration,
        early: bool,
        before: &BTreeMap<String, Stored>,
        context: &str,
    ) {
        let place = (self.database().socket_dir().to_owned(), self.database().port());
        let mut old = self.server.take().expect("a server");
        old.signal(libc::SIGINT);
        old.wait(PATIENCE);
        self.origin += 1;
        let mut server = self.spawn_server();
        if early {
            self.until_first_card(&place);
            std::thread::sleep(wait / 8);
        } else {
            std::thread::sleep(wait);
        }
        server.kill();
        self.start();
        let lines = self.server.as_ref().expect("a server").lines();
        let rendered = lines.iter().find(|line| line.contains("rendered anew"));
        println!("left to render: {}", rendered.map_or("nothing", String::as_str));
        // Rendered exactly once, however often it was begun.
        for (slug, now) in self.stored(context) {
            let old = before[&slug];
            assert_eq!(now, Stored { card_revision: old.card_revision + 1, ..old }, "{slug}. {context}");
        }
    }
}
