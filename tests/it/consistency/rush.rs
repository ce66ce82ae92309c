//! Two processes under constant change, notices lost at random, one process killed: nothing is ever mixed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::json;
use store::{Database, Store};
use testkit::{Process, cluster, scratch, soak};

use super::asking::{Client, Outcome};
use super::lots::Question;
use super::writing::{Dealer, Writer, dealers, documents};

/// How far a node may be behind what was committed.
const BEHIND: Duration = Duration::from_secs(3);
/// The first of them change once a second, the others as fast as the machine likes.
const SLOW: usize = 10;
const DEALERS: usize = 20;

fn start(database: &Database) -> (Process, String) {
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
    command.args(["--public-origin", "http://127.0.0.1:65002", "--max-connections", "8"]);
    let mut process = Process::spawn(command.env("DATABASE_URL", cluster().url(database)));
    let address = process.ready(Duration::from_secs(90));
    (process, format!("http://{address}"))
}

/// What all of them share.
struct Stage {
    dealers: Vec<Dealer>,
    /// Where the nodes are; one that was started anew is elsewhere.
    nodes: [RwLock<String>; 2],
    done: AtomicBool,
    answers: AtomicU64,
    /// In milliseconds.
    worst: AtomicU64,
    /// Walks that ended and walks that were refused, of slow dealers and of quick ones.
    walks: [[AtomicU64; 2]; 2],
}

impl Stage {
    fn node(&self, at: usize) -> String {
        self.nodes[at].read().unwrap().clone()
    }

    fn goes_on(&self) -> bool {
        !self.done.load(Ordering::Relaxed)
    }

    fn note(&self, behind: Duration, of: &Dealer, node: &str) {
        assert!(behind < BEHIND, "{node} is {behind:?} behind with {}", of.slug);
        self.worst.fetch_max(u64::try_from(behind.as_millis()).unwrap(), Ordering::Relaxed);
        self.answers.fetch_add(1, Ordering::Relaxed);
    }
}

fn question() -> Question {
    let mut random = rand::rng();
    Question {
        make: random.random::<bool>().then(|| random.random_range(0..4)),
        descending: random.random(),
        limit: random.random_range(1..=30),
    }
}

/// Writes some dealers' lots; every second notice is lost.
async fn write(stage: &Stage, database: &Database, of: std::ops::Range<usize>, pause: Duration) -> u64 {
    let mut writer = Writer::new(database).await;
    let mut versions = 0;
    while stage.goes_on() {
        let round = Instant::now();
        for dealer in &stage.dealers[of.clone()] {
            dealer.write(&mut writer, rand::random()).await;
            versions += 1;
        }
        tokio::time::sleep(pause.saturating_sub(round.elapsed())).await;
    }
    versions
}

