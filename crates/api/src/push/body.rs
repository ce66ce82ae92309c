//! The body of a push: as large as a feed may be, unpacked on the way, and never waited for without end.

use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpRequest, HttpResponse};
use flate2::write::MultiGzDecoder;
use futures_util::{Stream, StreamExt};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::refused;

/// How long nothing may come.
const SILENCE: Duration = Duration::from_secs(30);
/// From when on a body must have come at a rate.
const GRACE: Duration = Duration::from_secs(60);
/// That rate, in bytes a second.
const SLOWEST: u64 = 4 * 1024;
/// Pieces that are on their way at once.
const UNDER_WAY: usize = 4;
/// Packed bytes that are unpacked at once: they grow to a thousand times as many at most.
const UNPACKED_AT_ONCE: usize = 1024;
/// How much of a body that is refused is thrown away, so that its sender can read why.
const MOST_DISCARDED: usize = 16 * 1024 * 1024;
/// And for how long.
const DISCARDING: Duration = Duration::from_secs(5);
/// Vehicles in one batch of changes.
const BATCH: usize = 500;
/// Bytes of one batch, and of one part of a snapshot.
pub(super) const MOST_AT_ONCE: usize = 8 * 1024 * 1024;

/// A body that has not been read yet.
pub(super) struct Body {
    payload: Payload,
    gzip: bool,
    limit: u64,
}

impl Body {
    /// Of a source that may send so many bytes.
    pub(super) fn new(payload: Payload, gzip: bool, limit: u64) -> Body {
        Body { payload, gzip, limit }
    }

    /// Reads it while `take` takes it in.
    pub(super) async fn fed<T, F: Future<Output = T>>(self, take: impl FnOnce(Incoming) -> F) -> T {
        let (to, from) = mpsc::channel(UNDER_WAY);
        let (taken, ()) = tokio::join!(take(Incoming(from)), self.pump(to));
        taken
    }

    async fn pump(mut self, to: mpsc::Sender<io::Result<Bytes>>) {
        if let Err(error) = self.carry(&to).await {
            // Where nobody takes it any more, it has been refused already.
            let _ = to.send(Err(error)).await;
        }
        drop(to);
        discard(self.payload).await;
    }

    async fn carry(&mut self, to: &mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
        let mut gzip = self.gzip.then(|| MultiGzDecoder::new(Vec::new()));
        let (began, mut waited, mut came) = (Instant::now(), Duration::ZERO, 0_u64);
        loop {
            let looked = Instant::now();
            let next = timeout(SILENCE, self.payload.next()).await;
            // Time in which we do not read is not the sender's.
            waited += looked.elapsed();
            let piece = match next {
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error.to_string()));
                }
                Ok(Some(Ok(piece))) => piece,
            };
            came += piece.len() as u64;
            if began.elapsed() > GRACE && waited > GRACE && came < waited.as_secs() * SLOWEST {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // A little more than the limit, so that whoever counts finds it exceeded.
            if came > self.limit.saturating_add(MOST_AT_ONCE as u64) {
                return Ok(());
            }
            match &mut gzip {
                None => {
                    if to.send(Ok(piece)).await.is_err() {
                        return Ok(());
                    }
                }
                Some(gzip) => {
                    for part in piece.chunks(UNPACKED_AT_ONCE) {
                        gzip.write_all(part).map_err(unpackable)?;
                        let unpacked = std::mem::take(gzip.get_mut());
                        if !unpacked.is_empty() && to.send(Ok(Bytes::from(unpacked))).await.is_err() {
                            return Ok(());
                        }
                    }
                }
            }
        }
        if let Some(mut gzip) = gzip {
            gzip.try_finish().map_err(unpackable)?;
            let rest = std::mem::take(gzip.get_mut());
            if !rest.is_empty() {
                let _ = to.send(Ok(Bytes::from(rest))).await;
            }
        }
        Ok(())
    }

    /// All of it at once, if it is not too much for that.
    pub(super) async fn whole(self) -> Result<Bytes, Fault> {
        self.fed(|mut incoming| async move {
            let mut all = BytesMut::new();
            while let Some(piece) = incoming.next().await {
                let piece = piece.map_err(|error| Fault::of(&error))?;
                if all.len() + piece.len() > MOST_AT_ONCE {
                    return Err(Fault::TooMuch);
                }
                all.extend_from_slice(&piece);
            }
            Ok(all.freeze())
        })
        .await
    }
}

