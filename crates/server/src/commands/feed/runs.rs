//! `forecourt feed runs` and `forecourt feed show`: what became of the files.

use std::collections::HashMap;

use dealer::feeds;
use serde_json::{Value, json};
use store::{FindingFilter, FindingRow, RunRow, Store, TenantId};
use uuid::Uuid;

use super::{Trouble, dealer, on_data, owner, source_named, time, words};
use crate::failure::{Failure, UNUSABLE};
use crate::output::{harmless, printable, say, table};
use crate::settings::Settings;

/// Findings that are read at once.
const PAGE: u32 = 1000;

/// Which runs are to be listed.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Of one dealer, or of all.
    pub(crate) dealer: Option<String>,
    /// Of one source.
    pub(crate) source: Option<String>,
    /// At most so many.
    pub(crate) limit: u32,
    /// As JSON.
    pub(crate) json: bool,
}

/// Lists them, the latest first.
///
/// # Errors
/// There is no such dealer or source, or the database refuses.
pub(crate) fn list(settings: &Settings, wanted: Listed) -> Result<(), Failure> {
    on_data(settings, "forecourt feed runs", |store| async move {
        match &wanted.dealer {
            Some(slug) => of_dealer(&store, slug, &wanted).await,
            None => of_all(&store, &wanted).await,
        }
    })
}

async fn of_dealer(store: &Store, slug: &str, wanted: &Listed) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let only = match &wanted.source {
        Some(name) => Some(source_named(store, tenant, slug, name).await?.source_id),
        None => None,
    };
    let mut tx = store.tenant(tenant).await?;
    let runs = tx.runs(only, wanted.limit, None).await?;
    drop(tx);
    let names = names_of(store, tenant, &runs).await?;
    let name = |run: &RunRow| names.get(&run.source_id).map_or("?", String::as_str).to_owned();
    if wanted.json {
        for run in &runs {
            say(harmless(&feeds::run_document_for_dealer(run, Some(&name(run))).to_string()));
        }
        return Ok(());
    }
    if runs.is_empty() {
        say(format_args!("{slug} has no runs"));
        eprintln!("Bring in a file with: forecourt feed import {slug} FILE");
        return Ok(());
    }
    let mut rows =
        vec![["RUN", "RECEIVED", "SOURCE", "STATE", "RECORDS", "PUBLISHED", "FILE"].map(str::to_owned)];
    for run in &runs {
        let counts = run.counts.is_some().then(|| feeds::run_counts(run));
        let number = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
        rows.push([
            run.run_id.to_string(),
            time(run.received_at),
            printable(&name(run)),
            run.state.to_string(),
            number(counts.as_ref().map(|counts| counts.records)),
            number(counts.as_ref().map(|counts| counts.published)),
            printable(&run.file_name),
        ]);
    }
    table(&rows).iter().for_each(say);
    Ok(())
}

async fn of_all(store: &Store, wanted: &Listed) -> Result<(), Trouble> {
    let mut tx = store.platform().await?;
    let runs = tx.recent_runs(None, wanted.limit, None).await?;
    tx.commit().await?;
    if wanted.json {
        for run in &runs {
            let document = json!({
                "run_id": run.run_id, "dealer": run.slug, "source": run.source_name, "state": run.state.as_str(),
                "cause": run.cause, "file": { "name": run.file_name }, "received_at": run.received_at,
                "finished_at": run.finished_at, "failure": run.failure,
            });
            say(harmless(&document.to_string()));
        }
        return Ok(());
    }
    if runs.is_empty() {
        say("no dealer has any runs");
        return Ok(());
    }
    let mut rows = vec![["RUN", "RECEIVED", "DEALER", "SOURCE", "STATE", "FILE"].map(str::to_owned)];
    for run in &runs {
        rows.push([
            run.run_id.to_string(),
            time(run.received_at),
            run.slug.clone(),
            printable(&run.source_name),
            run.state.to_string(),
            printable(&run.file_name),
        ]);
    }
    table(&rows).iter().for_each(say);
    Ok(())
}

/// Names of the sources of runs, removed ones among them.
async fn names_of(
    store: &Store,
    tenant: TenantId,
    runs: &[RunRow],
) -> Result<HashMap<Uuid, String>, store::Error> {
    let mut names = HashMap::new();
    let mut tx = store.tenant(tenant).await?;
    for run in runs {
        if !names.contains_key(&run.source_id)
            && let Some(source) = tx.source(run.source_id).await?
        {
            names.insert(run.source_id, source.name);
        }
    }
    Ok(names)
}

