//! Databases of others: whatever the login may do, the platform works or says exactly what is missing.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection};
use store::{Database, setup};
use testkit::{OwnServer, cluster, data_of};

use super::{Done, Node, as_superuser, block_on, database, dealers, http, on, provision, run, serve, until};

/// Runs statements as the superuser of a server; each is a transaction of its own.
fn administrate(server: &OwnServer, database: &str, statements: &[&str]) {
    block_on(async {
        let mut connection = server.superuser(&server.database().named(database)).await;
        for statement in statements {
            let done = sqlx::raw_sql(AssertSqlSafe(*statement)).execute(&mut connection).await;
            done.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        connection.close().await.expect("the database answers");
    });
}

/// What `doctor` found.
struct Diagnosis {
    status: Option<i32>,
    report: Value,
}

/// One check of it.
struct Check {
    text: String,
    advice: Vec<String>,
}

fn doctor(url: &str) -> Diagnosis {
    let done = on(url, &["doctor", "--json", "--listen", "127.0.0.1:0"]);
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.text()));
    assert_eq!(report["ok"], json!(done.status == Some(0)), "{report}");
    Diagnosis { status: done.status, report }
}

impl Diagnosis {
    #[track_caller]
    fn ends(self, status: i32) -> Diagnosis {
        assert_eq!(self.status, Some(status), "{}", self.report);
        self
    }

