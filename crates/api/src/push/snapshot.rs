//! A whole lot that comes in several parts, in any order.

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use dealer::Dealer;
use dealer::feeds::{PartError, PartTaken, Pusher, SnapshotPart};
use serde_json::json;

use super::body::{Body, Fault, vehicles};
use super::head::Head;
use super::{answered, outcome, refused};
use crate::answer;

/// Takes in a part; with the last one, the file.
pub(super) async fn take(
    request: &HttpRequest,
    dealer: &Dealer,
    pusher: &Pusher,
    head: Head,
    body: Body,
) -> HttpResponse {
    let file_name = head.file_name();
    let Some(part) = head.part else { return answer::not_found(request) };
    let bytes = match body.whole().await.and_then(|bytes| lines_of(bytes, head.is_json)) {
        Ok(bytes) => bytes,
        Err(fault) => return fault.answer(request),
    };
    let part = SnapshotPart { snapshot: part.snapshot, no: part.no, of: part.of, file_name };
    match dealer.take_part(pusher, &part, bytes).await {
        Ok(PartTaken::Complete(receipt)) => answered(request, dealer, pusher, Ok(receipt)),
        Ok(PartTaken::Waiting { there }) => {
            outcome(request, "part");
            let body = json!({ "snapshot": part.snapshot, "parts": part.of, "received": there, "state": "incomplete" });
            HttpResponse::Accepted()
                .content_type(answer::JSON)
                .insert_header((header::CACHE_CONTROL, answer::NO_STORE))
                .body(body.to_string())
        }
        Err(PartError::Other) => {
            let why = "Another body was sent as this part of the snapshot already; use another snapshot id.";
            refused(request, StatusCode::CONFLICT, "part_used", why)
        }
        Err(PartError::Parts(parts)) => {
            let why = format!("This snapshot was begun with {parts} parts; use another snapshot id.");
            refused(request, StatusCode::CONFLICT, "part_used", &why)
        }
        Err(PartError::Receive(error)) => answered(request, dealer, pusher, Err(error)),
        Err(PartError::Store(error)) => {
            tracing::error!(%error, "a part of a snapshot cannot be stored");
            answer::unavailable(request)
        }
    }
}

/// A part in a form in which parts can be put one behind the other.
fn lines_of(bytes: Bytes, is_json: bool) -> Result<Bytes, Fault> {
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let packed = bytes.starts_with(b"PK") || bytes.starts_with(&[0x1f, 0x8b]);
    match start {
        None => return Err(Fault::Vehicles(0)),
        Some(b'<') => return Err(Fault::NotInParts),
        Some(_) if packed => return Err(Fault::NotInParts),
        Some(b'[' | b'{') => {}
        Some(_) if is_json => return Err(Fault::NoJson),
        Some(_) => return Ok(bytes),
    }
    // Lines of JSON are no document, and go as they are.
    let Some(all) = vehicles(&bytes) else {
        return if is_json { Err(Fault::NoJson) } else { Ok(bytes) };
    };
    let mut lines = String::with_capacity(bytes.len());
    for vehicle in all {
        // A line break is never legal inside a text of JSON.
        lines.extend(vehicle.get().chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        lines.push('\n');
    }
    Ok(Bytes::from(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_lines() {
        for (text, is_json, lines) in [
            ("[{\"vin\":\n \"a\"}, {\"vin\":\"b\"}]", true, Ok("{\"vin\":  \"a\"}\n{\"vin\":\"b\"}\n")),
            ("{\"vin\":\"a\"}\n{\"vin\":\"b\"}\n", false, Ok("{\"vin\":\"a\"}\n{\"vin\":\"b\"}\n")),
            ("VIN,Price\na,1\n", false, Ok("VIN,Price\na,1\n")),
            ("VIN,Price\n", true, Err(Fault::NoJson)),
            ("<feed/>", false, Err(Fault::NotInParts)),
            ("PK\u{3}\u{4}", false, Err(Fault::NotInParts)),
            (" \n", false, Err(Fault::Vehicles(0))),
        ] {
            let found = lines_of(Bytes::from(text.to_owned()), is_json);
            assert_eq!(found, lines.map(|lines: &str| Bytes::from(lines.to_owned())), "{text}");
        }
    }
}
