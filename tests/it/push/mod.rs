//! The push door: `POST /push/feeds/{source}` and what its senders may ask.

mod bodies;
mod door;
mod snapshots;

use dealer::feeds::{self, SourceSettings};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use store::{RunRow, SourceKind, TenantId};
use testkit::Platform;
use uuid::Uuid;

pub(super) use crate::feed_commands::{cars, dealer};

/// A source that pushes, with its token.
pub(super) struct Sender<'p> {
    platform: &'p Platform,
    tenant: TenantId,
    source: Uuid,
    token: String,
}

/// The tenant of a slug.
pub(super) async fn tenant(platform: &Platform, slug: &str) -> TenantId {
    let mut tx = platform.application().store().platform().await.unwrap();
    tx.tenant_by_slug(slug).await.unwrap().expect("the dealer")
}

/// Adds a source that pushes.
pub(super) async fn sender<'p>(platform: &'p Platform, slug: &str, settings: Value) -> Sender<'p> {
    let (store, tenant) = (platform.application().store(), tenant(platform, slug).await);
    let settings = SourceSettings::read(&settings).unwrap();
    let name = Uuid::new_v4().to_string();
    let source = feeds::add_source(store, tenant, &name, SourceKind::Push, settings, "test").await.unwrap();
    let token = feeds::renew_token(store, tenant, source.source_id, "test").await.unwrap();
    Sender { platform, tenant, source: source.source_id, token }
}

impl Sender<'_> {
    /// Its address, with a query.
    fn address(&self, query: &str) -> String {
        format!("{}/push/feeds/{}{query}", self.platform.origin, self.source)
    }

    /// A push.
    fn push(&self, query: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.platform.http.post(self.address(query)).bearer_auth(&self.token).body(body)
    }

    /// A push that is taken; what is answered.
    async fn taken(&self, query: &str, body: impl Into<reqwest::Body>) -> Value {
        answered(self.push(query, body).send().await.unwrap(), 202).await
    }

    /// Its runs.
    async fn runs(&self) -> Vec<RunRow> {
        let mut tx = self.platform.application().store().tenant(self.tenant).await.unwrap();
        tx.runs(Some(self.source), 100, None).await.unwrap()
    }

    /// The bytes of the file of a run, as they were received.
    async fn file(&self, run: &RunRow) -> Vec<u8> {
        let mut tx = self.platform.application().store().tenant(self.tenant).await.unwrap();
        let mut packed = Vec::new();
        for no in 0.. {
            match tx.file_chunk(run.file_id.expect("a file"), no).await.unwrap() {
                Some(piece) => packed.extend(piece),
                None => break,
            }
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut bytes).unwrap();
        bytes
    }
}

/// The document of an answer, which must have that status.
pub(super) async fn answered(response: Response, status: u16) -> Value {
    let found = response.status().as_u16();
    let text = response.text().await.unwrap();
    assert_eq!(found, status, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|_| json!(text))
}
