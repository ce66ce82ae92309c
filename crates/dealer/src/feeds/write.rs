//! Bringing listings to what sources and people say of them, in the transaction of whoever changed that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::Listing;
use feeds::{Finding, Unit};
use serde_json::{Map, Value};
use store::{EditRow, HistoryRow, PublishedRow, SourceUnitRow, TenantTx};
use uuid::Uuid;

use super::document::{self, By, Change, Outcome, Rendering, Said, Voices};
use super::merge::Edit;
use super::scene::{NoScene, Scene};

/// Units that are rendered and written together.
pub(super) const CHUNK: usize = 2000;

/// Findings of rendering that are kept of one piece of work.
const FINDINGS: usize = 5000;

/// Why something is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Because {
    pub(super) source: Option<Uuid>,
    pub(super) run: Option<Uuid>,
    pub(super) actor: Option<String>,
    /// When what is written was said.
    pub(super) said_at: DateTime<Utc>,
}

/// One unit as a source says it, at hand because it was just read.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    pub(super) vehicle_id: String,
    pub(super) unit: Unit,
}

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Listings.
    pub(super) listings: u64,
    /// Listings taken away.
    pub(super) removed: u64,
    /// What was left out of listings.
    pub(super) findings: Vec<Finding>,
    /// Units that no contract allows.
    pub(super) refused: u32,
    /// Sources whose amounts nobody explained, with their columns.
    pub(super) unanswered: BTreeSet<(Uuid, String)>,
}

impl Written {
    /// Whether buyers see another lot than before.
    pub(super) fn changes_the_lot(&self) -> bool {
        self.listings + self.removed > 0
    }
}

/// Writes listings within one transaction that holds the lot.
pub(super) struct Desk<'t> {
    pub(super) tx: &'t mut TenantTx,
    pub(super) scene: Arc<Scene>,
    /// The version that will show what is written.
    pub(super) version: u64,
    pub(super) now: DateTime<Utc>,
    pub(super) because: Because,
    /// The dealer never had a unit and has one source: there is nothing to read before writing.
    pub(super) virgin: bool,
    /// Units that were on offer before and were removed, where that is known already.
    pub(super) returning: Option<HashSet<String>>,
    pub(super) written: Written,
}

/// A unit to be rendered, with everything that is said of it.
struct ToRender {
    vehicle_id: String,
    said: Vec<(Uuid, Uuid, Unit)>,
    edits: Vec<Edit>,
    former: Option<PublishedRow>,
}

/// What became of it.
struct Made {
    vehicle_id: String,
    outcome: Now,
    findings: Vec<Finding>,
    unanswered: Vec<(Uuid, String)>,
    voices: Voices,
}

enum Now {
    /// As it was, or not on offer before and now.
    Same,
    Listed(Box<Listing>),
    Changed(Box<Listing>, Vec<Change>),
    Off {
        reason: &'static str,
        nobody_has_it: bool,
    },
    Refused {
        was_offered: bool,
    },
}

/// Units that are being rendered by another thread.
pub(super) struct Pending(tokio::task::JoinHandle<Vec<Made>>);

