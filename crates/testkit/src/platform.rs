//! The server inside the test process.

use std::time::Duration;

use contract::ContractVersion;
use serde_json::{Value, json};
use server::application::{Application, Preparation};
use server::settings::Settings;
use store::Database;

use crate::cluster::cluster;
use crate::json_rpc::Asking;

/// A platform that answers on a port of its own, on a database of its own.
pub struct Platform {
    /// `http://127.0.0.1:PORT`, no trailing slash.
    pub origin: String,
    /// The database, for tests that look behind the answers.
    pub database: Database,
    /// A client without proxy or redirects.
    pub http: reqwest::Client,
    application: Option<Application>,
}

/// What differs from the usual.
#[derive(Debug, Default)]
pub struct Options {
    /// The database of another platform, for a second node; a fresh one if absent.
    pub database: Option<Database>,
    /// Changes to the settings.
    pub settings: Settings,
}

impl Platform {
    /// A platform without dealers.
    pub async fn start() -> Platform {
        Self::start_with(Options::default()).await
    }

    /// A platform with settings or a database of the test's choice.
    pub async fn start_with(options: Options) -> Platform {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = match options.database {
            Some(database) => database,
            None => cluster().fresh().await,
        };
        let mut settings = options.settings;
        settings.listen.set_port(0);
        settings.workers = 1;
        settings.max_connections = settings.max_connections.min(6);
        let application =
            Application::build(&settings, &database, Preparation { migrate: true, demo: false })
                .await
                .unwrap_or_else(|failure| panic!("the platform must start: {failure:?}"));
        let origin = format!("http://127.0.0.1:{}", application.port());
        Platform { origin, database, http: client(), application: Some(application) }
    }

    /// A platform with one dealer of that slug and document.
    pub async fn with_dealer(slug: &str, document: Value) -> Platform {
        let platform = Self::start().await;
        platform.provision(&json!({ slug: document })).await;
        platform
    }

    /// The running server, for what no address shows.
    pub fn application(&self) -> &Application {
        self.application.as_ref().expect("the platform runs")
    }

    /// Provisions dealers (`{slug: {…}}`) and waits until this node knows them; panics on any problem.
    pub async fn provision(&self, tenants: &Value) {
        let outcomes = self.try_provision(tenants).await;
        for (slug, outcome) in &outcomes {
            assert!(outcome.is_ok(), "{slug} must be provisioned: {outcome:?}");
        }
        self.catch_up().await;
    }

    /// Provisions dealers; each ends as `created`, `updated` or `unchanged`, or with its problems.
    pub async fn try_provision(&self, tenants: &Value) -> Vec<(String, Result<&'static str, Vec<String>>)> {
        let text = json!({ "tenants": tenants }).to_string();
        let document = dealer::provision::read(&text).expect("a readable document");
        let mut outcomes = Vec::new();
        let application = self.application();
        let fallback = application.dealer().addresses().clone();
        dealer::provision::apply(application.store(), &fallback, document, "test", |slug, outcome| {
            let outcome = match outcome {
                Ok(dealer::provision::Outcome::Created) => Ok("created"),
                Ok(dealer::provision::Outcome::Updated) => Ok("updated"),
                Ok(dealer::provision::Outcome::UpdatedLosing(_)) => Ok("updated, losing visits"),
                Ok(dealer::provision::Outcome::Unchanged) => Ok("unchanged"),
                Err(dealer::provision::ApplyError::Problems(problems)) => {
                    Err(problems.iter().map(ToString::to_string).collect())
                }
                Err(error) => Err(vec![error.to_string()]),
            };
            outcomes.push((slug.to_owned(), outcome));
        })
        .await
        .expect("the database answers");
        outcomes
    }

    /// Waits until this node has seen everything that was committed before: two polls of the database.
    pub async fn catch_up(&self) {
        self.application()
            .dealer()
            .caught_up(Duration::from_secs(10))
            .await
            .expect("the node follows its database");
    }

    /// A dealer's base address, with a trailing slash.
    pub fn base(&self, slug: &str) -> String {
        format!("{}/t/{slug}/", self.origin)
    }

    /// An A2A request to a dealer's v3.0 endpoint, to be changed and sent.
    pub fn ask(&self, slug: &str, data: Value) -> Asking {
        self.ask_in(ContractVersion::V3_0, slug, data)
    }

    /// An A2A request to a dealer's endpoint of one contract, with the headers that name it.
    pub fn ask_in(&self, contract: ContractVersion, slug: &str, data: Value) -> Asking {
        let url = format!("{}{contract}/a2a", self.base(slug));
        Asking::new(self.http.clone(), url, contract, data)
    }

    /// The payload's `data` of a skill's answer; panics on an error.
    pub async fn call(&self, slug: &str, data: Value) -> Value {
        self.ask(slug, data).result().await
    }

    /// The dealer's v3.0 card.
    pub async fn card(&self, slug: &str) -> Value {
        let url = format!("{}v3.0/.well-known/agent-card.json", self.base(slug));
        let response = self.http.get(url).send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        response.json().await.expect("a card")
    }

    /// Stops as on SIGTERM without drain time.
    pub async fn stop(mut self) {
        if let Some(application) = self.application.take() {
            application.stop(Duration::ZERO).await;
        }
    }
}

/// A client that sees what is sent: no proxy, no redirects.
fn client() -> reqwest::Client {
    let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    builder.timeout(Duration::from_secs(20)).build().expect("a client")
}
