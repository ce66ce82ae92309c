//! How much a stranger may send.

use actix_web::web::{Bytes, BytesMut, Payload};
use futures_util::StreamExt;

/// Largest request body, in bytes (AAP.md 2.1).
pub const MAX_BODY: usize = 1024 * 1024;
/// Deepest nesting of a JSON body (AAP.md 2.1).
pub const MAX_DEPTH: usize = 64;
/// How much of a body that is too large is read and thrown away, so that its sender can read the refusal.
const MAX_DISCARD: usize = 16 * 1024 * 1024;

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    Broken,
}

/// Reads a body within the limit; `announced` is its `Content-Length`.
pub(crate) async fn read_body(mut payload: Payload, announced: Option<usize>) -> Result<Bytes, BodyError> {
    let mut body = BytesMut::with_capacity(announced.unwrap_or(0).min(MAX_BODY));
    let mut seen = 0;
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| BodyError::Broken)?;
        seen += chunk.len();
        if seen <= MAX_BODY && announced.is_none_or(|length| length <= MAX_BODY) {
            // The common case: one chunk holds it all and need not be copied.
            if body.is_empty() && announced == Some(chunk.len()) {
                return Ok(chunk);
            }
            body.extend_from_slice(&chunk);
        } else {
            body = BytesMut::new();
            if seen > MAX_DISCARD {
                return Err(BodyError::TooLarge);
            }
        }
    }
    let too_large = seen > MAX_BODY || announced.is_some_and(|length| length > MAX_BODY);
    if too_large { Err(BodyError::TooLarge) } else { Ok(body.freeze()) }
}
