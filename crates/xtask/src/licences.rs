//! The gate for what may be linked in: licences, banned crates, banned features.
//!
//! `deny.toml` says the same to cargo-deny, for those who have it installed; this gate needs no install.

use crate::graph::{Graph, Package};
use crate::spdx::satisfied;

/// Licences that let a closed product be shipped with no more than a notice.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that must not come along, not even through somebody's default features.
const BANNED: &[(&str, &str)] = &[
    ("actix-governor", "GPL-3.0"),
    ("aws-lc-rs", "one TLS provider only, `ring`; this one needs cmake and minutes of C"),
    ("aws-lc-sys", "one TLS provider only, `ring`; this one needs cmake and minutes of C"),
    ("native-tls", "TLS is rustls everywhere"),
    ("openssl-sys", "TLS is rustls everywhere"),
];

/// Features that change the behaviour of a crate for everybody in the workspace.
const BANNED_FEATURES: &[(&str, &str, &str)] = &[
    ("serde_json", "preserve_order", "canonical JSON and its hashes rely on sorted keys"),
    ("serde_json", "arbitrary_precision", "numbers would change their form on the way through"),
];

/// Everything that is wrong with the dependencies, one line each.
pub(crate) fn problems(graph: &Graph) -> Vec<String> {
    graph.packages().flat_map(of_package).collect()
}

fn of_package(package: &Package) -> Vec<String> {
    let mut problems = Vec::new();
    let called = format!("{} {}", package.name, package.version);
    match &package.licence {
        None => problems.push(format!("{called} names no licence")),
        Some(licence) => match satisfied(licence, ALLOWED) {
            Ok(true) => {}
            Ok(false) => problems.push(format!("{called} is under {licence}, which is not on the list")),
            Err(reason) => problems.push(format!("{called}: {reason}")),
        },
    }
    for (_, reason) in BANNED.iter().filter(|(name, _)| *name == package.name) {
        problems.push(format!("{called} must not be used: {reason}"));
    }
    for (_, feature, reason) in BANNED_FEATURES.iter().filter(|(name, ..)| *name == package.name) {
        if package.features.iter().any(|on| on == feature) {
            problems.push(format!("{called} must not have its feature {feature} on: {reason}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::graph::samples::graph;

    #[test]
    fn names_every_problem_of_every_package() {
        let graph = graph(&[
            "*api | Apache-2.0 | | serde_json actix-governor nameless",
            "serde_json | MIT OR Apache-2.0 | std preserve_order",
            "actix-governor | GPL-3.0-or-later",
            "nameless",
        ]);
        let found = problems(&graph).join("\n");
        for expected in [
            "serde_json 1.0.0 must not have its feature preserve_order on",
            "actix-governor 1.0.0 is under GPL-3.0-or-later",
            "actix-governor 1.0.0 must not be used: GPL-3.0",
            "nameless 1.0.0 names no licence",
        ] {
            assert!(found.contains(expected), "{expected} is not in:\n{found}");
        }
        assert_eq!(found.lines().count(), 4, "{found}");
    }

    #[test]
    fn permissive_packages_pass() {
        let graph =
            graph(&["*api | Apache-2.0 | | serde_json", "serde_json | MIT/Apache-2.0 | std raw_value"]);
        assert_eq!(problems(&graph), Vec::<String>::new());
    }
}
