//! Random questions to dealers, answered a second time by plain SQL over the stored vehicles (AAP.md 7.3, 7.4).

pub(crate) mod lots;
pub(crate) mod questions;
mod sql;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use testkit::{Platform, Wire, cluster, data_of, request_body, soak};

use self::lots::Lot;
use self::questions::Question;
use self::sql::Oracle;

const SEED: u64 = 0x0f0c_a5e5;
/// One asks while another's question is being looked up.
const AT_ONCE: usize = 4;

/// Everything one asker needs, and who it is when it finds a difference.
struct Asker {
    wire: Wire,
    oracle: Oracle,
    lots: Arc<Vec<Lot>>,
    random: StdRng,
    name: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_questions_are_answered_as_plain_sql_answers_them() {
    let platform = Platform::start().await;
    let mut random = StdRng::seed_from_u64(SEED);
    platform.provision(&lots::documents(&platform.origin, &mut random)).await;
    let mut admin = cluster().superuser(&platform.database).await;
    sql::prepare(&mut admin).await;
    let lots = Arc::new(lots::stored(&mut admin).await);
    assert!(lots.iter().map(|lot| lot.vehicles.len()).sum::<usize>() > 2_300, "the lots are there");

    let began = Instant::now();
    let questions = soak(10_000);
    let mut askers = Vec::new();
    for number in 0..AT_ONCE {
        let mut asker = Asker {
            wire: Wire::to(&platform.origin),
            oracle: Oracle::new(cluster().superuser(&platform.database).await),
            lots: Arc::clone(&lots),
            random: StdRng::seed_from_u64(SEED + 1 + number as u64),
            name: format!("seed {SEED:#x}, asker {number}"),
        };
        askers.push(tokio::spawn(async move {
            let mut answers = Tally::default();
            while answers.all() < questions / AT_ONCE {
                asker.ask_once(&mut answers).await;
            }
            answers
        }));
    }
    let mut tally = Tally::default();
    for asker in askers {
        tally.add(&asker.await.expect("every answer is as SQL says"));
    }
    println!("{tally:?} compared in {:?}", began.elapsed());
    // A generator that asks for nothing would agree with anything.
    assert!(tally.all() >= questions);
    assert!(tally.with_matches > questions / 4 && tally.without > questions / 50, "{tally:?}");
    assert!(tally.later_pages > questions / 20 && tally.facets > questions / 10, "{tally:?}");
    platform.stop().await;
}

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    first_pages: usize,
    later_pages: usize,
    facets: usize,
    with_matches: usize,
    without: usize,
}

impl Tally {
    fn all(&self) -> usize {
        self.first_pages + self.later_pages + self.facets
    }

    fn add(&mut self, other: &Tally) {
        self.first_pages += other.first_pages;
        self.later_pages += other.later_pages;
        self.facets += other.facets;
        self.with_matches += other.with_matches;
        self.without += other.without;
    }
}

impl Asker {
    async fn ask_once(&mut self, tally: &mut Tally) {
        let lots = Arc::clone(&self.lots);
        // Small lots have little to find.
        let lot =
            lots.choose_weighted(&mut self.random, |lot| 1 + lot.vehicles.len().min(100)).expect("lots");
        let question = Question::random(lot, &mut self.random);
        let ids = self.oracle.ordered(lot, &question).await;
        if ids.is_empty() {
            tally.without += 1;
        } else {
            tally.with_matches += 1;
        }
        let context = format!(
            "{}, {}: {} | SQL: {}",
            self.name,
            lot.slug,
            question.request(None, None),
            self.oracle.last_statement
        );
        if self.random.random_ratio(1, 3) {
            tally.facets += 1;
            self.compare_facets(lot, &question, &context).await;
        }
        self.compare_pages(lot, &question, &ids, tally, &context).await;
    }

    async fn compare_pages(
        &mut self,
        lot: &Lot,
        question: &Question,
        ids: &[String],
        tally: &mut Tally,
        context: &str,
    ) {
        let whole = self.random.random_ratio(1, 25);
        let mut cursor: Option<String> = None;
        let mut from = 0;
        loop {
            // The limit may differ from page to page.
            let limit = question.limit(&mut self.random, whole);
            let answer = self.ask(lot, question.request(limit, cursor.as_deref())).await;
            let found = data_of(&answer);
            let effective = usize::try_from(limit.unwrap_or(lot.default_limit).min(lot.max_limit)).unwrap();
            let until = (from + effective).min(ids.len());
            let expected: Vec<&Value> = ids[from..until].iter().map(|id| &lot.vehicles[id]).collect();
            let got: Vec<&Value> = found["vehicles"].as_array().expect("a list").iter().collect();
            let names = |page: &[&Value]| {
                page.iter().map(|v| v["vehicle_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(found["total"], json!(ids.len()), "total. {context}");
            assert_eq!(names(&got), names(&expected), "page from {from}. {context}");
            assert_eq!(got, expected, "units of the page from {from}. {context}");
            assert_eq!(found["limit"], json!(effective), "{context}");
            assert_eq!(found["sort"], question.effective_sort(lot), "{context}");
            assert_eq!(found["applied_filters"], question.applied(), "{context}");
            assert_eq!(found["next_cursor"].is_null(), until == ids.len(), "page from {from}. {context}");
            if from == 0 {
                tally.first_pages += 1;
            } else {
                tally.later_pages += 1;
            }
            from = until;
            cursor = found["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() || !(whole || self.random.random_ratio(2, 5)) {
                return;
            }
        }
    }

    async fn compare_facets(&mut self, lot: &Lot, question: &Question, context: &str) {
        let expected = self.oracle.facets(lot, question).await;
        let mut request = json!({"type": "inventory.facets.request"});
        if let Some(filters) = &question.filters {
            request["filters"] = filters.clone();
        }
        let answer = self.ask(lot, request).await;
        let got: HashMap<String, Value> =
            serde_json::from_value(data_of(&answer).clone()).expect("an object");
        for (key, value) in &got {
            let known = expected.get(key).unwrap_or_else(|| panic!("facet {key} of nothing. {context}"));
            if key.ends_with("_range") {
                // 62 and 62.0 are one number.
                let bounds = |v: &Value| (v["min"].as_f64(), v["max"].as_f64());
                assert_eq!(bounds(value), bounds(known), "facet {key}. {context}");
            } else {
                assert_eq!(value, known, "facet {key}. {context}");
            }
        }
        assert_eq!(got.len(), expected.len(), "{:?} against {:?}. {context}", got.keys(), expected.keys());
    }

    async fn ask(&mut self, lot: &Lot, request: Value) -> Value {
        let body = request_body(request).to_string();
        let target = format!("/t/{}/v3.0/a2a", lot.slug);
        let headers = [("host", "127.0.0.1"), ("content-type", "application/json")];
        let reply = self.wire.send("POST", &target, &headers, body.as_bytes()).await;
        assert_eq!(reply.status, 200, "{body}");
        let answer = reply.json();
        assert!(answer.get("error").is_none(), "{}: {body} answered {answer}", self.name);
        answer
    }
}
