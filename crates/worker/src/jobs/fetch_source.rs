//! Fetches the file of a source of kind `https`.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dealer::feeds::{Receipt, ReceiveError, Received, SourceSettings, Unmodified};
use dealer::vault::{Credentials, Place};
use futures_util::FutureExt;
use serde::Deserialize;
use store::{Job, SourceKind, SourceRow, TenantId};
use uuid::Uuid;

use super::{Done, Kind, Next, Pool, Trouble};
use crate::context::Context;
use crate::fetch::answer::{Again, Fault, Meaning, meaning};
use crate::fetch::body::{Broken, body};
use crate::fetch::validators::Validators;
use crate::outbound::Ask;
use crate::settings::backoff;

pub(crate) const KIND: Kind = Kind {
    name: "fetch",
    pool: Pool::Foreign,
    run: |context, job| run(context, job).boxed(),
    records_failure: false,
    every: None,
};

/// How often a fetch is tried before the next one by schedule.
pub(crate) const ATTEMPTS: i32 = 5;
/// No try waits longer for the next one, unless the server asks for it.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);
/// At least so often a file is fetched whatever the server says of it.
const FULL_EVERY: TimeDelta = TimeDelta::hours(24);

#[derive(Deserialize)]
struct Payload {
    source: Uuid,
    /// Whatever the server said before.
    #[serde(default)]
    full: bool,
}

/// One fetch.
struct Fetch<'c> {
    context: &'c Context,
    tenant: TenantId,
    source: SourceRow,
    settings: SourceSettings,
    /// The server is asked for the file whether or not it has changed.
    full: bool,
    last_attempt: bool,
    begun: DateTime<Utc>,
}

/// What a fetch brought.
enum Brought {
    File { receipt: Receipt, validators: Validators },
    NotModified { validators: Validators },
}

async fn run(context: Arc<Context>, job: Arc<Job>) -> Result<Done, Trouble> {
    let payload = Payload::deserialize(&job.payload).map_err(|error| Trouble::lasting(error.to_string()))?;
    let Some(fetch) = prepare(&context, &job, &payload).await? else { return Ok(Done::Finish) };
    match fetch.bring().await {
        Ok(brought) => {
            fetch.succeeded(brought).await?;
            Ok(Done::Finish)
        }
        Err(Failed::Fault(fault)) => fetch.failed(&job, fault).await,
        Err(Failed::Trouble(trouble)) => Err(trouble),
    }
}

enum Failed {
    Fault(Fault),
    Trouble(Trouble),
}

impl From<store::Error> for Failed {
    fn from(error: store::Error) -> Failed {
        Failed::Trouble(error.into())
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Fault(fault)
    }
}

/// `None`: there is nothing to fetch any more.
async fn prepare<'c>(
    context: &'c Context,
    job: &Job,
    payload: &Payload,
) -> Result<Option<Fetch<'c>>, Trouble> {
    let mut tx = context.store.platform().await?;
    let owned = tx.source_owner(payload.source).await?;
    tx.commit().await?;
    let Some((tenant, source)) = owned else { return Ok(None) };
    if !source.enabled || source.kind != SourceKind::Https {
        return Ok(None);
    }
    let settings = SourceSettings::read(&source.settings).map_err(Trouble::lasting)?;
    let begun = Utc::now();
    let mut tx = context.store.tenant(tenant).await?;
    let has_last_file = dealer::feeds::has_last_file(&mut tx, source.source_id).await?;
    let is_old = source.last_full_fetch_at.is_none_or(|at| begun - at >= FULL_EVERY);
    // Before anything else, so that a fetch that kills its worker is not due again at once.
    let next = Some(next_by_schedule(&settings, begun));
    let (etag, date) = (source.etag.as_deref(), source.last_modified.as_deref());
    tx.note_fetch(source.source_id, etag, date, next, source.last_full_fetch_at).await?;
    tx.commit().await?;
    Ok(Some(Fetch {
        context,
        tenant,
        source,
        settings,
        full: payload.full || is_old || !has_last_file,
        last_attempt: job.is_last_attempt(),
        begun,
    }))
}

