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
    /// Name of the rooftop.
    pub rooftop: String,
    /// Begin and end, if it is confirmed and not over.
    pub booked: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

/// What is booked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agenda {
    /// Begin and end of confirmed appointments of others.
    pub taken: Vec<(DateTime<Utc>, DateTime<Utc>)>,
    /// That of the same lead and kind.
    pub own: Option<OwnAppointment>,
    /// The dealer has no rooftop of that name any more: whoever asks has not heard of it yet.
    pub is_gone: bool,
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
            r#"select false as "own!", appointment_id as "appointment_id!", status as "status!",
                      rooftop as "rooftop!", start_at, end_at
               from appointments
               where tenant_id = $1 and rooftop = $2 and department = $3 and status = 'confirmed' and end_at > $4
                     and not (lead_id is not distinct from $5 and kind = $6)
               union all
               select true, appointment_id, status, rooftop, start_at, end_at from appointments
               where tenant_id = $1 and lead_id = $5 and kind = $6
               union all
               select false, $1, 'gone', $2, null, null
               where not exists (select from rooftops where tenant_id = $1 and name = $2)"#,
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
                let booked = span.filter(|(_, end)| row.status == "confirmed" && *end > wanted.from);
                let (appointment_id, rooftop) = (row.appointment_id, row.rooftop);
                agenda.own = Some(OwnAppointment { appointment_id, rooftop, booked });
            } else if row.status == "gone" {
                agenda.is_gone = true;
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

impl TenantTx {
    /// Waits for turns, given in ascending order. They end with the transaction.
    #[instrument(name = "store.hold_turns", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select pg_advisory_xact_lock"))]
    pub async fn hold_turns(&mut self, turns: &[i64]) -> Result<(), Error> {
        for turn in turns {
            sqlx::query!("select pg_advisory_xact_lock($1)", turn).execute(self.conn()).await?;
        }
        Ok(())
    }

    /// Gives the appointments of a rooftop to the one that it is called now. Only who holds the turns of both may.
    #[instrument(name = "store.move_agenda", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update appointments"))]
    pub async fn move_agenda(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "update appointments set rooftop = $3 where tenant_id = $1 and rooftop = $2",
            id.0,
            from,
            to
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// How many confirmed appointments at these rooftops are not over.
    #[instrument(name = "store.visits_to_come", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select appointments"))]
    pub async fn visits_to_come(&mut self, rooftops: &[&str], now: DateTime<Utc>) -> Result<i64, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            r#"select count(*) as "count!" from appointments
               where tenant_id = $1 and rooftop = any($2) and status = 'confirmed' and end_at > $3"#,
            id.0,
            rooftops as &[&str],
            now
        )
        .fetch_one(self.conn())
        .await?)
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
    /// Begins that could be had instead when it was answered, nearest first; with `proposed` alone.
    pub proposed: Vec<DateTime<Utc>>,
}

impl TenantTx {
    /// The appointments of these leads, in the order in which they were first asked for.
    #[instrument(name = "store.appointments_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select appointments"))]
    pub async fn appointments_of(&mut self, leads: &[Uuid]) -> Result<Vec<StoredAppointment>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            StoredAppointment,
            "select appointment_id, lead_id, rooftop, kind, status, start_at, end_at, proposed from appointments
             where tenant_id = $1 and lead_id = any($2) order by appointment_id",
            id.0,
            leads
        )
        .fetch_all(self.conn())
        .await?)
    }
}
