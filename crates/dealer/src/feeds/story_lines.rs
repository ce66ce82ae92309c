//! A story as lines for people.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Story, Word};

/// Characters of a value that a line shows.
const SHOWN: usize = 80;

/// A value in a line for people.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.replace(['\n', '\r'], " "),
        Value::Array(all) if all.len() > 3 => format!("{} entries", all.len()),
        other => other.to_string(),
    };
    if text.chars().nth(SHOWN).is_none() {
        return text;
    }
    let kept: String = text.chars().take(SHOWN).collect();
    format!("{kept} …")
}

fn minute(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

impl Word {
    /// Who says it, for people.
    fn who(&self) -> String {
        if let Some(author) = &self.author {
            let mut who = format!("set by {author}");
            if let Some(at) = self.at {
                who.push_str(&format!(" on {}", minute(at)));
            }
            match self.expires_at {
                Some(until) => who.push_str(&format!(", locked until {}", minute(until))),
                None => who.push_str(", locked"),
            }
            if let Some(note) = &self.note {
                who.push_str(&format!(": \"{}\"", shown(&note.as_str().into())));
            }
            return who;
        }
        let mut who = self.source.clone().unwrap_or_default();
        if let (Some(run), Some(row)) = (self.run, self.row) {
            who.push_str(&format!(", run {run}, row {row}"));
        }
        who
    }
}

impl Story {
    /// All of it as lines for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut head = self.vehicle_id.clone();
        for (name, value) in [("VIN", &self.vin), ("stock", &self.stock)] {
            if let Some(value) = value {
                head.push_str(&format!(", {name} {value}"));
            }
        }
        head.push_str(if self.on_offer { ": on offer" } else { ": not on offer" });
        lines.push(head);
        for field in &self.fields {
            let winner = &field.winner;
            lines.push(format!("  {}: {} ({})", field.field, shown(&winner.value), winner.who()));
            for lost in &field.losers {
                let says = match (&lost.source, &winner.author) {
                    // What the feed says of a field that a person locked.
                    (Some(source), Some(_)) => format!("feed {source} says"),
                    _ => "loses:".to_owned(),
                };
                lines.push(format!("    {says} {} ({})", shown(&lost.value), lost.who()));
            }
        }
        for event in &self.events {
            let mut line = format!("{}  {}", minute(event.at), event.sentence);
            let mut behind: Vec<String> = Vec::new();
            behind.extend(event.source.clone());
            behind.extend(event.run.map(|run| format!("run {run}")));
            behind.extend(event.file.clone());
            behind.extend(event.row.map(|row| format!("row {row}")));
            if !matches!(event.kind.as_str(), "edited" | "unlocked") {
                behind.extend(event.actor.as_ref().map(|actor| format!("by {actor}")));
            }
            if let Some(note) = event.reason.as_ref().filter(|_| event.kind == "edited") {
                behind.push(format!("\"{}\"", shown(&note.as_str().into())));
            }
            if !behind.is_empty() {
                line.push_str(&format!(" [{}]", behind.join(", ")));
            }
            lines.push(line);
        }
        lines
    }
}
