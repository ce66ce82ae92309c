//! A buyer agent that may talk to any node.

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::{EXTENSION, aap_error, data_of, request_body};

use super::lots::Question;
use super::writing::Dealer;

/// What came back.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The payload, and the version of the lot that it says it is from.
    Answer(u64, Value),
    /// The AAP error.
    Refused(Value),
    /// Nobody is there.
    Away,
}

impl Outcome {
    #[track_caller]
    pub(super) fn answer(self) -> (u64, Value) {
        match self {
            Outcome::Answer(version, data) => (version, data),
            other => panic!("an answer was expected: {other:?}"),
        }
    }

    /// The code of a refusal that may be repeated.
    #[track_caller]
    pub(super) fn retryable(&self) -> &str {
        match self {
            Outcome::Refused(error) => {
                assert_eq!(error["retryable"], true, "{error}");
                error["code"].as_str().expect("a code")
            }
            other => panic!("a refusal was expected: {other:?}"),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Client(reqwest::Client);

impl Client {
    pub(super) fn new() -> Client {
        // A process of ours does it itself; here none may run.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20));
        Client(client.build().expect("a client"))
    }

    /// Asks a node; `from` is the version that the answer must at least be from.
    pub(super) async fn ask(&self, origin: &str, slug: &str, data: Value, from: Option<u64>) -> Outcome {
        let mut request = self
            .0
            .post(format!("{origin}/t/{slug}/v3.0/a2a"))
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .header("a2a-extensions", EXTENSION)
            .body(request_body(data).to_string());
        if let Some(version) = from {
            request = request.header("forecourt-min-version", version);
        }
        let Ok(response) = request.send().await else { return Outcome::Away };
        let status = response.status();
        let version = response.headers().get("forecourt-inventory-version").cloned();
        let Ok(body) = response.bytes().await else { return Outcome::Away };
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        testkit::check_answer("/v3.0/a2a", &answer);
        match (aap_error(&answer["error"]), version) {
            (Some(error), None) => Outcome::Refused(error.clone()),
            (None, Some(version)) => {
                let version = version.to_str().ok().and_then(|text| text.parse().ok());
                Outcome::Answer(version.expect("a version is a number"), data_of(&answer).clone())
            }
            (_, version) => panic!("version {version:?} of {answer}"),
        }
    }

    /// Asks for the first page of a question and checks it against the version that it names: that version, and
    /// how much too old it was.
    pub(super) async fn first_page(
        &self,
        origin: &str,
        dealer: &Dealer,
        question: &Question,
        from: Option<u64>,
    ) -> Option<(u64, Duration, Value)> {
        let asked = Instant::now();
        match self.ask(origin, &dealer.slug, question.search(None), from).await {
            Outcome::Answer(version, page) => {
                assert!((1..=dealer.begun()).contains(&version), "version {version} was never written");
                question.check_page(dealer.salt, version, 0, &page);
                Some((version, dealer.behind(version, asked), page))
            }
            Outcome::Away => None,
            Outcome::Refused(error) => panic!("{error}"),
        }
    }
}
