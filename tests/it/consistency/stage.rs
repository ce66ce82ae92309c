//! Readers, walkers and writers of many lots at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::json;
use store::Database;

use super::asking::{Client, Outcome};
use super::lots::{self, Question};
use super::writing::{Dealer, Writer};

/// How far a node may be behind what was committed.
const BEHIND: Duration = Duration::from_secs(3);
/// The first of them change once a second, the others ten times.
const SLOW: usize = 10;
/// Those that one writer changes in turn.
const QUICK_EACH: usize = 4;

/// How many dealers there are; fifty where there is time for them.
pub(super) fn number_of_dealers() -> usize {
    if testkit::soak(1) > 1 { SLOW + 10 * QUICK_EACH } else { SLOW + 3 * QUICK_EACH }
}

/// What all of them share.
pub(super) struct Stage {
    pub(super) dealers: Vec<Dealer>,
    /// Where the nodes are; one that was started anew is elsewhere.
    pub(super) nodes: [RwLock<String>; 2],
    done: AtomicBool,
    answers: AtomicU64,
    /// In milliseconds.
    worst: AtomicU64,
    /// Walks that ended and walks that were refused, of slow dealers and of quick ones.
    walks: [[AtomicU64; 2]; 2],
}

/// What went on.
pub(super) struct Seen {
    pub(super) versions: u64,
    pub(super) answers: u64,
    /// The most that an answer was behind.
    pub(super) worst: Duration,
    /// Walks that ended and walks that were refused.
    pub(super) slow: (u64, u64),
    pub(super) quick: (u64, u64),
}

impl Stage {
    pub(super) fn new(dealers: Vec<Dealer>, nodes: [String; 2]) -> Arc<Stage> {
        Arc::new(Stage {
            dealers,
            nodes: nodes.map(RwLock::new),
            done: AtomicBool::new(false),
            answers: AtomicU64::new(0),
            worst: AtomicU64::new(0),
            walks: Default::default(),
        })
    }

    /// Reads and writes until `meanwhile`, which is called again and again, has gone on for so long; panics if any
    /// answer is wrong.
    pub(super) async fn plays(
        self: Arc<Self>,
        database: &Database,
        time: Duration,
        mut meanwhile: impl AsyncFnMut(),
    ) -> Seen {
        let mut tasks = Vec::new();
        for node in [0, 1, 0, 1] {
            let stage = Arc::clone(&self);
            tasks.push(tokio::spawn(async move { read(&stage, node).await }));
        }
        for quick in [false, false, false, false, true, true] {
            let stage = Arc::clone(&self);
            tasks.push(tokio::spawn(async move { walk(&stage, quick).await }));
        }
        let mut writers = Vec::new();
        let quick =
            (SLOW..self.dealers.len()).step_by(QUICK_EACH).map(|first| (first..first + QUICK_EACH, 100));
        for (of, pause) in std::iter::once((0..SLOW, 1_000)).chain(quick) {
            let (stage, database) = (Arc::clone(&self), database.clone());
            let pause = Duration::from_millis(pause);
            writers.push(tokio::spawn(async move { write(&stage, &database, of, pause).await }));
        }
        let until = Instant::now() + time;
        while Instant::now() < until && !tasks.iter().any(tokio::task::JoinHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(50)).await;
            meanwhile().await;
        }
        self.done.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.expect("what was answered was right");
        }
        let mut versions = 0;
        for writer in writers {
            versions += writer.await.expect("writing goes on");
        }
        let count = |quick: usize, refused: usize| self.walks[quick][refused].load(Ordering::Relaxed);
        Seen {
            versions,
            answers: self.answers.load(Ordering::Relaxed),
            worst: Duration::from_millis(self.worst.load(Ordering::Relaxed)),
            slow: (count(0, 0), count(0, 1)),
            quick: (count(1, 0), count(1, 1)),
        }
    }

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

enum Kind {
    Page,
    Facets,
    One,
}

/// Asks one node everything; what it answered once is never followed by anything older.
async fn read(stage: &Stage, node: usize) {
    let client = Client::new();
    let mut seen: HashMap<(String, usize), u64> = HashMap::new();
    while stage.goes_on() {
        let origin = stage.node(node);
        let at = rand::rng().random_range(0..stage.dealers.len());
        let (dealer, question) = (&stage.dealers[at], question());
        let asked = Instant::now();
        let known = seen.get(&(origin.clone(), at)).copied().unwrap_or(1);
        let number = lots::any_number();
        let (data, kind) = match rand::random_range(0..3) {
            0 => (question.search(None), Kind::Page),
            1 => (question.facets(), Kind::Facets),
            _ => (lots::one(number), Kind::One),
        };
        let version = match (client.ask(&origin, &dealer.slug, data, None).await, kind) {
            (Outcome::Answer(version, data), kind) => {
                assert!(version <= dealer.begun(), "version {version} was never written");
                match kind {
                    Kind::Page => question.check_page(dealer.salt, version, 0, &data),
                    Kind::Facets => question.check_facets(dealer.salt, version, &data),
                    Kind::One => lots::check_one(dealer.salt, version, number, &data),
                }
                Some(version)
            }
            (Outcome::Away, _) => None,
            (Outcome::Refused(error), Kind::One) => {
                let code = error["code"].as_str().expect("a code");
                lots::check_refused(dealer.salt, known..=dealer.begun(), number, code);
                continue;
            }
            (Outcome::Refused(error), _) => panic!("{error}"),
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
        let range = if quick { SLOW..stage.dealers.len() } else { 0..SLOW };
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
