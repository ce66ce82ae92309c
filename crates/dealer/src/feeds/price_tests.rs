use super::*;
use serde_json::{Value, json};

fn policy(value: Value) -> PricePolicy {
    serde_json::from_value(value).unwrap()
}

fn unit(asking: Option<i64>, amounts: &[(&str, i64)]) -> Unit {
    let amounts = amounts.iter().map(|(name, amount)| ((*name).to_owned(), *amount)).collect();
    Unit { asking_price: asking, amounts, ..Unit::default() }
}

fn published(prices: Value, unit: &Unit) -> (Option<i64>, Option<i64>, Option<Value>, Option<String>) {
    let amounts = policy(prices).publish(&Reading::default(), unit);
    let fees = amounts.fees.map(|fees| serde_json::to_value(fees).unwrap());
    (amounts.price, amounts.list_price, fees, amounts.unanswered)
}

#[test]
fn every_answer_of_the_table() {
    let doc = json!([{"name": "Documentation", "amount": 85}]);
    let unit = unit(Some(24990), &[("Price", 24990)]);
    for (prices, price, list_price, fees) in [
        (json!({"asking_price": {"meaning": "advertised_all_in"}}), Some(24990), None, None),
        (
            json!({"asking_price": {"meaning": "advertised_all_in", "fees": []}}),
            Some(24990),
            None,
            Some(json!([])),
        ),
        (
            json!({"asking_price": {"meaning": "advertised_all_in", "fees": doc}}),
            Some(24990),
            None,
            Some(doc.clone()),
        ),
        (json!({"asking_price": {"meaning": "base"}}), None, Some(24990), None),
        (json!({"asking_price": {"meaning": "advertised_without_charges"}}), None, None, None),
        (
            json!({"asking_price": {"meaning": "advertised_without_charges"}, "fee_rule": {"fees": doc}}),
            Some(25075),
            None,
            Some(doc.clone()),
        ),
        (
            json!({"asking_price": {"meaning": "advertised_without_charges"}, "fee_rule": {"fees": []}}),
            Some(24990),
            None,
            Some(json!([])),
        ),
        (json!({"asking_price": {"meaning": "conditional"}}), None, None, None),
        // A rule is for amounts without charges, and for no other.
        (json!({"asking_price": {"meaning": "conditional"}, "fee_rule": {"fees": doc}}), None, None, None),
    ] {
        assert_eq!(published(prices.clone(), &unit), (price, list_price, fees, None), "{prices}");
    }
}

#[test]
fn without_an_answer_nothing_is_published_and_the_column_is_named() {
    let told = unit(Some(24990), &[("Selling Price", 24990), ("Cash Price", 23990)]);
    assert_eq!(published(json!({}), &told), (None, None, None, Some("Selling Price".into())));
    // An answer about another column is none about this one.
    let other = json!({"columns": {"Cash Price": {"meaning": "conditional"}}});
    assert_eq!(published(other, &told).3, Some("Selling Price".into()));
    assert_eq!(published(json!({}), &unit(None, &[("Cash Price", 23990)])).3, None, "nothing was asked");
    assert_eq!(published(json!({}), &unit(Some(1000), &[])).3, Some("asking_price".into()));
}

#[test]
fn a_column_has_its_own_answer_whatever_the_asking_price_means() {
    let unit = unit(Some(23990), &[("Internet Price", 23990), ("Selling Price", 24990), ("MSRP", 27000)]);
    let answers = |internet: &str, selling: &str| {
        json!({"asking_price": {"meaning": "advertised_all_in"}, "columns": {
            "INTERNET_PRICE": {"meaning": internet}, "selling price": {"meaning": selling}}})
    };
    assert_eq!(published(answers("conditional", "advertised_all_in"), &unit).0, Some(24990));
    assert_eq!(published(answers("conditional", "base"), &unit), (None, Some(24990), None, None));
    assert_eq!(
        published(answers("advertised_all_in", "base"), &unit),
        (Some(23990), Some(24990), None, None)
    );
    // Both are said to be the price: the one that the reader chose.
    assert_eq!(published(answers("advertised_all_in", "advertised_all_in"), &unit).0, Some(23990));
}

#[test]
fn of_equal_amounts_the_column_of_the_first_rank_decides() {
    let unit = unit(Some(24990), &[("Internet Price", 24990), ("Selling Price", 24990)]);
    let prices = json!({"asking_price": {"meaning": "advertised_all_in"},
                        "columns": {"Internet Price": {"meaning": "conditional"}}});
    assert_eq!(published(prices, &unit).0, None, "no price is better than a wrong one");
}

