//! Many shoppers want the same times: no more get them than there is room for.

use chrono::{DateTime, Utc};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use testkit::{Options, Platform, soak};

use super::{ahead, behind, lead, platform, visit, with, written};

/// Two nodes on one database.
async fn nodes(policy: Value) -> [Platform; 2] {
    let first = platform(policy).await;
    let second =
        Platform::start_with(Options { database: Some(first.database.clone()), ..Options::default() }).await;
    [first, second]
}

/// Sends leads at once, every second one to the other node; what became of their appointments.
async fn all_at_once(nodes: &[Platform; 2], leads: Vec<Value>) -> Vec<Value> {
    let sent = leads.into_iter().enumerate().map(|(n, lead)| {
        let asking = nodes[n % 2].ask("harbor", lead);
        tokio::spawn(async move { asking.result().await["appointment"].clone() })
    });
    futures_util::future::join_all(sent).await.into_iter().map(|answer| answer.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_slot_goes_to_one_shopper() {
    for capacity in [1, 3] {
        let nodes = nodes(json!({"appointment_capacity": capacity})).await;
        let leads =
            (0..40).map(|n| with(lead(&format!("s{n}")), "appointment", visit("sales", ahead(3, 11, 0))));
        let answers = all_at_once(&nodes, leads.collect()).await;
        let confirmed = answers.iter().filter(|answer| answer["status"] == "confirmed").count();
        assert_eq!(confirmed, capacity);
        for answer in answers.iter().filter(|answer| answer["status"] != "confirmed") {
            assert_eq!(answer["proposed_times"].as_array().unwrap().len(), 3, "{answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rush_for_all_kinds_of_times_never_books_more_than_there_is_room_for() {
    const CAPACITY: usize = 2;
    let nodes = nodes(json!({"appointment_capacity": CAPACITY, "test_drive_requires_vehicle": false})).await;
    let mut random = StdRng::seed_from_u64(0x1ead);
    for _ in 0..soak(3) {
        let leads = (0..60).map(|_| {
            // Some shoppers come back and move what they have.
            let shopper = random.random_range(0..40);
            let at = ahead(3, random.random_range(9..16), 15 * random.random_range(0..4));
            let kind = ["sales", "test_drive", "trade_in"][random.random_range(0..3)];
            let minutes = random.random_range(15..90);
            let wish =
                json!({"appointment_type": kind, "appointment_at": written(at), "duration_minutes": minutes});
            with(lead(&format!("s{shopper}")), "appointment", wish)
        });
        all_at_once(&nodes, leads.collect()).await;
        let booked: Vec<(DateTime<Utc>, DateTime<Utc>)> =
            sqlx::query_as("select start_at, end_at from appointments where status = 'confirmed'")
                .fetch_all(&mut behind(&nodes[0]).await)
                .await
                .unwrap();
        assert!(booked.len() > 10, "{}", booked.len());
        for (start, _) in &booked {
            let at_once = booked.iter().filter(|(from, to)| from <= start && start < to).count();
            assert!(at_once <= CAPACITY, "{at_once} at {start}: {booked:?}");
        }
    }
}