fn unpackable(_: io::Error) -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// The pieces of a body, unpacked.
pub(super) struct Incoming(mpsc::Receiver<io::Result<Bytes>>);

impl Stream for Incoming {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// What is wrong with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It came too slowly.
    Slow,
    /// It is not packed as it says.
    Unpackable,
    /// It broke off.
    Broken,
    /// It is too large for a batch or a part.
    TooMuch,
    /// A batch is no JSON.
    NoJson,
    /// A batch has none or too many vehicles.
    Vehicles(usize),
    /// A part is of a kind that cannot be put together.
    NotInParts,
}

impl Fault {
    /// What is wrong where it could not be read.
    pub(super) fn of(error: &io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::TimedOut => Fault::Slow,
            io::ErrorKind::InvalidData => Fault::Unpackable,
            _ => Fault::Broken,
        }
    }

    /// As an answer.
    pub(super) fn answer(self, request: &HttpRequest) -> HttpResponse {
        let (status, word, why) = match self {
            Fault::Slow => (
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                "The body came too slowly; nothing of it was kept.".to_owned(),
            ),
            Fault::Unpackable => {
                let why = "The body is not gzip, although Content-Encoding says so; nothing of it was kept.";
                (StatusCode::BAD_REQUEST, "bad_request", why.to_owned())
            }
            Fault::Broken => {
                (StatusCode::BAD_REQUEST, "broken", "The body broke off; nothing of it was kept.".to_owned())
            }
            Fault::TooMuch => {
                let why = format!("A batch or a part must not be larger than {MOST_AT_ONCE} bytes.");
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large", why)
            }
            Fault::NoJson => (StatusCode::BAD_REQUEST, "bad_request", "The body is not JSON.".to_owned()),
            Fault::Vehicles(found) => {
                let why = format!("A batch of changes has 1 to {BATCH} vehicles; this one has {found}.");
                (StatusCode::UNPROCESSABLE_ENTITY, "batch", why)
            }
            Fault::NotInParts => {
                let why = "A snapshot in parts is CSV, JSON or NDJSON; send other files whole.";
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_request", why.to_owned())
            }
        };
        refused(request, status, word, &why)
    }
}

/// A batch of changes in JSON: 1 to 500 vehicles.
pub(super) async fn batch(body: Body) -> Result<Bytes, Fault> {
    let bytes = body.whole().await?;
    let found = vehicles(&bytes).ok_or(Fault::NoJson)?.len();
    if (1..=BATCH).contains(&found) { Ok(bytes) } else { Err(Fault::Vehicles(found)) }
}

/// The vehicles of a JSON document: the members of its array, or of the longest array in its object; an object without
/// any is one vehicle. `None`: it is no JSON.
pub(super) fn vehicles(bytes: &[u8]) -> Option<Vec<&RawValue>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(listed) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return Some(listed);
    }
    let members = serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(text).ok()?;
    let arrays =
        members.values().filter_map(|value| serde_json::from_str::<Vec<&RawValue>>(value.get()).ok());
    let of_objects = arrays.filter(|listed| listed.iter().all(|one| one.get().starts_with('{')));
    of_objects.max_by_key(Vec::len).or_else(|| Some(vec![serde_json::from_str::<&RawValue>(text).ok()?]))
}

/// Throws away what still comes, within reason.
pub(super) async fn discard(mut payload: Payload) {
    let all = async {
        let mut seen = 0;
        while let Some(Ok(piece)) = payload.next().await {
            seen += piece.len();
            if seen > MOST_DISCARDED {
                break;
            }
        }
    };
    let _ = timeout(DISCARDING, all).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vehicles_of_a_document_are_counted() {
        for (text, count) in [
            ("[]", Some(0)),
            ("[{},{}]", Some(2)),
            (r#"{"vehicles":[{"vin":"x"}],"generated_at":"now"}"#, Some(1)),
            (r#"{"vin":"x","photos":["a","b"]}"#, Some(1)),
            (r#"{"vehicles":[]}"#, Some(0)),
            ("nothing", None),
            ("[{}", None),
            ("", None),
        ] {
            assert_eq!(vehicles(text.as_bytes()).map(|all| all.len()), count, "{text}");
        }
    }
}
