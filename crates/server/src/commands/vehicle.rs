//! `forecourt vehicle …`: one car's story, and what people set by hand.

use chrono::{DateTime, Utc};
use dealer::feeds::{self, EditError, Edited, Story, Wish, Word};
use serde_json::{Value, json};
use store::{Store, TenantId};

use crate::commands::feed::{Trouble, dealer, on_data, time};
use crate::failure::{Failure, UNUSABLE, chain};
use crate::output::{harmless, printable, say};
use crate::settings::Settings;

/// What is to be done with a car.
#[derive(Debug)]
pub(crate) enum Work {
    /// Tell of it: what happened (`events`), or each field.
    Tell { json: bool, events: bool },
    /// Set fields.
    Edit { fields: Vec<String>, expires: Option<DateTime<Utc>>, note: Option<String>, by: String },
    /// Give fields back to the feeds.
    Unlock { fields: Vec<String>, all: bool, by: String },
}

/// Does it. `key` is a VIN, a stock number or an id.
///
/// # Errors
/// Dealer, car or fields cannot be used, or the database refuses.
pub(crate) fn run(settings: &Settings, slug: &str, key: &str, work: Work) -> Result<(), Failure> {
    on_data(settings, "forecourt vehicle", |store| async move {
        let tenant = dealer(&store, slug).await?;
        match work {
            Work::Tell { json, events } => {
                let story = feeds::story(&store, tenant, key).await.map_err(|error| refused(slug, error))?;
                tell(slug, &story, json, events);
                Ok(())
            }
            Work::Edit { fields, expires, note, by } => {
                edit(&store, tenant, slug, key, &fields, (expires, note.as_deref(), &by)).await
            }
            Work::Unlock { fields, all, by } => unlock(&store, tenant, slug, key, (fields, all), &by).await,
        }
    })
}

fn tell(slug: &str, story: &Story, as_json: bool, events: bool) {
    if as_json {
        let mut document = json!(story);
        if let (Value::Object(members), false) = (&mut document, events) {
            members.remove("events");
        }
        say(harmless(&document.to_string()));
        return;
    }
    if events {
        story.lines().iter().for_each(|line| say(kept(line)));
        return;
    }
    say(head(story));
    for field in &story.fields {
        let winner = &field.winner;
        let locked = winner.author.is_some();
        say(format_args!("  {}: {} ({})", field.field, value(&winner.value), who(winner)));
        for lost in &field.losers {
            match (&lost.source, locked) {
                (Some(source), true) => say(format_args!(
                    "    feed {} says {}, locked at {}",
                    printable(source),
                    value(&lost.value),
                    value(&winner.value)
                )),
                _ => say(format_args!("    loses: {} ({})", value(&lost.value), who(lost))),
            }
        }
    }
    if story.fields.iter().any(|field| field.winner.author.is_some()) {
        eprintln!("Unlock fields with: forecourt vehicle unlock {slug} {} FIELD", story.vehicle_id);
    }
}

/// A line as it is indented, with nothing in it that a terminal would obey.
fn kept(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", " ".repeat(line.len() - text.len()), printable(text))
}

fn head(story: &Story) -> String {
    let mut head = printable(&story.vehicle_id);
    for (name, number) in [("VIN", &story.vin), ("stock", &story.stock)] {
        if let Some(number) = number {
            head.push_str(&format!(", {name} {}", printable(number)));
        }
    }
    head.push_str(if story.on_offer { ": on offer" } else { ": not on offer" });
    head
}

fn who(word: &Word) -> String {
    let mut who = match (&word.author, &word.source) {
        (Some(author), _) => format!("locked by {}", printable(author)),
        (None, Some(source)) => format!("feed {}", printable(source)),
        (None, None) => "the dealer's document".to_owned(),
    };
    if let Some(at) = word.at {
        who.push_str(&format!(" {}", time(at)));
    }
    if let Some(at) = word.expires_at {
        who.push_str(&format!(" until {}", time(at)));
    }
    if let (Some(run), Some(row)) = (word.run, word.row) {
        who.push_str(&format!(", run {run}, row {row}"));
    }
    if let Some(note) = &word.note {
        who.push_str(&format!(", {:?}", printable(note)));
    }
    who
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "blank".to_owned(),
        Value::String(text) => printable(text),
        other => printable(&other.to_string()),
    }
}

async fn edit(
    store: &Store,
    tenant: TenantId,
    slug: &str,
    key: &str,
    fields: &[String],
    (expires_at, note, actor): (Option<DateTime<Utc>>, Option<&str>, &str),
) -> Result<(), Trouble> {
    // All of them are read before the first one is set.
    let mut wishes = Vec::new();
    for pair in fields {
        let Some((field, text)) = pair.split_once('=') else {
            return Err(Failure::new(format!("{pair:?} cannot be read; write it like price=24990"))
                .status(UNUSABLE)
                .into());
        };
        let value = feeds::typed(field, text).map_err(|error| refused(slug, error))?;
        wishes.push(Wish { key, field, value, actor, expires_at, note });
    }
    for wish in &wishes {
        let done = feeds::edit(store, tenant, wish).await.map_err(|error| refused(slug, error))?;
        changed(&done);
    }
    Ok(())
}

async fn unlock(
    store: &Store,
    tenant: TenantId,
    slug: &str,
    key: &str,
    (mut fields, all): (Vec<String>, bool),
    by: &str,
) -> Result<(), Trouble> {
    if all {
        let story = feeds::story(store, tenant, key).await.map_err(|error| refused(slug, error))?;
        let mut tx = store.tenant(tenant).await?;
        let edits = tx.edits_of(&[&story.vehicle_id]).await?;
        drop(tx);
        fields = edits.into_iter().map(|edit| edit.field).collect();
        if fields.is_empty() {
            say(format_args!("{}: nothing was set by hand", printable(&story.vehicle_id)));
            return Ok(());
        }
    }
    for field in &fields {
        let done =
            feeds::unlock(store, tenant, key, field, by).await.map_err(|error| refused(slug, error))?;
        changed(&done);
    }
    Ok(())
}

fn changed(done: &Edited) {
    let shown = |one: &Option<Value>| one.as_ref().map_or_else(|| "blank".to_owned(), value);
    let version = done.version.map_or_else(
        || "; buyers see nothing else than before".to_owned(),
        |version| format!(", inventory version {version}"),
    );
    let offer = if done.on_offer { "" } else { " (not on offer)" };
    say(format_args!(
        "{}{offer}: {} was {}, is {}{version}",
        printable(&done.vehicle_id),
        printable(&done.field),
        shown(&done.before),
        shown(&done.after)
    ));
}

fn refused(slug: &str, error: EditError) -> Trouble {
    match error {
        EditError::Store(error) => error.into(),
        EditError::Republish(error) => error.into(),
        EditError::Ambiguous(ids) => {
            let mut failure = Failure::new("several vehicles are meant by that; use an id");
            failure.advice = ids.iter().map(|id| printable(id)).collect();
            failure.status(UNUSABLE).into()
        }
        EditError::NotLocked(_) => Failure::new(chain(&error))
            .advise(format!("`forecourt vehicle show {slug} KEY` shows what is locked"))
            .into(),
        EditError::Field(_) | EditError::Value { .. } | EditError::Expired => {
            Failure::new(printable(&chain(&error))).status(UNUSABLE).into()
        }
        other => Failure::new(printable(&chain(&other))).into(),
    }
}
