//! What became of a file, for its sender.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use dealer::Dealer;
use dealer::feeds::{Pusher, finding_document, run_document};
use serde_json::Value;
use uuid::Uuid;

use super::{outcome, refused, status_url};
use crate::answer;

/// Findings of a page, unless fewer are asked for.
const PAGE: u32 = 100;
/// And at most.
const LARGEST_PAGE: u32 = 1000;
/// Weights that findings have.
const LEVELS: [&str; 5] = ["refusal", "verdict", "file", "error", "warning"];

/// Shows a run of the source with a page of its findings.
pub(super) async fn show(request: &HttpRequest, dealer: &Dealer, pusher: &Pusher, run: &str) -> HttpResponse {
    let (mut level, mut after, mut limit) = (None, None, PAGE);
    for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
        let read = match &*name {
            "level" => LEVELS.into_iter().find(|known| *known == value).map(|known| level = Some(known)),
            "after" => value.parse::<i32>().ok().map(|place| after = Some(place)),
            "limit" => {
                let number = value.parse::<u32>().ok().filter(|number| (1..=LARGEST_PAGE).contains(number));
                number.map(|number| limit = number)
            }
            _ => None,
        };
        if read.is_none() {
            let why = format!(
                "This address takes level ({}), after (a number) and limit (1 to {LARGEST_PAGE}).",
                LEVELS.join(", ")
            );
            return refused(request, StatusCode::BAD_REQUEST, "bad_request", &why);
        }
    }
    let Ok(run) = run.parse::<Uuid>() else { return no_run(request) };
    let (run, findings) = match dealer.pushed_run(pusher, run, level, after, limit).await {
        Ok(Some(found)) => found,
        Ok(None) => return no_run(request),
        Err(error) => {
            tracing::error!(%error, "a run cannot be read");
            return answer::unavailable(request);
        }
    };
    let mut document = run_document(&run);
    let mut set = |name: &str, value: Value| {
        if let Some(members) = document.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    set("findings", findings.iter().map(finding_document).collect::<Vec<Value>>().into());
    if let Some(last) =
        findings.last().filter(|_| findings.len() == usize::try_from(limit).unwrap_or(usize::MAX))
    {
        let level = level.map_or_else(String::new, |level| format!("&level={level}"));
        let here = status_url(dealer, pusher.source_id(), run.run_id);
        set("next", format!("{here}?after={}&limit={limit}{level}", last.no).into());
    }
    outcome(request, "shown");
    HttpResponse::Ok()
        .content_type(answer::JSON)
        .insert_header((header::CACHE_CONTROL, answer::NO_STORE))
        .body(document.to_string())
}

fn no_run(request: &HttpRequest) -> HttpResponse {
    refused(request, StatusCode::NOT_FOUND, "no_run", "This source has no such run.")
}
