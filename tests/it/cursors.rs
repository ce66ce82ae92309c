//! Pages of `inventory.search`: cursors, ties, missing values, a lot that changes meanwhile (AAP.md 7.4.3, 16;
//! field reports 33, 34).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use server::settings::Settings;
use testkit::{Asking, Options, Platform, car, cluster};

use crate::ground::{fault, ground, lasting, problems, search, settle};
use crate::search::{ids, ordered, walk, with};

/// Why a cursor was refused.
async fn refusal(asking: &Asking) -> String {
    let error = asking.error().await;
    fault(&error, "INVALID_CURSOR")["details"]["reason"].as_str().expect("a reason").to_owned()
}

#[tokio::test]
async fn a_cursor_is_good_for_its_own_request_and_no_other() {
    let platform = ground().await;
    let base = json!({"type": "inventory.search.request", "filters": {"make": ["Honda", "Fiat"], "fuel": []},
        "sort": {"field": "year", "order": "asc"}, "pagination": {"limit": 1}});
    let first = platform.call("harbor", base.clone()).await;
    let cursor = first["next_cursor"].clone();
    assert_eq!(ids(&first), ["v5"]);
    let next = |data: &Value| {
        let mut data = data.clone();
        data["pagination"]["cursor"] = cursor.clone();
        data
    };
    let changed = |pointer: &str, value: Value| {
        let mut data = next(&base);
        *data.pointer_mut(pointer).unwrap() = value;
        data
    };
    // The same question, however it is spelled, and as often as wanted; another limit is no other question.
    let mut silent = next(&base);
    silent["filters"] =
        json!({"make": [" FIAT", "honda", "Honda"], "model": [], "dc_fast_charge": false, "query": " "});
    silent["privacy"] = json!({"anonymous": true});
    for same in [next(&base), next(&base), silent, changed("/pagination/limit", json!(50))] {
        assert_eq!(platform.call("harbor", same.clone()).await["vehicles"][0]["vehicle_id"], "v2", "{same}");
    }
    let all_at_once = platform.call("harbor", changed("/pagination/limit", json!(50))).await;
    assert_eq!(
        (ids(&all_at_once), &all_at_once["total"]),
        (vec!["v2".to_owned(), "v1".to_owned()], &json!(3))
    );
    // A limit left out is the dealer's own.
    let mut open = next(&base);
    open["pagination"].as_object_mut().unwrap().remove("limit");
    assert_eq!(platform.call("harbor", open).await["limit"], 20);

    let mut bare = next(&base);
    bare.as_object_mut().unwrap().remove("filters");
    let mut unsorted = next(&base);
    unsorted.as_object_mut().unwrap().remove("sort");
    for other in [
        changed("/filters/make", json!(["Honda"])),
        changed("/filters/make", json!(["Honda", "Fiat", "Lada"])),
        changed("/filters", json!({"model": ["Honda", "Fiat"]})),
        changed("/filters", json!({"make": ["Honda", "Fiat"], "price_min": 0})),
        changed("/sort/order", json!("desc")),
        changed("/sort/field", json!("price")),
        bare,
        unsorted,
    ] {
        assert_eq!(refusal(&platform.ask("harbor", other.clone())).await, "mismatch", "{other}");
    }
    for slug in ["routed", "narrow"] {
        let mut asking = platform.ask(slug, next(&base));
        if slug == "routed" {
            asking = asking.with("/params/tenant", json!("rooftop-42"));
        }
        assert_eq!(refusal(&asking).await, "mismatch", "the same lot of another dealer");
    }
    // By host, by path, by tenant: one dealer.
    let mut shared = platform.ask("harbor", next(&base)).with("/params/tenant", json!("harbor"));
    shared.url = format!("{}/v3.0/a2a", platform.origin);
    assert_eq!(ids(&shared.result().await), ["v2"]);
}

