//! Watched folders: files that a sender's SFTP server drops become runs.
//!
//! Each folder source has a folder `{root}/{dealer}/{source}/`. A file is left alone while it grows: its size and the
//! time of its last write must be the same in looks as far apart as [`Pace::settle`](crate::settings::Pace::settle).
//! Then it is locked, moved out of the sender's sight, taken in under a key of its own, and moved to the archive. A
//! worker that dies in between leaves it where the next look finds it; the key makes one run of it whatever happens.

mod names;
mod place;
mod take;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use dealer::feeds::SourceSettings;
use store::{SourceRow, TenantId};
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;
use uuid::Uuid;

use crate::context::Context;
use crate::queue::{Phase, told};
use place::{Place, State, Within};
use take::Dropped;

/// Sources whose files are taken in at once.
const AT_ONCE: usize = 4;
/// How often archives are cleared.
const CLEARING: Duration = Duration::from_secs(3600);

/// A source with a folder.
#[derive(Debug, Clone)]
struct Watched {
    tenant: TenantId,
    dealer: String,
    source: Arc<SourceRow>,
    settings: Arc<SourceSettings>,
}

impl Watched {
    /// The name of its folder.
    fn folder(&self) -> String {
        folder_name(&self.settings, &self.source)
    }
}

/// The name of a source's folder below its dealer's: the one of its settings, or its own, as far as that can be one.
pub fn folder_name(settings: &SourceSettings, source: &SourceRow) -> String {
    if let Some(folder) = &settings.folder {
        return folder.clone();
    }
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = source.name.trim().to_lowercase().chars().map(allowed).take(100).collect();
    let name = name.trim_matches(|c| c == '.' || c == '-').to_owned();
    if name.is_empty() { source.source_id.to_string() } else { name }
}

/// A name as it is shown to people.
fn shown(name: &std::ffi::OsStr) -> String {
    names::shown(name)
}

/// What was seen of a file, and since when it is so.
#[derive(Debug, Clone, Copy)]
struct Look {
    state: State,
    since: Instant,
}

/// What former looks saw.
#[derive(Debug, Default)]
struct Memory {
    looks: HashMap<Uuid, HashMap<OsString, Look>>,
    cleared: HashMap<Uuid, Instant>,
    /// Sources whose folder cannot be used, and what was said of it.
    troubled: HashMap<Uuid, String>,
}

/// Watches until the worker is told to stop; a file that is being taken in then is finished or left to the next one.
pub(crate) async fn follow(context: Arc<Context>, mut phase: watch::Receiver<Phase>) {
    let settle = context.settings.pace.settle;
    let mut memory = Memory::default();
    let mut dealers = HashMap::new();
    let mut taking: JoinSet<Uuid> = JoinSet::new();
    let mut busy = HashSet::new();
    while *phase.borrow() == Phase::Work {
        match watched(&context, &mut dealers).await {
            Ok(sources) => {
                let free: Vec<_> =
                    sources.into_iter().filter(|one| !busy.contains(&one.source.source_id)).collect();
                let root = context.settings.drop_folder.clone();
                let look = spawn_blocking(move || {
                    let found = look_at_all(&root, settle, &mut memory, &free);
                    (memory, found)
                });
                let Ok((seen, found)) = look.await else {
                    tracing::error!("looking at the drop folders failed; they are looked at afresh");
                    memory = Memory::default();
                    continue;
                };
                memory = seen;
                for (one, files) in found {
                    if taking.len() >= AT_ONCE {
                        // They are there with the next look as well.
                        break;
                    }
                    busy.insert(one.source.source_id);
                    let (context, phase) = (Arc::clone(&context), phase.clone());
                    taking.spawn(async move {
                        let source = one.source.source_id;
                        take::all(&context, &one, files, phase).await;
                        source
                    });
                }
            }
            Err(error) => tracing::debug!(%error, "the folder sources cannot be read; trying again"),
        }
        tokio::select! {
            _ = phase.changed() => {}
            Some(ended) = taking.join_next() => match ended {
                Ok(source) => drop(busy.remove(&source)),
                Err(error) => {
                    tracing::error!(%error, "taking in a dropped file failed; it is tried again");
                    busy.clear();
                }
            },
            () = sleep(context.settings.pace.schedule.min(settle / 2)) => {}
        }
    }
    tokio::select! {
        () = told(&mut phase, Phase::Stop) => {}
        () = async { while taking.join_next().await.is_some() {} } => {}
    }
}

