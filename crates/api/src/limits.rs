//! How much a stranger may send.

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use actix_web::error::PayloadError;
use actix_web::web::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};

/// Largest request body, in bytes (AAP.md 2.1).
pub const MAX_BODY: usize = 1024 * 1024;
/// Deepest nesting of a JSON body (AAP.md 2.1).
pub const MAX_DEPTH: usize = 64;
/// How much of a body that is too large is read and thrown away, so that its sender can read the refusal.
const MAX_DISCARD: usize = 16 * 1024 * 1024;
/// How long a body may take: enough for 1 MiB over a slow line; nobody holds a connection for nothing.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

/// Reads a body within the limits; `announced` is its `Content-Length`.
pub(crate) async fn read_body(
    payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    announced: Option<usize>,
) -> Result<Bytes, BodyError> {
    read_within(MAX_TIME, payload, announced).await
}

async fn read_within(
    limit: Duration,
    payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    announced: Option<usize>,
) -> Result<Bytes, BodyError> {
    let mut gathering = std::pin::pin!(gather(payload, announced));
    // A body that came together with its head is here at the second look, before a clock is worth setting.
    let mut looked = false;
    let soon = std::future::poll_fn(|context| match gathering.as_mut().poll(context) {
        Poll::Ready(body) => Poll::Ready(Some(body)),
        Poll::Pending if looked => Poll::Ready(None),
        Poll::Pending => {
            looked = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    });
    match soon.await {
        Some(body) => body,
        None => tokio::time::timeout(limit, gathering).await.unwrap_or(Err(BodyError::TooSlow)),
    }
}

async fn gather(
    mut payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    announced: Option<usize>,
) -> Result<Bytes, BodyError> {
    if announced.is_some_and(|length| length > MAX_DISCARD) {
        return Err(BodyError::TooLarge);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    fn chunks(sizes: &[usize]) -> impl Stream<Item = Result<Bytes, PayloadError>> + Unpin + use<> {
        let chunks: Vec<_> = sizes.iter().map(|size| Ok(Bytes::from(vec![b'x'; *size]))).collect();
        stream::iter(chunks)
    }

    #[tokio::test]
    async fn a_body_is_whole_or_refused() {
        assert_eq!(read_body(chunks(&[3]), Some(3)).await.unwrap().len(), 3);
        assert_eq!(read_body(chunks(&[MAX_BODY - 1, 1]), None).await.unwrap().len(), MAX_BODY);
        assert_eq!(read_body(chunks(&[MAX_BODY, 1]), None).await, Err(BodyError::TooLarge));
        assert_eq!(read_body(chunks(&[1]), Some(MAX_BODY + 1)).await, Err(BodyError::TooLarge));
        assert_eq!(read_body(chunks(&[MAX_DISCARD, 1, 1]), None).await, Err(BodyError::TooLarge));
        let endless = stream::pending::<Result<Bytes, PayloadError>>();
        assert_eq!(read_body(endless, Some(MAX_DISCARD + 1)).await, Err(BodyError::TooLarge));
        let broken = stream::iter([Ok(Bytes::from_static(b"x")), Err(PayloadError::Incomplete(None))]);
        assert_eq!(read_body(broken, Some(2)).await, Err(BodyError::Broken));
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let stuck = chunks(&[1]).chain(stream::pending());
        let read = read_within(Duration::from_millis(10), stuck, Some(2)).await;
        assert_eq!(read, Err(BodyError::TooSlow));
    }
}
