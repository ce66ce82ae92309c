//! Which crate may depend on which, and what must never come along.
//!
//! This table and the picture in docs/ARCHITECTURE.md say the same. A crate that is not in it fails the check,
//! so a new one has to be placed on purpose.

use crate::graph::{Graph, Package};

/// One member of the workspace.
struct Rule {
    name: &'static str,
    /// Members it may depend on, in code that is shipped.
    may: &'static [&'static str],
    /// Further members that its tests alone may use.
    tests: &'static [&'static str],
    /// Packages that must not be reachable from it, through anybody.
    never: &'static [&'static str],
}

/// `contract` and `inventory` are pure: no runtime, no network, no database.
const IO: &[&str] = &["actix-web", "reqwest", "sqlx", "tokio"];

const RULES: &[Rule] = &[
    Rule { name: "contract", may: &[], tests: &[], never: IO },
    Rule { name: "feeds", may: &["contract"], tests: &[], never: IO },
    Rule { name: "inventory", may: &["contract"], tests: &[], never: IO },
    Rule { name: "store", may: &["contract"], tests: &[], never: &["actix-web", "reqwest"] },
    Rule {
        name: "dealer",
        may: &["contract", "feeds", "inventory", "store"],
        tests: &[],
        never: &["actix-web", "reqwest"],
    },
    Rule { name: "api", may: &["contract", "store", "dealer"], tests: &[], never: &["reqwest"] },
    Rule {
        name: "worker",
        may: &["contract", "feeds", "store", "dealer"],
        tests: &[],
        never: &["actix-web"],
    },
    Rule {
        name: "server",
        may: &["contract", "feeds", "inventory", "store", "dealer", "api", "worker"],
        tests: &[],
        never: &[],
    },
    Rule { name: "testkit", may: &["contract", "store", "dealer", "server"], tests: &[], never: &[] },
    Rule {
        name: "platform-tests",
        may: &[],
        tests: &[
            "contract",
            "feeds",
            "inventory",
            "store",
            "dealer",
            "api",
            "worker",
            "server",
            "testkit",
            "fuzz-targets",
        ],
        never: &[],
    },
    // Tests too, as a library: what is in it runs in programs of `cargo fuzz` as well.
    Rule {
        name: "fuzz-targets",
        may: &["contract", "feeds", "inventory", "dealer", "api"],
        tests: &[],
        never: &[],
    },
    Rule {
        name: "bench",
        may: &["contract", "feeds", "inventory", "store", "dealer", "api", "worker", "server"],
        tests: &[],
        never: &[],
    },
    Rule { name: "xtask", may: &[], tests: &[], never: &["sqlx", "tokio"] },
];

/// Every dependency that goes against the table, one line each.
pub(crate) fn problems(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    for member in graph.members() {
        match RULES.iter().find(|rule| rule.name == member.name) {
            Some(rule) => problems.extend(against(rule, member, graph)),
            None => problems.push(format!("{} has no row in crates/xtask/src/directions.rs", member.name)),
        }
    }
    for rule in RULES.iter().filter(|rule| !graph.members().any(|member| member.name == rule.name)) {
        problems.push(format!("{} has a row in crates/xtask/src/directions.rs, but is no crate", rule.name));
    }
    problems
}

fn against(rule: &Rule, member: &Package, graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    for (needed, beyond_tests) in graph.needs(member).filter(|(needed, _)| needed.ours) {
        let name = needed.name.as_str();
        if !rule.may.contains(&name) && (beyond_tests || !rule.tests.contains(&name)) {
            let how = if beyond_tests { "depend on" } else { "use in its tests" };
            problems.push(format!("{} must not {how} {name}", rule.name));
        }
    }
    for target in rule.never {
        if let Some(chain) = graph.chain(member, target) {
            problems.push(format!("{} must be free of {target}: {}", rule.name, chain.join(" -> ")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{RULES, problems};
    use crate::graph::{Graph, samples::graph};

    /// The workspace as it is: `cargo test` fails on a wrong direction.
    #[test]
    fn this_workspace_keeps_the_directions() {
        let graph = Graph::load().expect("cargo metadata works offline after a build of the whole workspace");
        assert_eq!(problems(&graph), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_direction_is_named() {
        let mut lines = vec![
            "*contract | MIT | | api? serde".to_owned(),
            "*inventory | MIT | | contract".to_owned(),
            "*api | MIT | | store inventory".to_owned(),
            "*stray | MIT".to_owned(),
            "serde | MIT | | tokio".to_owned(),
            "tokio | MIT".to_owned(),
        ];
        let written = ["contract", "inventory", "api"];
        let left_out = "dealer";
        for rule in RULES.iter().filter(|rule| !written.contains(&rule.name) && rule.name != left_out) {
            lines.push(format!("*{} | MIT", rule.name));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let found = problems(&graph(&lines));
        for expected in [
            "contract must not use in its tests api",
            "contract must be free of tokio: contract -> serde -> tokio",
            "inventory must be free of tokio: inventory -> contract -> serde -> tokio",
            "api must not depend on inventory",
            "stray has no row",
            "dealer has a row",
        ] {
            assert!(
                found.iter().any(|problem| problem.starts_with(expected)),
                "{expected} is not in {found:#?}"
            );
        }
    }
}
