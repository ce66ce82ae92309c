//! What can be wrong with a document, and where it is said to be.

use serde_json::{Value, json};
use testkit::{Platform, car, dealer_document};

use super::{everything, pointers, provision_one};

/// A member of a dealer that is wrong, and every place that must be named, below the dealer.
#[allow(clippy::too_many_lines)]
fn wrong() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    let unit = |more: Value| {
        let mut unit = car("u", "Kia", "EV6", 40_000);
        unit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        unit
    };
    let one = |more: Value| json!([unit(more)]);
    let rooftop = |more: Value| {
        let mut rooftop = json!({"name": "One"});
        rooftop.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([rooftop])
    };
    let holidays = |days: Value| rooftop(json!({ "holidays": days }));
    vec![
        ("colour", json!(1), vec!["/colour"]),
        ("a/b~c", json!(1), vec!["/a~1b~0c"]),
        ("name", json!(5), vec!["/name"]),
        ("name", json!(" "), vec!["/name"]),
        ("name", json!("a\u{0}b"), vec!["/name"]),
        ("dealer_id", json!([]), vec!["/dealer_id"]),
        ("welcome_message", json!(""), vec!["/welcome_message"]),
        ("state", json!("closed"), vec!["/state"]),
        ("state", json!(true), vec!["/state"]),
        ("sandbox", json!("yes"), vec!["/sandbox"]),
        ("interface_tenant", json!(7), vec!["/interface_tenant"]),
        ("skills", json!("inventory.search"), vec!["/skills"]),
        ("skills", json!([]), vec!["/skills"]),
        (
            "skills",
            json!(["inventory.search", "fly", 5, "inventory.search"]),
            vec!["/skills/1", "/skills/2", "/skills/3"],
        ),
        ("contracts", json!([]), vec!["/contracts"]),
        ("contracts", json!(["v3.0", "v9.9"]), vec!["/contracts/1"]),
        ("contracts", json!(["v1.3"]), vec!["/default_contract"]),
        ("default_contract", json!("v2.0"), vec!["/default_contract"]),
        ("callers", json!([]), vec!["/callers"]),
        ("callers", json!({"accept": ["password"], "x": 1}), vec!["/callers/accept", "/callers/x"]),
        ("callers", json!({"accept": ["oauth"]}), vec!["/callers/oauth"]),
        (
            "callers",
            json!({"accept": ["oauth"], "oauth": {"issuer": "https://id.example/", "audience": "x",
                "jwks_uri": "http://id.example/keys", "token_url": "https://id.example/token",
                "algorithms": ["HS256"]}}),
            vec!["/callers/oauth/algorithms/0", "/callers/oauth/jwks_uri"],
        ),
        (
            "policy",
            json!({"rate_limit": {"requests": 0, "per_seconds": 1}, "caller_rate_limit": {"requests": 1},
                "idempotency_hours": 24}),
            vec!["/policy/caller_rate_limit"],
        ),
        (
            "policy",
            json!({"caller_rate_limit": {"requests": 0, "per_seconds": 1}, "idempotency_hours": 1,
                "follow_up_channels": ["sms", "sms"]}),
            vec!["/policy/caller_rate_limit", "/policy/follow_up_channels", "/policy/idempotency_hours"],
        ),
        ("default_contract", json!(3.0), vec!["/default_contract"]),
        ("policy", json!("strict"), vec!["/policy"]),
        ("policy", json!({"speed": 1, "a/b": {}}), vec!["/policy/a~1b", "/policy/speed"]),
        ("policy", json!({"max_limit": 0}), vec!["/policy/max_limit"]),
        (
            "policy",
            json!({"max_limit": "x", "default_limit": -1, "duplicate_hours": 1e30, "default_sort": {"field": "price"}}),
            vec![
                "/policy/default_limit",
                "/policy/default_sort",
                "/policy/duplicate_hours",
                "/policy/max_limit",
            ],
        ),
        ("policy", json!({"rate_limit": {"requests": 0, "per_seconds": 1}}), vec!["/policy/rate_limit"]),
        (
            "policy",
            json!({"search": {"filters": ["make", "wheels"], "sort_fields": []}}),
            vec!["/policy/search/filters/1", "/policy/search/sort_fields"],
        ),
        (
            "policy",
            json!({"search": {"sort_fields": ["weight"], "colours": 1}}),
            vec!["/policy/search/colours", "/policy/search/sort_fields"],
        ),
        ("domains", json!("a.example"), vec!["/domains"]),
        (
            "domains",
            json!(["ok.example", "Big.example", "x", "ok.example", "127.0.0.1", "a.example:80", 7]),
            vec!["/domains/1", "/domains/2", "/domains/3", "/domains/4", "/domains/5", "/domains/6"],
        ),
        ("domains", json!(["ok.example", "other.localhost"]), vec!["/domains/1"]),
        ("rooftops", json!(null), vec!["/rooftops"]),
        ("rooftops", json!([]), vec!["/rooftops"]),
        ("rooftops", json!([{"name": "A"}, {"name": " a"}]), vec!["/rooftops/1/name"]),
        ("rooftops", json!([{"name": "A"}, {"name": " "}]), vec!["/rooftops/1/name"]),
        ("rooftops", json!([{"nam": "A"}]), vec!["/rooftops/0/nam", "/rooftops/0/name"]),
        (
            "rooftops",
            rooftop(json!({"geo": {"latitude": 91}})),
            vec!["/rooftops/0/geo/latitude", "/rooftops/0/geo/longitude"],
        ),
        ("rooftops", rooftop(json!({"website": "not a uri"})), vec!["/rooftops/0/website"]),
        (
            "rooftops",
            rooftop(json!({"fees": [{"name": "Doc", "amount": 85}, {"name": "Doc ", "amount": 90}]})),
            vec!["/rooftops/0/fees/1/name"],
        ),
        ("rooftops", holidays(json!("none")), vec!["/rooftops/0/holidays"]),
        (
            "rooftops",
            holidays(
                json!([5, {"date": "2026-02-30"}, {"date": "2026-12-25", "open": "10:00"}, {"date": "2026-12-26", "x/y": 1, "name": 5}]),
            ),
            vec![
                "/rooftops/0/holidays/0",
                "/rooftops/0/holidays/1/date",
                "/rooftops/0/holidays/2",
                "/rooftops/0/holidays/3/name",
                "/rooftops/0/holidays/3/x~1y",
            ],
        ),
        ("inventory", json!({}), vec!["/inventory"]),
        ("inventory", json!([5]), vec!["/inventory/0"]),
        ("inventory", json!([{"make": "Kia"}]), vec!["/inventory/0", "/inventory/0/status"]),
        ("inventory", json!([{"status": "available", "vehicle_id": " ", "stock": ""}]), vec!["/inventory/0"]),
        (
            "inventory",
            one(
                json!({"price": -1, "mileage": 1.5, "year": 1800, "vin": "SHORT", "updated_at": "yesterday"}),
            ),
            vec![
                "/inventory/0/mileage",
                "/inventory/0/price",
                "/inventory/0/updated_at",
                "/inventory/0/vin",
                "/inventory/0/year",
            ],
        ),
        (
            "inventory",
            one(json!({"status": "sold", "condition": "good"})),
            vec!["/inventory/0/condition", "/inventory/0/status"],
        ),
        ("inventory", one(json!({"rooftop": "Two"})), vec!["/inventory/0/rooftop"]),
        (
            "inventory",
            one(json!({"photos": ["https://a.example/1.jpg", "no uri"]})),
            vec!["/inventory/0/photos/1"],
        ),
        ("inventory", one(json!({"notes": "\u{0}"})), vec!["/inventory/0/notes"]),
        ("inventory", one(json!({"extra": [{"k\u{0}": "v"}]})), vec!["/inventory/0/extra/0/k\u{0}"]),
        ("inventory", one(json!({"vehicle_id": "x".repeat(513)})), vec!["/inventory/0/vehicle_id"]),
        ("inventory", json!([car("u", "A", "B", 1), car("u", "A", "B", 2)]), vec!["/inventory/1/vehicle_id"]),
        (
            "inventory",
            json!([{"status": "available", "stock": "7"}, {"status": "available", "stock": "7"}]),
            vec!["/inventory/1/stock"],
        ),
        (
            "inventory",
            json!([{"status": "available", "vehicle_id": "stock-7"}, {"status": "available", "stock": "7"}]),
            vec!["/inventory/1/stock"],
        ),
        (
            "inventory",
            json!([{"status": "available", "vin": "4S4BTGUD5R3217409"}, unit(json!({"vin": "4S4BTGUD5R3217409"}))]),
            vec!["/inventory/1/vin"],
        ),
        ("sold", json!("all"), vec!["/sold"]),
        ("sold", json!([5, {}, {"vin": "x"}]), vec!["/sold/0", "/sold/1", "/sold/2/vin"]),
        ("sold", json!([{"vehicle_id": "s"}, {"vehicle_id": "s"}]), vec!["/sold/1/vehicle_id"]),
        (
            "sold",
            json!([{"vin": "4S4BTGUD5R3217409"}, {"vin": "4S4BTGUD5R3217409", "stock": "1"}]),
            vec!["/sold/1/vin"],
        ),
        ("sold", json!([{"stock": "9"}, {"stock": "9"}]), vec!["/sold/1/stock"]),
    ]
}