    #[track_caller]
    fn check(&self, name: &str, verdict: &str) -> Check {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let checks = self.report["checks"].as_array().expect("checks");
        let found = checks.iter().find(|check| check["check"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} was not looked at: {}", self.report));
        assert_eq!(found["verdict"], json!(verdict), "{found}");
        let advice = found["advice"].as_array().expect("advice").iter().map(text).collect();
        Check { text: text(&found["text"]), advice }
    }
}

#[track_caller]
fn all_is_well(url: &str) {
    let diagnosis = doctor(url).ends(0);
    for name in ["database", "clock", "roles", "migrations", "wall"] {
        diagnosis.check(name, "ok");
    }
}

/// Migrates, twice; then serves a dealer.
fn works(url: &str, first: &[&str]) {
    on(url, &["migrate"]).ends(0).says(first).says(&["applied 0001_tenants"]);
    let again = on(url, &["migrate"]).ends(0);
    assert_eq!(again.out, "the database is up to date\n", "{}", again.text());
    provision(url, &dealers(&[("harbor", 3)]));
    let node = Node::start(&mut serve(url));
    assert_eq!(node.total("harbor"), 3);
    all_is_well(url);
    node.stop();
}

#[track_caller]
fn is_not_migrated(done: Done) {
    let done = done.ends(1).says(&[
        "the database lacks 7 migrations of this version",
        "0001_tenants",
        "0002_inventory",
        "0003_versions",
    ]);
    done.says(&["run `forecourt migrate` with the same settings, then start again"]);
}

/// One server for all that concerns logins, for roles are the server's.
#[test]
fn three_kinds_of_login_and_a_restored_backup() {
    let server = OwnServer::start("logins");
    administrate(
        &server,
        "postgres",
        &[
            "create role weak login",
            "create role maker login createrole",
            "create role reader login password 'right'",
            "create database weak_db owner weak encoding 'UTF8' template template0",
            "create database maker_db owner maker encoding 'UTF8' template template0",
            "create database super_db encoding 'UTF8' template template0",
        ],
    );
    let url = |database: &str, login: &str| server.url(&server.database().named(database), login);

    // A login that may not make roles: refused, with what an administrator has to run.
    let weak = url("weak_db", "weak");
    let refused = on(&weak, &["migrate"]).ends(1);
    let refused =
        refused.says(&["the database login weak needs the roles of the platform", "let an administrator"]);
    let sql: Vec<_> = refused.err.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    for name in ["serve", "up"] {
        let listen = ["--listen", "127.0.0.1:0"];
        let done = on(&weak, &[&[name], &listen[..]].concat());
        // `serve` has no reason to look at roles before there is anything to serve.
        if name == "serve" { is_not_migrated(done) } else { drop(done.ends(1).says(&sql)) }
    }
    let roles = doctor(&weak).ends(1).check("roles", "fail");
    let advised: Vec<_> = roles.advice.iter().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(advised, sql, "both say the same");
    assert!(sql.len() >= 5 && sql.iter().all(|line| line.ends_with(';')), "{sql:#?}");

    // One that may.
    let maker = url("maker_db", "maker");
    let roles = doctor(&maker).ends(0).check("roles", "ok");
    assert!(roles.text.contains("`forecourt migrate`"), "{}", roles.text);
    is_not_migrated(run(&mut serve(&maker)));
    works(&maker, &["roles made"]);

    // The administrator has run it, twice even.
    administrate(&server, "postgres", &sql);
    administrate(&server, "weak_db", &sql);
    doctor(&weak).ends(0).check("roles", "ok");
    works(&weak, &[]);

    // And one that may do anything.
    works(&url("super_db", "postgres"), &[]);

    refusals_of_the_server(&server);
    backup_and_restore(&server, &maker);
}

fn refusals_of_the_server(server: &OwnServer) {
    // From now on one login has to say its password.
    let hba: String = block_on(async {
        let mut connection = server.superuser(&server.database().named("postgres")).await;
        sqlx::query_scalar("show hba_file").fetch_one(&mut connection).await.expect("a path")
    });
    let rules = std::fs::read_to_string(&hba).expect("the rules of the server");
    std::fs::write(&hba, format!("local all reader scram-sha-256\n{rules}")).expect("a writable file");
    administrate(server, "postgres", &["select pg_reload_conf()"]);
    let url = |login: &str| server.url(&server.database().named("maker_db"), login);
    until("the rule holds", Duration::from_secs(20), || {
        on(&url("reader:wrong-zz"), &["migrate"]).err.contains("28P01")
    });
    for name in ["migrate", "serve", "doctor"] {
        let mut arguments = vec![name];
        if name != "migrate" {
            arguments.extend(["--listen", "127.0.0.1:0"]);
        }
        let done = on(&url("reader:wrong-zz"), &arguments).ends(1);
        let done = done.says(&["the database refuses the login", "check login and password in DATABASE_URL"]);
        assert!(!done.text().contains("wrong-zz"), "{}", done.text());
    }
    // With the right one it is the next thing that is wrong.
    on(&url("reader:right"), &["migrate"])
        .ends(1)
        .says(&["login reader needs the roles", "grant forecourt_owner"]);
    on(&url("nobody-known"), &["migrate"]).ends(1).says(&["nobody-known"]);
    let nowhere = server.url(&server.database().named("nowhere"), "maker");
    for name in ["migrate", "doctor"] {
        on(&nowhere, &[name])
            .ends(1)
            .says(&["there is no such database", "create database nowhere encoding 'UTF8'"]);
    }
    let latin = "create database latin owner maker encoding 'LATIN1' locale 'C' template template0";
    administrate(server, "postgres", &[latin]);
    let latin = server.url(&server.database().named("latin"), "maker");
    for name in ["migrate", "doctor"] {
        on(&latin, &[name]).ends(1).says(&["LATIN1", "encoding 'UTF8'"]);
    }
}

/// A client program of PostgreSQL that is not older than the server; servers without clients exist.
fn client(server: &OwnServer, name: &str) -> Option<PathBuf> {
    let version: i32 = block_on(async {
        let mut connection = server.superuser(&server.database().named("postgres")).await;
        let sql = "select current_setting('server_version_num')::int / 10000";
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("a number")
    });
    let folders = std::env::var_os("PG_BIN_DIR").into_iter().chain(std::env::var_os("PATH"));
    let mut programs = folders
        .flat_map(|list| std::env::split_paths(&list).map(|folder| folder.join(name)).collect::<Vec<_>>());
    programs.find(|program| {
        let Ok(output) = Command::new(program).arg("--version").output() else { return false };
        // pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = text.split(' ').nth(2).and_then(|word| word.split('.').next()?.parse::<i32>().ok());
        number.is_some_and(|number| number >= version)
    })
}

/// As docs/OPERATIONS.md says.
fn backup_and_restore(server: &OwnServer, url: &str) {
    let Some((dump, restore)) = client(server, "pg_dump").zip(client(server, "pg_restore")) else {
        eprintln!("left out: backup and restore need pg_dump and pg_restore (postgresql-client)");
        return;
    };
    let mut document = dealers(&[("harbor", 9), ("second", 2)]);
    document["tenants"]["second"]["sold"] = json!([{"vehicle_id": "gone", "stock": "G-1"}]);
    provision(url, &document);
    let start = |url: &str| Node::start(serve(url).args(["--public-origin", "https://dealers.example"]));
    let page = |node: &Node, pagination: Value| {
        let request = json!({"type": "inventory.search.request", "pagination": pagination});
        let body = testkit::request_body(request).to_string();
        let reply = http::post(node.address, "/t/harbor/v3.0/a2a", &body).expect("an answer");
        data_of(&reply.json()).clone()
    };
    let card = |node: &Node, slug: &str| {
        let reply = node.get(&format!("/t/{slug}/.well-known/agent-card.json"));
        let header = |name: &str| reply.header(name).expect("a header").to_owned();
        (reply.body.clone(), header("etag"), header("last-modified"))
    };
    let node = start(url);
    let cards = ["harbor", "second"].map(|slug| card(&node, slug));
    let first = page(&node, json!({"limit": 5}));
    let folder = super::Folder::new("backup");
    let file = folder.path("forecourt.dump");
    // While it runs.
    run(Command::new(&dump).args(["--format=custom", &format!("--file={file}"), url])).ends(0);
    let rest = page(&node, json!({"limit": 5, "cursor": first["next_cursor"]}));
    node.stop();

    let create = "create database restored owner maker encoding 'UTF8' template template0";
    administrate(server, "postgres", &[create]);
    let restored = server.url(&server.database().named("restored"), "maker");
    run(Command::new(&restore).args(["--exit-on-error", &format!("--dbname={restored}"), &file])).ends(0);
    // What is left to do is no fault.
    let roles = doctor(&restored).ends(0).check("roles", "ok");
    assert!(roles.text.contains("`forecourt migrate`"), "it says what is left: {}", roles.text);
    on(&restored, &["migrate"]).ends(0);
    all_is_well(&restored);

    let node = start(&restored);
    assert_eq!(
        ["harbor", "second"].map(|slug| card(&node, slug)),
        cards,
        "the same to the byte, ids included"
    );
    assert_eq!(page(&node, json!({"limit": 5, "cursor": first["next_cursor"]})), rest, "cursors go on");
    provision(&restored, &document).says(&["harbor: unchanged", "second: unchanged"]);
    node.stop();
}

#[test]
fn an_unmigrated_or_a_newer_database() {
    let name = format!("bare_{}", uuid::Uuid::new_v4().simple());
    block_on(setup::create_database(cluster().database(), &name, None)).expect("a database");
    let bare: Database = cluster().database().named(&name);
    let url = cluster().url(&bare);
    is_not_migrated(run(&mut serve(&url)));
    let roles = doctor(&url).ends(0).check("roles", "ok");
    assert!(roles.text.contains("`forecourt migrate` or `up`"), "{}", roles.text);
    // `up` prepares it by itself, and two of them at once do it once.
    let up = || {
        let mut up = testkit::Process::command(&["up", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
        up.env("DATABASE_URL", &url);
        up
    };
    let (mut one, mut two) = (testkit::Process::spawn(&mut up()), testkit::Process::spawn(&mut up()));
    one.ready(super::LIMIT);
    two.ready(super::LIMIT);
    let migrated = |process: &testkit::Process| {
        process.lines().iter().filter(|line| line.contains("database is migrated")).count()
    };
    assert_eq!(migrated(&one) + migrated(&two), 1);
    drop((one, two));

    // A newer version has been here: the former goes on, as an upgrade without downtime needs.
    let newer = "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (9999, 'of the future', true, '\\x00', 0)";
    as_superuser(&bare, newer);
    Node::start(&mut serve(&url)).stop();
    Node::start(&mut up()).stop();
    // One that was edited after it was applied is no basis for anything.
    as_superuser(&bare, "update _sqlx_migrations set checksum = '\\x00' where version = 2");
    on(&url, &["migrate"]).ends(1).says(&["0002 was applied in another form than this program has"]);
    block_on(setup::drop_database(cluster().database(), &name)).expect("nobody needs it any more");
}

#[test]
fn a_hole_in_the_wall_is_a_reason_not_to_start() {
    let (database, url) = database();
    provision(&url, &dealers(&[("harbor", 3), ("second", 3)]));
    as_superuser(
        &database,
        "alter table vehicles disable row level security;
         create policy leak on rooftops for select to forecourt_app using (true);
         create view everything as select * from vehicles;
         grant select on everything to forecourt_app;
         alter table cards owner to postgres",
    );
    let findings = [
        "vehicles has no row level security",
        "policy leak of rooftops lets forecourt_app see other tenants",
        "the view everything shows forecourt_app what its owner sees",
        "cards belongs to postgres and not to forecourt_owner",
    ];
    let listen = ["--listen", "127.0.0.1:0"];
    for name in ["serve", "up", "migrate", "demo"] {
        let arguments = if name == "migrate" { vec![name] } else { [&[name], &listen[..]].concat() };
        let done = on(&url, &arguments).ends(1);
        done.says(&["the wall between tenants is not effective", "nothing is served"]).says(&findings);
    }
    let wall = doctor(&url).ends(1).check("wall", "fail");
    assert!(
        findings.iter().all(|finding| wall.advice.iter().any(|line| line == finding)),
        "{:#?}",
        wall.advice
    );

    as_superuser(
        &database,
        "alter table vehicles enable row level security; drop policy leak on rooftops; drop view everything;
         alter table cards owner to forecourt_owner",
    );
    let node = Node::start(&mut serve(&url));
    assert_eq!((node.total("harbor"), node.total("second")), (3, 3));
    node.stop();
    all_is_well(&url);
}
