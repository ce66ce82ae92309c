//! Servers that this program itself can be: what the product is held against.

use std::net::TcpListener;
use std::rc::Rc;

use actix_web::dev::{ServiceRequest, fn_service};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, Error, HttpResponse, HttpServer};
use anyhow::{Context, Result};
use api::{ApiState, TrustedProxies};
use dealer::{Dealer, DealerSettings, Origin, RequestChecks};
use server::settings::LogSettings;
use server::telemetry::{self, Telemetry};
use store::{Database, Store};

use crate::data::HOST;

/// Tells where a server listens, to the program that waits for it.
///
/// # Errors
/// The address is not known.
pub(crate) fn announce(listener: &TcpListener) -> Result<()> {
    println!("listening on {}", listener.local_addr()?);
    Ok(())
}

struct Constant {
    body: Bytes,
    headers: HeaderMap,
}

/// The ceiling: reads a request's body and answers the same bytes to everybody, `size` of them, under the headers
/// that the product sends (`name: value`).
///
/// # Errors
/// The socket cannot be had, or a header is none.
pub(crate) async fn bare(size: usize, headers: &[String], workers: usize) -> Result<()> {
    let mut body = br#"{"jsonrpc":"2.0","id":"req-1","result":""#.to_vec();
    body.resize(size.max(body.len() + 2) - 2, b'x');
    body.extend_from_slice(b"\"}");
    let mut map = HeaderMap::new();
    for line in headers {
        let (name, value) = line.split_once(':').with_context(|| format!("{line:?} is no header"))?;
        let name: HeaderName = name.trim().parse()?;
        map.append(name, HeaderValue::from_str(value.trim())?);
    }
    let constant = Data::new(Constant { body: body.into(), headers: map });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    announce(&listener)?;
    HttpServer::new(move || App::new().app_data(Data::clone(&constant)).default_service(web::to(constantly)))
        .workers(workers)
        .listen(listener)?
        .run()
        .await?;
    Ok(())
}

async fn constantly(_body: Bytes, constant: Data<Constant>) -> HttpResponse {
    let mut response = HttpResponse::Ok().body(constant.body.clone());
    for (name, value) in &constant.headers {
        response.headers_mut().append(name.clone(), value.clone());
    }
    response
}

/// The product's libraries behind a door of our own, with the schemas of requests checked or not. All that
/// differs between the two is that check.
///
/// # Errors
/// The database or the socket cannot be had.
pub(crate) async fn libraries(database_url: &str, checks: RequestChecks, workers: usize) -> Result<()> {
    let _telemetry = Telemetry::start(&LogSettings::clone(&server::Settings::default().log))
        .map_err(|failure| anyhow::anyhow!("{failure:?}"))?;
    let defaults = server::Settings::default();
    let store = Store::connect(&Database::from_url(database_url)?, defaults.max_connections).await?;
    let settings = DealerSettings {
        public_origin: Origin::parse(&format!("https://{HOST}"))?,
        platform_domain: None,
        serve_draft: false,
        max_age: defaults.max_age,
        cache_bytes: 8 << 30,
        poll: std::time::Duration::from_millis(800),
        request_checks: checks,
    };
    let state = ApiState::new(TrustedProxies::default(), telemetry::metrics());
    state.serve(Dealer::start(store, settings).await?);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    announce(&listener)?;
    HttpServer::new(move || {
        let state = Rc::new(state.clone());
        App::new().default_service(fn_service(move |request: ServiceRequest| {
            let state = Rc::clone(&state);
            async move { Ok::<_, Error>(api::answer(&state, request).await) }
        }))
    })
    .workers(workers)
    .listen(listener)?
    .run()
    .await?;
    Ok(())
}
