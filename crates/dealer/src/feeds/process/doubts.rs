//! What speaks against a file beside the guard's table: what only the lot, the file's end and the runs before know.

use std::io::{Read as _, Seek as _, SeekFrom};

use feeds::Code;
use feeds::config::Mode;
use store::RunRow;

use crate::feeds::compare::Compared;
use crate::feeds::run;
use crate::feeds::settings::{Role, SourceSettings};
use crate::feeds::spool::Spooled;

/// Whether a table lacks the line break that the source's tables end in. Its last row may be half of one, and then
/// a price may be half of one too.
pub(super) fn cut_short(run: &RunRow, last_full: Option<&RunRow>) -> Option<(Code, String)> {
    let of = |run: &RunRow| run::read::<run::Signature>(run.signature.as_ref()).ends_in_break;
    let cut = run::mode(run) == Mode::Full && last_full.and_then(of) == Some(true) && of(run) == Some(false);
    let sentence = "The file ends in the middle of a line, which the files of this source do not: its end may be \
                    missing.";
    cut.then(|| (Code::FeedTruncated, sentence.to_owned()))
}

/// Whether too many units of the source would be gone from the lot: as many others, or a last whole file that was
/// smaller than what came since, do not make up for them.
pub(super) fn gone_from_the_lot(
    compared: &Compared,
    settings: &SourceSettings,
    run: &RunRow,
) -> Option<(Code, String)> {
    // What only fills in takes nothing off the lot.
    if run::mode(run) != Mode::Full || settings.role != Role::Additive {
        return None;
    }
    let guard = settings.guard;
    let removed = compared.plan.counts().removed;
    let (was, lost) = (u32::try_from(compared.active).ok()?, removed);
    let from = if guard.drop_percent > 0.0 { guard.drop_from } else { 1 };
    let held = was >= from && f64::from(lost) * 100.0 > guard.drop_percent * f64::from(was);
    let sentence = || {
        let percent = guard.drop_percent;
        format!(
            "Of the {was} units of this source on offer {lost} are not in the file, more than {percent} %."
        )
    };
    held.then(|| (Code::FeedDropTooLarge, sentence()))
}

/// Whether a file ends in a line break, in whatever encoding.
pub(super) fn ends_in_break(file: &Spooled) -> std::io::Result<bool> {
    let mut end = [0; 4];
    let from = file.length().saturating_sub(4);
    let mut reader = file.reader();
    reader.seek(SeekFrom::Start(from))?;
    let length = usize::try_from(file.length() - from).unwrap_or(4);
    let Some(end) = end.get_mut(..length) else { return Ok(false) };
    reader.read_exact(end)?;
    let last = end.iter().rev().find(|byte| **byte != 0);
    Ok(matches!(last, Some(b'\n' | b'\r')))
}

/// Whether a file was made before the one that the lot is from: by what the files say, else by their names.
pub(super) fn is_older(run: &RunRow, last: &RunRow) -> bool {
    match (run.generated_at, last.generated_at) {
        (Some(this), Some(that)) => this < that,
        _ => match (run::dated(&run.file_name), run::dated(&last.file_name)) {
            (Some(this), Some(that)) => this < that,
            _ => false,
        },
    }
}
