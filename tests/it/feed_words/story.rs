//! Locks, ranks, and one car's story.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_wins_over_later_feeds_until_it_is_lifted() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    assert_eq!(fed.import(&dms, &file("24990", &[])).await, RunState::Applied);
    let version = fed.edit("price", json!(23990)).await;
    assert_eq!((version.before, version.after), (Some(json!(24990)), Some(json!(23990))));
    assert_eq!(version.version, Some(2));
    assert_eq!(fed.vehicle().await["price"], 23990);

    // The feed goes on saying something else, even something new.
    fed.import(&dms, &file("24500", &[])).await;
    assert_eq!(fed.vehicle().await["price"], 23990);
    let story = fed.story().await;
    let price = story.fields.iter().find(|field| field.field == "price").unwrap();
    assert_eq!((price.winner.author.as_deref(), &price.winner.value), (Some("ana"), &json!(23990)));
    assert_eq!((price.losers[0].source.as_deref(), &price.losers[0].value), (Some("DMS"), &json!(24500)));
    let lines = story.lines().join("\n");
    assert!(lines.contains("price: 23990 (set by ana on "), "{lines}");
    assert!(lines.contains("feed DMS says 24500"), "{lines}");

    let lifted = fed.unlock("price").await;
    assert_eq!((lifted.before, lifted.after), (Some(json!(23990)), Some(json!(24500))));
    assert_eq!(fed.vehicle().await["price"], 24500);
    assert!(feeds::unlock(&fed.store, fed.tenant, VIN, "price", "ben").await.is_err(), "nothing to lift");

    let events = fed.story().await.events;
    let kinds: Vec<_> = events.iter().map(|event| (event.kind.as_str(), event.field.as_deref())).collect();
    assert_eq!(
        kinds,
        [
            ("finding", Some("vin")),
            ("listed", Some("price")),
            ("edited", Some("price")),
            ("changed", Some("price")),
            ("finding", Some("vin")),
            ("unlocked", Some("price")),
            ("changed", Some("price")),
        ]
    );
    // What is behind each: the finding names run, file and row, and the value as it was sent.
    let found = &events[0];
    assert_eq!(
        (found.code.as_deref(), found.source.as_deref(), found.file.as_deref(), found.row, &found.new),
        (Some("VIN_CHECK_DIGIT"), Some("DMS"), Some("lot.csv"), Some(1), &Some(json!(VIN)))
    );
    assert!(found.run.is_some() && found.run == events[1].run && found.run != events[4].run);
    assert_eq!(
        (events[2].actor.as_deref(), events[2].reason.as_deref()),
        (Some("ana"), Some("agreed by phone"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sold_by_hand_takes_a_unit_off_and_lifting_it_brings_it_back() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    fed.import(&dms, &file("24990", &[])).await;
    assert!(!fed.edit("status", json!("sold")).await.on_offer);
    // The feed has it still, and says so again.
    fed.import(&dms, &file("24900", &[])).await;
    fed.platform.catch_up().await;
    let answer = fed.platform.call("harbor", json!({ "type": "inventory.search.request" })).await;
    assert_eq!(answer["total"], 0);
    let story = fed.story().await;
    assert!(!story.on_offer);
    let removed = story.events.iter().find(|event| event.kind == "removed").unwrap();
    assert_eq!(removed.reason.as_deref(), Some("edit"));
    let back = fed.unlock("status").await;
    assert!(back.on_offer);
    assert_eq!(fed.vehicle().await["price"], 24900);
    assert!(fed.story().await.events.iter().any(|event| event.kind == "returned"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_ends_with_its_time() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    fed.import(&dms, &file("24990", &[])).await;
    let until = Utc::now() + Duration::from_secs(3600);
    fed.edit_until("price", json!(23990), Some(until)).await;
    assert_eq!(feeds::end_expired(&fed.store, Utc::now(), 10).await.unwrap(), 0);
    assert_eq!(fed.vehicle().await["price"], 23990);
    // Its end is written down as it would be then; what is rendered goes by the clock of the machine.
    let mut tx = fed.store.tenant(fed.tenant).await.unwrap();
    let mut row = tx.edits().await.unwrap().pop().unwrap();
    row.expires_at = Some(Utc::now());
    tx.set_edit(&row).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(feeds::end_expired(&fed.store, Utc::now(), 10).await.unwrap(), 1);
    assert_eq!(fed.vehicle().await["price"], 24990);
    let story = fed.story().await;
    let ended = story.events.iter().find(|event| event.kind == "unlocked").unwrap();
    assert_eq!(ended.sentence, "The lock on price (23990) expired.");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_sources_the_one_with_the_lower_rank_wins_field_by_field() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    let mut tool = all_in();
    tool["rank"] = json!(200);
    tool["ranks"] = json!({ "description": 1 });
    tool["role"] = json!("complementary");
    let tool = fed.source("Photos", tool).await;
    // What it fills in for a unit that nobody has is not on offer.
    fed.import(&tool, &file("19990", &[("Description", "From the tool"), ("Ext Color", "Green")])).await;
    fed.platform.catch_up().await;
    let none = fed.platform.call("harbor", json!({ "type": "inventory.search.request" })).await;
    assert_eq!(none["total"], 0);
    fed.import(&dms, &file("24990", &[("Description", "From the DMS")])).await;
    let vehicle = fed.vehicle().await;
    assert_eq!(
        (&vehicle["price"], &vehicle["description"], &vehicle["exterior_color"]),
        (&json!(24990), &json!("From the tool"), &json!("Green"))
    );
    let story = fed.story().await;
    let description = story.fields.iter().find(|field| field.field == "description").unwrap();
    assert_eq!(description.winner.source.as_deref(), Some("Photos"));
    assert_eq!(description.losers[0].value, json!("From the DMS"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_about_prices_publishes_them_and_is_signed() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", json!({})).await;
    fed.import(&dms, &file("24990", &[])).await;
    assert_eq!(fed.vehicle().await.get("price"), None, "nobody has said what the column means");
    let mut tx = fed.store.tenant(fed.tenant).await.unwrap();
    let notices = tx.notices(true, 10).await.unwrap();
    drop(tx);
    assert_eq!(notices[0].kind, "price_meaning_unanswered");

    let settings: SourceSettings = serde_json::from_value(all_in()).unwrap();
    let change = feeds::Change { settings: Some(settings), ..feeds::Change::default() };
    let change = |revision| {
        feeds::change_source(&fed.store, fed.tenant, dms.source_id, revision, change.clone(), "ben")
    };
    assert!(change(7).await.is_err(), "somebody changed it meanwhile");
    let changed = change(dms.revision).await.unwrap();
    assert!(changed.version.is_some());
    assert_eq!(changed.row.settings["prices"]["asking_price"]["by"], "ben");
    assert_eq!(fed.vehicle().await["price"], 24990);
    let mut tx = fed.store.tenant(fed.tenant).await.unwrap();
    assert!(tx.notices(true, 10).await.unwrap().is_empty(), "the question is answered");
    drop(tx);
    let story = fed.story().await;
    let published = story.events.iter().find(|event| event.field.as_deref() == Some("price")).unwrap();
    assert_eq!(published.actor.as_deref(), Some("ben"));
    assert!(published.sentence.contains("from nothing to 24990"), "{}", published.sentence);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_set_by_hand_is_refused_and_changes_nothing() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    fed.import(&dms, &file("24990", &[])).await;
    for (key, field, value) in [
        (VIN, "vin", json!("4S4BTGUD5R3217409")),
        (VIN, "price", json!("cheap")),
        (VIN, "rooftop", json!("West")),
        ("nobody", "price", json!(1)),
    ] {
        let wish = Wish { key, field, value, actor: "ana", expires_at: None, note: None };
        assert!(feeds::edit(&fed.store, fed.tenant, &wish).await.is_err(), "{key} {field}");
    }
    let over = Some(Utc::now() - Duration::from_secs(1));
    let wish = Wish { key: VIN, field: "price", value: json!(1), actor: "ana", expires_at: over, note: None };
    assert!(feeds::edit(&fed.store, fed.tenant, &wish).await.is_err());
    assert_eq!(fed.store.tenant(fed.tenant).await.unwrap().inventory_version().await.unwrap(), 1);
    let moved = fed.edit("rooftop", json!("south")).await;
    assert_eq!(moved.after, Some(json!("South")));
    assert!(fed.story().await.events.iter().any(|event| event.kind == "moved"));
    assert!(feeds::story(&fed.store, fed.tenant, &Uuid::nil().to_string()).await.is_err());
}
