//! The documents of this door: `openapi.json`, `openapi.yaml`, `docs`. Made once for each revision of a dealer, and anew
//! when what they show of its lot is over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Bytes;
use contract::{ContractSpec, ContractVersion};
use moka::future::Cache;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::specimens::{NotNow, Source, Specimens};
use super::{describe, rendered, yaml};
use crate::answer;
use crate::interfaces::Visit;

/// How long a copy may be used without asking.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// How long a document is kept while the lot changes and still has what is shown of it. Copies may be as old, so prices
/// and counts that it shows need not be newer; a lot that changes ten times a second costs no document each time.
const KEPT: Duration = Duration::from_secs(300);
/// How soon it is tried again to show something of a lot that could not be asked.
const RETRY: Duration = Duration::from_secs(5);
/// How much the documents of all dealers may take, in bytes.
const MOST: u64 = 64 * 1024 * 1024;

/// The same document in its three forms.
struct Documents {
    json: Bytes,
    yaml: Bytes,
    html: Bytes,
    /// Of what all three say.
    digest: String,
    made: Instant,
    shows: Shows,
}

/// What a document shows of a lot that changes.
enum Shows {
    /// Nothing: the dealer keeps its lot for itself.
    Nothing,
    /// What the lot had in this version, and has as long as vehicles of these names are offered.
    Lot {
        names: Vec<(&'static str, String)>,
        version: AtomicU64,
        /// Since when answers say that the lot is old, if they did.
        old_since: Option<i64>,
    },
    /// The samples of the schemas, until the lot can be asked.
    Samples,
}

impl Documents {
    async fn made(source: &Source<'_>) -> Documents {
        // Before the answers: should the lot grow old meanwhile, they are asked for anew.
        let old_since = source.target.tenant.old_since();
        let (specimens, shows) = match source.gather().await {
            Ok(specimens) => {
                let names = specimens.lot.as_ref().map(|lot| lot.names.clone()).unwrap_or_default();
                let shows = match specimens.version {
                    Some(version) => Shows::Lot { names, version: version.into(), old_since },
                    None => Shows::Nothing,
                };
                (specimens, shows)
            }
            Err(NotNow) => (Specimens::default(), Shows::Samples),
        };
        let tenant = &source.target.tenant;
        let document = describe::document(tenant, source.spec, &specimens);
        let json = document.to_string();
        let digest = Sha256::digest(&json).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Documents {
            yaml: yaml::written(&document).into(),
            html: rendered::page(tenant, &document).into(),
            json: json.into(),
            digest,
            made: Instant::now(),
            shows,
        }
    }

    /// Whether what they show is true. While a lot is as it was that costs a look at a number, else one at each of the
    /// vehicles that are named.
    async fn hold(&self, source: &Source<'_>) -> bool {
        match &self.shows {
            Shows::Nothing => true,
            Shows::Samples => self.made.elapsed() < RETRY,
            Shows::Lot { old_since, .. } if *old_since != source.target.tenant.old_since() => false,
            Shows::Lot { names, version, .. } => {
                if version.load(Ordering::Relaxed) == source.dealer.newest_inventory(&source.target.tenant) {
                    return true;
                }
                if self.made.elapsed() >= KEPT {
                    return false;
                }
                match source.still(names).await {
                    Ok(Some(seen)) => {
                        version.fetch_max(seen, Ordering::Relaxed);
                        true
                    }
                    Ok(None) => false,
                    // Nothing newer is known either.
                    Err(NotNow) => true,
                }
            }
        }
    }
}

/// Which of the forms.
#[derive(Debug, Clone, Copy)]
pub(in crate::interfaces) enum Form {
    /// `openapi.json`.
    Json,
    /// `openapi.yaml`.
    Yaml,
    /// `docs`.
    Html,
}

type Key = (Uuid, i64, ContractVersion);

async fn documents(visit: &Visit<'_>, spec: &'static ContractSpec) -> Arc<Documents> {
    static MADE: LazyLock<Cache<Key, Arc<Documents>>> = LazyLock::new(|| {
        let weigher = |_: &Key, made: &Arc<Documents>| {
            u32::try_from(made.json.len() + made.yaml.len() + made.html.len()).unwrap_or(u32::MAX)
        };
        Cache::builder().max_capacity(MOST).weigher(weigher).build()
    });
    let source = Source { dealer: visit.dealer, target: &visit.target, spec };
    let tenant = &visit.target.tenant;
    let key = (tenant.id.0, tenant.revision, spec.version);
    let held = MADE.get(&key).await;
    if let Some(held) = &held
        && held.hold(&source).await
    {
        return Arc::clone(held);
    }
    // Whoever finds the same document to be over waits for the same new one.
    let is_over = |now: &Arc<Documents>| held.as_ref().is_some_and(|held| Arc::ptr_eq(held, now));
    let make = async { Arc::new(Documents::made(&source).await) };
    MADE.entry(key).or_insert_with_if(make, is_over).await.into_value()
}

/// Answers with one of the documents.
pub(in crate::interfaces) async fn serve(visit: Visit<'_>, form: Form) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(request) };
    let made = Box::pin(documents(&visit, spec)).await;
    let (media_type, body, suffix) = match form {
        Form::Json => ("application/json", &made.json, "j"),
        Form::Yaml => ("application/yaml", &made.yaml, "y"),
        Form::Html => ("text/html; charset=utf-8", &made.html, "h"),
    };
    let etag = format!("\"{}{suffix}\"", made.digest);
    let unchanged = answer::same_tag(request, &etag).unwrap_or(false);
    let mut respond = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    respond
        .insert_header((header::ETAG, etag))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    if let Form::Html = form {
        respond
            .insert_header((header::CONTENT_SECURITY_POLICY, rendered::POLICY))
            .insert_header((header::REFERRER_POLICY, "no-referrer"));
    }
    if unchanged {
        return respond.finish();
    }
    respond.content_type(media_type).body(body.clone())
}
