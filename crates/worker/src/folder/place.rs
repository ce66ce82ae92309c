//! One drop folder, by handles: a sender who puts links where folders belong leads us nowhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, open, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

/// Where files lie while they are being taken in.
const TAKING: &str = ".taking";
/// Where they lie afterwards.
const ARCHIVE: &str = ".archive";
/// More names than these are not looked at in one go.
const MOST: usize = 2000;

/// The folder of one source.
#[derive(Debug)]
pub(super) struct Place {
    folder: OwnedFd,
    taking: OwnedFd,
    archive: OwnedFd,
}

/// What tells whether a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) bytes: u64,
    written: (i64, i64),
    inode: u64,
}

/// Something in a drop folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    /// `None`: it is no file.
    pub(super) state: Option<State>,
}

/// Which of the folders of a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Within {
    Folder,
    Taking,
    Archive,
}

impl Place {
    /// Opens the folder of a source below the root, made where there is none.
    ///
    /// # Errors
    /// It cannot be made or opened; `NotADirectory` and the like where something else is in its place, a link too.
    pub(super) fn open(root: &Path, dealer: &str, source: &str) -> io::Result<Place> {
        std::fs::create_dir_all(root)?;
        let root = open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let folder = inner(&inner(&root, dealer)?, source)?;
        Ok(Place { taking: inner(&folder, TAKING)?, archive: inner(&folder, ARCHIVE)?, folder })
    }

    fn handle(&self, within: Within) -> &OwnedFd {
        match within {
            Within::Folder => &self.folder,
            Within::Taking => &self.taking,
            Within::Archive => &self.archive,
        }
    }

    /// What lies there, in no order.
    pub(super) fn entries(&self, within: Within) -> io::Result<Vec<Entry>> {
        let handle = self.handle(within);
        let mut entries = Vec::new();
        for entry in Dir::read_from(handle)?.take(MOST) {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name == "." || name == ".." {
                continue;
            }
            let stat = match statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW) {
                // Gone meanwhile.
                Err(Errno::NOENT) => continue,
                stat => stat?,
            };
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            entries.push(Entry { name, state: is_file.then(|| state_of(&stat)) });
        }
        Ok(entries)
    }

    /// Opens a file, and nothing that is none.
    pub(super) fn file(&self, within: Within, name: &OsStr) -> io::Result<File> {
        // Not waiting: what was a file a moment ago may be a pipe by now.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(openat(self.handle(within), name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        Ok(file)
    }

    /// Moves a file. What has the new name already is replaced, so that must be one that is never given twice.
    pub(super) fn rename(&self, from: (Within, &OsStr), to: (Within, &OsStr)) -> io::Result<()> {
        Ok(renameat(self.handle(from.0), from.1, self.handle(to.0), to.1)?)
    }

    /// Deletes a file; one that is not there is deleted already.
    pub(super) fn delete(&self, within: Within, name: &OsStr) -> io::Result<()> {
        match unlinkat(self.handle(within), name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            done => Ok(done?),
        }
    }
}

/// Has a file for this process alone, among those that ask; `false`: another one has it. Ends with the handle, also by
/// a crash.
pub(super) fn claim(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        done => done.map(|()| true).map_err(io::Error::from),
    }
}

/// The state of an open file.
pub(super) fn state(file: &File) -> io::Result<State> {
    Ok(state_of(&rustix::fs::fstat(file)?))
}

fn state_of(stat: &rustix::fs::Stat) -> State {
    State {
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
        // The types differ between systems.
        #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
        written: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        inode: stat.st_ino,
    }
}

impl State {
    /// When it was last written to, in seconds and nanoseconds.
    pub(super) fn written(&self) -> (i64, i64) {
        self.written
    }
}

/// A folder within a folder, made where there is none.
fn inner(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o770)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scratch() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("forecourt-drop-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn links_lead_nowhere() {
        let (root, outside) = (scratch(), scratch());
        std::fs::write(outside.join("secret"), "x").unwrap();
        symlink(&outside, root.join("linked")).unwrap();
        assert!(Place::open(&root, "linked", "dms").is_err(), "a dealer's folder may be a link");
        let place = Place::open(&root, "harbor", "dms").unwrap();
        let folder = root.join("harbor/dms");
        symlink(outside.join("secret"), folder.join("a.csv")).unwrap();
        let entries = place.entries(Within::Folder).unwrap();
        let link = entries.iter().find(|entry| entry.name == "a.csv").unwrap();
        assert!(link.state.is_none());
        assert!(place.file(Within::Folder, OsStr::new("a.csv")).is_err());
        // Put there by the sender after the place was opened, and before the next look.
        std::fs::remove_dir(folder.join(ARCHIVE)).unwrap();
        symlink(&outside, folder.join(ARCHIVE)).unwrap();
        std::fs::write(folder.join("b.csv"), "x").unwrap();
        let moved = place.rename((Within::Folder, OsStr::new("b.csv")), (Within::Archive, OsStr::new("b")));
        assert!(moved.is_err() && !outside.join("b").exists());
        assert!(Place::open(&root, "harbor", "dms").is_err(), "the archive may be a link");
        for folder in [root, outside] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn a_file_is_for_one() {
        let root = scratch();
        let place = Place::open(&root, "harbor", "dms").unwrap();
        std::fs::write(root.join("harbor/dms/a.csv"), "x").unwrap();
        let (one, other) = (
            place.file(Within::Folder, OsStr::new("a.csv")),
            place.file(Within::Folder, OsStr::new("a.csv")),
        );
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!(claim(&one).unwrap() && !claim(&other).unwrap());
        drop(one);
        assert!(claim(&other).unwrap());
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("harbor/dms/pipe"), Mode::from_raw_mode(0o600))
            .unwrap();
        assert!(place.file(Within::Folder, OsStr::new("pipe")).is_err(), "a pipe is read");
        std::fs::remove_dir_all(root).unwrap();
    }
}
