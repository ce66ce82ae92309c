//! Everything that happened to one vehicle, in order, and why it says what it says now.

#[path = "story_lines.rs"]
mod lines;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use feeds::{Code, Finding};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{FindingRow, HistoryRow, RunRow, RunState, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::document::{Said, statement};
use super::edits::{EditError, identified, published};
use super::merge::{Edit, Voice, merge};
use super::scene::Scene;
use super::write::{edit_of, unit_of};
use lines::shown;

/// Findings about one unit that a story tells, the latest ones.
const FINDINGS: u32 = 500;

/// One car's story.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Story {
    /// Its id.
    pub vehicle_id: String,
    /// Its VIN, as the listing or the source of the best rank has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<String>,
    /// Its stock number, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stock: Option<String>,
    /// Whether it is on offer now.
    pub on_offer: bool,
    /// As it is published, where it is on offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Map<String, Value>>,
    /// Every field that anybody has a word on: who wins, and what the others say.
    pub fields: Vec<FieldStory>,
    /// What happened, the oldest first.
    pub events: Vec<Event>,
}

/// One field: who wins, and what the others say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldStory {
    /// Its name.
    pub field: String,
    /// The word that counts. Null where a person left the field blank.
    pub winner: Word,
    /// The others, the next best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losers: Vec<Word>,
}

/// What one source or person says of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Word {
    /// What.
    pub value: Value,
    /// The source that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The run that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Uuid>,
    /// The row of that run's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The person who set it. The field is locked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Why, in their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// When.
    pub at: DateTime<Utc>,
    /// `finding`, `held`, `listed`, `changed`, `moved`, `edited`, `unlocked`, `removed`, `returned`.
    pub kind: String,
    /// The code of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Which field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What it is since; of a finding: the value as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The source behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The run behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Uuid>,
    /// That run's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The row of that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<i32>,
    /// The person behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The inventory version that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// All of it for people.
    pub sentence: String,
}

/// The story of the unit with that VIN, stock number or id.
///
/// # Errors
/// [`EditError`]: there is no such unit, or several, or the database refused.
pub async fn story(store: &Store, tenant: TenantId, key: &str) -> Result<Story, EditError> {
    let mut tx = store.tenant_snapshot(tenant).await?;
    let vehicle_id = identified(&mut tx, key).await?;
    let scene = Scene::load(&mut tx).await.map_err(super::decide::DecideError::from)?;
    let published = published(&mut tx, &vehicle_id).await?;
    let now = Utc::now();
    let mut units = Vec::new();
    for row in tx.units_of(&[&vehicle_id]).await? {
        units.push((row.source_id, row.run_id, unit_of(&row)?));
    }
    let said: Vec<Said<'_>> = units
        .iter()
        .filter_map(|(source, run, unit)| {
            let known = scene.sources.get(source)?;
            let (name, settings) = (known.row.name.as_str(), &known.settings);
            Some(Said { source: *source, name, settings, run: *run, unit })
        })
        .collect();
    let mut unheard = Vec::new();
    let statements: Vec<_> = said.iter().map(|one| statement(one, &scene.rooftops, &mut unheard).0).collect();
    let edits: Vec<Edit> = tx.edits_of(&[&vehicle_id]).await?.into_iter().map(edit_of).collect();
    let edits: Vec<Edit> = edits.into_iter().filter(|edit| edit.holds(now)).collect();
    let merged = merge(&statements, &edits);
    let fields: Vec<FieldStory> = merged
        .fields
        .iter()
        .map(|(field, decided)| FieldStory {
            field: (*field).to_owned(),
            winner: word(decided.winner, decided.value),
            losers: decided.losers.iter().map(|lost| word(lost.voice, lost.value)).collect(),
        })
        .collect();
    let text = |name: &str| {
        let stated = published.as_ref().and_then(|vehicle| vehicle.get(name)).and_then(Value::as_str);
        let said = || merged.fields.get(name).and_then(|decided| decided.value.as_str());
        stated.or_else(said).map(str::to_owned)
    };
    let known = tx.find_vehicle(&vehicle_id).await?.into_iter().find(|one| one.vehicle_id == vehicle_id);
    let (vin, stock) = (
        text("vin").or_else(|| known.as_ref().and_then(|one| one.vin.clone())),
        text("stock").or_else(|| known.as_ref().and_then(|one| one.stock.clone())),
    );
    let events = events(&mut tx, &vehicle_id, vin.as_deref(), stock.as_deref(), &units).await?;
    Ok(Story { on_offer: published.is_some(), vehicle_id, vin, stock, published, fields, events })
}

fn word(voice: Voice<'_>, value: &Value) -> Word {
    let none = Word {
        value: value.clone(),
        source: None,
        run: None,
        row: None,
        author: None,
        at: None,
        expires_at: None,
        note: None,
    };
    match voice {
        Voice::Source(origin) => {
            Word { source: Some(origin.name.clone()), run: Some(origin.run), row: Some(origin.row), ..none }
        }
        Voice::Edit(edit) => Word {
            author: Some(edit.author.clone()),
            at: Some(edit.at),
            expires_at: edit.expires_at,
            note: edit.note.clone(),
            ..none
        },
    }
}

