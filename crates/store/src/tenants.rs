//! Tables `tenants` and `rooftops`.

use serde_json::Value;
use tracing::instrument;

use crate::error::Error;
use crate::ids::{TenantId, TenantState};
use crate::tenant::TenantTx;

/// A tenant: who the dealer is and what it offers.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantRow {
    /// Whose row it is.
    pub tenant_id: TenantId,
    /// Its name in addresses; given once, never changed.
    pub slug: String,
    /// The dealer's id in answers; several tenants may share one.
    pub dealer_id: String,
    /// Display name.
    pub name: String,
    /// Text on the card and the dealer's page.
    pub welcome_message: Option<String>,
    /// Whether it answers.
    pub state: TenantState,
    /// Whether its answers are for trying out.
    pub sandbox: bool,
    /// The `tenant` that its card's interface demands of callers.
    pub interface_tenant: Option<String>,
    /// Skill ids, in the order of the card.
    pub skills: Vec<String>,
    /// Contract versions it speaks; empty means every one that is built.
    pub contracts: Vec<String>,
    /// The contract of the bare base address.
    pub default_contract: String,
    /// Policy document of the tenant, as provisioned.
    pub policy: Value,
    /// Who may ask it, as provisioned; `{}` means everybody.
    pub callers: Value,
    /// Domains of its own, the first is canonical. Written by [`crate::PlatformTx::claim_domains`] only.
    pub domains: Vec<String>,
    /// Raised by [`TenantTx::bump_revision`].
    pub revision: i64,
}

/// A rooftop of a tenant; their order is their position.
#[derive(Debug, Clone, PartialEq)]
pub struct RooftopRow {
    /// Unique within the tenant.
    pub name: String,
    /// The public Rooftop object of the contract.
    pub profile: Value,
    /// Days on which it is closed, as provisioned.
    pub holidays: Value,
}

/// A row before its texts are understood.
struct Raw {
    slug: String,
    dealer_id: String,
    name: String,
    welcome_message: Option<String>,
    state: String,
    sandbox: bool,
    interface_tenant: Option<String>,
    skills: Vec<String>,
    contracts: Vec<String>,
    default_contract: String,
    policy: Value,
    callers: Value,
    domains: Vec<String>,
    revision: i64,
}

impl Raw {
    fn into_row(self, tenant_id: TenantId) -> Result<TenantRow, Error> {
        Ok(TenantRow {
            tenant_id,
            slug: self.slug,
            dealer_id: self.dealer_id,
            name: self.name,
            welcome_message: self.welcome_message,
            state: state_from(&self.state, tenant_id)?,
            sandbox: self.sandbox,
            interface_tenant: self.interface_tenant,
            skills: self.skills,
            contracts: self.contracts,
            default_contract: self.default_contract,
            policy: self.policy,
            callers: self.callers,
            domains: self.domains,
            revision: self.revision,
        })
    }
}

pub(crate) fn state_from(text: &str, id: TenantId) -> Result<TenantState, Error> {
    TenantState::from_name(text).ok_or_else(|| Error::Corrupt {
        table: "tenants",
        column: "state",
        id: id.to_string(),
    })
}

impl TenantTx {
    /// The tenant's row, locked until the end of the transaction: writers of one tenant take turns.
    #[instrument(name = "store.lock", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenants"))]
    pub async fn lock(&mut self) -> Result<Option<TenantRow>, Error> {
        let id = self.id();
        // A statement that waits for a lock then reads the new row, but everything else as it was before it
        // waited; domains are rows of their own. So it waits first and reads afterwards.
        sqlx::query!("select tenant_id from tenants where tenant_id = $1 for update", id.0)
            .fetch_optional(self.conn())
            .await?;
        self.row().await
    }