#[test]
fn columns_mapped_by_hand_are_asking_prices_too() {
    let unit = unit(Some(24990), &[("Precio final", 24990)]);
    let prices = policy(json!({"asking_price": {"meaning": "advertised_all_in"}}));
    let columns = [("Precio final".to_owned(), "asking_price".to_owned())].into();
    let reading = Reading { columns, ..Reading::default() };
    assert_eq!(prices.publish(&reading, &unit).price, Some(24990));
}

#[test]
fn what_cannot_be_a_price_is_none() {
    let all_in = |fees: Value| json!({"asking_price": {"meaning": "advertised_all_in", "fees": fees}});
    let dear = json!([{"name": "Fee", "amount": 24990}]);
    assert_eq!(published(all_in(dear), &unit(Some(24990), &[])).0, None, "all of it is charges");
    assert_eq!(published(all_in(json!([])), &unit(Some(0), &[("Price", 0)])).0, None);
    let msrp = Unit { msrp: Some(30000), ..unit(None, &[("MSRP", 30000)]) };
    let amounts = policy(all_in(json!([]))).publish(&Reading::default(), &msrp);
    assert_eq!((amounts.price, amounts.msrp), (None, Some(30000)), "the sticker never stands in");
}

#[test]
fn amounts_in_another_currency_are_not_published() {
    let reading = Reading { currency: "CAD".into(), ..Reading::default() };
    let prices = policy(json!({"asking_price": {"meaning": "advertised_all_in"}}));
    let unit = Unit { msrp: Some(30000), ..unit(Some(24990), &[("Price", 24990)]) };
    let amounts = prices.publish(&reading, &unit);
    assert_eq!(amounts, Amounts { foreign: true, ..Amounts::default() });
}

#[test]
fn answers_are_signed_by_who_gave_them() {
    let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
    let mut first = policy(json!({"asking_price": {"meaning": "base", "by": "somebody else"},
                                  "columns": {"Cash": {"meaning": "conditional"}},
                                  "fee_rule": {"fees": []}}));
    first.sign(None, "ana", at(1));
    assert_eq!(first.asking_price.as_ref().unwrap().by.as_deref(), Some("ana"));
    assert_eq!(first.fee_rule.as_ref().unwrap().signed_at, Some(at(1)));
    let mut second = policy(json!({"asking_price": {"meaning": "advertised_all_in"},
                                   "columns": {"Cash": {"meaning": "conditional"}},
                                   "fee_rule": {"fees": []}}));
    second.sign(Some(&first), "ben", at(2));
    let asking = second.asking_price.as_ref().unwrap();
    assert_eq!((asking.by.as_deref(), asking.at), (Some("ben"), Some(at(2))));
    assert_eq!(second.columns["Cash"].by.as_deref(), Some("ana"), "the answer is the one that Ana gave");
    assert_eq!(second.fee_rule.as_ref().unwrap().signed_by.as_deref(), Some("ana"));
}

#[test]
fn answers_that_cannot_be_meant_are_named() {
    for (prices, at) in [
        (json!({"columns": {"Dealer Cost": {"meaning": "base"}}}), "/prices/columns/Dealer Cost"),
        (json!({"columns": {"MSRP": {"meaning": "advertised_all_in"}}}), "/prices/columns/MSRP"),
        (
            json!({"columns": {"E/Price": {"meaning": "base"}, "eprice": {"meaning": "base"}}}),
            "/prices/columns/eprice",
        ),
        (json!({"asking_price": {"meaning": "base", "fees": []}}), "/prices/asking_price/fees"),
        (
            json!({"asking_price": {"meaning": "advertised_all_in", "fees": [{"name": " ", "amount": 1}]}}),
            "/prices/asking_price/fees/0/name",
        ),
        (
            json!({"fee_rule": {"fees": [{"name": "Doc", "amount": 1}, {"name": "doc ", "amount": 2}]}}),
            "/prices/fee_rule/fees/1/name",
        ),
    ] {
        let found = policy(prices.clone()).problems();
        let places: Vec<_> = found.iter().map(|(at, _)| at.as_str()).collect();
        assert_eq!(places, [at], "{prices}");
    }
    let fine = json!({"columns": {"MSRP": {"meaning": "base"}, "a/b~c": {"meaning": "conditional"}}});
    assert_eq!(policy(fine).problems(), []);
    assert!(serde_json::from_value::<PricePolicy>(json!({"asking_price": {"meaning": "msrp"}})).is_err());
}