#[tokio::test]
async fn every_problem_is_named_with_its_json_pointer_and_nothing_of_the_dealer_is_touched() {
    let platform = Platform::start().await;
    let mut known = dealer_document("Harbor", json!([car("a", "Honda", "CR-V", 29_000)]));
    known["rooftops"] = json!([{"name": "One"}]);
    platform
        .provision(&json!({"harbor": known, "taker": {"name": "T", "rooftops": [{"name": "One"}],
        "domains": ["taken.example", "taken-too.example"]}}))
        .await;
    let before = everything(&platform).await;

    for (member, value, below) in wrong() {
        // To a new dealer, where everything else is right, and to a known one, where something else would change.
        for (slug, mut body) in [
            ("new", json!({"name": "New", "rooftops": [{"name": "One"}]})),
            ("harbor", json!({"welcome_message": "This must not be seen", "sold": [{"vehicle_id": "a"}]})),
        ] {
            body[member] = value.clone();
            let outcome = provision_one(&platform, slug, body).await;
            let expected: Vec<String> = below.iter().map(|below| format!("/tenants/{slug}{below}")).collect();
            let what = format!("{member}: {value} of {slug}: {outcome:?}");
            let mut expected = expected;
            expected.sort_unstable();
            assert_eq!(pointers(&outcome), expected, "{what}");
            for problem in outcome.unwrap_err() {
                assert!(problem.split_once(": ").is_some_and(|(_, sentence)| sentence.len() > 3), "{what}");
            }
        }
    }
    assert_eq!(everything(&platform).await, before);
    platform.stop().await;
}

