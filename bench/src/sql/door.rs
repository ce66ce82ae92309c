//! The JSON-RPC door in front of the statements.

use std::collections::HashMap;
use std::net::TcpListener;

use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::{Context, Result};
use contract::{SKILL_SPECS, SkillSpec};
use serde::Deserialize;
use serde_json::Value;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use uuid::Uuid;

use super::{facets, search};
use crate::servers::announce;

/// Connections: more only wait for each other on the processors that PostgreSQL shares with us.
const CONNECTIONS: u32 = 8;

struct Shared {
    pool: PgPool,
    tenants: HashMap<String, Uuid>,
}

/// Answers until it is killed.
///
/// # Errors
/// The database or the socket cannot be had.
pub(crate) async fn serve(database_url: &str, workers: usize) -> Result<()> {
    let options: PgConnectOptions = database_url.parse()?;
    // A statement for each set of filters and order, as many as there are.
    let options = options.options([("search_path", "forecourt")]).statement_cache_capacity(2_000);
    let pool = PgPoolOptions::new()
        .min_connections(CONNECTIONS)
        .max_connections(CONNECTIONS)
        .test_before_acquire(false)
        .connect_with(options)
        .await?;
    let rows: Vec<(String, Uuid)> =
        sqlx::query_as("select slug, tenant_id from tenant_slugs").fetch_all(&pool).await?;
    let shared = Data::new(Shared { pool, tenants: rows.into_iter().collect() });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    announce(&listener)?;
    HttpServer::new(move || {
        App::new().app_data(Data::clone(&shared)).route("/t/{slug}/v3.0/a2a", web::post().to(answer))
    })
    .workers(workers)
    .listen(listener)?
    .run()
    .await?;
    Ok(())
}

#[derive(Deserialize)]
struct Request {
    id: Value,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    data: Value,
}

async fn answer(request: HttpRequest, body: Bytes, shared: Data<Shared>) -> HttpResponse {
    match attempt(&request, &body, &shared).await {
        Ok(body) => HttpResponse::Ok()
            .content_type("application/json")
            .insert_header(("cache-control", "no-store"))
            .body(body),
        Err(error) => HttpResponse::InternalServerError().body(format!("{error:#}")),
    }
}

async fn attempt(request: &HttpRequest, body: &[u8], shared: &Shared) -> Result<Vec<u8>> {
    let slug = request.match_info().get("slug").unwrap_or_default();
    let tenant = *shared.tenants.get(slug).context("no such dealer")?;
    let request: Request = serde_json::from_slice(body)?;
    let data = request.params.message.parts.into_iter().next().context("no part")?.data;
    let kind = data.get("type").and_then(Value::as_str).context("no type")?;
    let skill = skill(kind).context("no such skill")?;
    let mut out = Vec::with_capacity(24 * 1024);
    let (message, context) = (Uuid::new_v4(), Uuid::new_v4());
    let head = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"message\":{{\"messageId\":\"{message}\",\
         \"contextId\":\"ctx-{context}\",\"role\":\"ROLE_AGENT\",\"parts\":[{{\"data\":{{\"type\":\"{}\",\"data\":",
        request.id, skill.response_type
    );
    out.extend_from_slice(head.as_bytes());
    match kind {
        "inventory.search.request" => search::answer(&shared.pool, tenant, &data, &mut out).await?,
        "inventory.facets.request" => facets::answer(&shared.pool, tenant, &data, &mut out).await?,
        _ => facets::vehicle(&shared.pool, tenant, &data, &mut out).await?,
    }
    out.extend_from_slice(format!("}},\"mediaType\":\"{}\"}}]}}}}}}", skill.response_media_type).as_bytes());
    Ok(out)
}

fn skill(kind: &str) -> Option<&'static SkillSpec> {
    SKILL_SPECS.into_iter().find(|skill| skill.request_type == kind)
}
