//! `forecourt provision FILE`: creates and updates dealers from one document.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;

use dealer::provision::{self, ApplyError, Document, Outcome};
use store::Store;

use crate::commands::{count, explain, fallback_addresses, open_store, run_once};
use crate::failure::{Failure, UNUSABLE, chain, io_reason};
use crate::output::say;
use crate::settings::Settings;

/// Who is named in the history of cards that change.
const ACTOR: &str = "provision";
/// From so many dealers on a terminal shows how far it is.
const MANY: usize = 20;

/// Carries out the document in `file`; `-` means standard input. Prints a line for each dealer.
///
/// # Errors
/// Status 2 if the document cannot be read, 1 if a dealer was left as it was.
pub(crate) fn run(settings: &Settings, file: &Path) -> Result<(), Failure> {
    // Before the database is touched: a document that cannot be read changes nothing.
    let document = read(file)?;
    document.doubts().iter().for_each(|doubt| eprintln!("forecourt: {doubt}"));
    let fallback = fallback_addresses(settings)?;
    let failed = run_once(settings, "forecourt provision", |database| async move {
        let store = open_store(&database, settings).await?;
        let failed = apply(&store, &fallback, document).await.map_err(|error| explain(&database, &error));
        store.close().await;
        failed
    })?;
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} left as before",
        if failed == 1 { "1 dealer was".into() } else { format!("{failed} dealers were") }
    ))
    .advise("correct what is named above and run it again; what is right already stays untouched"))
}

fn read(file: &Path) -> Result<Document, Failure> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(file).map(|read| bytes = read)
    };
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    read.map_err(|error| {
        Failure::new(format!("{name} cannot be read: {}", io_reason(&error))).status(UNUSABLE)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::new(format!("{name} is not UTF-8, from byte {place} on")).status(UNUSABLE)
    })?;
    // Editors of some systems begin a file with a mark that is not part of it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    provision::read(text).map_err(|error| {
        Failure::new(format!("{name}: {}", chain(&error)))
            .advise("its form is {\"tenants\": {\"slug\": {…}}}")
            .status(UNUSABLE)
    })
}

/// Answers how many dealers were left as they were.
async fn apply(
    store: &Store,
    fallback: &dealer::Addresses,
    document: Document,
) -> Result<usize, store::Error> {
    let total = document.len();
    let progress = total >= MANY && std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let (mut created, mut updated, mut unchanged, mut failed) = (0, 0, 0, 0);
    provision::apply(store, fallback, document, ACTOR, |slug, outcome| {
        if progress {
            show_progress("");
        }
        match outcome {
            Ok(outcome) => {
                match outcome {
                    Outcome::Created => created += 1,
                    Outcome::Updated | Outcome::UpdatedLosing(_) => updated += 1,
                    Outcome::Unchanged => unchanged += 1,
                }
                say(format_args!("{slug}: {}", word(outcome)));
                if let Outcome::UpdatedLosing(visits) = outcome {
                    let visits = if visits == 1 { "1 visit".into() } else { format!("{visits} visits") };
                    say(format_args!(
                        "  {visits} to come, promised to shoppers, at a rooftop that is not there any more: \
                         `forecourt lead list {slug}` shows who has to be told"
                    ));
                }
            }
            Err(error) => {
                failed += 1;
                let reasons = reasons(slug, &error);
                say(format_args!("{slug}: failed, {}", count(reasons.len(), "problem")));
                reasons.iter().for_each(|reason| say(format_args!("  {reason}")));
            }
        }
        let done = created + updated + unchanged + failed;
        if progress && done < total {
            show_progress(&format!("{done} of {total} dealers"));
        }
    })
    .await?;
    say(format_args!(
        "{}: {created} created, {updated} updated, {unchanged} unchanged, {failed} failed",
        count(total, "dealer")
    ));
    Ok(failed)
}

/// Writes over the last line of the terminal.
fn show_progress(text: &str) {
    let mut terminal = std::io::stderr().lock();
    let _ = write!(terminal, "\r\x1b[K{text}").and_then(|()| terminal.flush());
}

/// What became of a dealer, in a word.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Created => "created",
        Outcome::Updated | Outcome::UpdatedLosing(_) => "updated",
        Outcome::Unchanged => "unchanged",
    }
}

/// Why a dealer was left as it was: every problem with its JSON Pointer.
pub(crate) fn reasons(slug: &str, error: &ApplyError) -> Vec<String> {
    match error {
        ApplyError::Problems(problems) => problems.iter().map(ToString::to_string).collect(),
        ApplyError::Store(error) => vec![format!("/tenants/{slug}: {}", chain(error))],
    }
}
