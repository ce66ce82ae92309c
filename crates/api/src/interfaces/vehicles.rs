//! A page for each vehicle, and one that lists them: for people, and for crawlers that follow links.
//!
//! They ask the skills as every door does, and show what these say.

use actix_web::http::{Method, StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use contract::{FaultCode, Paging, SkillId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use super::ask::{self, NoVersion, Refused};
use super::refused::AapError;
use super::{Visit, json_ld};
use crate::observe::{self, Note};
use crate::pages::{escaped, page, push};
use crate::{answer, callers};

/// The name of this door, wherever it is recorded.
pub(super) const DOOR: &str = "vehicles";

/// What of an id must be encoded in a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// How many vehicles a list page names.
const LISTED: u64 = 50;

/// What is shown of a vehicle, with its heading.
const SHOWN: [(&str, &str); 20] = [
    ("price", "Price, US dollars"),
    ("list_price", "List price, US dollars"),
    ("msrp", "MSRP, US dollars"),
    ("condition", "Condition"),
    ("status", "Status"),
    ("mileage", "Mileage"),
    ("body", "Body"),
    ("engine", "Engine"),
    ("fuel", "Fuel"),
    ("electric_range_mi", "Electric range, miles"),
    ("transmission", "Transmission"),
    ("driveline", "Driveline"),
    ("exterior_color", "Color outside"),
    ("interior_color", "Color inside"),
    ("features", "Equipment"),
    ("vin", "VIN"),
    ("stock", "Stock number"),
    ("rooftop", "Location"),
    ("description", "The dealer's words"),
    ("updated_at", "Last changed"),
];

/// Answers `vehicles` and `vehicles/{vehicle_id}`.
pub(super) async fn serve(visit: Visit<'_>) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    if visit.below.contains('/') {
        return answer::not_found(request);
    }
    let offers = |id| visit.target.tenant.skills.contains(&id);
    if !offers(if visit.below.is_empty() { SkillId::InventorySearch } else { SkillId::InventoryVehicle }) {
        return answer::not_found(request);
    }
    let mut answered = match visit.below {
        "" => list(&visit).await,
        id => one(&visit, &percent_decode_str(id).decode_utf8_lossy()).await,
    };
    if !visit.target.tenant.access.is_public() {
        // Shown to who may see it, and to be kept by nobody.
        answered.headers_mut().insert(header::CACHE_CONTROL, answer::NO_STORE);
    }
    answered
}

/// The address of a vehicle's page; `None` for an id that clients take for a step in a path, however it is encoded.
fn address(visit: &Visit<'_>, id: &str) -> Option<String> {
    if matches!(id, "." | "..") {
        return None;
    }
    let target = &visit.target;
    Some(format!("{}{}/vehicles/{}", target.tenant.base, target.contract, utf8_percent_encode(id, SEGMENT)))
}

/// The `data` of a skill's answer.
async fn data(visit: &Visit<'_>, skill: SkillId, request: Value) -> Result<Value, HttpResponse> {
    let http = visit.request;
    let question = ask::question(http, visit.target.clone(), DOOR);
    let call =
        question.map_err(|NoVersion| answer::problem(http, StatusCode::BAD_REQUEST, NoVersion::WORDS))?;
    let mut note = Note { interface: DOOR, ..Note::default() };
    let mut out = Vec::new();
    let answered = Box::pin(ask::ask(visit.dealer, &call, skill.spec(), request, &mut out, &mut note)).await;
    note.outcome = answered.as_ref().map_or_else(Refused::outcome, |_| "ok");
    observe::note(http, note);
    match answered {
        Ok(_) => {
            let payload = serde_json::from_slice::<Value>(&out).ok();
            Ok(payload.and_then(|mut payload| Some(payload.get_mut("data")?.take())).unwrap_or_default())
        }
        Err(Refused::Denied(why)) => Err(callers::denied(http, &call.tenant, why)),
        Err(Refused::Fault(fault)) => Err(sorry(visit, &fault)),
    }
}

/// A refusal, as a page.
fn sorry(visit: &Visit<'_>, fault: &contract::Fault) -> HttpResponse {
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(visit.request) };
    let AapError { code, .. } = AapError::of(fault, spec);
    let words = match code {
        FaultCode::VehicleNotFound => "There is no such vehicle here.",
        FaultCode::VehicleUnavailable => "That vehicle is no longer offered.",
        FaultCode::RateLimited => "Too many visitors at once; please try again soon.",
        FaultCode::InvalidCursor => "This list has changed meanwhile; please begin anew.",
        _ => "Something is wrong; please try again.",
    };
    let mut answered = shown(visit.request, words, "", &format!("<h1>{words}</h1>{}", back(visit)));
    *answered.status_mut() =
        StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answered.headers_mut();
    headers.insert(header::CACHE_CONTROL, answer::NO_STORE);
    if let Some(seconds) = ask::retry_after(fault) {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    answered
}

fn shown(request: &HttpRequest, title: &str, head: &str, body: &str) -> HttpResponse {
    page(request, title, head, body)
}

fn back(visit: &Visit<'_>) -> String {
    let tenant = &visit.target.tenant;
    let list = format!("{}{}/vehicles", tenant.base, visit.target.contract);
    let mut links = format!("<p><a href=\"{}\">{}</a>", escaped(&tenant.base), escaped(&tenant.name));
    if tenant.skills.contains(&SkillId::InventorySearch) {
        push(&mut links, format_args!(" · <a href=\"{}\">all vehicles</a>", escaped(&list)));
    }
    links.push_str("</p>");
    if tenant.sandbox {
        links.push_str("<p><b>Sandbox dealer: for trying out; nothing here is for sale.</b></p>");
    }
    links
}

async fn one(visit: &Visit<'_>, id: &str) -> HttpResponse {
    let Some(url) = address(visit, id) else { return answer::not_found(visit.request) };
    let vehicle = match data(visit, SkillId::InventoryVehicle, json!({"vehicle_id": id})).await {
        Ok(vehicle) => vehicle,
        Err(refused) => return refused,
    };
    // The answer holds the vehicle alone, or beside other things, as its contract has it.
    let vehicle = vehicle.get("vehicle").unwrap_or(&vehicle);
    let name = json_ld::name(vehicle);
    let mut body = back(visit);
    push(&mut body, format_args!("<h1>{}</h1><table>", escaped(&name)));
    // An amount that nobody can be promised is shown beside one that can, or not at all.
    let priced = vehicle.get("price").is_some();
    for (member, heading) in
        SHOWN.iter().filter(|(member, _)| priced || !["list_price", "msrp"].contains(member))
    {
        if let Some(value) = vehicle.get(*member).filter(|value| !value.is_null()) {
            let text = escaped(&words(value));
            push(&mut body, format_args!("<tr><th scope=row>{heading}</th><td>{text}</td></tr>"));
        }
    }
    for fee in vehicle.get("fees").and_then(Value::as_array).into_iter().flatten().filter(|_| priced) {
        let named = |member| escaped(&fee.get(member).map(words).unwrap_or_default());
        push(
            &mut body,
            format_args!(
                "<tr><th scope=row>In the price</th><td>{}: {}</td></tr>",
                named("name"),
                named("amount")
            ),
        );
    }
    body.push_str("</table>");
    if let Some(site) = vehicle.get("vdp_url").and_then(Value::as_str).filter(|site| json_ld::is_web(site)) {
        push(&mut body, format_args!("<p><a href=\"{}\">On the dealer's own site</a></p>", escaped(site)));
    }
    let head = format!(
        "<link rel=canonical href=\"{}\">{}",
        escaped(&url),
        json_ld::script(&json_ld::vehicle(&visit.target.tenant, vehicle, &url))
    );
    shown(visit.request, &name, &head, &body)
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

async fn list(visit: &Visit<'_>) -> HttpResponse {
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(visit.request) };
    let mut pagination = json!({"limit": LISTED});
    let query = url::form_urlencoded::parse(visit.request.query_string().as_bytes());
    let from =
        |wanted: &str| query.clone().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    let went_on = match spec.paging {
        Paging::Cursor => from("cursor").map(|cursor| ("cursor", Value::from(cursor))),
        Paging::Skip => from("skip").and_then(|skip| Some(("skip", skip.parse::<u32>().ok()?.into()))),
    };
    if let (Some((name, value)), Some(members)) = (went_on, pagination.as_object_mut()) {
        members.insert(name.into(), value);
    }
    let found = match data(visit, SkillId::InventorySearch, json!({"pagination": pagination})).await {
        Ok(found) => found,
        Err(refused) => return refused,
    };
    let number = |name: &str| found.get(name).and_then(Value::as_u64).unwrap_or_default();
    let title = format!("Vehicles of {}", visit.target.tenant.name);
    let mut body = back(visit);
    push(&mut body, format_args!("<h1>{}</h1><p>{} in stock.</p><ul>", escaped(&title), number("total")));
    let has_pages = visit.target.tenant.skills.contains(&SkillId::InventoryVehicle);
    for vehicle in found.get("vehicles").and_then(Value::as_array).into_iter().flatten() {
        let name = escaped(&json_ld::name(vehicle));
        let price = vehicle.get("price").map(|price| format!(", ${price}")).unwrap_or_default();
        let id = vehicle.get("vehicle_id").and_then(Value::as_str).filter(|_| has_pages);
        match id.and_then(|id| address(visit, id)) {
            Some(address) => {
                let address = escaped(&address);
                push(&mut body, format_args!("<li><a href=\"{address}\">{name}</a>{price}</li>"));
            }
            None => push(&mut body, format_args!("<li>{name}{price}</li>")),
        }
    }
    body.push_str("</ul>");
    let next = match spec.paging {
        Paging::Cursor => found
            .get("next_cursor")
            .and_then(Value::as_str)
            .map(|cursor| format!("?cursor={}", utf8_percent_encode(cursor, SEGMENT))),
        Paging::Skip => {
            let next = number("skip") + number("limit");
            (next < number("total")).then(|| format!("?skip={next}"))
        }
    };
    if let Some(next) = next {
        push(&mut body, format_args!("<p><a rel=next href=\"{}\">More</a></p>", escaped(&next)));
    }
    shown(visit.request, &title, "", &body)
}