#[tokio::test]
async fn a_cursor_that_is_not_ours_is_malformed() {
    let platform = ground().await;
    let base = json!({"type": "inventory.search.request", "pagination": {"limit": 2}});
    let cursor = platform.call("harbor", base.clone()).await["next_cursor"].as_str().unwrap().to_owned();
    let asking = |text: &str| {
        let mut data = base.clone();
        data["pagination"]["cursor"] = json!(text);
        platform.ask("harbor", data)
    };
    asking(&cursor).result().await;
    let mut forged = Vec::new();
    for at in 0..cursor.len() {
        let mut bytes = cursor.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        forged.push(String::from_utf8(bytes).unwrap());
    }
    forged.extend([
        cursor[..cursor.len() - 1].to_owned(),
        format!("{cursor}A"),
        format!("{cursor}="),
        format!(" {cursor}"),
        format!("{cursor}\n"),
        cursor.to_lowercase(),
        cursor.repeat(2),
        "x".into(),
        "null".into(),
        "0".into(),
        "\u{0}".into(),
        "😀".into(),
        "A".repeat(2048),
        "v2".into(),
        "' or 1=1 --".into(),
    ]);
    for text in forged {
        assert_eq!(refusal(&asking(&text)).await, "malformed", "{text}");
    }
    for (bad, keyword) in [
        (json!(""), "minLength"),
        (json!("A".repeat(2049)), "maxLength"),
        (json!(null), "type"),
        (json!(5), "type"),
    ] {
        let mut data = base.clone();
        data["pagination"]["cursor"] = bad;
        let error = platform.ask("harbor", data).error().await;
        let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
        assert_eq!(found, [("/pagination/cursor".to_owned(), keyword.to_owned())]);
    }
}