/// How a run is to be shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Which.
    pub(crate) run: Uuid,
    /// As JSON.
    pub(crate) json: bool,
    /// `all`, `errors`, `none`, or a code.
    pub(crate) findings: String,
    /// What it changes, vehicle by vehicle.
    pub(crate) diff: bool,
}

/// Shows it.
///
/// # Errors
/// There is no such run, or the database refuses.
pub(crate) fn show(settings: &Settings, wanted: Shown) -> Result<(), Failure> {
    let chosen = Chosen::read(&wanted.findings)?;
    on_data(settings, "forecourt feed show", |store| async move {
        let tenant = owner(&store, wanted.run).await?;
        let mut tx = store.tenant(tenant).await?;
        let run = tx.run(wanted.run).await?;
        drop(tx);
        let run = run.ok_or_else(|| Failure::new(format!("there is no run {}", wanted.run)))?;
        let names = names_of(&store, tenant, std::slice::from_ref(&run)).await?;
        let name = names.get(&run.source_id).map_or("?", String::as_str);
        let findings = chosen.of(&store, tenant, &run).await?;
        if wanted.json {
            let mut document = feeds::run_document_for_dealer(&run, Some(name));
            if let Some(members) = document.as_object_mut() {
                let shown: Vec<Value> = findings.iter().map(feeds::finding_document).collect();
                members.insert("findings".into(), shown.into());
                members.insert("findings_kept".into(), run.findings_kept.into());
            }
            say(harmless(&document.to_string()));
            return Ok(());
        }
        words::outcome(&run, name).iter().for_each(say);
        words::particulars(&run).iter().for_each(say);
        if wanted.diff {
            words::examples(&feeds::difference(&run)).iter().for_each(say);
        }
        counted(&run);
        for finding in &findings {
            told(finding);
        }
        if !run.findings_kept {
            say("  (findings are kept for 90 days; those of this run are gone)");
        }
        Ok(())
    })
}

/// How often each code came up.
fn counted(run: &RunRow) {
    let by_code = run.by_code.as_ref().and_then(Value::as_object);
    for (code, number) in by_code.into_iter().flatten() {
        say(format_args!("  {number} x {}", printable(code)));
    }
}

fn told(finding: &FindingRow) {
    let (sentence, advice) = feeds::finding_words(finding);
    let row = finding.source_row.map_or_else(|| "file".to_owned(), |row| format!("row {row}"));
    say(format_args!("  {row}: {} {}", finding.code, printable(&sentence)));
    if !advice.is_empty() {
        say(format_args!("    {}", printable(advice)));
    }
}

/// Which findings are to be shown.
#[derive(Debug)]
enum Chosen {
    None,
    All,
    /// What is about the file, and what cost a row.
    Weighty,
    Code(String),
}

impl Chosen {
    fn read(text: &str) -> Result<Chosen, Failure> {
        match text {
            "none" => Ok(Chosen::None),
            "all" => Ok(Chosen::All),
            "errors" => Ok(Chosen::Weighty),
            code => {
                let code = code.to_ascii_uppercase();
                if ::feeds::Code::ALL.iter().any(|known| known.as_str() == code) {
                    return Ok(Chosen::Code(code));
                }
                Err(Failure::new(format!("there is no finding {text:?}"))
                    .advise("write all, errors, none, or a code such as VIN_CHECK_DIGIT; docs/FEEDS.md lists them")
                    .status(UNUSABLE))
            }
        }
    }

    async fn of(
        &self,
        store: &Store,
        tenant: TenantId,
        run: &RunRow,
    ) -> Result<Vec<FindingRow>, store::Error> {
        let code = match self {
            Chosen::None => return Ok(Vec::new()),
            Chosen::Code(code) => Some(code.as_str()),
            Chosen::All | Chosen::Weighty => None,
        };
        let filter = FindingFilter { code, level: None };
        let mut all: Vec<FindingRow> = Vec::new();
        let mut after = None;
        loop {
            let mut tx = store.tenant(tenant).await?;
            let page = tx.findings(run.run_id, filter, after, PAGE).await?;
            drop(tx);
            after = page.last().map(|last| last.no);
            let more = page.len() == usize::try_from(PAGE).unwrap_or(usize::MAX);
            let wanted = |one: &FindingRow| !matches!(self, Chosen::Weighty) || one.level != "warning";
            all.extend(page.into_iter().filter(wanted));
            if !more {
                return Ok(all);
            }
        }
    }
}
