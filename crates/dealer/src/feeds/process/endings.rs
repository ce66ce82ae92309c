//! How a run ends that is not applied: it says nothing new, comes too late, or fails.

use std::time::Instant;

use chrono::Utc;
use feeds::Finding;
use store::{RunRow, RunState, TenantTx};

use super::{Ended, ProcessError, Stopped, Work, save_open};
use crate::feeds::run::{self, Judgement};
use crate::feeds::scene::{Known, Scene};
use crate::feeds::{apply, compare, counters, findings, tell};

impl Work<'_> {
    /// The same bytes again: a sign of life, and nothing else.
    pub(super) async fn confirm(
        &mut self,
        mut tx: TenantTx,
        scene: &Scene,
        last: RunRow,
    ) -> Result<Ended, Stopped> {
        let began = Instant::now();
        // Whoever changes the lot waits, and whoever has changed it meanwhile is seen.
        tx.lock_inventory().await?;
        let now = Utc::now();
        let newest = compare::latest_good(&mut tx, self.run.source_id).await?;
        let state = tx.lock_run(self.run.run_id).await?.map(|run| run.state);
        if newest.as_ref().map(|run| run.run_id) != Some(last.run_id) || state != Some(RunState::Received) {
            return Err(ProcessError::Trouble("the source changed meanwhile".into()).into());
        }
        let run = &mut self.run;
        run.state = RunState::Unchanged;
        run.units_file_id = last.units_file_id;
        (run.detected, run.signature) = (last.detected.clone(), last.signature.clone());
        (run.counts, run.by_rooftop, run.by_code) =
            (last.counts.clone(), last.by_rooftop.clone(), last.by_code.clone());
        run.generated_at = run.generated_at.or(last.generated_at);
        let same = run::counts(&last).published;
        run.diff = run::json(&crate::feeds::Difference { same, ..crate::feeds::Difference::default() });
        let judged = Judgement {
            hold: false,
            base: compare::lot_of(Some(&last)),
            lot_of: compare::lot_of(Some(&last)),
            read_with: run::judgement(&last).read_with,
            ..Judgement::default()
        };
        run.timings = run::json(&self.timings);
        apply::good(&mut tx, scene, run, judged, run.received_at, now, began).await?;
        if !tx.finish_job(self.job).await? {
            return Err(ProcessError::LostLease.into());
        }
        tx.commit().await?;
        counters::ended(RunState::Unchanged);
        tracing::info!(
            tenant = %self.tenant, source = %self.run.source_id, run = %self.run.run_id, state = %self.run.state,
            "a feed file came again, byte for byte"
        );
        Ok(Ended { state: RunState::Unchanged, version: None })
    }

    /// A file that is older than the lot never overwrites it.
    pub(super) async fn too_late(&mut self, mut tx: TenantTx, known: &Known) -> Result<Ended, Stopped> {
        self.run.state = RunState::Superseded;
        self.run.finished_at = Some(Utc::now());
        self.run.failure = Some("the file is older than the last good one of its source".to_owned());
        self.run.timings = run::json(&self.timings);
        save_open(&mut tx, &self.run, &[RunState::Parsed, RunState::Checked]).await?;
        tell::late(&mut tx, &known.row.name, &self.run).await?;
        if !tx.finish_job(self.job).await? {
            return Err(ProcessError::LostLease.into());
        }
        tx.commit().await?;
        counters::ended(RunState::Superseded);
        Ok(Ended { state: RunState::Superseded, version: None })
    }

    /// Nothing will come of the file.
    pub(super) async fn fail(&mut self, why: &str, found: &[Finding]) -> Result<Ended, ProcessError> {
        let mut tx = self.store.tenant(self.tenant).await?;
        let run = &mut self.run;
        run.state = RunState::Failed;
        run.finished_at = Some(Utc::now());
        run.failure = Some(why.chars().filter(|sign| *sign != '\0').take(2000).collect());
        run.timings = run::json(&self.timings);
        if !found.is_empty() {
            findings::store(&mut tx, run.run_id, found).await?;
            let codes: std::collections::BTreeMap<&str, u32> =
                found.iter().map(|finding| (finding.code.as_str(), 1)).collect();
            run.by_code = run::json(&codes);
        }
        let open = [RunState::Received, RunState::Parsed, RunState::Checked];
        save_open(&mut tx, run, &open).await?;
        let name = tx.source(run.source_id).await?.map_or_else(String::new, |source| source.name);
        tell::failed(&mut tx, &name, run).await?;
        if !tx.finish_job(self.job).await? {
            return Err(ProcessError::LostLease);
        }
        tx.commit().await?;
        counters::ended(RunState::Failed);
        Ok(Ended { state: RunState::Failed, version: None })
    }
}
