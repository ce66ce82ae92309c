//! Takes one dropped file in.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use chrono::Utc;
use dealer::feeds::{ReceiveError, Received};
use futures_util::stream;
use sha2::{Digest, Sha256};
use store::NewNotice;
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::place::{Place, State, Within, claim, state};
use super::{Watched, names, shown};
use crate::context::Context;
use crate::queue::Phase;
use dealer::feeds::Marker;

/// Bytes that are read at a time.
const PART: usize = 256 * 1024;
/// A file that says something about another one is not longer.
const LONGEST_MARKER: u64 = 4096;

/// A file that can be taken.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) place: Arc<Place>,
    /// Of the run that it becomes.
    pub(super) key: Uuid,
    /// The sender's name for it.
    pub(super) name: OsString,
    pub(super) state: State,
    /// It was moved away from the sender already, by a worker that did not end its work.
    pub(super) is_taken: bool,
}

/// Takes the files of a source, one after the other.
pub(super) async fn all(
    context: &Context,
    source: &Watched,
    files: Vec<Dropped>,
    phase: watch::Receiver<Phase>,
) {
    for file in files {
        if *phase.borrow() != Phase::Work {
            return;
        }
        let name = shown(&file.name);
        let outcome = one(context, source, file).await;
        let word = match &outcome {
            Ok(Taken::In) => {
                readable(context, source).await;
                "taken"
            }
            Ok(Taken::Refused(sentence)) => {
                tell(context, source, "file_refused", &name, sentence).await;
                "refused"
            }
            Ok(Taken::NotYet) => continue,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let sentence = format!(
                    "The file {name} in the drop folder cannot be read: the account of the platform may not. Let the \
                     server that receives it give the group the right to read and move it."
                );
                tell(context, source, "file_unreadable", &name, &sentence).await;
                "unreadable"
            }
            Err(error) => {
                tracing::warn!(
                    dealer = source.dealer, source = source.source.name, file = name, %error,
                    "a dropped file cannot be taken in now; it is tried again"
                );
                "failed"
            }
        };
        context.meters.dropped(word);
    }
}

/// What became of a file.
enum Taken {
    /// It is a run.
    In,
    /// It never will be, for this reason.
    Refused(String),
    /// It is not its time, or another worker has it.
    NotYet,
}

async fn one(context: &Context, source: &Watched, dropped: Dropped) -> io::Result<Taken> {
    let marker = source.settings.marker;
    let claimed = spawn_blocking(move || claimed(dropped, marker)).await.map_err(io::Error::other)?;
    let Some((dropped, file)) = claimed? else { return Ok(Taken::NotYet) };
    // The one lock is of both.
    let reading = file.try_clone()?;
    let mut received = Received::new(shown(&dropped.name), "folder", "folder");
    received.idempotency_key = Some(format!("folder:{}", dropped.key));
    let body = Box::pin(parts(reading, dropped.state));
    let taken = dealer::feeds::receive(&context.store, source.tenant, &source.source, received, body).await;
    match taken {
        Ok(receipt) => {
            tracing::info!(
                dealer = source.dealer, source = source.source.name, file = shown(&dropped.name),
                run = %receipt.run_id, "a dropped file was taken in"
            );
            put_away(dropped, file).await?;
            context.stir();
            Ok(Taken::In)
        }
        Err(ReceiveError::Body(error)) if error.kind() == io::ErrorKind::Interrupted => {
            // It went on growing after all.
            let back = move || {
                dropped.place.rename((Within::Taking, &dropped.taken()), (Within::Folder, &dropped.name))
            };
            spawn_blocking(back).await.map_err(io::Error::other)??;
            drop(file);
            Ok(Taken::NotYet)
        }
        Err(error @ (ReceiveError::TooLarge { .. } | ReceiveError::KeyUsed { .. })) => {
            let sentence =
                format!("The file {} in the drop folder was not taken: {error}.", shown(&dropped.name));
            put_away(dropped, file).await?;
            Ok(Taken::Refused(sentence))
        }
        // It stays where it is, and is found there.
        Err(error) => Err(io::Error::other(crate::jobs::chain(&error))),
    }
}

impl Dropped {
    fn taken(&self) -> OsString {
        names::taken(self.key, &self.name)
    }
}

/// Moves a file that was taken in to the archive.
async fn put_away(dropped: Dropped, file: File) -> io::Result<()> {
    let away = move || {
        let archived = names::archived(Utc::now(), dropped.key, &dropped.name);
        dropped.place.rename((Within::Taking, &dropped.taken()), (Within::Archive, &archived))?;
        drop(file);
        Ok(())
    };
    spawn_blocking(away).await.map_err(io::Error::other)?
}