/// The sources that have folders.
async fn watched(
    context: &Context,
    dealers: &mut HashMap<TenantId, String>,
) -> Result<Vec<Watched>, store::Error> {
    let mut tx = context.store.platform().await?;
    let mut watched = Vec::new();
    for (tenant, source) in tx.folder_sources().await? {
        let dealer = match dealers.get(&tenant) {
            Some(dealer) => String::clone(dealer),
            None => {
                let Some(row) = tx.directory_of(tenant).await? else { continue };
                dealers.insert(tenant, row.slug.clone());
                row.slug
            }
        };
        // Settings of a newer program: it watches them itself.
        let Ok(settings) = SourceSettings::read(&source.settings) else { continue };
        watched.push(Watched { tenant, dealer, source: Arc::new(source), settings: Arc::new(settings) });
    }
    tx.commit().await?;
    Ok(watched)
}

fn look_at_all(
    root: &Path,
    settle: Duration,
    memory: &mut Memory,
    sources: &[Watched],
) -> Vec<(Watched, Vec<Dropped>)> {
    let mut found = Vec::new();
    for one in sources {
        let id = one.source.source_id;
        match look_at(root, settle, memory, one) {
            Ok(files) => {
                memory.troubled.remove(&id);
                if !files.is_empty() {
                    found.push((one.clone(), files));
                }
            }
            Err(error) => {
                let text = error.to_string();
                // Said once, not with every look.
                if memory.troubled.get(&id) != Some(&text) {
                    tracing::warn!(
                        dealer = one.dealer,
                        source = one.source.name,
                        error = text,
                        "the drop folder of a source cannot be used; it must be a folder that the platform may write to, and no link"
                    );
                    memory.troubled.insert(id, text);
                }
            }
        }
    }
    found
}

/// The files of one source that can be taken, those that were written first first.
fn look_at(root: &Path, settle: Duration, memory: &mut Memory, one: &Watched) -> io::Result<Vec<Dropped>> {
    let place = Arc::new(Place::open(root, &one.dealer, &one.folder())?);
    let id = one.source.source_id;
    let now = Instant::now();
    let mut ready = Vec::new();
    // Those that another worker left behind.
    for entry in place.entries(Within::Taking)? {
        let (Some(state), Some((key, name))) = (entry.state, names::of_taken(&entry.name)) else { continue };
        let name = name.to_owned();
        ready.push(Dropped { place: Arc::clone(&place), key, name, state, is_taken: true });
    }
    let before = memory.looks.remove(&id).unwrap_or_default();
    let mut looks = HashMap::new();
    for entry in place.entries(Within::Folder)? {
        let Some(state) = entry.state.filter(|_| names::is_feed(&entry.name)) else { continue };
        let known = before.get(&entry.name).filter(|look| look.state == state);
        let since = known.map_or(now, |look| look.since);
        looks.insert(entry.name.clone(), Look { state, since });
        if known.is_some() && now.duration_since(since) >= settle {
            let place = Arc::clone(&place);
            ready.push(Dropped { place, key: Uuid::now_v7(), name: entry.name, state, is_taken: false });
        }
    }
    memory.looks.insert(id, looks);
    if memory.cleared.get(&id).is_none_or(|at| now.duration_since(*at) >= CLEARING) {
        memory.cleared.insert(id, now);
        clear_archive(&place, one.settings.keep_days)?;
    }
    ready.sort_by(|a, b| a.state.written().cmp(&b.state.written()).then_with(|| a.name.cmp(&b.name)));
    Ok(ready)
}

fn clear_archive(place: &Place, keep_days: u32) -> io::Result<()> {
    let (keep, now) = (TimeDelta::days(i64::from(keep_days)), Utc::now());
    for entry in place.entries(Within::Archive)? {
        if entry.state.is_some() && names::is_older(&entry.name, keep, now) {
            place.delete(Within::Archive, &entry.name)?;
        }
    }
    Ok(())
}
