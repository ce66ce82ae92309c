//! AAP as plain HTTP: `POST skills/{skill id}`, and reads with GET. Described by `openapi.json`.

mod describe;
mod documents;
mod flatten;
mod illustrate;
mod narrow;
mod next;
mod parameters;
mod problem;
mod reads;
mod refusals;
mod rendered;
mod specimens;
mod yaml;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use contract::{ContractSpec, FaultCode, Paging, SkillId, SkillSpec};
use dealer::Call;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) use self::documents::{Form, serve};
use self::parameters::Parameters;
use self::reads::Read;
use super::Visit;
use super::ask::{self, NoVersion, Refused};
use crate::limits::MAX_DEPTH;
use crate::observe::{self, Note};
use crate::{answer, callers, json};

/// The name of this door, wherever it is recorded.
pub(super) const DOOR: &str = "http";

/// Below what a POST asks a skill.
pub(super) const SKILLS: &str = "skills";

/// A part of a cursor's life: pages that carry one are told apart by it, so that no copy that is still good holds a
/// cursor that is not.
const CURSOR_COPY_SECONDS: u64 = 300;

/// The build, as far as answers of two builds may differ.
const BUILD: &str = env!("CARGO_PKG_VERSION");

/// A question of which everything but its payload is known.
struct Asked<'a> {
    request: &'a HttpRequest,
    dealer: &'a dealer::Dealer,
    spec: &'static ContractSpec,
    call: Call,
}

