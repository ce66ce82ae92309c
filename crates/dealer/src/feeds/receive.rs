//! Taking in a file: it is stored as it came, packed, and becomes a run that a worker carries out.

use std::io::{self, Write};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use feeds::Code;
use feeds::config::Mode;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{Stream, StreamExt};
use serde_json::json;
use sha2::{Digest, Sha256};
use store::{FileEnd, NewJob, NewRun, RunRow, RunState, SourceRow, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::counters;
use super::run::{self, Judgement, mode_name};
use super::settings::SourceSettings;
use super::spool::PIECE;

/// The kind of the job that carries out a run; its payload is `{"run": id}`, its lane the tenant's id.
pub const IMPORT_JOB: &str = "import";
/// How often a run is tried before it is failed.
const ATTEMPTS: i32 = 3;
/// From so many bytes on a file is heavy work.
const HEAVY: u64 = 8 << 20;
/// Weight of the job of a heavy file; that of others is 1.
pub const HEAVY_WEIGHT: i32 = 2;
/// Bytes that are packed without giving way to other work of the thread.
const AT_ONCE: usize = 64 * 1024;

/// What comes along with a file.
#[derive(Debug, Clone)]
pub struct Received {
    /// The name it came with.
    pub file_name: String,
    /// What brought it: `import`, `fetch`, `folder`, `push`.
    pub cause: &'static str,
    /// Who or what did so.
    pub actor: String,
    /// Whether it is the whole lot, where the sender says so; otherwise as the source is set up.
    pub mode: Option<Mode>,
    /// When the sender made it, where that came along. What the file itself says goes before it.
    pub generated_at: Option<DateTime<Utc>>,
    /// By which the sender knows the file: the same key is the same run.
    pub idempotency_key: Option<String>,
    /// How many bytes the sender said there would be. Another number of them is a file that was cut short.
    pub announced: Option<u64>,
}

impl Received {
    /// A file of which only name and origin are known.
    pub fn new(file_name: impl Into<String>, cause: &'static str, actor: impl Into<String>) -> Received {
        Received {
            file_name: file_name.into(),
            cause,
            actor: actor.into(),
            mode: None,
            generated_at: None,
            idempotency_key: None,
            announced: None,
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Its run.
    pub run_id: Uuid,
    /// The run was there already, by its key.
    pub repeated: bool,
    /// How far the run is.
    pub state: RunState,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Why a file was not taken in. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// It is larger than the source allows.
    #[error("the file is larger than {limit} bytes, which is the most that this source may send")]
    TooLarge {
        /// The most bytes that the source may send.
        limit: u64,
    },
    /// The sender used a key again, for another file.
    #[error("the idempotency key was used for another file already, run {run_id}")]
    KeyUsed {
        /// The run that has the key.
        run_id: Uuid,
    },
    /// The body broke off.
    #[error("the file could not be read to its end: {0}")]
    Body(#[from] io::Error),
    /// The settings of the source cannot be understood.
    #[error("the settings of the source cannot be understood: {0}")]
    Settings(String),
    /// The source was removed meanwhile.
    #[error("the source was removed")]
    NoSource,
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Takes in a file. Memory stays the same whatever its size.
///
/// # Errors
/// [`ReceiveError`]; nothing was kept.
pub async fn receive<S>(
    store: &Store,
    tenant: TenantId,
    source: &SourceRow,
    received: Received,
    mut body: S,
) -> Result<Receipt, ReceiveError>
where
    S: Stream<Item = io::Result<Bytes>> + Unpin + Send,
{
    let settings = SourceSettings::read(&source.settings).map_err(ReceiveError::Settings)?;
    let limit = settings.limits().file_bytes;
    let key = received.idempotency_key.as_deref();
    if let Some(key) = key {
        let mut tx = store.tenant(tenant).await?;
        let known = tx.run_by_key(source.source_id, key).await?;
        if let Some(known) = known {
            let stored = stored_sha(&mut tx, &known).await?;
            drop(tx);
            return repeated(known, stored, body, limit).await;
        }
    }
    let mut packing = Packing::new(store, tenant);
    while let Some(piece) = body.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                packing.give_up().await;
                return Err(error.into());
            }
        };
        if packing.bytes + piece.len() as u64 > limit {
            packing.give_up().await;
            return Err(ReceiveError::TooLarge { limit });
        }
        if let Err(error) = packing.add(&piece).await {
            packing.give_up().await;
            return Err(error);
        }
    }
    let now = Utc::now();
    let keep_until = now + TimeDelta::days(i64::from(settings.keep_days));
    let ended = packing
        .end(source, &received, mode_name(received.mode.unwrap_or(settings.reading.mode)), keep_until)
        .await;
    let run = match ended {
        Ok(run) => run,
        // Somebody else came with the same key meanwhile.
        Err((packing, ReceiveError::Store(store::Error::Constraint { name }))) if name == "feed_runs_key" => {
            let (sha, bytes) = (packing.sha, packing.bytes);
            packing.drop_file().await;
            let mut tx = store.tenant(tenant).await?;
            let known = match key {
                Some(key) => tx.run_by_key(source.source_id, key).await?,
                None => None,
            };
            let known = known.ok_or(ReceiveError::NoSource)?;
            let stored = stored_sha(&mut tx, &known).await?;
            return known_as(known, stored, Some(sha), bytes);
        }
        Err((packing, error)) => {
            packing.drop_file().await;
            return Err(error);
        }
    };
    counters::received(run.file_bytes);
    tracing::info!(
        tenant = %tenant, source = %source.source_id, run = %run.run_id, cause = received.cause,
        bytes = run.file_bytes, "a feed file was received"
    );
    Ok(Receipt { run_id: run.run_id, repeated: false, state: run.state, bytes: run.file_bytes })
}

async fn stored_sha(tx: &mut TenantTx, run: &RunRow) -> Result<Option<[u8; 32]>, store::Error> {
    match run.file_id {
        Some(file) => Ok(tx.file(file).await?.map(|file| file.sha256)),
        None => Ok(None),
    }
}

/// The run that has the key already, if the body is the file of it.
async fn repeated<S>(
    known: RunRow,
    stored: Option<[u8; 32]>,
    mut body: S,
    limit: u64,
) -> Result<Receipt, ReceiveError>
where
    S: Stream<Item = io::Result<Bytes>> + Unpin,
{
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    while let Some(piece) = body.next().await {
        let piece = piece?;
        bytes += piece.len() as u64;
        if bytes > limit {
            return Err(ReceiveError::TooLarge { limit });
        }
        hash.update(&piece);
    }
    known_as(known, stored, Some(hash.finalize().into()), bytes)
}

fn known_as(
    known: RunRow,
    stored: Option<[u8; 32]>,
    sha: Option<[u8; 32]>,
    bytes: u64,
) -> Result<Receipt, ReceiveError> {
    // A file that was swept since cannot be compared; its size can.
    let other = match (stored, sha) {
        (Some(stored), Some(sha)) => stored != sha,
        _ => known.file_bytes != bytes,
    };
    if other {
        return Err(ReceiveError::KeyUsed { run_id: known.run_id });
    }
    Ok(Receipt { run_id: known.run_id, repeated: true, state: known.state, bytes })
}

/// A file on its way into the database. Nothing is written before there is a whole piece, so that a small file is one
/// transaction together with its run.
struct Packing<'s> {
    store: &'s Store,
    tenant: TenantId,
    hash: Sha256,
    gzip: GzEncoder<Vec<u8>>,
    bytes: u64,
    packed: u64,
    file: Option<Uuid>,
    chunks: i32,
    /// Known at the end.
    sha: [u8; 32],
}

impl<'s> Packing<'s> {
    fn new(store: &'s Store, tenant: TenantId) -> Packing<'s> {
        Packing {
            store,
            tenant,
            hash: Sha256::new(),
            gzip: GzEncoder::new(Vec::with_capacity(PIECE), Compression::fast()),
            bytes: 0,
            packed: 0,
            file: None,
            chunks: 0,
            sha: [0; 32],
        }
    }

    async fn add(&mut self, bytes: &[u8]) -> Result<(), ReceiveError> {
        for part in bytes.chunks(AT_ONCE) {
            self.hash.update(part);
            self.gzip.write_all(part)?;
            self.bytes += part.len() as u64;
            if self.gzip.get_ref().len() >= PIECE {
                self.store_pieces().await?;
            } else {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    async fn store_pieces(&mut self) -> Result<(), store::Error> {
        let mut tx = self.store.tenant(self.tenant).await?;
        let file = match self.file {
            Some(file) => file,
            None => tx.begin_file().await?,
        };
        let ready = self.gzip.get_mut();
        let whole = ready.len() - ready.len() % PIECE;
        for piece in ready.get(..whole).unwrap_or_default().chunks(PIECE) {
            tx.add_chunk(file, self.chunks, piece).await?;
            self.chunks += 1;
        }
        tx.commit().await?;
        ready.drain(..whole);
        self.packed += whole as u64;
        self.file = Some(file);
        Ok(())
    }

    /// Ends the file and begins its run, in one transaction.
    async fn end(
        mut self,
        source: &SourceRow,
        received: &Received,
        mode: &str,
        keep_until: DateTime<Utc>,
    ) -> Result<RunRow, (Self, ReceiveError)> {
        let work = async {
            self.gzip.try_finish()?;
            let rest = std::mem::take(self.gzip.get_mut());
            self.packed += rest.len() as u64;
            self.sha = self.hash.clone().finalize().into();
            let mut tx = self.store.tenant(self.tenant).await?;
            // A source that is being removed takes no file any more.
            let now = tx.source(source.source_id).await?.filter(|source| source.removed_at.is_none());
            let Some(source) = now else { return Err(ReceiveError::NoSource) };
            let file = match self.file {
                Some(file) => file,
                None => tx.begin_file().await?,
            };
            for piece in rest.chunks(PIECE) {
                tx.add_chunk(file, self.chunks, piece).await?;
                self.chunks += 1;
            }
            let end = FileEnd { sha256: self.sha, bytes: self.bytes, packed_bytes: self.packed, keep_until };
            let file = tx.finish_file(file, &end).await?;
            let new = NewRun {
                source_id: source.source_id,
                mode,
                cause: received.cause,
                actor: &received.actor,
                of_run: None,
                file_id: Some(file.file_id),
                file_name: &received.file_name,
                file_bytes: self.bytes,
                units_file_id: None,
                idempotency_key: received.idempotency_key.as_deref(),
                received_at: Utc::now(),
            };
            let mut run = tx.insert_run(&new).await?;
            let short = received.announced.is_some_and(|announced| announced != self.bytes);
            if short || received.generated_at.is_some() {
                run.generated_at = received.generated_at;
                if short {
                    let cut = Judgement { stopped: vec![Code::FeedTruncated], ..Judgement::default() };
                    run.verdict = run::json(&cut);
                }
                tx.save_run(&run).await?;
            }
            enqueue(&mut tx, run.run_id, self.bytes).await?;
            tx.commit().await?;
            Ok(run)
        }
        .await;
        work.map_err(|error| (self, error))
    }

    /// Forgets what was stored already. A file that stays is swept later.
    async fn drop_file(&self) {
        let Some(file) = self.file else { return };
        let dropped = async {
            let mut tx = self.store.tenant(self.tenant).await?;
            tx.drop_unfinished(file).await?;
            tx.commit().await
        };
        if let Err(error) = dropped.await {
            tracing::debug!(%error, "a file that was not taken in is left to the sweep");
        }
    }

    async fn give_up(&self) {
        self.drop_file().await;
    }
}

/// Has a worker carry out a run.
pub(super) async fn enqueue(tx: &mut TenantTx, run: Uuid, bytes: u64) -> Result<(), store::Error> {
    let lane = tx.id().to_string();
    let weight = if bytes > HEAVY { HEAVY_WEIGHT } else { 1 };
    let job = NewJob {
        kind: IMPORT_JOB,
        lane: &lane,
        payload: json!({ "run": run }),
        weight,
        run_at: None,
        max_attempts: ATTEMPTS,
    };
    tx.enqueue(&job).await?;
    Ok(())
}
