//! One dealer as requests see it: everything but the lot, read once and held in memory.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::{ContractVersion, SkillId};
use serde_json::{Map, Value, json};
use store::{CallerKeyRow, CardRow, RooftopRow, TenantId, TenantRow};
use uuid::Uuid;

use crate::callers::{Access, CallersRule};
use crate::freshness::Freshness;
use crate::leads::Rooftop;
use crate::origin::Addresses;
use crate::policy::Policy;
use crate::skills;

/// What decides a dealer's addresses.
#[derive(Debug, Clone, Copy)]
pub struct TenantName<'a> {
    /// The dealer's slug.
    pub slug: &'a str,
    /// Its first custom domain.
    pub domain: Option<&'a str>,
}

impl<'a> From<&'a TenantRow> for TenantName<'a> {
    fn from(row: &'a TenantRow) -> Self {
        Self { slug: &row.slug, domain: row.domains.first().map(String::as_str) }
    }
}

/// A dealer, as of one revision. Immutable; a change makes a new one.
#[derive(Debug)]
pub struct Tenant {
    /// Key of everything stored of the dealer.
    pub id: TenantId,
    /// Raised by every change of the dealer's own data.
    pub revision: i64,
    /// Name in addresses.
    pub slug: String,
    /// The dealer's id on listings; need not be unique.
    pub dealer_id: String,
    /// Public name.
    pub name: String,
    /// Skills the dealer offers and this build serves, in the protocol's order.
    pub skills: Vec<SkillId>,
    /// Published contracts that this build serves.
    pub contracts: Vec<ContractVersion>,
    /// The contract of the bare base.
    pub default_contract: ContractVersion,
    /// What requests must send as `params.tenant` at the dealer's own address.
    pub interface_tenant: Option<String>,
    /// The dealer's decisions.
    pub policy: Policy,
    /// Who may ask it.
    pub access: Access,
    /// Nothing leaves the platform; answers say so.
    pub sandbox: bool,
    /// Canonical base address, with a trailing slash.
    pub base: String,
    /// `data` of `dealer.information.response`, rendered once.
    pub information: Bytes,
    /// What leads need to know of them, in their order.
    pub(crate) rooftops: Vec<Rooftop>,
    /// Until when the lot counts as fresh; shared by all revisions.
    pub(crate) freshness: Arc<Freshness>,
    cards: Vec<(ContractVersion, Arc<Card>)>,
}

/// A card as served.
#[derive(Debug)]
pub struct Card {
    /// JSON text.
    pub body: Bytes,
    /// Strong entity tag with its quotes; changes exactly when the card does.
    pub etag: String,
    /// When the card last changed.
    pub changed_at: DateTime<Utc>,
    /// The same as HTTP writes it (RFC 9110 5.6.7), written once.
    pub last_modified: String,
    /// `params.id`.
    pub params_id: Uuid,
}

/// A stored row that cannot be understood; names the cell, not the value.
#[derive(Debug, thiserror::Error)]
#[error("tenant {tenant}: {what} in the database cannot be understood: {why}")]
pub struct TenantCorrupt {
    tenant: Uuid,
    what: &'static str,
    why: String,
}

