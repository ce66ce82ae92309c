//! One unit by its identifiers (AAP.md 7.5).

use contract::payload::{Filters, Sort};
use inventory::{Found, Removed, Snapshot, Start, find, search};
use serde_json::{Value, json};

use crate::semantics::{ids, lot, unit};

#[test]
fn identifiers_are_tried_in_order_and_live_units_win() {
    let units = [
        json!({"vehicle_id": "z", "vin": "2HKRW2H89PH600102", "stock": "S1", "description": "words"}),
        json!({"vehicle_id": "y", "stock": "S1"}),
        json!({"vehicle_id": "x", "vin": "2HKRW2H89PH600103"}),
    ];
    let gone = |id: &str, vin: Option<&str>, stock: Option<&str>| Removed {
        vehicle_id: id.into(),
        vin: vin.map(str::to_owned),
        stock: stock.map(str::to_owned),
    };
    let removed = vec![
        gone("old", Some("1FTFW1E50PFA00001"), Some("S9")),
        gone("old", None, Some("S9")),
        // Came back under the same numbers.
        gone("z", Some("2HKRW2H89PH600102"), Some("S1")),
    ];
    let snapshot = Snapshot::build(4, units.into_iter().map(unit).collect(), removed);
    let live = |vin, id, stock| match find(&snapshot, vin, id, stock) {
        Found::Live { vehicle_id, document } => {
            assert_eq!(serde_json::from_str::<Value>(document).unwrap()["vehicle_id"], vehicle_id);
            vehicle_id
        }
        Found::Removed => "removed",
        Found::Nothing => "nothing",
    };
    assert_eq!(live(Some("2HKRW2H89PH600102"), Some("x"), Some("S9")), "z");
    assert_eq!(live(Some("unknown"), Some("x"), Some("S1")), "x");
    assert_eq!(live(None, None, Some("S1")), "y");
    assert_eq!(live(None, None, Some("s1")), "nothing");
    assert_eq!(live(Some("1FTFW1E50PFA00001"), None, None), "removed");
    assert_eq!(live(None, Some("old"), None), "removed");
    assert_eq!(live(None, None, Some("S9")), "removed");
    assert_eq!(live(Some("1FTFW1E50PFA00001"), Some("old"), Some("S1")), "y");
    assert_eq!(live(Some("unknown"), Some("unknown"), Some("S9")), "removed");
    assert_eq!(live(None, Some("2HKRW2H89PH600102"), None), "nothing");
    assert_eq!(live(None, None, None), "nothing");
    let Found::Live { document, .. } = find(&snapshot, None, Some("z"), None) else { panic!() };
    assert!(document.contains("\"description\":\"words\""));
    let page = search(&snapshot, &Filters::default(), Sort::DEFAULT, Start::Beginning, 9).unwrap();
    assert!(page.rows.iter().all(|row| !String::from_utf8_lossy(row.listing()).contains("words")));
}

#[test]
fn of_two_units_with_one_id_the_later_counts() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "make": "first"}, {"vehicle_id": "b"}, {"vehicle_id": "a", "make": "second"}
    ]));
    assert_eq!(snapshot.len(), 2);
    assert_eq!(ids(&snapshot, json!({"make": ["second"]})), ["a"]);
    assert!(ids(&snapshot, json!({"make": ["first"]})).is_empty());
}