/// What happened to the unit, what was found about its rows, and files of its sources that wait.
async fn events(
    tx: &mut TenantTx,
    vehicle_id: &str,
    vin: Option<&str>,
    stock: Option<&str>,
    units: &[(Uuid, Uuid, feeds::Unit)],
) -> Result<Vec<Event>, EditError> {
    let history = tx.history(vehicle_id).await?;
    let findings = match (vin, stock) {
        (None, None) => Vec::new(),
        _ => tx.findings_about(vin, stock, FINDINGS).await?,
    };
    let runs: BTreeSet<Uuid> =
        history.iter().filter_map(|row| row.run_id).chain(findings.iter().map(|(run, _)| *run)).collect();
    let mut known: HashMap<Uuid, RunRow> = HashMap::new();
    for run in runs {
        known.extend(tx.run(run).await?.map(|row| (run, row)));
    }
    let sources: BTreeSet<Uuid> = units
        .iter()
        .map(|(source, _, _)| *source)
        .chain(history.iter().filter_map(|row| row.source_id))
        .chain(known.values().map(|run| run.source_id))
        .collect();
    let mut names: BTreeMap<Uuid, String> = BTreeMap::new();
    let mut events = Vec::new();
    for source in sources {
        names.extend(tx.source(source).await?.map(|row| (source, row.name)));
        for run in tx.held_runs(source).await? {
            events.push(held(&run, names.get(&source)));
        }
    }
    // A stock number that another VIN had before is no word about this unit.
    let about =
        |finding: &FindingRow| vin.is_none() || finding.vin.is_none() || finding.vin.as_deref() == vin;
    for (run, finding) in findings.into_iter().filter(|(_, finding)| about(finding)) {
        if let Some(run) = known.get(&run) {
            events.push(found(run, names.get(&run.source_id), finding));
        }
    }
    for row in history {
        let run = row.run_id.and_then(|run| known.get(&run));
        let name = row.source_id.and_then(|source| names.get(&source));
        events.push(happened(row, run, name));
    }
    // Sorted by time alone, so that what happened at once stays in the order in which it was written.
    events.sort_by_key(|event| event.at);
    Ok(events)
}

fn held(run: &RunRow, name: Option<&String>) -> Event {
    let judged = super::run::judgement(run);
    let reason = judged.sentences.join(" ");
    Event {
        kind: RunState::Held.as_str().to_owned(),
        reason: Some(reason.clone()),
        sentence: format!(
            "A file that waits for a decision says something new, perhaps of this unit too. {reason}"
        ),
        ..of_run(run, name)
    }
}

fn found(run: &RunRow, name: Option<&String>, row: FindingRow) -> Event {
    let code = Code::deserialize(&Value::from(row.code.as_str())).ok();
    let number = |row: i32| u32::try_from(row).ok();
    let finding = code.map(|code| Finding {
        code,
        row: row.source_row.and_then(number),
        field: row.field.clone(),
        column: row.column.clone(),
        value: row.value.clone(),
        vin: row.vin.clone(),
        stock: row.stock.clone(),
        kept_row: row.kept_row.and_then(number),
    });
    // A code of another version of this program speaks for itself.
    let sentence = finding.map_or_else(|| row.code.clone(), |finding| finding.code.sentence(&finding));
    Event {
        kind: "finding".into(),
        code: Some(row.code),
        field: row.field,
        new: row.value.map(Value::from),
        row: row.source_row,
        sentence,
        ..of_run(run, name)
    }
}

fn of_run(run: &RunRow, name: Option<&String>) -> Event {
    Event {
        at: run.finished_at.unwrap_or(run.received_at),
        kind: String::new(),
        code: None,
        field: None,
        old: None,
        new: None,
        reason: None,
        source: name.cloned(),
        run: Some(run.run_id),
        file: Some(run.file_name.clone()),
        row: None,
        actor: None,
        version: None,
        sentence: String::new(),
    }
}

fn happened(row: HistoryRow, run: Option<&RunRow>, name: Option<&String>) -> Event {
    let field = row.field.as_deref().unwrap_or("it");
    let (old, new) = (row.old.as_ref().map(shown), row.new.as_ref().map(shown));
    let nothing = || "nothing".to_owned();
    let was = || old.clone().unwrap_or_else(nothing);
    let is = || new.clone().unwrap_or_else(nothing);
    let person = row.actor.as_deref().unwrap_or("somebody");
    let sentence = match row.kind.as_str() {
        "listed" | "returned" => {
            let again = if row.kind == "returned" { " again" } else { "" };
            let at =
                if row.field.as_deref() == Some("price") { format!(" at {}", is()) } else { String::new() };
            format!("On offer{again}{at}.")
        }
        "removed" => format!("Not on offer any more: {}.", cause(row.reason.as_deref())),
        "edited" => {
            format!("{person} set {field} to {} and locked it; {} was published before.", is(), was())
        }
        "unlocked" if row.reason.as_deref() == Some("expired") => {
            format!("The lock on {field} ({}) expired.", was())
        }
        "unlocked" => format!("{person} lifted the lock on {field} ({}).", was()),
        "moved" => format!("Moved from {} to {}.", was(), is()),
        _ => format!("{field} changed from {} to {}.", was(), is()),
    };
    Event {
        at: row.at,
        kind: row.kind,
        code: None,
        field: row.field,
        old: row.old,
        new: row.new,
        reason: row.reason,
        source: name.cloned(),
        run: row.run_id,
        file: run.map(|run| run.file_name.clone()),
        row: None,
        actor: row.actor,
        version: Some(row.version),
        sentence,
    }
}

fn cause(reason: Option<&str>) -> &str {
    match reason {
        Some("feed") => "no source has it any more",
        Some("edit") => "a person took it off",
        Some("sold") => "it is sold",
        Some("contract") => "no contract allows it to be published as it is",
        Some(other) => other,
        None => "nobody noted why",
    }
}