/// Has the file for this worker alone, out of the sender's sight; `None` where it is not to be taken now.
fn claimed(mut dropped: Dropped, marker: Marker) -> io::Result<Option<(Dropped, File)>> {
    let within = if dropped.is_taken { Within::Taking } else { Within::Folder };
    let name = if dropped.is_taken { dropped.taken() } else { dropped.name.clone() };
    let file = match dropped.place.file(within, &name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !claim(&file)? || state(&file)? != dropped.state {
        return Ok(None);
    }
    if dropped.is_taken {
        return Ok(Some((dropped, file)));
    }
    let beside = match marker {
        Marker::None => None,
        Marker::Done => Some(".done"),
        Marker::Sha256 => Some(".sha256"),
    };
    let beside = beside.map(|ending| {
        let mut name = dropped.name.clone();
        name.push(ending);
        name
    });
    if let Some(beside) = &beside {
        let said = match dropped.place.file(Within::Folder, beside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            said => said?,
        };
        if marker == Marker::Sha256 && !is_sum(said, &file)? {
            return Ok(None);
        }
    }
    dropped.place.rename((Within::Folder, &dropped.name), (Within::Taking, &dropped.taken()))?;
    dropped.is_taken = true;
    if let Some(beside) = &beside {
        dropped.place.delete(Within::Folder, beside)?;
    }
    Ok(Some((dropped, file)))
}

/// Whether a file `NAME.sha256` says what the file is; it may name it, as `sha256sum` does.
fn is_sum(said: File, file: &File) -> io::Result<bool> {
    let mut text = String::new();
    said.take(LONGEST_MARKER).read_to_string(&mut text)?;
    let said = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let mut hash = Sha256::new();
    let mut from = file.try_clone()?;
    let mut part = vec![0; PART];
    loop {
        let got = from.read(&mut part)?;
        if got == 0 {
            break;
        }
        hash.update(part.get(..got).unwrap_or_default());
    }
    io::Seek::rewind(&mut from)?;
    let sum: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(sum == said)
}

/// The bytes of a file, read on a thread of their own. Ends in an error of kind `Interrupted` when the file is no longer
/// what it was when it was looked at: somebody still writes to it.
fn parts(mut file: File, looked: State) -> impl stream::Stream<Item = io::Result<Bytes>> + Send {
    let (to, mut from) = mpsc::channel(2);
    spawn_blocking(move || {
        loop {
            let mut part = vec![0; PART];
            let got = match file.read(&mut part) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) => return drop(to.blocking_send(Err(error))),
            };
            part.truncate(got);
            if to.blocking_send(Ok(Bytes::from(part))).is_err() {
                return;
            }
        }
        let changed = match state(&file) {
            Ok(now) if now == looked => return,
            Ok(_) => io::Error::new(io::ErrorKind::Interrupted, "the file is still being written"),
            Err(error) => error,
        };
        drop(to.blocking_send(Err(changed)));
    });
    stream::poll_fn(move |context| from.poll_recv(context))
}

/// A file was taken: those that could not be read are told of anew, if there still are any.
async fn readable(context: &Context, source: &Watched) {
    let told = async {
        let mut tx = context.store.tenant(source.tenant).await?;
        tx.resolve_notices("file_unreadable", Some(source.source.source_id)).await?;
        tx.commit().await
    };
    if let Err(error) = told.await {
        tracing::debug!(%error, "notices of unreadable files stay for now");
    }
}

/// Tells people of a file that is not taken, once for each file.
async fn tell(context: &Context, source: &Watched, kind: &str, name: &str, sentence: &str) {
    let key = format!("{kind}:{}:{name}", source.source.source_id);
    let told = async {
        let mut tx = context.store.tenant(source.tenant).await?;
        let notice = NewNotice {
            kind,
            severity: "error",
            source_id: Some(source.source.source_id),
            run_id: None,
            sentence,
            data: serde_json::json!({ "file": name }),
            once_key: Some(&key),
        };
        let new = tx.add_notice(&notice).await?.is_some();
        tx.commit().await?;
        Ok::<_, store::Error>(new)
    };
    match told.await {
        Ok(true) => {
            tracing::warn!(
                dealer = source.dealer,
                source = source.source.name,
                file = name,
                kind,
                "{sentence}"
            );
        }
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "a notice cannot be stored"),
    }
}
