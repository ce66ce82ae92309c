//! The documents of this door: `openapi.json`, `openapi.yaml`, `docs`. Made once for each revision of a dealer.

use std::sync::{Arc, LazyLock};

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Bytes;
use contract::ContractVersion;
use moka::sync::Cache;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{describe, rendered, yaml};
use crate::answer;
use crate::interfaces::Visit;

/// How long a copy may be used without asking.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// How much the documents of all dealers may take, in bytes.
const MOST: u64 = 64 * 1024 * 1024;

/// The same document in its three forms.
struct Documents {
    json: Bytes,
    yaml: Bytes,
    html: Bytes,
    /// Of what all three say.
    digest: String,
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

fn documents(visit: &Visit<'_>) -> Option<Arc<Documents>> {
    static MADE: LazyLock<Cache<Key, Arc<Documents>>> = LazyLock::new(|| {
        let weigher = |_: &Key, made: &Arc<Documents>| {
            u32::try_from(made.json.len() + made.yaml.len() + made.html.len()).unwrap_or(u32::MAX)
        };
        Cache::builder().max_capacity(MOST).weigher(weigher).build()
    });
    let (tenant, version) = (&visit.target.tenant, visit.target.contract);
    let spec = version.spec()?;
    let make = || {
        let document = describe::document(tenant, spec);
        let json = document.to_string();
        let digits = Sha256::digest(&json).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Arc::new(Documents {
            yaml: yaml::written(&document).into(),
            html: rendered::page(tenant, &document).into(),
            json: json.into(),
            digest: digits,
        })
    };
    Some(MADE.get_with((tenant.id.0, tenant.revision, version), make))
}

/// Answers with one of the documents.
pub(in crate::interfaces) async fn serve(visit: Visit<'_>, form: Form) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let Some(made) = documents(&visit) else { return answer::not_found(request) };
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