/// A few percent off, so that sources that were made together do not come together for ever.
fn next_by_schedule(settings: &SourceSettings, from: DateTime<Utc>) -> DateTime<Utc> {
    let every = Duration::from_secs(u64::from(settings.every_minutes.max(1)) * 60);
    from + every.mul_f64(rand::random_range(0.97..=1.03))
}

impl Fetch<'_> {
    async fn bring(&self) -> Result<Brought, Failed> {
        let lasting = |kind, sentence: String| Fault { kind, sentence, again: Again::NotByItself };
        let Some(url) = &self.settings.url else {
            let sentence = "This source has no address to fetch from. Enter one.".to_owned();
            return Err(lasting("address", sentence).into());
        };
        let credentials = self.credentials().await?;
        let outbound =
            self.context.outbound().await.map_err(|error| Failed::Trouble(Trouble::passing(&error)))?;
        let stored =
            Validators { etag: self.source.etag.clone(), last_modified: self.source.last_modified.clone() };
        let headers = if self.full { Default::default() } else { stored.headers() };
        let conditional = !headers.is_empty();
        let ask = Ask {
            credentials: credentials.as_ref(),
            headers,
            patience: Some(Duration::from_secs(u64::from(self.settings.limits.fetch_seconds.max(1)))),
        };
        let answer = outbound.get(url, &ask).await.map_err(|error| {
            let again = if error.may_pass() { Again::Later(None) } else { Again::NotByItself };
            let kind = if error.may_pass() { "unreachable" } else { "refused" };
            Fault { kind, sentence: format!("The file was not fetched: {error}."), again }
        })?;
        let answered = Validators::of(answer.headers(), self.begun);
        match meaning(answer.status(), answer.headers(), conditional, self.begun) {
            Meaning::Nothing(fault) => return Err(fault.into()),
            Meaning::NotModified => return Ok(Brought::NotModified { validators: stored }),
            Meaning::File => {}
        }
        let announced = answer.content_length();
        let limit = self.settings.limits().file_bytes;
        if announced.is_some_and(|bytes| bytes > limit) {
            return Err(too_large(limit).into());
        }
        let mut received = Received::new(file_name(answer.url()), "fetch", "fetch");
        received.announced = announced;
        let broken = Broken::default();
        // What is cut short is most likely whole the next time; if it never is, people see what there is of it.
        let body = Box::pin(body(answer, self.last_attempt, broken.clone()));
        let store = &self.context.store;
        match dealer::feeds::receive(store, self.tenant, &self.source, received, body).await {
            Ok(receipt) => Ok(Brought::File { receipt, validators: answered }),
            Err(ReceiveError::TooLarge { limit }) => Err(too_large(limit).into()),
            Err(error) => Err(match broken.take() {
                Some(sentence) => Fault { kind: "broken_off", sentence, again: Again::Later(None) }.into(),
                None => Failed::Trouble(Trouble::passing(&error)),
            }),
        }
    }

    async fn credentials(&self) -> Result<Option<Credentials>, Failed> {
        if !self.source.has_credentials {
            return Ok(None);
        }
        let mut tx = self.context.store.tenant(self.tenant).await?;
        let sealed = tx.source_credentials(self.source.source_id).await?;
        tx.commit().await?;
        let Some(sealed) = sealed else { return Ok(None) };
        let place = Place::of_fetching(self.tenant, self.source.source_id);
        let opened = self.context.settings.vault.open_credentials(place, &sealed);
        opened.map(Some).map_err(|error| {
            let sentence = format!("The credentials of this source cannot be used: {error}.");
            Fault { kind: "credentials", sentence, again: Again::NotByItself }.into()
        })
    }

    async fn succeeded(&self, brought: Brought) -> Result<(), Trouble> {
        let id = self.source.source_id;
        let mut tx = self.context.store.tenant(self.tenant).await?;
        let mut next = next_by_schedule(&self.settings, self.begun);
        let mut full_at = self.source.last_full_fetch_at;
        let (validators, outcome, bytes) = match brought {
            Brought::File { receipt, validators } => {
                if self.full {
                    full_at = Some(self.begun);
                }
                (self.believed(&mut tx, &receipt, &validators).await?, "file", receipt.bytes)
            }
            Brought::NotModified { validators } => {
                let meant = dealer::feeds::unmodified(&mut tx, &self.source).await?;
                if meant == Unmodified::Forgotten {
                    // Without a last full fetch the next one asks for everything.
                    (full_at, next) = (None, Utc::now());
                }
                (validators, "not_modified", 0)
            }
        };
        let (etag, date) = (validators.etag.as_deref(), validators.last_modified.as_deref());
        tx.note_fetch(id, etag, date, Some(next), full_at).await?;
        dealer::feeds::fetch_succeeded(&mut tx, id).await?;
        tx.commit().await?;
        self.context.meters.fetch(outcome, bytes);
        self.context.stir();
        tracing::info!(tenant = %self.tenant, source = %id, outcome, bytes, "a feed was fetched");
        Ok(())
    }

    /// The validators to be stored, after a look at whether those from before told the truth.
    async fn believed(
        &self,
        tx: &mut store::TenantTx,
        receipt: &Receipt,
        answered: &Validators,
    ) -> Result<Validators, store::Error> {
        let id = self.source.source_id;
        let mut with_file = tx.runs(Some(id), 50, None).await?;
        with_file.retain(|run| run.cause == "fetch" && run.file_id.is_some());
        let now = with_file.iter().find(|run| run.run_id == receipt.run_id).and_then(|run| run.file_id);
        let before = with_file.iter().find(|run| run.run_id != receipt.run_id).and_then(|run| run.file_id);
        // Equal contents are one file.
        let changed = before.is_some() && before != now;
        let stored =
            Validators { etag: self.source.etag.clone(), last_modified: self.source.last_modified.clone() };
        let (validators, disproved) = stored.after(answered, changed);
        if disproved.any() {
            tracing::warn!(
                tenant = %self.tenant, source = %id, etag = disproved.etag, last_modified = disproved.last_modified,
                "the server of a feed says that its file has not changed although it has; what it says is not believed \
                 until it says something else"
            );
        }
        Ok(validators)
    }

    async fn failed(&self, job: &Job, fault: Fault) -> Result<Done, Trouble> {
        let Fault { kind, sentence, again } = fault;
        let now = Utc::now();
        let regular = next_by_schedule(&self.settings, self.begun);
        let retry_at = match again {
            Again::NotByItself => None,
            Again::Later(asked) => {
                let usual = backoff(self.context.settings.pace.fetch_retry, job.attempts, LONGEST_WAIT);
                // A little later than it asks for: all that it told so would be there at once.
                let asked = asked.map(|asked| asked + backoff(Duration::from_secs(2), 1, LONGEST_WAIT));
                Some(now + asked.unwrap_or(usual).max(usual))
            }
        };
        let next = retry_at.map_or(regular, |at| at.max(regular));
        let retry_at = retry_at.filter(|at| !self.last_attempt && *at < regular);
        let name = self.settings.url.as_deref().and_then(|url| url::Url::parse(url).ok());
        let name = name.map(|url| file_name(&url)).unwrap_or_default();
        let mut tx = self.context.store.tenant(self.tenant).await?;
        let run =
            dealer::feeds::fetch_failed(&mut tx, &self.source, &name, &sentence, retry_at.is_none()).await?;
        let (etag, date) = (self.source.etag.as_deref(), self.source.last_modified.as_deref());
        tx.note_fetch(self.source.source_id, etag, date, Some(next), self.source.last_full_fetch_at).await?;
        tx.commit().await?;
        self.context.meters.fetch(kind, 0);
        tracing::warn!(
            tenant = %self.tenant, source = %self.source.source_id, %run, outcome = kind,
            "a feed could not be fetched: {sentence}"
        );
        match retry_at {
            Some(at) => Err(Trouble { cause: sentence, next: Next::At(at) }),
            None => Ok(Done::Finish),
        }
    }
}

fn too_large(limit: u64) -> Fault {
    let sentence = format!(
        "The file is larger than {limit} bytes, which is the most that this source may send. Ask the sender what is in \
         it, or raise the limit of this source."
    );
    Fault { kind: "too_large", sentence, again: Again::NotByItself }
}

/// The last step of an address's path: what a file is called there. Never its query, which may hold a key.
fn file_name(url: &url::Url) -> String {
    let last = url.path_segments().and_then(|mut steps| steps.next_back()).unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
    if name.is_empty() { "feed".to_owned() } else { name }
}
