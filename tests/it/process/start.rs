//! `forecourt up` with a PostgreSQL of its own: from nothing, beside other commands, after being killed.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Process, binary, superuser};

use super::{Done, Folder, LIMIT, Node, block_on, dealers, is_alive, is_root, postmaster, run, until};

const DEMO: [&str; 3] = ["brindlewood", "ironfern", "northmere"];

/// A command on a data folder.
fn command(name: &str, data: &str, more: &[&str]) -> Command {
    let mut arguments = vec![name, "--data-dir", data];
    arguments.extend(more);
    Process::command(&arguments)
}

fn up(data: &str) -> Command {
    command("up", data, &["--listen", "127.0.0.1:0"])
}

/// What is really stored: dealers, vehicles, cards, card revisions.
fn rows(data: &str) -> Vec<i64> {
    block_on(async {
        let mut connection = superuser(&Path::new(data).join("pg/socket"), 5432, "forecourt").await;
        let mut counts = Vec::new();
        for table in ["tenants", "vehicles", "cards", "card_revisions"] {
            let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
            counts.push(sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("a count"));
        }
        counts
    })
}

/// The whole life of one folder, in one test, since a PostgreSQL cluster takes its time to be made.
#[test]
fn one_folder_from_nothing_through_other_commands_and_a_kill() {
    let folder = Folder::new("up");
    let data = folder.path("data");
    let mut node = Node::start(&mut up(&data));

    // What it prints: every base address with a trailing slash, for clients resolve relative to it.
    node.process.wait_for("Ctrl-C stops the platform", LIMIT);
    let printed = node.process.printed().join("\n");
    assert!(printed.contains(&format!("Forecourt is ready: http://{}/\n", node.address)), "{printed}");
    assert!(printed.contains("There are no dealers yet"), "nothing is loaded unasked: {printed}");
    assert_eq!(rows(&data)[..2], [0, 0]);
    assert_eq!(node.get("/").status, 200);
    let alive = node.get("/healthz");
    assert_eq!((alive.status, alive.json()["status"].as_str()), (200, Some("alive")));
    let ready = node.get("/readyz");
    assert_eq!((ready.status, ready.json()["status"].as_str()), (200, Some("ready")));

    // A second one on the same data.
    let owner = format!("forecourt up (process {}) already runs on this data", node.process.pid());
    for name in ["up", "serve"] {
        let done = run(&mut command(name, &data, &["--listen", "127.0.0.1:0"]));
        let done = done.ends(1).says(&[&owner, "--data-dir", "FORECOURT_DATA_DIR"]);
        assert!(done.out.is_empty(), "what went wrong goes to standard error: {}", done.out);
    }

    other_commands_adopt_the_running_server(&folder, &data, &node);
    the_demo_loads_once(&data, &node);
    let before = (rows(&data), DEMO.map(|slug| node.card(slug)));

    // Killed, and started again at another port: whole, and nothing doubled.
    let server = postmaster(Path::new(&data)).expect("a running server");
    node.process.kill();
    let listen = node.address.to_string();
    let mut again = Node::start(&mut command("up", &data, &["--demo", "--listen", &listen]));
    assert_ne!(postmaster(Path::new(&data)), Some(server));
    assert_eq!((rows(&data), DEMO.map(|slug| again.card(slug))), before, "the same rows and the same cards");
    again.process.wait_for("Ctrl-C stops the platform", LIMIT);
    let printed = again.process.printed().join("\n");
    for slug in DEMO {
        assert!(printed.contains(&format!("  http://{listen}/t/{slug}/   ")), "{printed}");
    }
    again.stop();

    // A start that fails after PostgreSQL was started takes it along.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    run(&mut command("up", &data, &["--listen", &listen])).ends(1).says(&["is taken", "--listen"]);
    assert_eq!(postmaster(Path::new(&data)), None);

    // Without a platform, commands run the server for as long as they need it.
    run(&mut command("doctor", &data, &["--listen", "127.0.0.1:0"])).ends(0).says(&["it is not running"]);
    run(&mut command("demo", &data, &[])).ends(0).says(&["northmere: unchanged"]);
    assert_eq!(postmaster(Path::new(&data)), None, "ended with the command");

    // Told of a public origin, it prints what is served there: the draft is not, though a dealer has it as its default.
    let default = r#"{"tenants": {"harbor": {"default_contract": "latest"}}}"#;
    let file = folder.write("latest.json", default);
    run(&mut command("provision", &data, &[&file])).ends(0).says(&["harbor: updated"]);
    let public = ["--listen", "127.0.0.1:0", "--public-origin", "https://dealers.example"];
    let mut public = Node::start(&mut command("up", &data, &public));
    public.process.wait_for("Ctrl-C stops the platform", LIMIT);
    let printed = public.process.printed().join("\n");
    let harbor =
        "contracts: v1.3, v3.0; give v3.0/ behind the address: its default, latest, is not served here\n";
    assert!(printed.contains(harbor), "{printed}");
    assert!(printed.contains("contracts: v3.0 (its card), v1.3\n"), "{printed}");
    assert!(!printed.contains("curl -s https://dealers.example/t/harbor/"), "{printed}");
    public.stop();
    // The doctor says where the platform was reached, whatever its own settings are.
    run(&mut command("doctor", &data, &["--listen", "127.0.0.1:0"]))
        .ends(0)
        .says(&["the platform that started last on this data is reached at https://dealers.example"]);
}

