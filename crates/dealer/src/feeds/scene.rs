//! What is known of a dealer while its units are written: who it is, and how its sources are set up.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::Value;
use store::{SourceKind, SourceRow, TenantRow, TenantTx};
use uuid::Uuid;

use super::settings::{Role, Rooftops, SourceSettings};

/// A source with its settings understood.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) row: SourceRow,
    pub(super) settings: SourceSettings,
}

/// A dealer and its sources, of one transaction.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) row: TenantRow,
    pub(super) rooftops: Rooftops,
    /// Zone of the first rooftop.
    pub(super) timezone: Option<String>,
    pub(super) sources: HashMap<Uuid, Known>,
    /// Hours after which a lot that nobody confirmed is old.
    pub(super) freshness_hours: i64,
}

/// Why a dealer's units cannot be written at all.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoScene {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("the dealer is not there any more")]
    NoDealer,
    #[error("the source was removed")]
    NoSource,
    #[error("the run is not there")]
    NoRun,
    #[error("the stored units of the run cannot be read")]
    Units,
    #[error("the settings of the source {0} cannot be understood: {1}")]
    Settings(String, String),
}

/// Where the dealer's policy names no limit (FEEDS.md 9).
const FRESHNESS_HOURS: i64 = 36;

impl Scene {
    pub(super) async fn load(tx: &mut TenantTx) -> Result<Scene, NoScene> {
        let row = tx.row().await?.ok_or(NoScene::NoDealer)?;
        let rooftops = tx.rooftops().await?;
        let timezone = rooftops
            .first()
            .and_then(|rooftop| rooftop.profile.get("timezone"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        let mut sources = HashMap::new();
        for source in tx.sources().await? {
            sources.insert(source.source_id, understood(source)?);
        }
        let stated = row.policy.get("freshness_hours").and_then(contract::listing::integral);
        Ok(Scene {
            rooftops: Rooftops::new(rooftops.into_iter().map(|rooftop| rooftop.name)),
            timezone,
            sources,
            freshness_hours: stated.unwrap_or(FRESHNESS_HOURS),
            row,
        })
    }

    /// The dealer's day.
    pub(super) fn today(&self, now: DateTime<Utc>) -> NaiveDate {
        let zone = self.timezone.as_deref().and_then(|zone| zone.parse::<chrono_tz::Tz>().ok());
        zone.map_or_else(|| now.date_naive(), |zone| now.with_timezone(&zone).date_naive())
    }

    /// What a source's name for a rooftop means, in a form in which two sources' names can be compared.
    pub(super) fn rooftop_name(&self, source: Uuid, key: &str) -> String {
        let of_key = |known: &Known| {
            self.rooftops.of_key(&known.settings, Some(key)).ok().flatten().map(str::to_owned)
        };
        self.sources.get(&source).and_then(of_key).unwrap_or_else(|| contract::text::fold(key))
    }

    /// Since when the lot is confirmed, and until when answers need not say that it is old: by the source that was
    /// good longest ago, of those that bring whole lots by themselves. Sources that never sent anything good have
    /// nothing in the lot.
    pub(super) fn freshness(&self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        let counts = |known: &&Known| {
            known.row.enabled
                && known.row.removed_at.is_none()
                && known.row.kind != SourceKind::File
                && known.settings.role == Role::Additive
        };
        let scheduled = self.sources.values().filter(counts).filter_map(|known| known.row.last_good_at).min();
        // A lot that is only ever imported by hand is as old as its last file.
        let by_hand = || self.sources.values().filter_map(|known| known.row.last_good_at).max();
        let confirmed = scheduled.or_else(by_hand);
        (confirmed, confirmed.and_then(|at| at.checked_add_signed(TimeDelta::hours(self.freshness_hours))))
    }
}

fn understood(row: SourceRow) -> Result<Known, NoScene> {
    let settings =
        SourceSettings::read(&row.settings).map_err(|why| NoScene::Settings(row.name.clone(), why))?;
    Ok(Known { row, settings })
}
