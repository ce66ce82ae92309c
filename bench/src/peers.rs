//! The same search through servers built with the official SDKs, on the same table.
//!
//! They are set up once, by their own package managers, from lock files; after that no network is needed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::data::{self, Asked};
use crate::goals::{Board, Only};
use crate::http::ask_all;
use crate::load::{Answer, Good};
use crate::rounds::{self, Pace, Variant};
use crate::world::{Child, MAIN, World};

/// The lot that is searched: small, so that the servers are compared more than the database is.
const UNITS: u32 = 1_000;

/// A server of another language.
struct Peer {
    name: &'static str,
    /// The files it consists of.
    files: &'static [(&'static str, &'static str)],
    /// Which of them decides what is installed.
    lock: &'static str,
    /// Installs, in its folder.
    install: fn(&Path) -> Result<()>,
    /// Runs, in its folder; arguments follow.
    run: fn(&Path) -> Command,
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "@a2a-js/sdk",
        files: &[
            ("package.json", include_str!("../peers/js/package.json")),
            ("package-lock.json", include_str!("../peers/js/package-lock.json")),
            ("server.mjs", include_str!("../peers/js/server.mjs")),
        ],
        lock: "package-lock.json",
        install: install_js,
        run: |folder| {
            let mut command = Command::new("node");
            command.arg("server.mjs").current_dir(folder).env("NODE_ENV", "production");
            command
        },
    },
    Peer {
        name: "a2a-sdk",
        files: &[
            ("requirements.txt", include_str!("../peers/python/requirements.txt")),
            ("server.py", include_str!("../peers/python/server.py")),
        ],
        lock: "requirements.txt",
        install: install_python,
        run: |folder| {
            let mut command = Command::new(python(folder));
            command.arg("server.py").current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        },
    },
];

fn install_js(folder: &Path) -> Result<()> {
    let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
    quietly(Command::new("npm").args(install).current_dir(folder))
}

fn install_python(folder: &Path) -> Result<()> {
    quietly(Command::new("python3").args(["-m", "venv", "--clear", "venv"]).current_dir(folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"];
    quietly(Command::new(python(folder)).args(install).arg("requirements.txt").current_dir(folder))
}

fn python(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

/// Runs a command; what it prints is only told when it fails.
fn quietly(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let output = command.stdin(Stdio::null()).output().with_context(|| {
        format!("{program} does not start; scripts/bootstrap node python finds or installs it")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{program} ended with {}: {}", output.status, said.trim_end());
    }
    Ok(())
}

impl Peer {
    /// Writes its files and installs what it needs, unless that was done before.
    fn set_up(&self, folder: &Path) -> Result<PathBuf> {
        let folder = folder.join("peers").join(self.name.replace(['@', '/'], "_"));
        std::fs::create_dir_all(&folder)?;
        let stamp = folder.join("installed");
        let mut wanted = "";
        for (name, text) in self.files {
            std::fs::write(folder.join(name), text)?;
            if *name == self.lock {
                wanted = text;
            }
        }
        if std::fs::read_to_string(&stamp).ok().as_deref() != Some(wanted) {
            eprintln!("bench: installing {} with what it needs, once", self.name);
            (self.install)(&folder).with_context(|| format!("{} cannot be installed", self.name))?;
            std::fs::write(stamp, wanted)?;
        }
        Ok(folder)
    }

    fn start(&self, world: &World, slug: &str) -> Result<Child> {
        let folder = self.set_up(world.folder())?;
        let mut command = (self.run)(&folder);
        command.args(world.cluster.place(MAIN)).arg(slug);
        command.arg(server::Settings::default().workers.to_string());
        world.spawn(&self.name.replace(['@', '/'], "_"), &mut command)
    }
}

/// Measures the product beside both.
///
/// # Errors
/// A peer cannot be set up, or answers something else than the product.
pub(crate) fn run(world: &World, pace: Pace, only: &Only, board: &mut Board) -> Result<()> {
    if !only.wants("peers") {
        return Ok(());
    }
    let lot = data::measured(UNITS);
    world.runtime.block_on(world.cluster.ensure(MAIN, std::slice::from_ref(&lot), world.forecourt()))?;
    let asked = data::search(&lot, 200);
    let requests: Vec<Vec<u8>> = asked.iter().map(|asked| asked.bytes.clone()).collect();
    let product = world.product(MAIN, &[])?;
    let ours = ask_all(product.address(), &asked)?;
    let peers: Vec<Child> = PEERS.iter().map(|peer| peer.start(world, &lot.slug)).collect::<Result<_>>()?;
    for (peer, child) in PEERS.iter().zip(&peers) {
        let theirs = ask_all(child.address(), &asked).with_context(|| peer.name)?;
        agree(&asked, &ours, &theirs).with_context(|| peer.name)?;
    }
    let variant = |name, server: &Child| Variant {
        name,
        server: server.address(),
        pids: vec![server.pid(), world.cluster.pid()],
        requests: &requests,
        good: Good::Result,
    };
    let mut variants = vec![variant("product", &product)];
    variants.extend(PEERS.iter().zip(&peers).map(|(peer, child)| variant(peer.name, child)));
    let measured = rounds::measure(pace, &variants)?;
    if let [product, others @ ..] = measured.as_slice() {
        let worst = others.iter().map(|other| rounds::ratio(product, other, |round| round.rate));
        board.settle("peers", "search", worst.fold(f64::INFINITY, f64::min));
    }
    board.keep("search 1k, servers of the official SDKs", measured);
    Ok(())
}

/// The same cars in the same order; an SDK may spell a whole number with a fraction.
fn agree(asked: &[Asked], ours: &[Answer], theirs: &[Answer]) -> Result<()> {
    for ((asked, ours), theirs) in asked.iter().zip(ours).zip(theirs) {
        let (ours, theirs) = (essence(&ours.data()?), essence(&theirs.data()?));
        ensure!(ours == theirs, "differs about {}:\n{ours:?}\n{theirs:?}", asked.data);
    }
    Ok(())
}

fn essence(data: &Value) -> (f64, Vec<String>) {
    let vehicles = data.get("vehicles").and_then(Value::as_array);
    let id = |vehicle: &Value| {
        let text = |key: &str| vehicle.get(key).map(Value::to_string).unwrap_or_default();
        format!("{} {}", text("vehicle_id"), text("vdp_url"))
    };
    let total = data.get("total").and_then(Value::as_f64).unwrap_or(f64::NAN);
    (total, vehicles.into_iter().flatten().map(id).collect())
}