    /// The tenant's row.
    #[instrument(name = "store.row", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenants"))]
    pub async fn row(&mut self) -> Result<Option<TenantRow>, Error> {
        let id = self.id();
        let raw = sqlx::query_as!(
            Raw,
            r#"select slug, dealer_id, name, welcome_message, state, sandbox, interface_tenant, skills, contracts,
                      default_contract, policy, callers, revision,
                      array(select d.domain from tenant_domains d where d.tenant_id = t.tenant_id
                            order by d.position, d.domain) as "domains!"
               from tenants t where t.tenant_id = $1"#,
            id.0
        )
        .fetch_optional(self.conn())
        .await?;
        raw.map(|raw| raw.into_row(id)).transpose()
    }

    /// Stores the tenant's own fields. `slug`, `domains` and `revision` are not taken from the row: they have
    /// functions of their own.
    #[instrument(name = "store.save_tenant", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update tenants"))]
    pub async fn save_tenant(&mut self, row: &TenantRow) -> Result<(), Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update tenants set dealer_id = $2, name = $3, welcome_message = $4, state = $5, sandbox = $6,
                    interface_tenant = $7, skills = $8, contracts = $9, default_contract = $10, policy = $11,
                    callers = $12, updated_at = clock_timestamp()
             where tenant_id = $1",
            id.0,
            row.dealer_id,
            row.name,
            row.welcome_message,
            row.state.as_str(),
            row.sandbox,
            row.interface_tenant,
            &row.skills,
            &row.contracts,
            row.default_contract,
            row.policy,
            row.callers,
        )
        .execute(self.conn())
        .await?;
        exactly_one(done.rows_affected(), id)
    }

    /// Tells every process, once this transaction is committed, that something of the tenant changed.
    /// Answers the new revision.
    #[instrument(name = "store.bump_revision", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update tenants"))]
    pub async fn bump_revision(&mut self) -> Result<i64, Error> {
        let id = self.id();
        let revision = sqlx::query_scalar!(
            "update tenants set revision = revision + 1, updated_at = clock_timestamp()
             where tenant_id = $1 returning revision",
            id.0
        )
        .fetch_optional(self.conn())
        .await?
        .ok_or_else(|| no_tenant(id))?;
        sqlx::query!("select pg_notify('forecourt_tenant', $1)", id.to_string()).execute(self.conn()).await?;
        Ok(revision)
    }

    /// The rooftops in their order.
    #[instrument(name = "store.rooftops", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select rooftops"))]
    pub async fn rooftops(&mut self) -> Result<Vec<RooftopRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            RooftopRow,
            "select name, profile, holidays from rooftops where tenant_id = $1 order by position",
            id.0
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Replaces the rooftops.
    ///
    /// # Errors
    /// [`Error::Constraint`] `rooftops_tenant_id_name_key` when two have one name.
    #[instrument(name = "store.save_rooftops", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "replace rooftops"))]
    pub async fn save_rooftops(&mut self, rooftops: &[RooftopRow]) -> Result<(), Error> {
        let id = self.id();
        let names: Vec<&str> = rooftops.iter().map(|rooftop| rooftop.name.as_str()).collect();
        let profiles: Vec<&Value> = rooftops.iter().map(|rooftop| &rooftop.profile).collect();
        let holidays: Vec<&Value> = rooftops.iter().map(|rooftop| &rooftop.holidays).collect();
        sqlx::query!("delete from rooftops where tenant_id = $1", id.0).execute(self.conn()).await?;
        sqlx::query!(
            "insert into rooftops (tenant_id, position, name, profile, holidays)
             select $1, r.position - 1, r.name, r.profile, r.holidays
             from unnest($2::text[], $3::jsonb[], $4::jsonb[])
                  with ordinality as r (name, profile, holidays, position)",
            id.0,
            &names as &[&str],
            &profiles as &[&Value],
            &holidays as &[&Value],
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

pub(crate) fn no_tenant(id: TenantId) -> Error {
    Error::Corrupt { table: "tenants", column: "tenant_id", id: id.to_string() }
}

fn exactly_one(rows: u64, id: TenantId) -> Result<(), Error> {
    if rows == 1 { Ok(()) } else { Err(no_tenant(id)) }
}
