//! What a start is refused for, in words that help; and what is never said.

use std::net::TcpListener;

use testkit::Process;

use super::{Folder, Node, database, on, run};

#[test]
fn all_problems_with_settings_are_named_at_once() {
    let mut command = Process::command(&["serve", "--listen", "8080", "--workers", "none"]);
    command.env("FORECOURT_PUBLIC_ORIGIN", "http://dealers.example").env("FORECOURT_LOG_FORMAT", "xml");
    command.env("FORECOURT_TRUSTED_PROXIES", "proxy.example").env("FORECOURT_MAX_AGE", "soon");
    command.env("FORECOURT_TLS_CERT", "/nowhere/cert.pem").env("FORECOURT_DRAIN_SECONDS", "-1");
    command.env("DATABASE_URL", "mysql://root:hunter2@db/x");
    let done = run(&mut command).ends(2).says(&[
        "forecourt: 10 settings cannot be used",
        "--listen (FORECOURT_LISTEN)",
        "--workers (FORECOURT_WORKERS)",
        "--public-origin (FORECOURT_PUBLIC_ORIGIN)",
        "--log-format (FORECOURT_LOG_FORMAT)",
        "--trusted-proxies (FORECOURT_TRUSTED_PROXIES)",
        "--max-age (FORECOURT_MAX_AGE)",
        "--tls-cert (FORECOURT_TLS_CERT)",
        "--tls-key (FORECOURT_TLS_KEY) is missing",
        "--drain-seconds (FORECOURT_DRAIN_SECONDS)",
        "--database-url (DATABASE_URL)",
    ]);
    assert!(done.out.is_empty() && !done.text().contains("hunter2"), "{}", done.text());
    // The doctor says the same of the same.
    command = Process::command(&["doctor", "--listen", "8080", "--workers", "none"]);
    run(&mut command).ends(1).says(&[
        "--listen (FORECOURT_LISTEN)",
        "--workers (FORECOURT_WORKERS)",
        "2 checks",
    ]);
}

#[test]
fn an_origin_that_agents_would_refuse_is_refused_before_anything_runs() {
    let folder = Folder::new("origin");
    let data = folder.path("data");
    for name in ["up", "serve", "provision", "demo"] {
        let mut arguments = vec![name, "--data-dir", &data, "--public-origin", "http://dealers.example"];
        if name == "provision" {
            arguments.push("-");
        }
        let done = run(&mut Process::command(&arguments));
        done.ends(2).says(&["--public-origin (FORECOURT_PUBLIC_ORIGIN)", "https://"]);
    }
    // On every address of the machine without a name that agents could use: the same.
    let done = run(&mut Process::command(&["up", "--data-dir", &data, "--listen", "192.0.2.7:8080"]));
    done.ends(2).says(&["--public-origin (FORECOURT_PUBLIC_ORIGIN) is missing"]);
    assert!(!std::path::Path::new(&data).exists(), "nothing was made");
}

#[test]
fn a_port_in_use_is_refused_with_the_flag_to_change() {
    let (_, url) = database();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = held.local_addr().unwrap().to_string();
    let words =
        [&format!("port {} of 127.0.0.1 is taken", held.local_addr().unwrap().port()), "--listen 127.0.0.1:"];
    for name in ["up", "serve"] {
        on(&url, &[name, "--listen", &listen]).ends(1).says(&words);
    }
    // A stranger who says nothing is no platform of ours.
    std::thread::spawn(move || while held.accept().is_ok() {});
    on(&url, &["doctor", "--listen", &listen]).ends(1).says(&words);
}

#[test]
fn a_database_of_somebody_gets_no_demo_unasked() {
    let (_, url) = database();
    let mut command = Process::command(&["up", "--listen", "127.0.0.1:0"]);
    command.env("DATABASE_URL", &url).env("FORECOURT_PUBLIC_ORIGN", "https://dealers.example");
    let mut node = Node::start(&mut command);
    node.process.wait_for("There are no dealers yet", super::LIMIT);
    node.process.wait_for("the variable FORECOURT_PUBLIC_ORIGN means nothing here", super::LIMIT);
    assert_eq!(node.get("/t/brindlewood/").status, 404);
    node.stop();
    // Asked for, it is.
    on(&url, &["demo"]).ends(0).says(&["brindlewood: created"]);
}

#[test]
fn the_help_teaches_and_shows_no_secret() {
    let overview = run(&mut Process::command(&["--help"])).ends(0);
    overview.says(&["Examples:", "forecourt up --demo", "DATABASE_URL", "Exit status:"]);
    run(&mut Process::command(&["updown"])).ends(2).says(&["updown", "--help"]);
    for name in ["up", "serve", "migrate", "provision", "demo", "doctor"] {
        let done = on("postgres://app:hunter2@db/x", &[name, "--help"])
            .ends(0)
            .says(&["Usage: forecourt", "DATABASE_URL"]);
        assert!(!done.text().contains("hunter2"), "{}", done.text());
    }
}

/// A password that no other text contains.
const PASSWORD: &str = "pw-xyzzy%2Fplugh";
/// How it reads when it is decoded.
const DECODED: &str = "pw-xyzzy/plugh";

#[track_caller]
fn is_silent_about_it(text: &str) {
    for form in [PASSWORD, DECODED, "xyzzy"] {
        assert!(!text.contains(form), "the password is in:\n{text}");
    }
}

#[test]
fn no_output_holds_the_password_of_the_database() {
    // Where nobody listens, where it cannot be read, and where it is no database address at all.
    let unusable = [
        format!("postgres://app:{PASSWORD}@127.0.0.1:1/x"),
        format!("postgres://app:{PASSWORD}@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nowhere"),
        format!("postgres://app:{PASSWORD}@[::1/x"),
        format!("postgres://app:{PASSWORD}@127.0.0.1:99999/x"),
        format!("mysql://app:{PASSWORD}@127.0.0.1/x"),
        format!("app:{PASSWORD}@127.0.0.1/x"),
    ];
    for url in &unusable {
        for name in ["serve", "up", "doctor", "migrate"] {
            let mut arguments = vec![name, "--log-format", "pretty"];
            if name != "migrate" {
                arguments.extend(["--listen", "127.0.0.1:0"]);
            }
            let done = on(url, &arguments).says(&["database"]);
            assert!(matches!(done.status, Some(1 | 2)), "{url}: {}", done.text());
            is_silent_about_it(&done.text());
        }
        is_silent_about_it(&run(&mut Process::command(&["migrate", "--database-url", url])).text());
    }

    // A platform that works and tells everything it can.
    let (_, url) = database();
    let url = url.replacen("postgres@", &format!("postgres:{PASSWORD}@"), 1);
    assert!(url.contains(PASSWORD));
    for command in ["migrate", "doctor"] {
        is_silent_about_it(&on(&url, &[command]).ends(0).text());
    }
    let mut command =
        Process::command(&["up", "--listen", "127.0.0.1:0", "--log", "trace,sqlx=trace,sqlx_core=trace"]);
    let mut node = Node::start(command.env("DATABASE_URL", &url));
    node.process.wait_for("PostgreSQL: ", super::LIMIT);
    let lines = node.stop();
    assert!(lines.iter().any(|line| line.contains("\"level\":\"DEBUG\"")), "it told all it can");
    is_silent_about_it(&lines.join("\n"));
}