#[tokio::test]
async fn what_only_the_stored_dealers_can_tell_is_named_as_well() {
    let platform = Platform::start().await;
    let mut known = dealer_document("Harbor", json!([car("a", "Honda", "CR-V", 29_000)]));
    known["rooftops"] = json!([{"name": "One"}, {"name": "Two"}]);
    known["inventory"][0]["rooftop"] = json!("One");
    platform
        .provision(&json!({"harbor": known, "taker": {"name": "T", "rooftops": [{"name": "One"}],
        "domains": ["taken.example", "taken-too.example"]}}))
        .await;
    let before = everything(&platform).await;
    for (slug, body, expected) in [
        ("new", json!({}), vec!["/tenants/new/name", "/tenants/new/rooftops"]),
        ("new", json!({"name": null, "rooftops": [{"name": "One"}]}), vec!["/tenants/new/name"]),
        (
            "new",
            json!({"name": "N", "rooftops": [{"name": "One"}], "domains": ["taken.example", "free.example", "taken-too.example"],
                "contracts": ["v1.3"]}),
            vec!["/tenants/new/default_contract", "/tenants/new/domains/0", "/tenants/new/domains/2"],
        ),
        ("harbor", json!({"domains": ["taken-too.example"]}), vec!["/tenants/harbor/domains/0"]),
        // Stock that stays carries these.
        ("harbor", json!({"rooftops": [{"name": "Two"}]}), vec!["/tenants/harbor/rooftops"]),
        ("harbor", json!({"dealer_id": "another"}), vec!["/tenants/harbor/dealer_id"]),
        ("Harbor", json!({}), vec!["/tenants/Harbor"]),
        ("admin", json!({"name": "N"}), vec!["/tenants/admin"]),
        ("a/b", json!({"nam": 1}), vec!["/tenants/a~1b", "/tenants/a~1b/nam"]),
        ("harbor", json!([]), vec!["/tenants/harbor"]),
        ("harbor", Value::Null, vec!["/tenants/harbor"]),
    ] {
        let outcome = provision_one(&platform, slug, body.clone()).await;
        assert_eq!(pointers(&outcome), expected, "{slug} {body}: {outcome:?}");
    }
    // Offered and sold at once, by whatever it is named.
    let unit = json!({"vehicle_id": "z", "vin": "4S4BTGUD5R3217409", "stock": "Z", "status": "available"});
    for (sold, place) in [
        (json!({"vehicle_id": "z"}), "vehicle_id"),
        (json!({"vin": "4S4BTGUD5R3217409"}), "vin"),
        (json!({"stock": "Z"}), "stock"),
    ] {
        let body = json!({"inventory": [unit], "sold": [sold]});
        let outcome = provision_one(&platform, "harbor", body).await;
        assert_eq!(pointers(&outcome), [format!("/tenants/harbor/sold/0/{place}")], "{outcome:?}");
    }
    assert_eq!(everything(&platform).await, before);

    // With the inventory along, both are fine; and a domain that its owner gives up is free.
    let body = json!({"dealer_id": "another", "rooftops": [{"name": "Two"}], "inventory": []});
    assert_eq!(provision_one(&platform, "harbor", body).await, Ok("updated"));
    assert_eq!(provision_one(&platform, "taker", json!({"domains": ["taken.example"]})).await, Ok("updated"));
    let body = json!({"domains": ["taken-too.example", "free.example"]});
    assert_eq!(provision_one(&platform, "harbor", body).await, Ok("updated"));
    platform.stop().await;
}

