//! One random try: something is sent that could lead to the wrong dealer, and the answer is searched for it.

use std::sync::{Arc, Mutex};

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};
use testkit::{Wire, aap_error, data_of, request_body};

use super::dealers::{self, ACTIVE, HIDDEN, Standing, UNITS, interface_tenant, mark};
use super::ways::{code, only_of, plain};

/// Cursors that were given out.
pub(super) type Cursors = Arc<Mutex<Vec<Given>>>;

/// A cursor, whose it is, and the request it belongs to.
#[derive(Clone)]
pub(super) struct Given {
    dealer: usize,
    node: usize,
    request: Value,
    cursor: String,
}

/// One of those who try.
pub(super) struct Intruder {
    pub(super) wire: Wire,
    pub(super) node: usize,
    pub(super) random: StdRng,
    pub(super) cursors: Cursors,
    /// Entity tags of the dealers' cards.
    pub(super) tags: Arc<Vec<String>>,
    /// Seed and number, for whoever has to find out what happened.
    pub(super) name: String,
}

/// Paths that name two dealers; nothing is served at any of them. `A`, `B` stand for slugs.
const TWO_NAMES: [&str; 15] = [
    "/t/A/../B/v3.0/",
    "/t/A/%2e%2e/B/v3.0/",
    "/t/A%2f..%2fB/v3.0/",
    "/t/A/v3.0/../../B/v3.0/",
    "/t/A/t/B/v3.0/",
    "/t/A%2fB/v3.0/",
    "/t/A\\..\\B/v3.0/",
    "/t/A;B/v3.0/",
    "/t/A,B/v3.0/",
    "/t/A%00B/v3.0/",
    "/t/A%20B/v3.0/",
    "/t/A/v3.0/t/B/v3.0/",
    "/t/A@B/v3.0/",
    "/t/A.B/v3.0/",
    "/t/A/./B/v3.0/",
];

impl Intruder {
    pub(super) async fn once(&mut self) {
        match self.random.random_range(0..100) {
            0..24 => self.vehicle().await,
            24..44 => self.search().await,
            44..54 => self.foreign_cursor().await,
            54..64 => self.facets_or_information().await,
            64..74 => self.card().await,
            74..80 => self.wrong_tenant().await,
            80..86 => self.hidden().await,
            86..94 => self.two_names().await,
            _ => self.two_hosts().await,
        }
    }

    async fn vehicle(&mut self) {
        let dealer = self.dealer();
        let unit = self.random.random_range(0..UNITS);
        let mut request = json!({"type": "inventory.vehicle.request"});
        match self.random.random_range(0..4) {
            0 => request["vin"] = dealers::vin(unit).into(),
            1 => request["vehicle_id"] = format!("u-{unit}").into(),
            2 => request["stock"] = format!("S-{unit}").into(),
            _ => {
                request["vin"] = dealers::vin(unit).into();
                request["stock"] = format!("S-{unit}").into();
            }
        }
        // The id of the dealer is no key either.
        if self.random.random_ratio(1, 6) {
            let said = *["shared-id", "own-id"].choose(&mut self.random).unwrap();
            request["dealer_id"] = said.into();
            if said != dealers::dealer_id(dealer) {
                let (answer, context) = self.ask(dealer, &request).await;
                assert_eq!(code(&answer), Some("DEALER_NOT_FOUND"), "{context}");
                return;
            }
        }
        let (answer, context) = self.ask(dealer, &request).await;
        match dealers::standing(dealer, unit) {
            Standing::Offered => {
                let found = data_of(&answer);
                assert_eq!(found["price"], dealers::price(dealer, unit), "{context}");
                assert_eq!(found["vehicle_id"], format!("u-{unit}"), "{context}");
                assert_eq!(found["dealer_id"], dealers::dealer_id(dealer), "{context}");
            }
            Standing::Sold => assert_eq!(code(&answer), Some("VEHICLE_UNAVAILABLE"), "{context}"),
            Standing::Unknown => assert_eq!(code(&answer), Some("VEHICLE_NOT_FOUND"), "{context}"),
        }
    }

    /// A search whose filters may name what only others have.
    fn random_search(&mut self, dealer: usize) -> (Value, Option<usize>) {
        let all = dealers::offered(dealer);
        let other = self.another(dealer);
        let (filters, total) = match self.random.random_range(0..8) {
            0 => (json!({"make": [format!("Make {}", mark(other))]}), Some(0)),
            1 => (
                json!({"make": [format!("Make {}", mark(other)), format!("make {}", mark(dealer))]}),
                Some(all),
            ),
            2 => (json!({"query": mark(other)}), Some(0)),
            3 => (json!({"rooftops": [format!("Rooftop {}", mark(other))]}), Some(0)),
            4 => (json!({"exterior_color": [mark(dealer)], "condition": ["used"]}), Some(all)),
            5 => (json!({"price_min": 8 * 1000 + self.random.random_range(0..2000)}), None),
            6 => (json!({"features": [format!("Feature {}", mark(other))]}), Some(0)),
            _ => (json!({}), Some(all)),
        };
        let mut request = json!({"type": "inventory.search.request", "pagination": {"limit": 5}});
        if filters != json!({}) || self.random.random_bool(0.5) {
            request["filters"] = filters;
        }
        let fields = ["price", "make", "stock", "updated_at"];
        if let Some(field) = fields.choose(&mut self.random).filter(|_| self.random.random_bool(0.7)) {
            request["sort"] = json!({"field": field, "order": "asc"});
        }
        (request, total)
    }

