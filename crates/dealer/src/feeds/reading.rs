//! Reading a stored file: its bytes come from the database, its units go back there, and neither is ever whole in
//! memory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use feeds::config::{Config, Mode};
use feeds::outcome::Outcome;
use feeds::raw::Refused;
use feeds::read::Sink;
use feeds::{Limits, Unit};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use store::{FileEnd, FileRow, Store, TenantId};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::spool::{Incoming, Named, Pieces, Spooled};
use super::units::{Gone, Trailer, Writer};

/// Pieces that are on their way at once.
const UNDER_WAY: usize = 4;
/// Units files up to so many bytes are kept at hand while their run goes on.
const AT_HAND: usize = 8 << 20;

/// How far the reading of a file is; everybody may look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Records read.
    pub records: AtomicU32,
}

/// Why a stored file could not be worked on. Trying again may help.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("a temporary file: {0}")]
    Io(#[from] io::Error),
    #[error("reading the file was broken off")]
    Broken,
}

/// A stored file, from the database: `unpacked` as it was received, or as it is stored.
pub(super) async fn fetch(
    store: &Store,
    tenant: TenantId,
    file: &FileRow,
    folder: &Path,
    unpacked: bool,
) -> Result<Spooled, Trouble> {
    let (to, from) = mpsc::channel::<Vec<u8>>(UNDER_WAY);
    let (folder, most) = (folder.to_owned(), if unpacked { file.bytes } else { file.packed_bytes });
    let spooling = tokio::task::spawn_blocking(move || {
        let mut incoming = Incoming::new(from);
        if unpacked {
            Spooled::take(&mut GzDecoder::new(incoming), &folder, most)
        } else {
            Spooled::take(&mut incoming, &folder, most)
        }
    });
    for no in 0.. {
        // A transaction each: a long one would keep the database from cleaning up while a slow disk is written.
        let mut tx = store.tenant(tenant).await?;
        let Some(piece) = tx.file_chunk(file.file_id, no).await? else { break };
        drop(tx);
        if to.send(piece).await.is_err() {
            break;
        }
    }
    drop(to);
    let spooled = spooling.await.map_err(|_| Trouble::Broken)??;
    if spooled.length() != most {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(spooled)
}

/// What reading a file gave.
pub(super) struct ReadFile {
    pub(super) outcome: Outcome,
    pub(super) trailer: Trailer,
    /// Where its units are stored; not yet a finished file.
    pub(super) file: Uuid,
    pub(super) end: FileEnd,
    /// The units file itself, where it is small enough.
    pub(super) at_hand: Option<Spooled>,
}

/// Hands units to their file.
struct ToFile<'p> {
    writer: Writer<Pieces>,
    progress: &'p Progress,
}

impl Sink for ToFile<'_> {
    fn unit(&mut self, unit: &Unit) -> io::Result<()> {
        self.writer.add(unit)
    }

    fn progress(&mut self, bytes: u64, rows: u32) {
        self.progress.bytes.store(bytes, Ordering::Relaxed);
        self.progress.records.store(rows, Ordering::Relaxed);
    }
}

/// What a thread that reads comes to: an outcome with the units' trailer, or why the file is no feed.
type Came = Result<(Outcome, Trailer), Refused>;

/// Reads a file and stores its units.
pub(super) async fn read(
    store: &Store,
    tenant: TenantId,
    file: Named,
    config: Config,
    limits: Limits,
    progress: &Arc<Progress>,
    keep_until: DateTime<Utc>,
) -> Result<Result<ReadFile, Refused>, Trouble> {
    let (to, mut from) = mpsc::channel::<Vec<u8>>(UNDER_WAY);
    let progress = Arc::clone(progress);
    let reading = tokio::task::spawn_blocking(move || -> io::Result<Came> {
        let mut sink = ToFile { writer: Writer::new(Pieces::new(to)), progress: &progress };
        let outcome = match feeds::read::read(&file, &config, &limits, &mut sink) {
            Ok(outcome) => outcome,
            Err(refused) => return Ok(Err(refused)),
        };
        let delta = config.mode == Mode::Delta;
        let gone = gone(&outcome, delta);
        let (pieces, trailer) = sink.writer.finish(delta, gone, |row| outcome.dropped.contains(&row))?;
        pieces.finish()?;
        Ok(Ok((outcome, trailer)))
    });
    let mut tx = store.tenant(tenant).await?;
    let file = tx.begin_file().await?;
    tx.commit().await?;
    let (mut hash, mut bytes, mut kept) = (Sha256::new(), 0_u64, Some(Vec::new()));
    let mut no = 0;
    while let Some(piece) = from.recv().await {
        hash.update(&piece);
        bytes += piece.len() as u64;
        let mut tx = store.tenant(tenant).await?;
        tx.add_chunk(file, no, &piece).await?;
        tx.commit().await?;
        no += 1;
        kept = kept.filter(|kept: &Vec<u8>| kept.len() + piece.len() <= AT_HAND);
        if let Some(kept) = &mut kept {
            kept.extend_from_slice(&piece);
        }
    }
    let came = match reading.await {
        Ok(Ok(came)) => came,
        Ok(Err(error)) => return Err(error.into()),
        // A file that brings the reader down does so every time; the run is given up after a few.
        Err(_) => return Err(Trouble::Broken),
    };
    Ok(match came {
        Err(refused) => {
            let mut tx = store.tenant(tenant).await?;
            tx.drop_unfinished(file).await?;
            tx.commit().await?;
            Err(refused)
        }
        Ok((outcome, trailer)) => Ok(ReadFile {
            outcome,
            trailer,
            file,
            end: FileEnd { sha256: hash.finalize().into(), bytes, packed_bytes: bytes, keep_until },
            at_hand: kept.map(|kept| Spooled::Memory(Arc::new(kept))),
        }),
    })
}

/// Units that a file names as gone: in a delta, those whose last word that is; in a whole lot, those that are listed
/// as sold and the like.
fn gone(outcome: &Outcome, delta: bool) -> Vec<Gone> {
    let named = if delta { &outcome.deletes } else { &outcome.excluded };
    let named = named.iter().filter(|one| one.vin.is_some() || one.stock.is_some());
    let gone = named.map(|one| Gone {
        vin: one.vin.clone(),
        stock: one.stock.clone(),
        rooftop: one.rooftop_key.clone(),
        reason: one.reason.clone(),
    });
    gone.collect()
}