fn other_commands_adopt_the_running_server(folder: &Folder, data: &str, node: &Node) {
    let server = postmaster(Path::new(data));
    run(&mut command("migrate", data, &[])).ends(0).says(&["the database is up to date"]);
    let file = folder.write("dealers.json", &dealers(&[("harbor", 3)]).to_string());
    run(&mut command("provision", data, &[&file])).ends(0).says(&["harbor: created", "1 created"]);
    until("the new dealer is served", Duration::from_secs(10), || node.get("/t/harbor/").status == 200);
    assert_eq!(node.total("harbor"), 3);
    // The command did not know where the platform listens; the card does.
    assert!(node.card("harbor").contains(&format!("\"http://{}/t/harbor/v3.0/a2a\"", node.address)));

    let listen = node.address.to_string();
    let run_by = format!("it is run by forecourt up (process {})", node.process.pid());
    let doctor = run(&mut command("doctor", data, &["--listen", &listen])).ends(0);
    doctor.says(&[&run_by, "is served by a running platform", "no dealer can see another's rows"]);
    let doctor = run(&mut command("doctor", data, &["--json", "--listen", &listen])).ends(0);
    let report: Value = serde_json::from_str(&doctor.out).expect("JSON");
    assert_eq!(report["ok"], true, "{report}");
    let checks = report["checks"].as_array().expect("checks");
    for name in ["settings", "disk", "postgres", "database", "clock", "roles", "migrations", "wall", "port"] {
        assert!(checks.iter().any(|check| check["check"] == name && check["verdict"] == "ok"), "{report}");
    }
    assert_eq!(postmaster(Path::new(data)), server, "no command ends or replaces the server of another");
    assert_eq!(node.get("/readyz").status, 200);
}

fn the_demo_loads_once(data: &str, node: &Node) {
    let said = |done: Done, word| DEMO.iter().all(|slug| done.text().contains(&format!("{slug}: {word}\n")));
    assert!(said(run(&mut command("demo", data, &[])).ends(0), "created"));
    let once = rows(data);
    assert!(once[1] > 1500, "three dealers' lots: {once:?}");
    until("the demo is served", Duration::from_secs(10), || {
        DEMO.iter().all(|slug| node.get(&format!("/t/{slug}/")).status == 200)
    });
    let cards = DEMO.map(|slug| node.card(slug));
    assert!(said(run(&mut command("demo", data, &[])).ends(0), "unchanged"));
    assert_eq!(rows(data), once, "nothing doubles");
    assert_eq!(DEMO.map(|slug| node.card(slug)), cards, "no card changes");
    // The photos of the demo are the platform's own.
    let found = node.search("ironfern", json!({})).json();
    let photo = found.pointer("/result/message/parts/0/data/data/vehicles/0/photos/0");
    if let Some(path) = photo.and_then(Value::as_str).and_then(|url| url.split_once("//")?.1.split_once('/'))
    {
        let reply = node.get(&format!("/{}", path.1));
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("image/svg+xml")));
    }
}

#[test]
fn commands_that_need_data_make_none() {
    let folder = Folder::new("nothing");
    for arguments in [
        &["lead", "list", "harbor"][..],
        &["key", "list", "harbor"],
        &["key", "add", "harbor", "--name", "pelican"],
        &["key", "revoke", "harbor", "pelican"],
        &["doctor", "--listen", "127.0.0.1:0"],
    ] {
        let mut command = Process::command(arguments);
        let status = if arguments[0] == "doctor" { 0 } else { 1 };
        run(command.current_dir(&folder.0)).ends(status).says(&[
            "there is no data here (.data)",
            "call it where the platform was started",
            "--data-dir",
        ]);
        let made = std::fs::read_dir(&folder.0).unwrap().count();
        assert_eq!(made, 0, "{arguments:?} makes nothing");
    }
}

