//! `docs/errors.md` is what the tables say. `UPDATE_DOCS=1 cargo test -p contract --test it error_page` writes it.

use std::fmt::Write as _;
use std::path::Path;

use contract::errors::{
    A2A_DOMAIN, AAP_DOMAIN, AAP_ERROR, BAD_REQUEST, ERROR_INFO, PROTOCOL_ERRORS, STRUCT, UNSERVED,
};
use contract::{CONTRACTS, ErrorForm, FaultCode};

fn place(form: ErrorForm) -> String {
    match form {
        ErrorForm::Bare => "`error.data` is the AAP error object.".to_owned(),
        ErrorForm::Tagged => format!(
            "`error.data` is a list: ErrorInfo first, BadRequest where fields are at fault, then the AAP\n  error \
             object, which has the member `@type`: `{AAP_ERROR}`."
        ),
        ErrorForm::Struct => format!(
            "`error.data` is a list: ErrorInfo first, BadRequest where fields are at fault, then an entry with\n  \
             `@type`: `{STRUCT}`, whose `value` is the AAP error object."
        ),
    }
}

/// Answers that are HTTP's own: status, `detail` where it is always the same, when, and what to do. The doors decide
/// them (`crates/api`); tests of the interfaces hold each of them.
const HTTP_PROBLEMS: [(u16, &str, &str, &str); 9] = [
    (400, "", "the body broke off or, at plain HTTP, is no JSON; a header cannot be read", "correct it"),
    (
        401,
        "",
        "the dealer wants a credential, or this one is not taken: `WWW-Authenticate`",
        "see callers.md",
    ),
    (
        403,
        "",
        "the credential does not open this skill: `WWW-Authenticate`; at MCP also the origin of a page",
        "see callers.md, mcp.md",
    ),
    (
        404,
        "Nothing is served at this address.",
        "no such address, no such dealer, or one that is not active",
        "check the address",
    ),
    (405, "", "another method; `Allow` and `detail` say which are taken", "use one of them"),
    (408, "The body did not arrive in time.", "", "send it again"),
    (413, "The body is larger than 1 MiB.", "", "send less"),
    (415, "", "plain HTTP and MCP: the body is not sent as JSON", "send `Content-Type: application/json`"),
    (
        503,
        "",
        "the platform is starting or cannot reach its database, or an issuer's keys are being fetched",
        "come again after `Retry-After`",
    ),
];

fn page() -> String {
    let mut page = String::new();
    let mut line = |text: &str| page.push_str(&format!("{text}\n"));
    line("# Errors");
    line("");
    line(
        "<!-- Generated from crates/contract/src/{errors,fault,version}.rs by the test `error_page`; do not edit. -->",
    );
    line("");
    line(
        "A JSON-RPC answer has HTTP status 200, errors included. A skill that refuses answers with an **AAP error",
    );
    line(
        "object**; JSON-RPC and A2A have errors of their own, which never hold one. What goes wrong before a door is",
    );
    line("reached is [HTTP's own](#problems-of-http).");
    line("");
    line("## Refusals of skills");
    line("");
    let mut head = "| code |".to_owned();
    let mut rule = "|---|".to_owned();
    for spec in CONTRACTS {
        let _ = write!(head, " `{}` |", spec.version);
        rule.push_str("---|");
    }
    line(&format!("{head} HTTP | retryable | when |"));
    line(&format!("{rule}---|---|---|"));
    for code in FaultCode::ALL {
        let mut row = format!("| `{}` |", code.as_str());
        for spec in CONTRACTS {
            let _ = match spec.number(*code) {
                Some(number) => write!(row, " {number} |"),
                None => write!(row, " – |"),
            };
        }
        let retryable = if code.retryable() { "yes" } else { "no" };
        line(&format!("{row} {} | {retryable} | {} |", code.http_status(), code.meaning().trim()));
    }
    line("");
    line(
        "The numbers are those of `error.code`; a dash means that the contract lacks the code and it is never sent",
    );
    line("there. HTTP is the status at interfaces that speak plain HTTP.");
    line("");
    line(
        "`error.message` is that of the AAP error object. In `v1.3`, and where the number is between -32099 and -32000, it",
    );
    line(
        "begins with the code and a colon (`VEHICLE_NOT_FOUND: …`), because an official SDK shows callers little else there.",
    );
    line("");
    for spec in CONTRACTS {
        line(&format!("* `{}`: {}", spec.version, place(spec.error_form)));
    }
    line("");
    line(&format!("ErrorInfo (`{ERROR_INFO}`) has the code as `reason`, the `domain` `{AAP_DOMAIN}` and"));
    line(
        "as `metadata` the strings `code`, `error_id`, `retryable` and `created_at`, each equal to the member of the object.",
    );
    line(&format!("BadRequest (`{BAD_REQUEST}`) has one entry of `fieldViolations` for each of"));
    line(
        "`details.errors`: `field` is its `instanceLocation`, `description` its `keyword`, a colon and its `error`.",
    );
    line("");
    line(
        "`error_id` is found in the log: of an `INTERNAL_ERROR` with the cause, at level `error`; of any other refusal at",
    );
    line("level `debug`. None of them repeats a value of the payload.");
    line("");
    line("## Errors of JSON-RPC and A2A");
    line("");
    line("The same in every contract.");
    line("");
    line("| error | number | `reason` | `metadata` | when |");
    line("|---|---|---|---|---|");
    for error in PROTOCOL_ERRORS {
        let reason = error.reason.map_or("–".to_owned(), |reason| format!("`{reason}`"));
        let keys: Vec<_> = error.metadata.iter().map(|key| format!("`{key}`")).collect();
        let keys = if keys.is_empty() { "–".to_owned() } else { keys.join(", ") };
        let when = error.when.unwrap_or("never sent by this platform");
        line(&format!("| {} | {} | {reason} | {keys} | {when} |", error.name, error.number));
    }
    line("");
    line(&format!(
        "With a `reason`, `error.data` begins with an ErrorInfo whose `domain` is `{A2A_DOMAIN}`. Invalid params name the"
    ));
    line("fields in a BadRequest. The others have no `data`.");
    line("");
    line("## Methods that are not served");
    line("");
    line("| method | error | number |");
    line("|---|---|---|");
    for method in UNSERVED {
        line(&format!("| `{}` | {} | {} |", method.method, method.error.name, method.error.number));
    }
    line("");
    line("## Problems of HTTP");
    line("");
    line(
        "At every door; a problem document (RFC 9457, `application/problem+json`) with `status`, `title`, `detail` and",
    );
    line(
        "`request_id`, which is found in the log. Refusals of skills at plain HTTP are problem documents too: they have the",
    );
    line("AAP error object in `error`.");
    line("");
    line("| status | when | what to do |");
    line("|---|---|---|");
    for (status, detail, when, advice) in HTTP_PROBLEMS {
        let detail = if detail.is_empty() { String::new() } else { format!("`{detail}`") };
        let when = [detail.as_str(), when].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let advice =
            advice.replace("callers.md", "[callers.md](callers.md)").replace("mcp.md", "[mcp.md](mcp.md)");
        line(&format!("| {status} | {} | {advice} |", when.join(": ")));
    }
    page
}

#[test]
fn the_page_says_what_the_tables_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page, "docs/errors.md is out of date; write it with UPDATE_DOCS=1");
}
