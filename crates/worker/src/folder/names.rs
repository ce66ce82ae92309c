//! Names in a drop folder: which are files of feeds, and what they are called when they have been taken.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use uuid::Uuid;

/// Endings of files that are still on their way, as uploading programs name them.
const ON_THEIR_WAY: [&str; 7] =
    [".part", ".tmp", ".temp", ".filepart", ".uploading", ".crdownload", ".partial"];
/// Endings of files that say something about another one.
const ABOUT_OTHERS: [&str; 4] = [".done", ".sha256", ".md5", ".ok"];
/// Bytes of a sender's name that are kept: with what we put before it, it must fit into 255.
const KEPT: usize = 160;
/// How the time of receipt stands before a name in the archive.
const STAMP: &str = "%Y%m%dT%H%M%SZ";

/// Whether a name is that of a file to be taken.
pub(super) fn is_feed(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let ends = |ending: &&str| {
        let at = bytes.len().saturating_sub(ending.len());
        bytes.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    !bytes.starts_with(b".")
        && !bytes.starts_with(b"~")
        && !ON_THEIR_WAY.iter().any(ends)
        && !ABOUT_OTHERS.iter().any(ends)
}

/// The name of a file while it is being taken in: it tells its key, and the name it came with.
pub(super) fn taken(key: Uuid, name: &OsStr) -> OsString {
    prefixed(&key.simple().to_string(), name)
}

/// What [`taken`] says.
pub(super) fn of_taken(name: &OsStr) -> Option<(Uuid, &OsStr)> {
    let (key, rest) = name.as_bytes().split_at_checked(32)?;
    let key = Uuid::try_parse_ascii(key).ok()?;
    Some((key, OsStr::from_bytes(rest.strip_prefix(b"-")?)))
}

/// The name of a file that was taken in. Ascends with time, and is never given twice.
pub(super) fn archived(at: DateTime<Utc>, key: Uuid, name: &OsStr) -> OsString {
    let key = key.simple().to_string();
    let short = key.get(24..).unwrap_or_default();
    prefixed(&format!("{}-{short}", at.format(STAMP)), name)
}

/// Whether a file of the archive was taken in longer ago than that.
pub(super) fn is_older(name: &OsStr, than: TimeDelta, now: DateTime<Utc>) -> bool {
    let stamp = name.to_str().and_then(|name| name.split('-').next());
    let taken = stamp.and_then(|stamp| NaiveDateTime::parse_from_str(stamp, STAMP).ok());
    taken.is_some_and(|taken| taken.and_utc() + than < now)
}

/// The name as it is shown and stored: without signs that move a terminal's cursor.
pub(super) fn shown(name: &OsStr) -> String {
    name.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The end of a long name is what tells the kind of file.
fn prefixed(prefix: &str, name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    let kept = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default();
    OsString::from_vec([prefix.as_bytes(), b"-", kept].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_their_way_and_hidden_ones_are_left_alone() {
        for name in [
            ".x.csv",
            "a.csv.part",
            "a.TMP",
            "a.filepart",
            "a.csv.Uploading",
            "a.csv.done",
            "a.sha256",
            "~a.csv",
            ".",
        ] {
            assert!(!is_feed(OsStr::new(name)), "{name}");
        }
        for name in ["a.csv", "part", "tmp.csv", "a.partly", "inventory", "ä b.zip", "done"] {
            assert!(is_feed(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_taken_file_tells_its_key_and_an_archived_one_its_age() {
        let key = Uuid::now_v7();
        for name in ["a.csv", "a-b-c.csv", "-", "ä\n.csv"] {
            let taken = taken(key, OsStr::new(name));
            assert_eq!(of_taken(&taken), Some((key, OsStr::new(name))));
        }
        assert_eq!(of_taken(OsStr::new("a.csv")), None);
        let long = "x".repeat(250) + ".csv";
        let now = Utc::now();
        for name in [archived(now, key, OsStr::new(&long)), taken(key, OsStr::new(&long))] {
            assert!(name.len() <= 255 && name.to_str().unwrap().ends_with("x.csv"));
        }
        let name = archived(now - TimeDelta::days(31), key, OsStr::new("a.csv"));
        assert!(is_older(&name, TimeDelta::days(30), now) && !is_older(&name, TimeDelta::days(32), now));
        assert!(!is_older(OsStr::new("put here by hand.csv"), TimeDelta::days(30), now));
        assert_eq!(shown(OsStr::new("a\u{1b}[2J.csv")), "a?[2J.csv");
    }
}
