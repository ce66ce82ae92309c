//! One request id, one span, one count for every request.

use std::net::IpAddr;
use std::time::Instant;

use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use dealer::{Dealer, LotCounts};
use opentelemetry::metrics::{Counter, Histogram};
use opentelemetry::propagation::Extractor;
use opentelemetry::{KeyValue, global};
use tracing::{Instrument, Level, field};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::fmt::Simple;

use crate::{ApiState, address, cors, ids, push};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// What an interface learned about its request, for counting.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Note {
    /// The interface's name.
    pub(crate) interface: &'static str,
    /// The skill that was asked for.
    pub(crate) skill: &'static str,
    /// `ok`, an AAP code, or the number of a protocol error.
    pub(crate) outcome: &'static str,
}

/// What goes along with a request: one entry among its extensions, since each is an allocation.
struct Trail {
    /// The id under which everything about the request is logged; `x-request-id` of its answer.
    id: HeaderValue,
    /// Who asks, as far as that can be believed.
    client: Option<IpAddr>,
    note: Note,
    /// Where a request is several questions, what the others turned out to be.
    beside: Vec<Note>,
}

/// The id of a request; empty outside of [`answer`].
pub(crate) fn request_id(request: &HttpRequest) -> String {
    let extensions = request.extensions();
    let id = extensions.get::<Trail>().and_then(|trail| trail.id.to_str().ok());
    id.unwrap_or_default().to_owned()
}

/// The address of the client, as far as it can be believed; `None` outside of [`answer`].
pub(crate) fn client(request: &HttpRequest) -> Option<IpAddr> {
    request.extensions().get::<Trail>().and_then(|trail| trail.client)
}

/// Notes what the request turned out to be, in the place of what was noted before.
pub(crate) fn note(request: &HttpRequest, note: Note) {
    if let Some(trail) = request.extensions_mut().get_mut::<Trail>() {
        trail.note = note;
    }
}

/// Notes one more thing that the request turned out to be, beside what was noted before.
pub(crate) fn note_beside(request: &HttpRequest, note: Note) {
    if let Some(trail) = request.extensions_mut().get_mut::<Trail>() {
        let before = std::mem::replace(&mut trail.note, note);
        if !before.interface.is_empty() {
            trail.beside.push(before);
        }
    }
}

/// Instruments of the HTTP side.
pub(crate) struct Meters {
    duration: Histogram<f64>,
    calls: Counter<u64>,
}