#[test]
fn killed_while_the_cluster_is_made_in_a_relative_folder() {
    let folder = Folder::new("half");
    // As `cd somewhere; forecourt up --data-dir state/data`.
    let start = || {
        let mut command = up("state/data");
        command.current_dir(&folder.0);
        command
    };
    let root = folder.0.join("state/data/pg");
    let making = || {
        let entries = std::fs::read_dir(&root).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("making-")).count()
    };
    let mut process = Process::spawn(&mut start());
    until("initdb works", LIMIT, || making() > 0);
    process.kill();
    assert_eq!((making(), root.join("data").exists()), (1, false), "half-made");

    let mut node = Node::start(&mut start());
    assert_eq!(making(), 0, "cleared away");
    node.process.wait_for("never completed", LIMIT);
    assert!(root.join("data/PG_VERSION").exists(), "below the folder that it was started in");
    let server = postmaster(&folder.0.join("state/data")).expect("a running server");
    if is_root() {
        let owner =
            std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(format!("/proc/{server}")).unwrap());
        assert_ne!(owner, 0, "a server never runs as root");
        node.process.wait_for("PostgreSQL runs as the account", LIMIT);
    }
    node.stop();
    assert!(!is_alive(server), "it ends with the platform");
}

#[test]
fn a_full_disk_is_named() {
    let folder = Folder::new("full");
    let small = folder.path("small");
    std::fs::create_dir(&small).unwrap();
    // A file system of the test's own, in a view of the machine that ends with the process.
    let inside = |size: &str, what: &str| {
        let mut command = Command::new("unshare");
        let script = format!("mount -t tmpfs -o size={size},mode=755 none \"$1\" && exec {what}");
        command.args(["--mount", "sh", "-c", &script, "sh", &small]);
        command.arg(binary()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        if let Some(folder) = std::env::var_os("PG_BIN_DIR") {
            command.env("PG_BIN_DIR", folder);
        }
        command
    };
    if !inside("1m", "true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        eprintln!("left out: this account may not mount a small file system");
        return;
    }
    let up = "\"$2\" up --demo --data-dir \"$1/data\" --listen 127.0.0.1:0";
    let done = run(&mut inside("1m", up)).ends(1).says(&["initdb failed because the disk is full"]);
    assert!(done.out.is_empty(), "{}", done.out);
    // Room for an empty cluster, whose size is known, and not for the demo's cars.
    run(&mut inside("44m", up))
        .ends(1)
        .says(&["the demo dealers were not loaded", "the disk of the database is full"]);
}

/// The number of the account `nobody` on every system that we know.
const NOBODY: u32 = 65534;

#[test]
fn an_ordinary_user_starts_it_and_root_goes_on() {
    if !is_root() {
        eprintln!(
            "left out: only root can become another user; all tests here run as an ordinary one already"
        );
        return;
    }
    let folder = Folder::new("nobody");
    std::os::unix::fs::chown(&folder.0, Some(NOBODY), Some(NOBODY)).unwrap();
    // The checkout may lie where only root can go.
    let program = folder.0.join("forecourt");
    std::fs::hard_link(binary(), &program).or_else(|_| std::fs::copy(binary(), &program).map(drop)).unwrap();
    let data = folder.path("data");
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).uid(NOBODY).gid(NOBODY).current_dir(&folder.0).env_clear();
        for name in ["PATH", "PG_BIN_DIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    };

    let node = Node::start(&mut as_nobody(&["up", "--listen", "127.0.0.1:0", "--data-dir", "data"]));
    let file = folder.write("dealers.json", &dealers(&[("harbor", 2)]).to_string());
    run(&mut as_nobody(&["provision", &file, "--data-dir", "data"])).ends(0).says(&["harbor: created"]);
    until("the dealer is served", Duration::from_secs(10), || node.get("/t/harbor/").status == 200);
    // Root may look at it and use it.
    run(&mut command("doctor", &data, &["--listen", "127.0.0.1:0"]))
        .ends(0)
        .says(&["is run by forecourt up"]);
    let card = node.card("harbor");
    let listen = node.address.to_string();
    node.stop();

    // Root takes over; the server stays nobody's, since the data is.
    let node = Node::start(&mut command("up", &data, &["--listen", &listen]));
    assert_eq!(node.card("harbor"), card);
    let server = postmaster(Path::new(&data)).expect("a running server");
    let status = std::fs::read_to_string(format!("/proc/{server}/status")).unwrap();
    assert!(status.contains(&format!("Uid:\t{NOBODY}\t")), "{status}");
    node.stop();

    // And back: nothing that root left behind is in the way.
    let node = Node::start(&mut as_nobody(&["up", "--listen", &listen, "--data-dir", "data"]));
    assert_eq!(node.card("harbor"), card);
    node.stop();
}