impl<'a> Asked<'a> {
    fn new(visit: &Visit<'a>) -> Result<Asked<'a>, HttpResponse> {
        let Visit { request, dealer, target, .. } = visit;
        let Some(spec) = target.contract.spec() else { return Err(answer::not_found(request)) };
        match ask::question(request, target.clone(), DOOR) {
            Ok(call) => Ok(Asked { request, dealer, spec, call }),
            Err(NoVersion) => Err(answer::problem(request, StatusCode::BAD_REQUEST, NoVersion::WORDS)),
        }
    }

    /// Asks, notes what came of it, and gives the payload with the version of the lot that it is from.
    async fn ask(
        &self,
        skill: &'static SkillSpec,
        data: Value,
    ) -> Result<(Vec<u8>, Option<u64>), HttpResponse> {
        let mut note = Note { interface: DOOR, ..Note::default() };
        let mut out = Vec::with_capacity(2048);
        let answered = ask::ask(self.dealer, &self.call, skill, data, &mut out, &mut note).await;
        note.outcome = answered.as_ref().map_or_else(Refused::outcome, |_| "ok");
        observe::note(self.request, note);
        match answered {
            Ok(answered) => Ok((out, answered.inventory_version)),
            Err(refused) => Err(self.refused(&refused)),
        }
    }

    fn refused(&self, refused: &Refused) -> HttpResponse {
        match refused {
            Refused::Fault(fault) => problem::refused(self.request, &self.call.tenant, self.spec, fault),
            Refused::Denied(why) => callers::denied(self.request, &self.call.tenant, *why),
        }
    }
}

/// Answers `POST skills/{skill id}`.
pub(super) async fn post(visit: Visit<'_>, payload: Payload) -> HttpResponse {
    let request = visit.request;
    if visit.below.is_empty() || visit.below.contains('/') {
        return answer::not_found(request);
    }
    if request.method() != Method::POST {
        return answer::wrong_method(request, "POST, OPTIONS");
    }
    let asked = match Asked::new(&visit) {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let Ok(id) = visit.below.parse::<SkillId>() else {
        return unknown_skill(&asked, visit.below);
    };
    let skill = id.spec();
    if !is_json(request, skill) {
        let detail = "Send the request as application/json.";
        return answer::problem(request, StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
    }
    let body = match ask::body(request, payload).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let data = match read(&body) {
        Ok(data) => data,
        Err(detail) => return answer::problem(request, StatusCode::BAD_REQUEST, detail),
    };
    // In a box, as the answer of every interface is: the room of a question is not this function's.
    match Box::pin(asked.ask(skill, data)).await {
        Ok((body, version)) => {
            respond(version).insert_header((header::CACHE_CONTROL, answer::NO_STORE)).body(body)
        }
        Err(refused) => refused,
    }
}

/// A name that could be a skill's is refused as at every door; anything else is no address.
fn unknown_skill(asked: &Asked<'_>, name: &str) -> HttpResponse {
    let named = Value::from_iter([("type", format!("{name}.request"))]);
    match asked.dealer.dispatch(&asked.call, &named) {
        Err(fault) if fault.code == FaultCode::UnsupportedSkill => {
            observe::note(asked.request, Note { interface: DOOR, skill: "", outcome: fault.code.as_str() });
            asked.refused(&fault.into())
        }
        _ => answer::not_found(asked.request),
    }
}

/// Whether a body says that it is JSON, or the request of the skill.
fn is_json(request: &HttpRequest, skill: &SkillSpec) -> bool {
    let sent = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = sent.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.eq_ignore_ascii_case(skill.request_media_type)
}

fn read(body: &[u8]) -> Result<Value, &'static str> {
    let text = std::str::from_utf8(body).map_err(|_| "The body is not UTF-8.")?;
    if json::deeper_than(body, MAX_DEPTH) {
        return Err("The body nests deeper than 64 levels.");
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| "The body is not JSON.")?;
    json::value(raw).ok_or("The body is not JSON.")
}

fn respond(version: Option<u64>) -> actix_web::HttpResponseBuilder {
    let mut respond = HttpResponse::Ok();
    respond.content_type(answer::JSON);
    if let Some(version) = version {
        respond.insert_header((answer::INVENTORY_VERSION, HeaderValue::from(version)));
    }
    respond
}

/// Answers the reads below one first segment.
pub(super) async fn get(visit: Visit<'_>, first: &'static str) -> HttpResponse {
    let request = visit.request;
    let path = if visit.below.is_empty() { first.to_owned() } else { format!("{first}/{}", visit.below) };
    // Behind `inventory/vin/` a VIN belongs; without one it is not the vehicle with the id `vin`.
    if request.path().ends_with('/') && !visit.below.is_empty() && Read::lacks_parameter(&path) {
        return answer::not_found(request);
    }
    let Some((read, given)) = Read::at(&path) else { return answer::not_found(request) };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let asked = match Asked::new(&visit) {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let mut members = Vec::new();
    if let (Some(name), Some(value)) = (read.parameter(), given) {
        members.push((name, percent_decode_str(value).decode_utf8_lossy().into_owned()));
    }
    let skill = read.skill.spec();
    let query = request.query_string();
    let data = Parameters::of(asked.spec, skill).payload(query, &members, &asked.call.tenant.policy);
    // Before the answer: should the lot grow old meanwhile, the copy is asked for anew.
    let old_since = asked.call.tenant.old_since();
    match Box::pin(asked.ask(skill, data)).await {
        Ok((body, version)) => found(&asked, read, &path, body, (version, old_since)),
        Err(refused) => refused,
    }
}

/// The answer to a read that succeeded, or that nothing is new.
fn found(
    asked: &Asked<'_>,
    read: &Read,
    path: &str,
    body: Vec<u8>,
    (version, old_since): (Option<u64>, Option<i64>),
) -> HttpResponse {
    let tenant = &asked.call.tenant;
    let query = asked.request.query_string();
    let following =
        (read.skill == SkillId::InventorySearch).then(|| next::next(asked.spec.paging, &body)).flatten();
    let link = following.as_ref().map(|next| {
        format!("<{}{}/{path}?{}>; rel=\"next\"", tenant.base, asked.spec.version, next.query(query))
    });
    // All of the id: dealers that were brought in together share its beginning, which is a time. And the build: another
    // one may say the same in another form.
    let mut etag =
        format!("W/\"{}-{}-{}-{}", tenant.id.0.simple(), BUILD, asked.spec.version, tenant.revision);
    if let Some(version) = version {
        etag.push_str(&format!("-{version}"));
        // An answer about an old lot says so, and is another one than when the lot was new.
        if let Some(confirmed) = old_since {
            etag.push_str(&format!("-c{confirmed}"));
        }
    }
    if following.is_some() && asked.spec.paging == Paging::Cursor {
        let now = chrono::Utc::now().timestamp().unsigned_abs();
        etag.push_str(&format!("-{}", now / CURSOR_COPY_SECONDS));
    }
    etag.push('"');
    let unchanged = answer::same_tag(asked.request, &etag).unwrap_or(false);
    let mut respond = respond(version);
    if unchanged {
        respond.status(StatusCode::NOT_MODIFIED);
    }
    // Copies may be kept, and are asked about each time: stock is never older than the platform says it is.
    let cache = match tenant.access.is_public() {
        true => HeaderValue::from_static("public, no-cache"),
        false => HeaderValue::from_static("private, no-cache"),
    };
    respond.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, cache));
    if let Some(link) = link {
        respond.insert_header((header::LINK, link));
    }
    if unchanged {
        return respond.finish();
    }
    respond.body(body)
}