    async fn search(&mut self) {
        let dealer = self.dealer();
        let (request, total) = self.random_search(dealer);
        let (answer, context) = self.ask(dealer, &request).await;
        let found = data_of(&answer);
        if let Some(total) = total {
            assert_eq!(found["total"], total, "{context}");
        }
        for vehicle in found["vehicles"].as_array().unwrap() {
            assert!(dealers::is_price_of(dealer, vehicle["price"].as_i64().unwrap()), "{context}");
        }
        if let Some(cursor) = found["next_cursor"].as_str() {
            let given = Given { dealer, node: self.node, request, cursor: cursor.to_owned() };
            let mut kept = self.cursors.lock().unwrap();
            if kept.len() < 200 {
                kept.push(given);
            } else {
                let place = self.random.random_range(0..200);
                kept[place] = given;
            }
        }
    }

    /// The same request and cursor, sent to whom it belongs and to somebody else.
    async fn foreign_cursor(&mut self) {
        let Some(given) = self.cursors.lock().unwrap().choose(&mut self.random).cloned() else {
            return;
        };
        let mut request = given.request;
        request["pagination"]["cursor"] = given.cursor.into();
        let dealer = if self.random.random_ratio(1, 4) { given.dealer } else { self.dealer() };
        let (answer, context) = self.ask(dealer, &request).await;
        let reason = answer.get("error").and_then(aap_error).map(|error| error["details"]["reason"].clone());
        if dealer == given.dealer {
            // A node need not hold a version from which only another one gave a cursor.
            if given.node != self.node && reason == Some(json!("expired")) {
                return;
            }
            assert!(
                data_of(&answer)["vehicles"].as_array().is_some_and(|page| !page.is_empty()),
                "{context}"
            );
        } else {
            assert_eq!(code(&answer), Some("INVALID_CURSOR"), "{context}");
            assert_eq!(reason, Some(json!("mismatch")), "{context}");
        }
    }

    async fn facets_or_information(&mut self) {
        let dealer = self.dealer();
        if self.random.random_bool(0.4) {
            let (answer, context) = self.ask(dealer, &json!({"type": "dealer.information.request"})).await;
            assert_eq!(data_of(&answer)["name"], format!("Dealer {}", mark(dealer)), "{context}");
            return;
        }
        let (mut request, total) = self.random_search(dealer);
        request = json!({"type": "inventory.facets.request",
            "filters": request.get("filters").cloned().unwrap_or_else(|| json!({}))});
        let (answer, context) = self.ask(dealer, &request).await;
        let facets = data_of(&answer);
        if total == Some(0) {
            assert_eq!(facets, &json!({}), "{context}");
        } else if let Some(range) = facets.get("price_range") {
            for end in ["min", "max"] {
                assert!(dealers::is_price_of(dealer, range[end].as_i64().unwrap()), "{context}");
            }
        }
    }

    async fn card(&mut self) {
        let dealer = self.dealer();
        let way = loop {
            let way = self.way_to(dealer);
            if !way.shared {
                break way;
            }
        };
        let mut more = self.astray(dealer);
        let asked_for = self.random.random_range(0..ACTIVE);
        let conditional = self.random.random_bool(0.5);
        if conditional {
            more.push(("if-none-match".into(), self.tags[asked_for].clone()));
        }
        let contract = if self.random.random_bool(0.5) { "v3.0/" } else { "" };
        let target = format!("{}{contract}.well-known/agent-card.json", way.base);
        let mut headers = vec![("host", way.host.as_str())];
        headers.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let reply = self.wire.send("GET", &target, &headers, b"").await;
        let context = format!("{}: GET {target} {headers:?} answered {reply:?}", self.name);
        assert_eq!(reply.header("etag"), Some(self.tags[dealer].as_str()), "{context}");
        let expected = if conditional && asked_for == dealer { 304 } else { 200 };
        assert_eq!(reply.status, expected, "{context}");
        let mut text = reply.everything();
        if let Some(tenant) = interface_tenant(dealer) {
            text = text.replace(&format!("\"tenant\":\"{tenant}\""), "");
        }
        only_of(Some(dealer), &text, &context);
        if expected == 200 {
            assert!(text.contains(&format!("https://{}/v3.0/a2a", dealers::domain(dealer))), "{context}");
        }
    }

