//! Comparing a file with what its source said before: what has to be read for that, and no more.

use std::collections::{HashMap, HashSet};

use feeds::Unit;
use store::{LotIdentity, RunRow, TenantTx, UnitKey};
use uuid::Uuid;

use super::difference::{self, Difference, EXAMPLES, Plan};
use super::identity::Known;
use super::run::{self, Judgement};
use super::scene::{NoScene, Scene};
use super::settings::Role;
use super::spool::Spooled;
use super::units::{Trailer, Units};
use super::write::unit_of;

/// A file held against what its source said before.
pub(super) struct Compared {
    pub(super) plan: Plan,
    /// The version of the lot that it was compared with.
    version: u64,
    /// The revisions of the source's settings and of the dealer.
    read_with: (i64, i64),
    /// The dealer never had a unit and has one source.
    pub(super) virgin: bool,
    /// Units that were on offer and are not now, where that had to be read.
    pub(super) returning: Option<HashSet<String>>,
    /// What the source had.
    pub(super) active: usize,
    /// Units on offer that the file replaces without being their source, where it is the source's first.
    pub(super) provisioned: Option<u32>,
}

impl Compared {
    /// Whether it would come out the same now, the lot being of this version: what a source said changes only with the
    /// run that its lot is of, about which the caller knows; everything else with the lot or with the settings.
    pub(super) fn still_holds(&self, scene: &Scene, source: Uuid, version: u64) -> bool {
        let now = scene.sources.get(&source).map(|known| (known.row.revision, scene.row.revision));
        self.version == version && now == Some(self.read_with)
    }
}

/// Runs that are looked through for the last good one of any kind.
const LOOKED_THROUGH: u32 = 50;

/// The run that ended well last, whole lot or changes; `None` for a source of which nothing ever did.
pub(super) async fn latest_good(tx: &mut TenantTx, source: Uuid) -> Result<Option<RunRow>, store::Error> {
    let runs = tx.runs(Some(source), LOOKED_THROUGH, None).await?;
    let good = runs.into_iter().filter(|run| run.state.is_good());
    if let Some(found) = good.max_by_key(|run| (run.finished_at, run.run_id)) {
        return Ok(Some(found));
    }
    tx.last_good_run(source).await
}

/// The same among those of a mode (`full`, `delta`), as far as it is not long ago.
pub(super) async fn latest_good_of(
    tx: &mut TenantTx,
    source: Uuid,
    mode: &str,
) -> Result<Option<RunRow>, store::Error> {
    let runs = tx.runs(Some(source), LOOKED_THROUGH, None).await?;
    let good = runs.into_iter().filter(|run| run.state.is_good() && run.mode == mode);
    Ok(good.max_by_key(|run| (run.finished_at, run.run_id)))
}

/// The run whose units the source has.
pub(super) fn lot_of(last: Option<&RunRow>) -> Option<Uuid> {
    let last = last?;
    Some(run::judgement(last).lot_of.unwrap_or(last.run_id))
}

/// Holds a file against what its source said before.
pub(super) async fn compare(
    tx: &mut TenantTx,
    scene: &Scene,
    source: Uuid,
    trailer: &Trailer,
    is_first: bool,
) -> Result<Compared, NoScene> {
    let version = tx.inventory_version().await?;
    let held = tx.unit_hashes(source).await?;
    let Some(known) = scene.sources.get(&source) else { return Err(NoScene::NoSource) };
    let additive = known.settings.role == Role::Additive;
    let replaces = is_first && additive && !trailer.delta;
    // A source that only fills in looks for the units of others every time: they may be there now.
    let needs_all = replaces || !additive || !knows_all(&held, trailer);
    let (lot, aliases) = if needs_all {
        let aliases = tx.aliases().await?.into_iter();
        (tx.lot_identity().await?, aliases.map(|row| (row.identity, row.vehicle_id)).collect())
    } else {
        (Vec::new(), HashMap::new())
    };
    let virgin = needs_all && lot.is_empty() && scene.sources.len() == 1;
    let returning = needs_all
        .then(|| lot.iter().filter(|one| one.hash.is_none()).map(|one| one.vehicle_id.clone()).collect());
    let others: Vec<Known<'_>> = lot
        .iter()
        // Of a source's own units it knows itself how it calls them.
        .filter(|one| !additive || !held.contains_key(&one.vehicle_id))
        .map(of_lot)
        .collect();
    let on_lot: HashSet<&str> =
        lot.iter().filter(|one| one.hash.is_some()).map(|one| one.vehicle_id.as_str()).collect();
    let own = |id: &str| additive || (on_lot.contains(id) && held.contains_key(id));
    let rooftop = |key: &str| scene.rooftop_name(source, key);
    let percent = known.settings.guard.price_change_percent;
    let mut plan = difference::plan(trailer, &held, own, &others, &aliases, &rooftop, percent);
    let mut provisioned = None;
    if replaces {
        let mut said: HashSet<String> = held.keys().cloned().collect();
        for other in scene.sources.keys().filter(|other| **other != source) {
            said.extend(tx.unit_hashes(*other).await?.into_keys());
        }
        let nobodys: Vec<&str> = on_lot.iter().copied().filter(|id| !said.contains(*id)).collect();
        provisioned = u32::try_from(nobodys.len()).ok().filter(|many| *many > 0);
        let taken: HashSet<&str> = plan.ids().collect();
        let mut replaced: Vec<String> =
            nobodys.into_iter().filter(|id| !taken.contains(id)).map(str::to_owned).collect();
        replaced.sort_unstable();
        plan.replaced = replaced;
    }
    let read_with = (known.row.revision, scene.row.revision);
    Ok(Compared { plan, version, read_with, virgin, returning, active: held.len(), provisioned })
}

