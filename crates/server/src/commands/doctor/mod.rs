//! `forecourt doctor`: looks at everything that can stand in the way and says what to do. Changes nothing.

mod data;
mod machine;

use std::process::ExitCode;

use serde::Serialize;

use crate::commands::{count, runtime};
use crate::failure::{FAILED, Failure};
use crate::output::say;
use crate::settings::{Flags, LogFormat, LogSettings, Settings, unknown_variables};
use crate::telemetry::Telemetry;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// Works, and will not for ever or not for everybody.
    Warn,
    /// The platform does not start like this.
    Fail,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    text: String,
    /// What to do, one line each.
    advice: Vec<String>,
}

impl Finding {
    fn ok(check: &'static str, text: impl Into<String>) -> Finding {
        Finding { check, verdict: Verdict::Ok, text: text.into(), advice: Vec::new() }
    }

    fn warn(check: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { check, verdict: Verdict::Warn, text: text.into(), advice: vec![advice.into()] }
    }

    fn fail(check: &'static str, failure: Failure) -> Finding {
        Finding { check, verdict: Verdict::Fail, text: failure.sentence, advice: failure.advice }
    }
}

/// Runs all checks, prints them, and fails if one failed.
pub(crate) fn run(flags: &Flags, json: bool) -> ExitCode {
    // Only what goes wrong inside: the findings are the output.
    let log = LogSettings { filter: "error".to_owned(), format: LogFormat::Auto };
    let telemetry = Telemetry::start(&log);
    let mut findings = match Settings::check(flags) {
        Err(problems) => problems
            .iter()
            .map(|problem| Finding::fail("settings", Failure::new(problem.to_string())))
            .chain([Finding::warn(
                "settings",
                "nothing else was looked at",
                "correct the settings above and run `forecourt doctor` again",
            )])
            .collect(),
        Ok(settings) => examine(&settings),
    };
    match telemetry {
        Ok(telemetry) => telemetry.shutdown(),
        Err(failure) => findings.push(Finding::fail("traces", failure)),
    }
    let failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    print(&findings, failed, json);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = machine::settings(settings);
    findings.extend(unknown_variables().iter().map(|name| {
        Finding::warn(
            "settings",
            format!("the variable {name} means nothing here"),
            "is it misspelt? see --help",
        )
    }));
    findings.extend(machine::tls(settings));
    findings.extend(machine::disk(settings));
    // On this thread: a private PostgreSQL ends with the thread that started it.
    let (place, found) = data::open(settings);
    findings.extend(found);
    match runtime() {
        Ok(runtime) => runtime.block_on(async {
            findings.push(machine::port(settings).await);
            if let Some(place) = &place {
                findings.extend(data::examine(&place.database(), settings).await);
            }
        }),
        Err(failure) => findings.push(Finding::fail("threads", failure)),
    }
    if let Some(place) = place {
        place.close();
    }
    findings
}

fn print(findings: &[Finding], failed: usize, json: bool) {
    if json {
        say(serde_json::json!({ "ok": failed == 0, "checks": findings }));
        return;
    }
    for Finding { check, verdict, text, advice } in findings {
        let verdict = match verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "FAIL",
        };
        say(format_args!("{verdict:4}  {check:10}  {text}"));
        advice.iter().for_each(|line| say(format_args!("{:18}{line}", "")));
    }
    match failed {
        0 => say("Nothing stands in the way."),
        number => say(format_args!("{} failed; see what to do above.", count(number, "check"))),
    }
}