#[tokio::test]
async fn the_platforms_own_names_cannot_be_taken() {
    let settings = server::Settings {
        public_origin: Some(dealer::Origin::parse("https://dealers.example").expect("an origin")),
        platform_domain: Some("cars.example".into()),
        ..server::Settings::default()
    };
    let platform = Platform::start_with(testkit::Options { settings, database: None }).await;
    let body = json!({"name": "N", "rooftops": [{"name": "One"}],
        "domains": ["dealers.example", "cars.example", "victim.cars.example", "fine.example", "www.victim.cars.example"]});
    let outcome = provision_one(&platform, "taker", body).await;
    let expected = ["/tenants/taker/domains/0", "/tenants/taker/domains/1", "/tenants/taker/domains/2"];
    assert_eq!(pointers(&outcome), expected, "{outcome:?}");
    platform.stop().await;
}

#[tokio::test]
async fn a_dealer_with_problems_does_not_hold_up_the_others() {
    let platform = Platform::with_dealer("known", dealer_document("Known", json!([]))).await;
    let mut tenants = json!({
        "bad": {"name": 5}, "known": {"name": "Known II", "policy": {"max_limit": 0}}, "worse": [],
    });
    for number in 0..6 {
        tenants[format!("good-{number}")] = dealer_document("Good", json!([car("a", "Kia", "EV6", 40_000)]));
    }
    let outcomes = platform.try_provision(&tenants).await;
    assert_eq!(outcomes.len(), 9);
    for (slug, outcome) in &outcomes {
        assert_eq!(outcome.is_ok(), slug.starts_with("good"), "{slug}: {outcome:?}");
    }
    platform.catch_up().await;
    for number in 0..6 {
        let found =
            platform.call(&format!("good-{number}"), json!({"type": "inventory.search.request"})).await;
        assert_eq!(found["total"], 1);
    }
    assert_eq!(platform.card("known").await["name"], "Known");
    platform.stop().await;
}

