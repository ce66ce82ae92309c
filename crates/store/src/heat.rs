//! How much each dealer is asked (table `tenant_heat`).

use tracing::instrument;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;

impl PlatformTx {
    /// Adds questions that were asked since the last time. What was counted before loses half of its weight a day.
    #[instrument(name = "store.add_heat", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert tenant_heat"))]
    pub async fn add_heat(&mut self, asked: &[(TenantId, u64)]) -> Result<(), Error> {
        let asked: Vec<_> = asked.iter().filter(|(_, count)| *count > 0).collect();
        let ids: Vec<_> = asked.iter().map(|(id, _)| id.0).collect();
        #[expect(clippy::cast_precision_loss, reason = "a rank needs no exact count")]
        let counts: Vec<f64> = asked.iter().map(|(_, count)| *count as f64).collect();
        // In one order, so that two processes never wait for each other's rows; dealers that are gone are left out.
        // After a hundred days nothing more is lost: in a few years the weight would be too small for its type.
        sqlx::query!(
            "insert into tenant_heat as h (tenant_id, heat, noted_at)
             select t.tenant_id, a.heat, now()
             from (select tenant_id, sum(heat) as heat
                   from unnest($1::uuid[], $2::double precision[]) as u (tenant_id, heat) group by tenant_id) a
                  join tenants t on t.tenant_id = a.tenant_id
             order by t.tenant_id
             on conflict (tenant_id) do update set
                 heat = h.heat * 0.5 ^ greatest(0, least(100, extract(epoch from now() - h.noted_at) / 86400))
                        + excluded.heat,
                 noted_at = excluded.noted_at",
            &ids,
            &counts
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Active dealers with stock that are asked most, hottest first, at most `limit`.
    #[instrument(name = "store.hottest", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenant_heat"))]
    pub async fn hottest(&mut self, limit: u32) -> Result<Vec<TenantId>, Error> {
        let ids = sqlx::query_scalar!(
            "select h.tenant_id from tenant_heat h
                  join tenants t on t.tenant_id = h.tenant_id and t.state = 'active'
                  join tenant_inventory i on i.tenant_id = h.tenant_id and i.units > 0
             order by h.heat * 0.5 ^ greatest(0, least(100, extract(epoch from now() - h.noted_at) / 86400)) desc,
                  h.tenant_id
             limit $1",
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?;
        Ok(ids.into_iter().map(TenantId).collect())
    }
}