/// Asks one node everything; what it answered once is never followed by anything older.
async fn read(stage: &Stage, node: usize) {
    let client = Client::new();
    let mut seen: HashMap<(String, usize), u64> = HashMap::new();
    while stage.goes_on() {
        let origin = stage.node(node);
        let at = rand::rng().random_range(0..DEALERS);
        let (dealer, question) = (&stage.dealers[at], question());
        let asked = Instant::now();
        let version = if rand::random() {
            client.first_page(&origin, dealer, &question, None).await.map(|(version, ..)| version)
        } else {
            match client.ask(&origin, &dealer.slug, question.facets(), None).await {
                Outcome::Answer(version, facets) => {
                    assert!(version <= dealer.begun());
                    question.check_facets(dealer.salt, version, &facets);
                    Some(version)
                }
                Outcome::Away => None,
                Outcome::Refused(error) => panic!("{error}"),
            }
        };
        let Some(version) = version else {
            // Killed; it comes back at another address.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        stage.note(dealer.behind(version, asked), dealer, &origin);
        let before = seen.insert((origin, at), version).unwrap_or(0);
        assert!(before <= version, "{} went back from {before} to {version}", dealer.slug);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Walks through a lot, every page from the other node.
async fn walk(stage: &Stage, quick: bool) {
    let client = Client::new();
    while stage.goes_on() {
        let range = if quick { SLOW..DEALERS } else { 0..SLOW };
        let dealer = &stage.dealers[rand::rng().random_range(range)];
        let question = Question { make: None, descending: rand::random(), limit: 4 };
        let (mut cursor, mut first, mut skip, mut turn) = (None::<String>, None, 0, 0_usize);
        let ended = loop {
            let asked = Instant::now();
            let origin = stage.node(turn % 2);
            turn += 1;
            let (version, page) =
                match client.ask(&origin, &dealer.slug, question.search(cursor.as_deref()), None).await {
                    Outcome::Answer(version, page) => (version, page),
                    Outcome::Away if stage.goes_on() => continue,
                    Outcome::Away => return,
                    Outcome::Refused(error) => {
                        assert_eq!(
                            (&error["code"], cursor.is_some()),
                            (&json!("INVALID_CURSOR"), true),
                            "{error}"
                        );
                        assert_eq!(error["details"]["reason"], "expired", "{error}");
                        break false;
                    }
                };
            if first.is_none() {
                stage.note(dealer.behind(version, asked), dealer, &origin);
            }
            assert_eq!(*first.get_or_insert(version), version, "a page of another version");
            question.check_page(dealer.salt, version, skip, &page);
            skip += question.limit;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break true,
            }
            tokio::time::sleep(Duration::from_millis(60)).await;
        };
        stage.walks[usize::from(quick)][usize::from(!ended)].fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_mixed_late_or_going_back_on_two_nodes_of_which_one_is_killed() {
    let database = cluster().fresh().await;
    let slugs: Vec<String> = (0..DEALERS).map(|number| format!("d{number}")).collect();
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    let folder = scratch("rush");
    let file = folder.join("dealers.json");
    std::fs::write(&file, json!({"tenants": documents(&slugs)}).to_string()).unwrap();
    let mut command = Process::command(&["provision", file.to_str().unwrap()]);
    let done = Process::output(command.env("DATABASE_URL", cluster().url(&database)));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let _ = std::fs::remove_dir_all(folder);

    let (first, second) = tokio::task::block_in_place(|| (start(&database), start(&database)));
    let store = Store::connect(&database, 2).await.unwrap();
    let stage = Arc::new(Stage {
        dealers: dealers(&store, &slugs).await,
        nodes: [RwLock::new(first.1), RwLock::new(second.1)],
        done: AtomicBool::new(false),
        answers: AtomicU64::new(0),
        worst: AtomicU64::new(0),
        walks: Default::default(),
    });
    let mut tasks = Vec::new();
    for node in [0, 1, 0, 1] {
        let stage = Arc::clone(&stage);
        tasks.push(tokio::spawn(async move { read(&stage, node).await }));
    }
    for quick in [false, false, false, false, true, true] {
        let stage = Arc::clone(&stage);
        tasks.push(tokio::spawn(async move { walk(&stage, quick).await }));
    }
    let mut writers = Vec::new();
    let quick = (SLOW..DEALERS).step_by(2).map(|first| (first..first + 2, 100));
    for (of, pause) in std::iter::once((0..SLOW, 1_000)).chain(quick) {
        let (stage, database) = (Arc::clone(&stage), database.clone());
        writers.push(tokio::spawn(async move {
            write(&stage, &database, of, Duration::from_millis(pause)).await
        }));
    }

    let until = Instant::now() + Duration::from_secs(soak(6) as u64);
    let mut killed = 0;
    let mut node = second.0;
    // Every so often, but never without a pause that is long enough to be late in.
    let mut kill_at = Instant::now() + Duration::from_millis(1_500);
    while Instant::now() < until && !tasks.iter().any(tokio::task::JoinHandle::is_finished) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if kill_at < Instant::now() {
            let (again, origin) = tokio::task::block_in_place(|| {
                node.kill();
                start(&database)
            });
            node = again;
            *stage.nodes[1].write().unwrap() = origin;
            killed += 1;
            kill_at = Instant::now() + Duration::from_secs(15);
        }
    }
    stage.done.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("what was answered was right");
    }
    let mut versions = 0;
    for writer in writers {
        versions += writer.await.expect("writing goes on");
    }
    let count = |quick: usize, refused: usize| stage.walks[quick][refused].load(Ordering::Relaxed);
    println!(
        "{versions} versions, {} answers, at most {} ms behind, {killed} times killed; walks ended and refused: \
         {:?} at one change a second, {:?} at ten",
        stage.answers.load(Ordering::Relaxed),
        stage.worst.load(Ordering::Relaxed),
        (count(0, 0), count(0, 1)),
        (count(1, 0), count(1, 1)),
    );
    assert!(
        killed > 0 && versions > 50 && stage.answers.load(Ordering::Relaxed) > 100,
        "too little happened"
    );
    assert!(count(0, 0) > 3, "hardly a walk ended");
    assert!(count(0, 1) * 20 <= count(0, 0) + count(0, 1), "too many walks were refused");
    drop((first.0, node));
}