#[tokio::test]
async fn the_longest_identifiers_page_too() {
    let id = |i: usize| format!("{i}{}", "é".repeat(255));
    let stock: Vec<_> = (0..4).map(|i| car(&id(i), "Honda", "Civic", 20000)).collect();
    let dealer = json!({"name": "Long", "rooftops": [{"name": "R"}], "inventory": stock.clone()});
    // The helper's stock number is the id and two characters more.
    let mut dealer = dealer;
    for unit in dealer["inventory"].as_array_mut().unwrap() {
        unit.as_object_mut().unwrap().remove("stock");
    }
    let platform = settle(json!({"long-ids": dealer})).await;
    let sort = json!({"field": "price", "order": "asc"});
    assert_eq!(walk(platform, "long-ids", with("sort", sort), 1).await, (0..4).map(id).collect::<Vec<_>>());

    let outcome = lasting(async move {
        let mut unit = car("a", "Honda", "Civic", 1);
        unit["vehicle_id"] = json!("x".repeat(513));
        unit["stock"] = json!("é".repeat(257));
        let sold = json!([{"vehicle_id": "y".repeat(3000)}]);
        let dealer = json!({"name": "Long", "rooftops": [{"name": "R"}], "inventory": [unit], "sold": sold});
        platform.try_provision(&json!({"too-long": dealer})).await
    })
    .await;
    let problems = outcome[0].1.clone().unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[tokio::test]
async fn equal_prices_are_paged_without_gaps_or_repeats() {
    let same: Vec<_> =
        (0..50).map(|i| car(&format!("u{}", (i * 37) % 50), "Honda", "Civic", 24990)).collect();
    let mut half = same.clone();
    for unit in half.iter_mut().step_by(2) {
        unit.as_object_mut().unwrap().remove("price");
    }
    let dealer = |lot: &[Value]| json!({"name": "Pages", "rooftops": [{"name": "R"}], "inventory": lot});
    let platform = settle(json!({"same-price": dealer(&same), "half-priced": dealer(&half)})).await;
    for order in ["asc", "desc"] {
        let by_price = with("sort", json!({"field": "price", "order": order}));
        for limit in [1, 7, 49, 50, 51] {
            let found = walk(platform, "same-price", by_price.clone(), limit).await;
            assert_eq!(
                (found.len(), found.iter().collect::<BTreeSet<_>>().len()),
                (50, 50),
                "{order} {limit}"
            );
        }
        for limit in [3, 24, 25, 26] {
            let found = walk(platform, "half-priced", by_price.clone(), limit).await;
            assert_eq!(found, ordered(&json!(half), "price", order == "desc"), "{order} {limit}");
        }
    }
}

#[tokio::test]
async fn a_walk_stays_on_the_stock_it_began_with() {
    let unit = |i: usize, price: i64| car(&format!("w{i:02}"), "Honda", "Civic", price);
    let dealer = |lot: Vec<Value>| json!({"moving": {"name": "Moving", "rooftops": [{"name": "R"}], "inventory": lot}});
    let platform = settle(dealer((0..20).map(|i| unit(i, 10_000 + i as i64)).collect())).await;
    let mut data = with("sort", json!({"field": "price", "order": "asc"}));
    data["pagination"] = json!({"limit": 4});
    let mut seen = Vec::new();
    let mut first_cursor = Value::Null;
    for round in 0..5 {
        let page = platform.call("moving", data.clone()).await;
        assert_eq!(page["total"], 20, "round {round}");
        seen.extend(ids(&page));
        data["pagination"]["cursor"] = page["next_cursor"].clone();
        if round == 0 {
            first_cursor = page["next_cursor"].clone();
        }
        // Meanwhile half of the stock is sold, the rest gets dearer in another order, and new units arrive in front.
        let rest = (10..20).map(|i| unit(i, 50_000 - 100 * i as i64 - round));
        settle(dealer(rest.chain((90..93).map(|i| unit(i, 1 + round))).collect())).await;
        assert_eq!(platform.call("moving", search()).await["total"], 13);
    }
    assert_eq!(data["pagination"]["cursor"], Value::Null);
    assert_eq!(seen, (0..20).map(|i| format!("w{i:02}")).collect::<Vec<_>>());
    // An old page can be asked for again.
    data["pagination"]["cursor"] = first_cursor;
    assert_eq!(ids(&platform.call("moving", data.clone()).await), ["w04", "w05", "w06", "w07"]);
    // A new walk sees the new stock only.
    data["pagination"] = json!({"limit": 3});
    let now = walk(platform, "moving", with("sort", data["sort"].clone()), 3).await;
    assert_eq!(&now[..3], ["w90", "w91", "w92"]);
}

#[tokio::test]
async fn a_restart_ends_no_walk_unless_the_former_stock_is_forgotten() {
    let settings = || {
        let origin = dealer::Origin::parse("http://127.0.0.1:65001").unwrap();
        Settings { public_origin: Some(origin), ..Settings::default() }
    };
    let stock = |count: usize| {
        (0..count).map(|i| car(&format!("r{i}"), "Honda", "Civic", 1000 + i as i64)).collect::<Vec<_>>()
    };
    let dealer =
        |count| json!({"again": {"name": "Again", "rooftops": [{"name": "R"}], "inventory": stock(count)}});
    let first = Platform::start_with(Options { settings: settings(), ..Options::default() }).await;
    first.provision(&dealer(4)).await;
    let mut data = with("sort", json!({"field": "price", "order": "asc"}));
    data["pagination"] = json!({"limit": 2});
    let page = first.call("again", data.clone()).await;
    data["pagination"]["cursor"] = page["next_cursor"].clone();
    let database = first.database.clone();
    first.stop().await;

    let again =
        Platform::start_with(Options { settings: settings(), database: Some(database.clone()) }).await;
    let page = again.call("again", data.clone()).await;
    assert_eq!(ids(&page), ["r2", "r3"]);
    again.provision(&dealer(5)).await;
    // This process held the version when the stock changed, and keeps it.
    assert_eq!(ids(&again.call("again", data.clone()).await), ["r2", "r3"]);
    again.stop().await;

    // The next one never had it, and makes it from what was kept of the former rows.
    let next = Platform::start_with(Options { settings: settings(), database: Some(database.clone()) }).await;
    let page = next.call("again", data.clone()).await;
    assert_eq!(ids(&page), ["r2", "r3"]);
    assert_eq!(page["total"], 4, "that of the lot it began with");
    next.stop().await;

    // Where nothing was kept, as after a crash of the database, it says so instead of mixing two lots.
    let mut admin = cluster().superuser(&database).await;
    let forget = "truncate forecourt.superseded_vehicles, forecourt.inventory_versions";
    sqlx::raw_sql(forget).execute(&mut admin).await.unwrap();
    let last = Platform::start_with(Options { settings: settings(), database: Some(database) }).await;
    assert_eq!(refusal(&last.ask("again", data)).await, "expired");
    last.stop().await;
}
