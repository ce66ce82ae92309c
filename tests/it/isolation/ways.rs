//! The ways to a dealer, what goes along with a request, and what must not be in an answer.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};
use testkit::{Reply, aap_error, request_body};

use super::dealers::{self, ACTIVE, GATED, HIDDEN, interface_tenant, mark};
use super::tries::Intruder;

/// A way to a dealer: target without the part below the base, headers, and the shared endpoint's `tenant`.
pub(super) struct Way {
    pub(super) base: String,
    pub(super) host: String,
    pub(super) shared: bool,
}

/// Headers by which others have been led astray; none of them counts from a peer that is not trusted.
const ASTRAY: [&str; 8] = [
    "x-forwarded-host",
    "forwarded",
    "x-host",
    "x-original-host",
    "x-original-url",
    "x-rewrite-url",
    "x-tenant",
    "x-forwarded-prefix",
];

impl Intruder {
    pub(super) fn dealer(&mut self) -> usize {
        self.random.random_range(0..ACTIVE)
    }

    /// Another one, hidden ones included.
    pub(super) fn another(&mut self, than: usize) -> usize {
        loop {
            let other = self.random.random_range(0..ACTIVE + HIDDEN.len());
            if other != than {
                return other;
            }
        }
    }

    pub(super) fn way_to(&mut self, dealer: usize) -> Way {
        let host = |name: String, random: &mut StdRng| match random.random_range(0..6) {
            0 => name.to_uppercase(),
            1 => format!("{name}:8443"),
            2 => format!("{name}."),
            _ => name,
        };
        let slug = mark(dealer);
        match self.random.random_range(0..4) {
            0 => Way {
                base: "/".into(),
                host: host(format!("{slug}.localhost"), &mut self.random),
                shared: false,
            },
            1 => {
                Way { base: "/".into(), host: host(dealers::domain(dealer), &mut self.random), shared: false }
            }
            2 => Way { base: "/".into(), host: "127.0.0.1".into(), shared: true },
            _ => Way { base: format!("/t/{slug}/"), host: "127.0.0.1".into(), shared: false },
        }
    }

    /// Headers that name somebody else.
    pub(super) fn astray(&mut self, dealer: usize) -> Vec<(String, String)> {
        if self.random.random_bool(0.5) {
            return Vec::new();
        }
        let other = self.another(dealer);
        let name = *ASTRAY.choose(&mut self.random).unwrap();
        let value = match name {
            "forwarded" => format!("host={}", dealers::domain(other)),
            "x-original-url" | "x-rewrite-url" => format!("/t/{}/v3.0/a2a", mark(other)),
            "x-forwarded-prefix" => format!("/t/{}", mark(other)),
            "x-tenant" => mark(other),
            _ if self.random.random_bool(0.5) => format!("{}.localhost", mark(other)),
            _ => dealers::domain(other),
        };
        vec![(name.to_owned(), value)]
    }

    /// Asks a dealer by one of its addresses.
    pub(super) async fn ask(&mut self, dealer: usize, data: &Value) -> (Value, String) {
        let way = self.way_to(dealer);
        let mut body = request_body(data.clone());
        if way.shared {
            body["params"]["tenant"] = mark(dealer).into();
        } else if let Some(tenant) = interface_tenant(dealer) {
            body["params"]["tenant"] = tenant.into();
        }
        let contract = if self.random.random_bool(0.7) || way.shared { "v3.0/" } else { "" };
        let target = format!("{}{contract}a2a", way.base);
        let astray = self.astray(dealer);
        let (reply, context) = self.post(&target, &way.host, &astray, &body).await;
        assert_eq!(reply.status, 200, "{context}");
        let mut answer = reply.json();
        // What the caller itself said is repeated there, and only there.
        if let Some(applied) = answer.pointer_mut("/result/message/parts/0/data/data/applied_filters") {
            let said = data.get("filters").cloned().unwrap_or_else(|| json!({}));
            assert_eq!(applied, &said, "{context}");
            *applied = Value::Null;
        }
        let headers = Reply { body: Vec::new(), ..reply }.everything();
        only_of(Some(dealer), &format!("{answer}{headers}"), &context);
        (answer, context)
    }

    pub(super) async fn post(
        &mut self,
        target: &str,
        host: &str,
        more: &[(String, String)],
        body: &Value,
    ) -> (Reply, String) {
        let mut headers = vec![("host", host), ("content-type", "application/json")];
        headers.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let body = body.to_string();
        let reply = self.wire.send("POST", target, &headers, body.as_bytes()).await;
        let context = format!(
            "{}: POST {target} {headers:?} {body} answered {} {}",
            self.name,
            reply.status,
            String::from_utf8_lossy(&reply.body)
        );
        (reply, context)
    }
}

/// The AAP code of an error; `None` for a result.
pub(super) fn code(answer: &Value) -> Option<&str> {
    aap_error(answer.get("error")?)?["code"].as_str()
}

/// No text of any dealer but this one.
pub(super) fn only_of(dealer: Option<usize>, text: &str, context: &str) {
    let text = text.to_lowercase();
    for other in (0..ACTIVE + HIDDEN.len()).filter(|other| Some(*other) != dealer) {
        assert!(!text.contains(&mark(other)), "something of {} got out. {context}", mark(other));
    }
    assert!(dealer == Some(GATED) || !text.contains("own-id"), "an id of {} got out. {context}", mark(GATED));
}

/// An answer without what differs from request to request.
pub(super) fn plain(reply: &Reply) -> (u16, Value, Vec<String>) {
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    if let Some(members) = body.as_object_mut() {
        members.remove("request_id");
    }
    let names = reply.headers.iter().map(|(name, _)| name.clone()).collect();
    (reply.status, body, names)
}
