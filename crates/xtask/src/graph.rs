//! The dependency graph of this workspace on this machine's platform, as `cargo metadata` resolves it.

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One package that is compiled for this workspace: a dependency, or a member of ours.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The manifest's `license`; `None` if it only points at a file.
    pub(crate) licence: Option<String>,
    /// The features that are on, of all members and all kinds of target together.
    pub(crate) features: Vec<String>,
    /// True for a member of this workspace.
    pub(crate) ours: bool,
    /// What it depends on: package id to whether this is more than a dev-dependency.
    pub(crate) needs: BTreeMap<String, bool>,
}

/// All packages that are compiled on this platform, by package id.
pub(crate) struct Graph {
    root: PathBuf,
    packages: BTreeMap<String, Package>,
}

impl Graph {
    /// Asks cargo, without changing `Cargo.lock`.
    ///
    /// Only this machine's platform is asked for: the packages of others were never downloaded. A network is
    /// used only if something was not downloaded yet, say a package that no build so far has needed.
    pub(crate) fn load() -> Result<Graph> {
        let host = host_platform()?;
        let wanted = ["metadata", "--format-version=1", "--locked", "--filter-platform", &host];
        let metadata = cargo(&wanted, &["--offline"]).or_else(|_| cargo(&wanted, &[]))?;
        Graph::parse(&metadata)
    }

    fn parse(metadata: &[u8]) -> Result<Graph> {
        let metadata: Value = serde_json::from_slice(metadata).context("cargo metadata printed no JSON")?;
        let root = PathBuf::from(text(&metadata, "workspace_root")?);
        let members: BTreeSet<&str> =
            list(&metadata, "workspace_members").filter_map(Value::as_str).collect();
        let described: BTreeMap<&str, &Value> = list(&metadata, "packages")
            .map(|package| Ok((text(package, "id")?, package)))
            .collect::<Result<_>>()?;

        let resolve = metadata.get("resolve").ok_or_else(|| anyhow!("cargo metadata without `resolve`"))?;
        let mut packages = BTreeMap::new();
        for node in list(resolve, "nodes") {
            let id = text(node, "id")?;
            let package = described.get(id).ok_or_else(|| anyhow!("{id} is not described"))?;
            let mut needs = BTreeMap::new();
            for dependency in list(node, "deps") {
                let beyond_tests = list(dependency, "dep_kinds")
                    .any(|kind| kind.get("kind").and_then(Value::as_str) != Some("dev"));
                needs.insert(text(dependency, "pkg")?.to_owned(), beyond_tests);
            }
            packages.insert(
                id.to_owned(),
                Package {
                    name: text(package, "name")?.to_owned(),
                    version: text(package, "version")?.to_owned(),
                    licence: package.get("license").and_then(Value::as_str).map(str::to_owned),
                    features: list(node, "features").filter_map(Value::as_str).map(str::to_owned).collect(),
                    ours: members.contains(id),
                    needs,
                },
            );
        }
        let mut graph = Graph { root, packages };
        graph.keep_reachable(&members);
        Ok(graph)
    }

    /// Drops what no member leads to: the lock file may name packages that no enabled feature asks for.
    fn keep_reachable(&mut self, members: &BTreeSet<&str>) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = members.iter().map(|id| (*id).to_owned()).collect();
        while let Some(id) = open.pop() {
            if let Some(package) = self.packages.get(&id)
                && seen.insert(id)
            {
                open.extend(package.needs.keys().cloned());
            }
        }
        self.packages.retain(|id, _| seen.contains(id));
    }

    /// The folder of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All packages, ours included.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    /// The members of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages().filter(|package| package.ours)
    }

    /// What `package` depends on directly, with `true` where it is more than a dev-dependency.
    pub(crate) fn needs<'a>(&'a self, package: &'a Package) -> impl Iterator<Item = (&'a Package, bool)> {
        package.needs.iter().filter_map(|(id, beyond_tests)| Some((self.packages.get(id)?, *beyond_tests)))
    }

    /// A shortest chain of names from `package` to a package named `target`, not going through
    /// dev-dependencies; `None` if there is none.
    pub(crate) fn chain(&self, package: &Package, target: &str) -> Option<Vec<String>> {
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut open = vec![(package, vec![package.name.clone()])];
        while !open.is_empty() {
            let mut next = Vec::new();
            for (at, chain) in open {
                for (needed, _) in self.needs(at).filter(|(_, beyond_tests)| *beyond_tests) {
                    let mut longer = chain.clone();
                    longer.push(needed.name.clone());
                    if needed.name == target {
                        return Some(longer);
                    }
                    if seen.insert((&needed.name, &needed.version)) {
                        next.push((needed, longer));
                    }
                }
            }
            open = next;
        }
        None
    }
}

/// What cargo prints, or what it complains about.
fn cargo(arguments: &[&str], more: &[&str]) -> Result<Vec<u8>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).args(more).output().context("cargo does not start")?;
    if !output.status.success() {
        bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(output.stdout)
}

/// The platform that this machine's compiler builds for unless told otherwise.
fn host_platform() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc does not start")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| anyhow!("rustc -vV names no host"))
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str> {
    value.get(member).and_then(Value::as_str).ok_or_else(|| anyhow!("cargo metadata: no text `{member}`"))
}

fn list<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a Value> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// A graph from lines `name | licence | features | needs`: a star marks a member of the workspace, a
    /// question mark what only tests need.
    pub(crate) fn graph(lines: &[&str]) -> Graph {
        let mut packages = BTreeMap::new();
        for line in lines {
            let mut columns = line.split('|').map(str::trim).chain(std::iter::repeat(""));
            let mut column = || columns.next().unwrap_or_default();
            let (name, licence, features, needs) = (column(), column(), column(), column());
            let each = |list: &str| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            packages.insert(
                name.trim_start_matches('*').to_owned(),
                Package {
                    name: name.trim_start_matches('*').to_owned(),
                    version: "1.0.0".to_owned(),
                    licence: (!licence.is_empty()).then(|| licence.to_owned()),
                    features: each(features),
                    ours: name.starts_with('*'),
                    needs: each(needs)
                        .into_iter()
                        .map(|word| (word.trim_end_matches('?').to_owned(), !word.ends_with('?')))
                        .collect(),
                },
            );
        }
        Graph { root: PathBuf::new(), packages }
    }
}