impl Desk<'_> {
    /// Begins to render these units. Words that are `fresh` count instead of those stored of the same source.
    pub(super) async fn begin(&mut self, ids: Vec<String>, fresh: Vec<Fresh>) -> Result<Pending, NoScene> {
        let (own, run) = (self.because.source, self.because.run);
        let mut at_hand: HashMap<String, Unit> =
            fresh.into_iter().map(|fresh| (fresh.vehicle_id, fresh.unit)).collect();
        let mut said: HashMap<String, Vec<(Uuid, Uuid, Unit)>> = HashMap::new();
        let mut edits: HashMap<String, Vec<Edit>> = HashMap::new();
        let mut former: HashMap<String, PublishedRow> = HashMap::new();
        if !self.virgin {
            for row in self.tx.units_of(&ids).await? {
                if Some(row.source_id) == own && at_hand.contains_key(&row.vehicle_id) {
                    continue;
                }
                let unit = unit_of(&row)?;
                said.entry(row.vehicle_id).or_default().push((row.source_id, row.run_id, unit));
            }
            for row in self.tx.edits_of(&ids).await? {
                edits.entry(row.vehicle_id.clone()).or_default().push(edit_of(row));
            }
            for row in self.tx.published(&ids).await? {
                former.insert(row.vehicle_id.clone(), row);
            }
        }
        let mut todo = Vec::with_capacity(ids.len());
        for vehicle_id in ids {
            let mut of_unit = said.remove(&vehicle_id).unwrap_or_default();
            if let (Some(unit), Some(source), Some(run)) = (at_hand.remove(&vehicle_id), own, run) {
                of_unit.push((source, run, unit));
            }
            todo.push(ToRender {
                said: of_unit,
                edits: edits.remove(&vehicle_id).unwrap_or_default(),
                former: former.remove(&vehicle_id),
                vehicle_id,
            });
        }
        let (scene, now, said_at) = (Arc::clone(&self.scene), self.now, self.because.said_at);
        Ok(Pending(tokio::task::spawn_blocking(move || {
            todo.into_iter().map(|unit| made(&scene, unit, now, said_at)).collect()
        })))
    }

    /// Writes what was rendered. `reasons` are those of units that a source gave up: they leave where no other has
    /// them. Units of which no source ever said anything stay as they are.
    pub(super) async fn finish(
        &mut self,
        rendering: Pending,
        reasons: &HashMap<String, &'static str>,
    ) -> Result<(), NoScene> {
        let made = match rendering.0.await {
            Ok(made) => made,
            // Rendering is pure and has no way to fail; what breaks it is a fault of ours.
            Err(broken) => std::panic::resume_unwind(broken.into_panic()),
        };
        let (mut listings, mut history) = (Vec::new(), Vec::new());
        let mut leaving: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for unit in made {
            self.note(unit.findings, unit.unanswered);
            let voices = unit.voices;
            let (listing, changes, is_new) = match unit.outcome {
                Now::Same => continue,
                Now::Off { nobody_has_it: true, .. } if !reasons.contains_key(&unit.vehicle_id) => continue,
                Now::Off { reason, .. } => {
                    let told = reasons.get(&unit.vehicle_id).copied().filter(|_| reason == "feed");
                    let reason = told.unwrap_or(reason);
                    leaving.entry(reason).or_default().push(unit.vehicle_id);
                    continue;
                }
                Now::Refused { was_offered } => {
                    self.written.refused += 1;
                    if was_offered {
                        leaving.entry("feed").or_default().push(unit.vehicle_id);
                    }
                    continue;
                }
                Now::Listed(listing) => (listing, Vec::new(), true),
                Now::Changed(listing, changes) => (listing, changes, false),
            };
            if is_new {
                let returns = self.returns(&listing.vehicle_id).await?;
                let mut row = self.history(&listing.vehicle_id, if returns { "returned" } else { "listed" });
                row.new = listing.price.map(Value::from);
                row.field = row.new.is_some().then(|| "price".to_owned());
                history.push(row);
            }
            for change in changes {
                let moved = change.field == "rooftop" && change.old.is_some() && change.new.is_some();
                let mut row = self.history(&listing.vehicle_id, if moved { "moved" } else { "changed" });
                match voices.of(&change.field) {
                    Some(By::Source(source, run)) => (row.source_id, row.run_id) = (Some(source), Some(run)),
                    Some(By::Edit(author)) => row.actor = Some(author),
                    None => {}
                }
                (row.field, row.old, row.new) = (Some(change.field), change.old, change.new);
                history.push(row);
            }
            listings.push(*listing);
        }
        if !listings.is_empty() {
            self.written.listings += self.tx.upsert_listings(self.version, &listings).await?;
        }
        self.tx.add_history(&history).await?;
        for (reason, ids) in leaving {
            self.leave(&ids, reason).await?;
        }
        Ok(())
    }

    /// Takes units off the lot; those that are not on it stay as they are.
    pub(super) async fn leave(&mut self, ids: &[String], reason: &str) -> Result<(), NoScene> {
        for chunk in ids.chunks(CHUNK) {
            let names: Vec<&str> = chunk.iter().map(String::as_str).collect();
            let offered = self.tx.lot_units(&names, &[], &[]).await?;
            if offered.is_empty() {
                continue;
            }
            let gone: Vec<&str> = offered.iter().map(|unit| unit.vehicle_id.as_str()).collect();
            self.written.removed += self.tx.remove_listings(self.version, &gone, reason).await?;
            let rows: Vec<HistoryRow> = gone
                .iter()
                .map(|id| HistoryRow { reason: Some(reason.to_owned()), ..self.history(id, "removed") })
                .collect();
            self.tx.add_history(&rows).await?;
        }
        Ok(())
    }

    /// Renders and writes units of which something else changed than what the source of this work says.
    pub(super) async fn republish(
        &mut self,
        ids: Vec<String>,
        reasons: &HashMap<String, &'static str>,
    ) -> Result<(), NoScene> {
        let mut pending: Option<Pending> = None;
        for chunk in ids.chunks(CHUNK) {
            let next = self.begin(chunk.to_vec(), Vec::new()).await?;
            if let Some(before) = pending.replace(next) {
                self.finish(before, reasons).await?;
            }
        }
        match pending {
            Some(last) => self.finish(last, reasons).await,
            None => Ok(()),
        }
    }

    async fn returns(&mut self, vehicle_id: &str) -> Result<bool, NoScene> {
        if self.virgin {
            return Ok(false);
        }
        if self.returning.is_none() {
            self.returning = Some(self.tx.removed_ids().await?.into_keys().collect());
        }
        Ok(self.returning.as_ref().is_some_and(|removed| removed.contains(vehicle_id)))
    }

    fn note(&mut self, findings: Vec<Finding>, unanswered: Vec<(Uuid, String)>) {
        let room = FINDINGS.saturating_sub(self.written.findings.len());
        self.written.findings.extend(findings.into_iter().take(room));
        self.written.unanswered.extend(unanswered);
    }

    fn history(&self, vehicle_id: &str, kind: &str) -> HistoryRow {
        HistoryRow {
            vehicle_id: vehicle_id.to_owned(),
            at: self.now,
            version: self.version,
            kind: kind.to_owned(),
            field: None,
            old: None,
            new: None,
            reason: None,
            source_id: self.because.source,
            run_id: self.because.run,
            actor: self.because.actor.clone(),
        }
    }
}

