//! Table `appointments`.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::tenant::TenantTx;

/// Which appointments matter for one that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct AgendaWanted<'a> {
    /// Name of the rooftop.
    pub rooftop: &'a str,
    /// `sales` or `service`.
    pub department: &'a str,
    /// What ended before does not matter.
    pub from: DateTime<Utc>,
    /// The lead that it is asked for, if that was there before.
    pub lead_id: Option<Uuid>,
    /// The kind of appointment.
    pub kind: &'a str,
}

/// An appointment that the same lead has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAppointment {
    /// Its id.
    pub appointment_id: Uuid,
    /// Begin and end, if it is confirmed.
    pub booked: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

/// What is booked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agenda {
    /// Begin and end of confirmed appointments of others.
    pub taken: Vec<(DateTime<Utc>, DateTime<Utc>)>,
    /// That of the same lead and kind.
    pub own: Option<OwnAppointment>,
}

/// An appointment to be stored.
#[derive(Debug, Clone)]
pub struct AppointmentWrite<'a> {
    /// Its id.
    pub appointment_id: Uuid,
    /// The lead that it belongs to.
    pub lead_id: Uuid,
    /// Name of the rooftop.
    pub rooftop: &'a str,
    /// `sales` or `service`.
    pub department: &'a str,
    /// `sales`, `service`, `test_drive` or `trade_in`.
    pub kind: &'a str,
    /// `requested`, `proposed`, `confirmed` or `rejected`.
    pub status: &'a str,
    /// Begin and end that were asked for; with `confirmed`, those that are booked.
    pub span: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// Times that were offered instead.
    pub proposed: &'a [DateTime<Utc>],
    /// Now.
    pub asked_at: DateTime<Utc>,
}

impl TenantTx {
    /// What is booked at a rooftop and department. Only who holds the turn of both may build on it.
    #[instrument(name = "store.agenda", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select appointments"))]
    pub async fn agenda(&mut self, wanted: AgendaWanted<'_>) -> Result<Agenda, Error> {
        let id = self.id();
        let rows = sqlx::query!(
            r#"select false as "own!", appointment_id as "appointment_id!", status as "status!", start_at, end_at
               from appointments
               where tenant_id = $1 and rooftop = $2 and department = $3 and status = 'confirmed' and end_at > $4
                     and not (lead_id is not distinct from $5 and kind = $6)
               union all
               select true, appointment_id, status, start_at, end_at from appointments
               where tenant_id = $1 and lead_id = $5 and kind = $6"#,
            id.0,
            wanted.rooftop,
            wanted.department,
            wanted.from,
            wanted.lead_id,
            wanted.kind,
        )
        .fetch_all(self.conn())
        .await?;
        let mut agenda = Agenda::default();
        for row in rows {
            let span = row.start_at.zip(row.end_at);
            if row.own {
                let booked = span.filter(|_| row.status == "confirmed");
                agenda.own = Some(OwnAppointment { appointment_id: row.appointment_id, booked });
            } else {
                agenda.taken.extend(span);
            }
        }
        Ok(agenda)
    }

    /// Stores an appointment; that of the same lead and kind is moved and keeps its id.
    #[instrument(name = "store.book", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert appointments"))]
    pub async fn book(&mut self, appointment: &AppointmentWrite<'_>) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "insert into appointments (tenant_id, appointment_id, lead_id, rooftop, department, kind, status,
                                       start_at, end_at, proposed, asked_at)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
             on conflict (tenant_id, lead_id, kind) do update set
                 rooftop = excluded.rooftop, department = excluded.department, status = excluded.status,
                 start_at = excluded.start_at, end_at = excluded.end_at, proposed = excluded.proposed,
                 asked_at = excluded.asked_at",
            id.0,
            appointment.appointment_id,
            appointment.lead_id,
            appointment.rooftop,
            appointment.department,
            appointment.kind,
            appointment.status,
            appointment.span.map(|span| span.0),
            appointment.span.map(|span| span.1),
            appointment.proposed,
            appointment.asked_at,
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

/// An appointment as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAppointment {
    /// Its id.
    pub appointment_id: Uuid,
    /// Of which lead.
    pub lead_id: Uuid,
    /// Name of the rooftop.
    pub rooftop: String,
    /// `sales`, `service`, `test_drive` or `trade_in`.
    pub kind: String,
    /// `requested`, `proposed`, `confirmed` or `rejected`.
    pub status: String,
    /// Begin that was asked for; with `confirmed`, that is booked.
    pub start_at: Option<DateTime<Utc>>,
    /// End of it.
    pub end_at: Option<DateTime<Utc>>,
}

impl TenantTx {
    /// The appointments of these leads, in the order in which they were first asked for.
    #[instrument(name = "store.appointments_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select appointments"))]
    pub async fn appointments_of(&mut self, leads: &[Uuid]) -> Result<Vec<StoredAppointment>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            StoredAppointment,
            "select appointment_id, lead_id, rooftop, kind, status, start_at, end_at from appointments
             where tenant_id = $1 and lead_id = any($2) order by appointment_id",
            id.0,
            leads
        )
        .fetch_all(self.conn())
        .await?)
    }
}