    /// A `params.tenant` that is not the one of the interface.
    async fn wrong_tenant(&mut self) {
        let dealer = self.dealer();
        let other = self.another(dealer);
        let way = self.way_to(dealer);
        let hidden = mark(HIDDEN.choose(&mut self.random).unwrap().0);
        let wrong = match self.random.random_range(0..9) {
            0 => mark(other),
            1 => mark(dealer).to_uppercase(),
            2 => format!(" {}", mark(dealer)),
            3 => dealers::domain(dealer),
            4 => format!("{}/../{}", mark(dealer), mark(other)),
            5 => "gate".into(),
            6 => hidden,
            7 => "%7ax0zx".into(),
            _ => format!("{}\0", mark(dealer)),
        };
        let right = if way.shared { Some(mark(dealer)) } else { interface_tenant(dealer) };
        let at_home = way.shared && (0..ACTIVE).any(|active| mark(active) == wrong);
        if right.as_deref() == Some(wrong.as_str()) || at_home {
            return;
        }
        let mut body = request_body(json!({"type": "inventory.search.request"}));
        body["params"]["tenant"] = wrong.into();
        let target = format!("{}v3.0/a2a", way.base);
        let (reply, context) = self.post(&target, &way.host, &[], &body).await;
        assert_eq!(reply.status, 200, "{context}");
        let answer = reply.json();
        assert_eq!(answer["error"]["code"], -32602, "{context}");
        let details = answer["error"]["data"].as_array().expect("details");
        let named = |detail: &Value| detail["fieldViolations"][0]["field"] == "tenant";
        assert!(details.iter().any(named), "{context}");
        only_of(None, &reply.everything(), &context);
    }

    /// Suspended and removed dealers look like nobody, at every address.
    async fn hidden(&mut self) {
        let dealer = HIDDEN.choose(&mut self.random).unwrap().0;
        let way = self.way_to(dealer);
        let shared = way.shared;
        let mut body = request_body(json!({"type": "inventory.search.request"}));
        // A stranger's answer is compared with: a name that nobody has.
        let (base, host) = if shared {
            body["params"]["tenant"] = mark(dealer).into();
            (way.base.clone(), way.host.clone())
        } else {
            let nobody = |text: &str| text.to_lowercase().replace(&mark(dealer), "nobody");
            (nobody(&way.base), nobody(&way.host))
        };
        let below =
            if shared { "v3.0/a2a" } else { *["v3.0/a2a", "a2a", ""].choose(&mut self.random).unwrap() };
        let astray = self.astray(dealer);
        let (reply, context) = self.post(&format!("{}{below}", way.base), &way.host, &astray, &body).await;
        if shared {
            body["params"]["tenant"] = "nobody".into();
        }
        let (stranger, _) = self.post(&format!("{base}{below}"), &host, &astray, &body).await;
        assert_eq!(plain(&reply), plain(&stranger), "{context}");
        only_of(None, &reply.everything(), &context);
    }

    /// Paths that name two dealers lead to neither.
    async fn two_names(&mut self) {
        let dealer = self.dealer();
        let other = self.another(dealer);
        let mut path = (*TWO_NAMES.choose(&mut self.random).unwrap()).to_owned();
        path = path.replace('A', &mark(dealer)).replace('B', &mark(other));
        let host = match self.random.random_range(0..3) {
            0 => dealers::domain(dealer),
            1 => format!("{}.localhost", mark(dealer)),
            _ => "127.0.0.1".into(),
        };
        // At a dealer's own host a path that names another is nowhere, too.
        if host != "127.0.0.1" && self.random.random_bool(0.5) {
            path = format!("/t/{}/v3.0/", mark(other));
        }
        let body = request_body(json!({"type": "inventory.search.request"}));
        let (reply, context) = self.post(&format!("{path}a2a"), &host, &[], &body).await;
        assert!([400, 404].contains(&reply.status), "{context}");
        only_of(None, &reply.everything(), &context);
        let target = format!("{path}.well-known/agent-card.json");
        let reply = self.wire.send("GET", &target, &[("host", &host)], b"").await;
        assert!([400, 404].contains(&reply.status), "{}: GET {target} at {host}: {reply:?}", self.name);
        only_of(None, &reply.everything(), &target);
    }

    /// Requests that name two hosts: the request line counts, and two headers are refused.
    async fn two_hosts(&mut self) {
        let dealer = self.dealer();
        let other = self.another(dealer);
        let card = ".well-known/agent-card.json";
        let other_host = dealers::domain(other);
        let (reply, context) = if self.random.random_bool(0.5) {
            let target = format!("http://{}/{card}", dealers::domain(dealer));
            let reply = self.wire.send("GET", &target, &[("host", &other_host)], b"").await;
            assert_eq!(reply.header("etag"), Some(self.tags[dealer].as_str()), "{target} {reply:?}");
            (reply, target)
        } else {
            let host = dealers::domain(dealer);
            let headers = [("host", host.as_str()), ("host", other_host.as_str())];
            let reply = self.wire.send("GET", &format!("/{card}"), &headers, b"").await;
            assert_eq!(reply.status, 400, "{headers:?} {reply:?}");
            only_of(None, &reply.everything(), &host);
            return;
        };
        let mut text = reply.everything();
        if let Some(tenant) = interface_tenant(dealer) {
            text = text.replace(&format!("\"tenant\":\"{tenant}\""), "");
        }
        only_of(Some(dealer), &text, &context);
    }
}