/// JSON readers keep the last of two equal members: of an `inventory` given twice the first half would be gone.
#[tokio::test]
async fn a_member_that_stands_twice_is_a_problem_at_any_depth_and_nothing_is_lost() {
    let platform =
        Platform::with_dealer("harbor", dealer_document("Harbor", json!([car("a", "Kia", "EV6", 40_000)])))
            .await;
    let before = everything(&platform).await;
    let text = r#"{"about": {"a": 1, "a": 2}, "tenants": {"harbor": {
        "inventory": [{"vehicle_id": "a", "status": "available", "price": 1, "price": 2, "x": {"y/z": 1, "y/z": 1}}],
        "inventory": [], "policy": {"max_limit": 50, "max_limit": 60}, "note": "Same", "sold": [{"a": 1}, {"a": 1}]}}}"#;
    let document = dealer::provision::read(text).expect("a readable document");
    let application = platform.application();
    let fallback = application.dealer().addresses().clone();
    let mut outcome = Ok("done");
    let note = |_: &str, result: Result<_, dealer::provision::ApplyError>| {
        if let Err(dealer::provision::ApplyError::Problems(problems)) = result {
            outcome = Err(problems.iter().map(ToString::to_string).collect());
        }
    };
    dealer::provision::apply(application.store(), &fallback, document, "test", note)
        .await
        .expect("a database");
    let twice: Vec<String> = pointers(&outcome)
        .into_iter()
        .filter(|pointer| !pointer.starts_with("/tenants/harbor/sold"))
        .collect();
    let expected = ["/inventory", "/inventory/0/price", "/inventory/0/x/y~1z", "/policy/max_limit"];
    assert_eq!(twice, expected.map(|below| format!("/tenants/harbor{below}")), "{outcome:?}");
    assert_eq!(everything(&platform).await, before);
    platform.stop().await;
}

#[test]
fn a_document_of_another_form_is_refused_as_a_whole() {
    for (text, hint) in [
        ("", "line 1"),
        ("{\"tenants\": {\"a\": {}", "line 1"),
        ("[]", "expected an object with the member `tenants`"),
        ("[{\"a\": {}}]", "expected an object with the member `tenants`"),
        ("{}", "`tenants` is missing"),
        ("{\"tenants\": []}", "dealers by slug"),
        ("{\"tenants\": {}, \"tenants\": {}}", "`tenants` stands twice"),
        ("{\"tenants\": {\"a\": {}, \"b\": {}, \"a\": {}}}", "\"a\" stands twice"),
        ("{\"tenants\": {\"a\": {\"name\": \"\\ud800\"}}}", "line 1"),
        ("{\"tenants\": {\"a\": {\"price\": 1e999}}}", "number out of range"),
        ("{\"tenants\": {\"a\": 01}}", "line 1"),
    ] {
        let error = dealer::provision::read(text).expect_err(text).to_string();
        assert!(error.contains(hint), "{text}: {error}");
    }
    // What stands beside is for people.
    assert!(dealer::provision::read("{\"about\": 1, \"tenants\": {}}").expect("nobody is fine").is_empty());
    let deep = format!("{{\"tenants\": {{\"a\": {}1{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(dealer::provision::read(&deep).is_err());
}