/// Whether every row of a file is a unit that its source had before.
fn knows_all(held: &HashMap<String, UnitKey>, trailer: &Trailer) -> bool {
    let vins: HashSet<&str> = held.values().filter_map(|key| key.vin.as_deref()).collect();
    let stocks: HashSet<&str> =
        held.values().filter(|key| key.vin.is_none()).filter_map(|key| key.stock.as_deref()).collect();
    trailer.briefs.iter().all(|brief| match (brief.vin.as_deref(), brief.stock.as_deref()) {
        (Some(vin), _) => vins.contains(vin),
        (None, stock) => stock.is_some_and(|stock| stocks.contains(stock)),
    })
}

fn of_lot(one: &LotIdentity) -> Known<'_> {
    Known {
        vehicle_id: &one.vehicle_id,
        vin: one.vin.as_deref(),
        stock: one.stock.as_deref(),
        rooftop: one.rooftop.as_deref(),
        removed: one.hash.is_none(),
    }
}

/// What a plan changes, with examples of it for a person to look at.
pub(super) async fn explain(
    tx: &mut TenantTx,
    source: Uuid,
    plan: &Plan,
    units: &Spooled,
) -> Result<Difference, NoScene> {
    let mut difference = plan.counts();
    let mut rows: Vec<(&u32, &(String, bool))> = plan.written.iter().collect();
    rows.sort_unstable();
    let (mut wanted, mut added, mut changed) = (HashMap::new(), 0, 0);
    for (row, (id, known)) in rows {
        let seen = if *known { &mut changed } else { &mut added };
        if *seen < EXAMPLES {
            *seen += 1;
            wanted.insert(*row, (id.as_str(), *known));
        }
    }
    let gone: Vec<&str> = plan.removed.iter().map(|(id, _)| id.as_str()).take(EXAMPLES).collect();
    let known = wanted.values().filter(|(_, known)| *known).map(|(id, _)| *id);
    let ids: Vec<&str> = known.chain(gone.iter().copied()).collect();
    let mut before: HashMap<String, Unit> = HashMap::with_capacity(ids.len());
    for row in tx.units_of(&ids).await?.into_iter().filter(|row| row.source_id == source) {
        before.insert(row.vehicle_id.clone(), unit_of(&row)?);
    }
    let file = units.clone();
    let rows: HashSet<u32> = wanted.keys().copied().collect();
    let after = tokio::task::spawn_blocking(move || -> std::io::Result<Vec<Unit>> {
        let mut units = Units::of(&file);
        let mut found = Vec::with_capacity(rows.len());
        while found.len() < rows.len()
            && let Some(unit) = units.next(|row| rows.contains(&row))?
        {
            found.push(unit);
        }
        Ok(found)
    });
    for unit in after.await.map_err(|_| NoScene::Units)?.map_err(|_| NoScene::Units)? {
        let Some((id, _)) = wanted.get(&unit.source_row) else { continue };
        difference.examples.push(difference::example(id, before.get(*id), Some(&unit)));
    }
    let removed = gone.iter().filter_map(|id| Some(difference::example(id, Some(before.get(*id)?), None)));
    difference.examples.extend(removed.collect::<Vec<_>>());
    Ok(difference)
}

/// Whether a run was read as the source and the dealer are set up now.
pub(super) fn is_current(judged: &Judgement, scene: &Scene, source: Uuid) -> bool {
    let now = scene.sources.get(&source).map(|known| (known.row.revision, scene.row.revision));
    judged.read_with.is_some() && judged.read_with == now
}
