//! A whole lot that a sender pushes in several parts: each is a stored file, and together they are one.

use std::io::{self, Read, Write};

use bytes::Bytes;
use chrono::{TimeDelta, Utc};
use feeds::config::Mode;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::{Stream, stream};
use sha2::{Digest, Sha256};
use store::{FileEnd, PartRow, Store, TenantId};
use uuid::Uuid;

use super::push::Pusher;
use super::receive::{Receipt, ReceiveError, Received, receive};
use super::spool::PIECE;
use crate::Dealer;

/// How long parts wait for the others.
const KEPT: TimeDelta = TimeDelta::hours(24);

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotPart {
    /// The sender's name for all of it.
    pub snapshot: String,
    /// Which one, from 1.
    pub no: u32,
    /// Of how many.
    pub of: u32,
    /// What the file is called.
    pub file_name: String,
}

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartTaken {
    /// So many parts are there; others are still to come.
    Waiting {
        /// How many.
        there: u32,
    },
    /// All are there, and this is their run.
    Complete(Receipt),
}

/// Why a part was not taken.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// Another body was sent as that part.
    #[error("another body was sent as this part already")]
    Other,
    /// The snapshot was begun with another number of parts.
    #[error("the snapshot was begun with {0} parts")]
    Parts(u32),
    /// The parts together were not taken in.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Dealer {
    /// Takes in a part: lines that can be put behind those of other parts. With the last one, whichever that is, the
    /// run is made. The same part again does no harm.
    ///
    /// # Errors
    /// [`PartError`].
    pub async fn take_part(
        &self,
        pusher: &Pusher,
        part: &SnapshotPart,
        body: Bytes,
    ) -> Result<PartTaken, PartError> {
        let store = &self.inner.store;
        let source = pusher.source.source_id;
        let key = format!("snapshot:{}", part.snapshot);
        let mut tx = store.tenant(pusher.tenant).await?;
        if let Some(run) = tx.run_by_key(source, &key).await? {
            let receipt =
                Receipt { run_id: run.run_id, repeated: true, state: run.state, bytes: run.file_bytes };
            return Ok(PartTaken::Complete(receipt));
        }
        drop(tx);
        let sha256: [u8; 32] = Sha256::digest(&body).into();
        let bytes = body.len() as u64;
        let packed = pack(&body).map_err(ReceiveError::from)?;
        let now = Utc::now();
        let mut tx = store.tenant(pusher.tenant).await?;
        tx.sweep_parts(source, now - KEPT).await?;
        let file = tx.begin_file().await?;
        for (no, piece) in (0..).zip(packed.chunks(PIECE)) {
            tx.add_chunk(file, no, piece).await?;
        }
        let end = FileEnd { sha256, bytes, packed_bytes: packed.len() as u64, keep_until: now + KEPT + KEPT };
        let file = tx.finish_file(file, &end).await?;
        let wanted = PartRow { no: part.no, of: part.of, file_id: file.file_id, created_at: now };
        let there = tx.put_part(source, &part.snapshot, &wanted).await?;
        if there.of != part.of {
            return Err(PartError::Parts(there.of));
        }
        // Equal contents are one file.
        if there.file_id != file.file_id {
            return Err(PartError::Other);
        }
        let all = tx.parts(source, &part.snapshot).await?;
        if let Some(other) = all.iter().find(|one| one.of != part.of) {
            return Err(PartError::Parts(other.of));
        }
        tx.commit().await?;
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if count < part.of {
            return Ok(PartTaken::Waiting { there: count });
        }
        let mut received = Received::new(part.file_name.as_str(), "push", "push");
        received.mode = Some(Mode::Full);
        received.idempotency_key = Some(key);
        let files = all.into_iter().map(|one| one.file_id).collect();
        let together = Box::pin(joined(store.clone(), pusher.tenant, files));
        let receipt = receive(store, pusher.tenant, &pusher.source, received, together).await?;
        let mut tx = store.tenant(pusher.tenant).await?;
        tx.drop_parts(source, &part.snapshot).await?;
        tx.commit().await?;
        Ok(PartTaken::Complete(receipt))
    }
}

fn pack(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(body)?;
    gzip.finish()
}

/// The parts as one file: each ends with a line break, and a header that is repeated stands once.
fn joined(store: Store, tenant: TenantId, files: Vec<Uuid>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let begun = (store, tenant, files.into_iter(), None::<Vec<u8>>);
    stream::try_unfold(begun, |(store, tenant, mut files, header)| async move {
        let Some(file) = files.next() else { return Ok(None) };
        let part = fetched(&store, tenant, file).await?;
        let (line, part) = match header {
            None => (first_line(&part).to_vec(), part),
            Some(header) => {
                let part = behind(&header, part);
                (header, part)
            }
        };
        let mut part = part;
        if !part.is_empty() && !part.ends_with(b"\n") {
            part.push(b'\n');
        }
        Ok(Some((Bytes::from(part), (store, tenant, files, Some(line)))))
    })
}

async fn fetched(store: &Store, tenant: TenantId, file: Uuid) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    for no in 0.. {
        let mut tx = store.tenant(tenant).await.map_err(io::Error::other)?;
        match tx.file_chunk(file, no).await.map_err(io::Error::other)? {
            Some(piece) => packed.extend_from_slice(&piece),
            None => break,
        }
    }
    let mut part = Vec::new();
    GzDecoder::new(packed.as_slice()).read_to_end(&mut part)?;
    Ok(part)
}

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The first line, without the mark of its encoding and its end.
fn first_line(part: &[u8]) -> &[u8] {
    let part = part.strip_prefix(MARK).unwrap_or(part);
    let end = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
    part.get(..end).unwrap_or_default().trim_ascii_end()
}

/// A part behind the first one.
fn behind(header: &[u8], part: Vec<u8>) -> Vec<u8> {
    let bare = part.strip_prefix(MARK).unwrap_or(&part);
    // The same vehicle twice is for the reader to find; a header is no JSON.
    if first_line(bare) != header || header.starts_with(b"{") {
        return bare.to_vec();
    }
    let end = bare.iter().position(|byte| *byte == b'\n').map_or(bare.len(), |end| end + 1);
    bare.get(end..).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_header_stands_once() {
        let header = first_line("\u{feff}VIN,Price\r\na,1".as_bytes());
        assert_eq!(header, b"VIN,Price");
        for (part, rest) in [
            ("VIN,Price\r\nb,2\r\n", "b,2\r\n"),
            ("\u{feff}VIN,Price\nb,2", "b,2"),
            ("b,2\n", "b,2\n"),
            ("VIN,Price", ""),
        ] {
            assert_eq!(behind(header, part.into()), rest.as_bytes(), "{part}");
        }
        assert_eq!(behind(b"{\"vin\":\"a\"}", b"{\"vin\":\"a\"}\n".to_vec()), b"{\"vin\":\"a\"}\n");
    }
}