/// Makes one unit of what is said of it.
fn made(scene: &Scene, unit: ToRender, now: DateTime<Utc>, said_at: DateTime<Utc>) -> Made {
    let former: Option<Map<String, Value>> =
        unit.former.as_ref().and_then(|row| serde_json::from_str(&row.document).ok());
    let said: Vec<Said<'_>> = unit
        .said
        .iter()
        .filter_map(|(source, run, said)| {
            let known = scene.sources.get(source)?;
            Some(Said {
                source: *source,
                name: &known.row.name,
                settings: &known.settings,
                run: *run,
                unit: said,
            })
        })
        .collect();
    let with = Rendering { rooftops: &scene.rooftops, now, said_at };
    let rendered = document::render(&unit.vehicle_id, &said, &unit.edits, former.as_ref(), with);
    let was_offered = unit.former.is_some();
    let outcome = match rendered.outcome {
        Outcome::Offered(vehicle) => match Listing::from_vehicle(&vehicle, &scene.row.dealer_id, now) {
            Some(listing) => match &unit.former {
                Some(row) if row.content_hash == listing.content_hash => Now::Same,
                Some(_) => {
                    let changes = document::changes(&former.unwrap_or_default(), &vehicle);
                    Now::Changed(Box::new(listing), changes)
                }
                None => Now::Listed(Box::new(listing)),
            },
            None => Now::Refused { was_offered },
        },
        Outcome::Off(reason) if was_offered => Now::Off { reason, nobody_has_it: said.is_empty() },
        Outcome::Off(_) => Now::Same,
        Outcome::Refused => Now::Refused { was_offered },
    };
    Made {
        vehicle_id: unit.vehicle_id,
        outcome,
        findings: rendered.findings,
        unanswered: rendered.unanswered,
        voices: rendered.voices,
    }
}

/// A stored word of a source.
pub(super) fn unit_of(row: &SourceUnitRow) -> Result<Unit, store::Error> {
    let unit: Result<Unit, _> = serde_json::from_str(&row.unit);
    unit.map_err(|_| store::Error::Corrupt {
        table: "source_units",
        column: "unit",
        id: format!("{}/{}", row.source_id, row.vehicle_id),
    })
}

/// A stored edit.
pub(super) fn edit_of(row: EditRow) -> Edit {
    Edit {
        field: row.field,
        value: row.value,
        author: row.author,
        note: row.note,
        at: row.edited_at,
        expires_at: row.expires_at,
    }
}
