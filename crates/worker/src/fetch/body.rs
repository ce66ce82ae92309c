//! The bytes of an answer, as they come.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::Response;

/// Why the bytes broke off, in words for the dealer, beside what the reader of them is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken(Arc<Mutex<Option<String>>>);

impl Broken {
    /// The sentence, if there is one.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, sentence: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
    }
}

/// The body of an answer. One that breaks off ends in an error; with `short_is_all`, one that was to have a certain
/// length just ends, and who reads it sees from the length that it was cut short.
pub(crate) fn body(
    answer: Response,
    short_is_all: bool,
    broken: Broken,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let announced = answer.content_length();
    stream::unfold(Some((answer, 0_u64)), move |state| {
        let broken = broken.clone();
        async move {
            let (mut answer, got) = state?;
            match answer.chunk().await {
                Ok(Some(part)) => {
                    let got = got + part.len() as u64;
                    Some((Ok(part), Some((answer, got))))
                }
                Ok(None) => None,
                Err(error) => {
                    if short_is_all && announced.is_some() && !error.is_timeout() {
                        return None;
                    }
                    let how = if error.is_timeout() { "took too long" } else { "broke off" };
                    broken.set(match announced {
                        Some(all) => format!(
                            "The file {how} after {got} of {all} bytes. It is fetched again by itself."
                        ),
                        None => format!("The file {how} after {got} bytes. It is fetched again by itself."),
                    });
                    Some((Err(io::Error::other(error)), None))
                }
            }
        }
    })
}