impl Meters {
    pub(crate) fn new() -> Meters {
        let meter = global::meter("forecourt");
        Meters {
            duration: meter
                .f64_histogram("http.server.request.duration")
                .with_description("How long requests took")
                .with_unit("s")
                .with_boundaries(vec![0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
                .build(),
            calls: meter.u64_counter("aap.calls").with_description("Skill calls by outcome").build(),
        }
    }
}

/// Answers every request: for `App::default_service`, with nothing around it. Each layer of the framework would be
/// another allocation and another way through code that is no longer at hand.
pub async fn answer(state: &ApiState, request: ServiceRequest) -> ServiceResponse {
    let (request, payload) = request.into_parts();
    let response = observed(state, &request, payload).await;
    ServiceResponse::new(request, response)
}

async fn observed(state: &ApiState, request: &HttpRequest, payload: Payload) -> HttpResponse {
    let began = Instant::now();
    let id = id_of(request, state);
    let client = state.proxies().client(request);
    let span = span_of(request, &id, client);
    request.extensions_mut().insert(Trail {
        id: id.clone(),
        client,
        note: Note::default(),
        beside: Vec::new(),
    });

    // Polled in place, so that the span is still at hand afterwards and need not be counted twice.
    let mut running = std::pin::pin!(address::serve(request, payload, state).instrument(span));
    let mut response = running.as_mut().await;
    let span = running.as_ref().get_ref().span();

    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    if !push::is_ours(request.path()) {
        cors::open(headers);
    }
    if state.is_draining() {
        // Not the header by hand: the encoder writes its own, and must know that the connection ends.
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    let status = response.status().as_u16();
    let trail = request.extensions_mut().remove::<Trail>();
    let (note, beside) = trail.map(|trail| (trail.note, trail.beside)).unwrap_or_default();
    // Below, the line says it itself; so only traces need it, and they are there where spans of this level are.
    if status >= 500 || tracing::span_enabled!(Level::DEBUG) {
        span.record("status", status);
    }
    let took = began.elapsed();
    let meters = state.meters();
    meters.duration.record(
        took.as_secs_f64(),
        &[
            KeyValue::new("interface", note.interface),
            KeyValue::new("http.response.status_code", i64::from(status)),
        ],
    );
    for note in beside.iter().chain([&note]).filter(|note| !note.outcome.is_empty()) {
        meters.calls.add(
            1,
            &[
                KeyValue::new("interface", note.interface),
                KeyValue::new("skill", note.skill),
                KeyValue::new("outcome", note.outcome),
            ],
        );
    }
    span.in_scope(|| {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        // A probe that is told "not ready" was answered, not failed.
        if status >= 500 && request.path() != "/readyz" {
            tracing::warn!(status, micros, "request failed");
        } else {
            tracing::debug!(status, micros, outcome = note.outcome, "request answered");
        }
    });
    response
}

/// A proxy of ours may have given the request its id already; strangers may not choose one.
fn id_of(request: &HttpRequest, state: &ApiState) -> HeaderValue {
    let from_proxy = request
        .peer_addr()
        .filter(|peer| state.proxies().contains(peer.ip()))
        .and_then(|_| request.headers().get(REQUEST_ID))
        .filter(|id| {
            let id = id.as_bytes();
            (1..=64).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        });
    from_proxy.cloned().unwrap_or_else(|| {
        let mut digits = [0; Simple::LENGTH];
        let id = ids::by_time().simple();
        // Hexadecimal digits are always a header's value.
        HeaderValue::from_str(id.encode_lower(&mut digits)).unwrap_or(HeaderValue::from_static("none"))
    })
}

fn span_of(request: &HttpRequest, id: &HeaderValue, client: Option<IpAddr>) -> tracing::Span {
    // Everything that is known is given at once: a field that comes later is another way through all layers.
    let span = tracing::info_span!(
        "request",
        request_id = id.to_str().unwrap_or_default(),
        method = request.method().as_str(),
        path = request.path(),
        client = client.map(field::display),
        tenant = field::Empty,
        skill = field::Empty,
        status = field::Empty,
        otel.kind = "server",
    );
    if request.headers().contains_key(TRACEPARENT) {
        let parent =
            global::get_text_map_propagator(|propagator| propagator.extract(&Headers(request.headers())));
        // Without a tracing layer there is nothing to join.
        let _ = span.set_parent(parent);
    }
    span
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

/// Makes the core's figures readable as gauges.
pub(crate) fn watch_figures(dealer: &Dealer) {
    let meter = global::meter("forecourt");
    let gauge = |name: &'static str, about: &'static str, read: fn(&dealer::Figures) -> u64| {
        let dealer = dealer.downgrade();
        meter
            .u64_observable_gauge(name)
            .with_description(about)
            .with_callback(move |observer| {
                if let Some(dealer) = dealer.upgrade() {
                    observer.observe(read(&dealer.figures()), &[]);
                }
            })
            .build();
    };
    gauge("dealers.active", "Dealers that are served", |f| f.active as u64);
    gauge("dealers.suspended", "Dealers that are suspended", |f| f.suspended as u64);
    gauge("dealers.removed", "Dealers that are removed", |f| f.removed as u64);
    gauge("lots.loaded", "Lots in memory", |f| f.lots);
    gauge("lots.former_versions", "Former versions of lots that cursors name, in memory", |f| {
        f.former_versions
    });
    gauge(
        "lots.bytes",
        "Bytes accounted for by lots in memory; the process takes up to a quarter more",
        |f| f.lot_bytes,
    );
    gauge("lots.budget.bytes", "Memory that lots may take, that quarter included", |f| f.lot_budget);
    gauge("lots.behind", "Lots of which a newer version is known and not yet read", |f| f.lots_behind as u64);
    gauge("lots.behind.seconds", "For how long that is so of the worst of them", |f| f.most_behind.as_secs());
    gauge("data.age.seconds", "Time since the database last confirmed what is held", |f| f.age.as_secs());
    watch_counts(dealer);
}

/// The same for what only grows.
fn watch_counts(dealer: &Dealer) {
    let meter = global::meter("forecourt");
    let counter =
        |name: &'static str, about: &'static str, read: fn(&LotCounts) -> Vec<(&'static str, u64)>| {
            let dealer = dealer.downgrade();
            meter
                .u64_observable_counter(name)
                .with_description(about)
                .with_callback(move |observer| {
                    let Some(dealer) = dealer.upgrade() else { return };
                    for (kind, count) in read(&dealer.figures().counts) {
                        let labels = [KeyValue::new("kind", kind)];
                        observer.observe(count, if kind.is_empty() { &[] } else { &labels });
                    }
                })
                .build();
        };
    counter(
        "lots.loads",
        "Lots read whole, brought up to date, rebuilt for a cursor, or failed to be",
        |c| {
            vec![("whole", c.loads), ("changes", c.refreshes), ("former", c.rebuilds), ("failed", c.failures)]
        },
    );
    counter("lots.loads.microseconds", "Time that loads, refreshes and rebuilds took", |c| {
        vec![("", u64::try_from(c.took.as_micros()).unwrap_or(u64::MAX))]
    });
    counter("lots.evictions", "Lots that gave way to others", |c| vec![("", c.evictions)]);
    counter(
        "lots.refusals",
        "Questions that waited too long for a load, and lots that were read and not kept",
        |c| vec![("busy", c.refused_busy), ("no_room", c.refused_room), ("too_large", c.refused_large)],
    );
}
