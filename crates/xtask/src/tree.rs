//! What no committed file may hold: a path of somebody's machine, the host of a package registry.
//!
//! Both work where they were written and nowhere else. Registries are named by their clients' settings.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts that must not occur, with the reason. Put together from pieces, since this file is checked as well.
fn forbidden() -> Vec<(String, &'static str)> {
    let machine = "a path that exists on one machine only";
    let registry = "the host of a package registry";
    let mut texts: Vec<(String, &'static str)> = Vec::new();
    for path in ["main", "shared", ".library"] {
        texts.push((format!("/{}/{path}", "work"), machine));
    }
    for path in ["root/.", "home/"] {
        texts.push((format!("/{path}"), machine));
    }
    // In labels, so that this file holds none of them.
    for host in [
        ["static", "crates", "io"],
        ["index", "crates", "io"],
        ["registry", "npmjs", "org"],
        ["registry", "yarnpkg", "com"],
        ["files", "pythonhosted", "org"],
        ["deb", "debian", "org"],
        ["archive", "ubuntu", "com"],
        ["proxy", "golang", "org"],
    ] {
        texts.push((host.join("."), registry));
    }
    texts.push((["//pypi", "org"].join("."), registry));
    texts
}

/// Every place in a file known to git that holds a forbidden text, one line each.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>> {
    let forbidden = forbidden();
    let mut problems = Vec::new();
    for path in files(root)? {
        let Ok(bytes) = std::fs::read(root.join(&path)) else {
            continue; // deleted, not yet committed
        };
        problems.extend(in_text(&path.display().to_string(), &String::from_utf8_lossy(&bytes), &forbidden));
    }
    Ok(problems)
}

fn in_text(name: &str, text: &str, forbidden: &[(String, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (word, reason) in forbidden.iter().filter(|(word, _)| line.contains(word.as_str())) {
            problems.push(format!("{name}:{}: {word} is {reason}", number + 1));
        }
    }
    problems
}

/// Committed files, and new ones that are not ignored: they are about to be committed.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("git does not start")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::{forbidden, in_text};

    #[test]
    fn names_the_line() {
        let forbidden = forbidden();
        let text = format!("fine\nsee /{}/shared/notes\nhttps:{}.{}/simple\n", "work", "//pypi", "org");
        let found = in_text("docs/X.md", &text, &forbidden);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("docs/X.md:2: "), "{found:?}");
        assert!(found[1].starts_with("docs/X.md:3: "), "{found:?}");
    }

    #[test]
    fn leaves_ordinary_text_alone() {
        let text = "cargo, npm and pip\nunder /var/lib/forecourt\nregistry+https://github.com/rust-lang/crates.io-index\n";
        assert_eq!(in_text("README.md", text, &forbidden()), Vec::<String>::new());
    }
}