impl Tenant {
    /// Builds the dealer from its rows.
    ///
    /// # Errors
    /// When a stored policy or contract is not one that this build can read.
    pub fn from_rows(
        row: &TenantRow,
        rooftops: &[RooftopRow],
        cards: Vec<CardRow>,
        keys: &[CallerKeyRow],
        addresses: &Addresses,
    ) -> Result<Tenant, TenantCorrupt> {
        let corrupt = |what, why: String| TenantCorrupt { tenant: row.tenant_id.0, what, why };
        let policy: Policy =
            serde_json::from_value(row.policy.clone()).map_err(|e| corrupt("policy", e.to_string()))?;
        let callers = CallersRule::read(&row.callers).map_err(|problems| {
            let named = problems.into_iter().map(|(at, sentence)| format!("{at} {sentence}"));
            corrupt("callers", named.collect::<Vec<_>>().join(", "))
        })?;
        let default_contract =
            row.default_contract.parse().map_err(|_| corrupt("default_contract", String::new()))?;
        let cards = cards
            .into_iter()
            .filter_map(|card| Some((card.contract.parse().ok()?, Arc::new(Card::from_row(card)))))
            .collect();
        Ok(Tenant {
            id: row.tenant_id,
            revision: row.revision,
            slug: row.slug.clone(),
            dealer_id: row.dealer_id.clone(),
            name: row.name.clone(),
            skills: offered_skills(row),
            contracts: published_contracts(row, addresses),
            default_contract,
            interface_tenant: row.interface_tenant.clone(),
            policy,
            access: Access::new(&callers, keys),
            sandbox: row.sandbox,
            base: addresses.base(row.into()),
            information: Bytes::from(information(row, rooftops).to_string()),
            rooftops: rooftops.iter().map(Rooftop::from_row).collect(),
            freshness: Arc::default(),
            cards,
        })
    }

    /// The card of a contract, if the dealer publishes one.
    pub fn card(&self, contract: ContractVersion) -> Option<&Arc<Card>> {
        self.cards.iter().find(|(version, _)| *version == contract).map(|(_, card)| card)
    }

    /// When the dealer's sources last confirmed its lot (unix seconds), where that is so long ago that answers say so.
    pub fn old_since(&self) -> Option<i64> {
        self.freshness.old_since(self.policy.now().timestamp())
    }

    /// The contracts in which the dealer can be asked and has a card, the default one first where it is among them:
    /// a platform that was started elsewhere may not serve it.
    pub fn served(&self) -> Vec<ContractVersion> {
        let published = self.contracts.iter().copied();
        let mut served: Vec<_> = published.filter(|version| self.card(*version).is_some()).collect();
        served.sort_by_key(|version| *version != self.default_contract);
        served
    }

    /// Bytes this dealer occupies in the cache, roughly.
    pub(crate) fn weight(&self) -> u32 {
        let cards: usize = self.cards.iter().map(|(_, card)| card.body.len() + 200).sum();
        u32::try_from(1024 + 2 * self.information.len() + cards + self.access.weight()).unwrap_or(u32::MAX)
    }
}

impl Card {
    fn from_row(row: CardRow) -> Card {
        Card {
            body: Bytes::from(row.body),
            etag: format!("\"{}\"", row.params_id),
            changed_at: row.changed_at,
            last_modified: row.changed_at.format("%a, %d %b %Y %H:%M:%S GMT").to_string(),
            params_id: row.params_id,
        }
    }
}

/// The public profile: `DealerInformation` of the protocol.
pub(crate) fn information(row: &TenantRow, rooftops: &[RooftopRow]) -> Value {
    let mut profile = Map::new();
    profile.insert("name".into(), row.name.clone().into());
    if let Some(welcome) = &row.welcome_message {
        profile.insert("welcome_message".into(), welcome.clone().into());
    }
    profile.insert("rooftops".into(), rooftops.iter().map(|r| r.profile.clone()).collect());
    json!(profile)
}

/// Skills that the dealer wants and this build serves.
pub(crate) fn offered_skills(row: &TenantRow) -> Vec<SkillId> {
    skills::built().filter(|id| row.skills.iter().any(|wanted| wanted == id.as_str())).collect()
}

/// Contracts that the dealer publishes and this build serves. An empty stored list means: all that may be
/// deployed at the dealer's addresses. The draft is published where all of them are on loopback; elsewhere only by a
/// dealer that lists it, on a platform whose operator allows it.
pub(crate) fn published_contracts(row: &TenantRow, addresses: &Addresses) -> Vec<ContractVersion> {
    let is_public = addresses.public_name(&row.domains).is_some();
    contract::CONTRACTS
        .iter()
        .filter(|spec| {
            let named = row.contracts.iter().any(|name| name == spec.version.as_str());
            let by_default = row.contracts.is_empty() && (spec.deployable || !is_public);
            (named || by_default) && addresses.allow(spec, &row.domains)
        })
        .map(|spec| spec.version)
        .collect()
}
