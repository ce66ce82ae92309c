//! The private server: who owns it, what kills it, what it finds when it starts again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use store::private::{Options, PrivatePg, StartError};

use crate::support::{Folder, options, run, superuser};

fn is_root() -> bool {
    // SAFETY: changes nothing.
    unsafe { libc::geteuid() == 0 }
}

fn kill(pid: u32) {
    // SAFETY: only numbers of processes that a test started are passed.
    assert_eq!(unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) }, 0);
}

fn is_alive(pid: u32) -> bool {
    // A zombie is as good as gone.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn write_a_row(server: &PrivatePg) {
    block_on(async {
        let mut admin = superuser(server, "postgres").await;
        run(&mut admin, "create table if not exists public.kept (n int); insert into public.kept values (1)")
            .await;
    });
}

fn rows(server: &PrivatePg) -> i64 {
    block_on(async {
        let mut admin = superuser(server, "postgres").await;
        sqlx::query_scalar("select count(*) from public.kept").fetch_one(&mut admin).await.unwrap()
    })
}

/// Not a test: what the process of a test does that is to be killed. It says when its server runs.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_process_to_be_killed() {
    let Some(folder) = std::env::var_os("STORE_TEST_FOLDER") else { return };
    // Durable: it will be killed, and what was committed must be there afterwards.
    let options = Options { durable: true, ..options(Path::new(&folder)) };
    let server = PrivatePg::start(&options).unwrap();
    fs::write(Path::new(&folder).join("said"), format!("{} {}", server.pid(), server.socket_dir().display()))
        .unwrap();
    // Until it is killed or its standard input ends.
    let _ = std::io::stdin().read_line(&mut String::new());
    drop(server);
}

fn process(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", "private::a_process_to_be_killed", "--ignored", "--nocapture"])
        .env("STORE_TEST_FOLDER", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn started(command: &mut Command, folder: &Path) -> (Child, u32) {
    let child = command.spawn().unwrap();
    let said = folder.join("said");
    let mut pid = 0;
    until("the process starts its server", || {
        let text = fs::read_to_string(&said).unwrap_or_default();
        pid = text.split(' ').next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
        pid != 0
    });
    (child, pid)
}

#[test]
fn one_program_owns_the_server_and_others_use_it() {
    let folder = Folder::new();
    let owner = PrivatePg::start(&options(folder.path())).unwrap();
    write_a_row(&owner);
    let Err(refused) = PrivatePg::start(&options(folder.path())) else { panic!("a second owner") };
    assert!(
        matches!(&refused, StartError::AlreadyRunning { pid, by } if *pid == std::process::id() && by == "a test"),
        "{refused}"
    );
    assert!(refused.to_string().contains("already runs on this data"), "{refused}");
    let survey = PrivatePg::survey(&options(folder.path())).unwrap().join("\n");
    assert!(survey.contains("run by a test"), "{survey}");

    let guest = PrivatePg::adopt(&options(folder.path())).unwrap();
    assert!(guest.is_adopted());
    assert_eq!((guest.pid(), guest.socket_dir()), (owner.pid(), owner.socket_dir()));
    assert_eq!(rows(&guest), 1);
    let pid = guest.pid();
    drop(guest);
    assert!(is_alive(pid), "a guest stops nothing");
    drop(owner);
    assert!(!is_alive(pid));

    // Nobody runs it: a command does so for itself.
    let command = PrivatePg::adopt(&options(folder.path())).unwrap();
    assert!(!command.is_adopted());
    assert_eq!(rows(&command), 1);
    let pid = command.pid();
    drop(command);
    assert!(!is_alive(pid));
}

#[test]
fn a_command_that_runs_the_server_waits_for_those_who_joined() {
    let folder = Folder::new();
    let first = PrivatePg::adopt(&options(folder.path())).unwrap();
    let second = PrivatePg::adopt(&options(folder.path())).unwrap();
    assert!(second.is_adopted());
    let pid = first.pid();
    let (says, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(first);
        says.send(()).unwrap();
    });
    // And one that wants to serve waits for both of them.
    let data = folder.path().to_owned();
    let serving = std::thread::spawn(move || PrivatePg::start(&options(&data)).unwrap());
    assert!(ended.recv_timeout(Duration::from_millis(700)).is_err(), "it left the other without a database");
    write_a_row(&second);
    drop(second);
    ended.recv_timeout(Duration::from_secs(20)).unwrap();
    let serving = serving.join().unwrap();
    assert_ne!(serving.pid(), pid);
    assert_eq!(rows(&serving), 1);
}

#[test]
fn the_server_does_not_outlive_a_killed_program_and_its_data_is_whole() {
    let folder = Folder::new();
    let (mut child, pid) =
        started(&mut process(&std::env::current_exe().unwrap(), folder.path()), folder.path());
    let guest = PrivatePg::adopt(&options(folder.path())).unwrap();
    write_a_row(&guest);
    drop(guest);
    kill(child.id());
    child.wait().unwrap();
    if cfg!(target_os = "linux") {
        until("the server ends with its program", || !is_alive(pid));
    }
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    assert_eq!(rows(&server), 1);
}

#[test]
fn both_killed_at_once() {
    let folder = Folder::new();
    let (mut child, pid) =
        started(&mut process(&std::env::current_exe().unwrap(), folder.path()), folder.path());
    write_a_row(&PrivatePg::adopt(&options(folder.path())).unwrap());
    kill(pid);
    kill(child.id());
    child.wait().unwrap();
    // At once: what is left of the server may still be ending.
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    assert_eq!(rows(&server), 1);
}

#[test]
fn a_cluster_that_was_never_completed_is_made_anew() {
    let folder = Folder::new();
    let mut child = process(&std::env::current_exe().unwrap(), folder.path()).spawn().unwrap();
    let root = folder.path().join("pg");
    let making = || -> Option<PathBuf> {
        fs::read_dir(&root).ok()?.flatten().map(|entry| entry.path()).find(|path| {
            path.file_name().unwrap().to_string_lossy().starts_with("making-") && path.join("base").exists()
        })
    };
    until("initdb is half way", || making().is_some());
    kill(child.id());
    child.wait().unwrap();
    assert!(making().is_some() && !root.join("data").exists(), "it was killed half way");
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    write_a_row(&server);
    assert!(making().is_none());
}

#[test]
fn what_may_be_data_is_never_removed() {
    let folder = Folder::new();
    drop(PrivatePg::start(&options(folder.path())).unwrap());
    let data = folder.path().join("pg/data");
    fs::rename(data.join("global"), data.join("hidden")).unwrap();
    let Err(error) = PrivatePg::start(&options(folder.path())) else { panic!() };
    assert!(error.to_string().contains("not a complete PostgreSQL cluster"), "{error}");
    assert!(data.join("hidden").exists());
    fs::rename(data.join("hidden"), data.join("global")).unwrap();

    fs::write(data.join("PG_VERSION"), "9\n").unwrap();
    let Err(error) = PrivatePg::start(&options(folder.path())) else { panic!() };
    let words = ["made by PostgreSQL 9", "the data needs 9"];
    assert!(words.iter().any(|words| error.to_string().contains(words)), "{error}");
}

#[test]
fn a_pid_file_with_the_number_of_another_process_is_no_obstacle() {
    let folder = Folder::new();
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    write_a_row(&server);
    let pid_file = folder.path().join("pg/data/postmaster.pid");
    let text = fs::read_to_string(&pid_file).unwrap();
    let old = server.pid();
    drop(server);

    // A living process of the server's account, which PostgreSQL would take for a server.
    let mut other = Command::new("sleep");
    other.arg("60");
    let owner = fs::metadata(folder.path().join("pg/data")).unwrap();
    if is_root() {
        use std::os::unix::fs::MetadataExt;
        other.uid(owner.uid()).gid(owner.gid());
    }
    let mut other = other.spawn().unwrap();
    for pid in [other.id(), old] {
        let rest = text.split_once('\n').unwrap().1;
        fs::write(&pid_file, format!("{pid}\n{rest}")).unwrap();
        let server = PrivatePg::start(&options(folder.path())).unwrap();
        assert_eq!(rows(&server), 1);
    }
    assert!(other.try_wait().unwrap().is_none(), "nobody else's process is touched");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_server_that_survived_its_program_is_replaced() {
    let folder = Folder::new();
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    write_a_row(&server);
    // As if the program had died where there is no death signal: its lock is free, its server lives.
    let lock = folder.path().join("pg/forecourt.lock");
    fs::remove_file(&lock).unwrap();
    let old = server.pid();
    let next = PrivatePg::start(&options(folder.path())).unwrap();
    assert!(!is_alive(old));
    assert_eq!(rows(&next), 1);
    drop(next);
}

#[test]
fn a_path_too_long_for_a_socket() {
    let folder = Folder::new();
    let deep = folder.path().join("a folder, with \"marks\"").join("x".repeat(150));
    let server = PrivatePg::start(&options(&deep)).unwrap();
    assert!(server.socket_dir().as_os_str().len() < 90, "{}", server.socket_dir().display());
    write_a_row(&server);
    let guest = PrivatePg::adopt(&options(&deep)).unwrap();
    assert_eq!(rows(&guest), 1);
    drop(guest);
    let short = server.socket_dir().to_owned();
    drop(server);
    let _ = fs::remove_dir_all(short);

    let marked = folder.path().join("a \"b\", c");
    let server = PrivatePg::start(&options(&marked)).unwrap();
    assert!(server.socket_dir().starts_with(marked.canonicalize().unwrap()));
    write_a_row(&server);
}

#[test]
fn only_its_account_may_enter_and_it_listens_on_no_port() {
    let folder = Folder::new();
    let server = PrivatePg::start(&options(folder.path())).unwrap();
    for private in [folder.path().join("pg"), folder.path().join("pg/data"), server.socket_dir().to_owned()] {
        let mode = fs::metadata(&private).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", private.display());
    }
    let listens: String = block_on(async {
        let mut admin = superuser(&server, "postgres").await;
        sqlx::query_scalar("show listen_addresses").fetch_one(&mut admin).await.unwrap()
    });
    assert_eq!(listens, "");
    assert!(server.location().iter().any(|line| line.contains("PostgreSQL")), "{:?}", server.location());
}

#[test]
fn as_an_ordinary_user() {
    if !is_root() {
        // Then every other test of this file has already shown it.
        return;
    }
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // The target folder may be closed to others.
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let nobody = 65534;
    let (mut child, pid) = started(process(&program, &data).uid(nobody).gid(nobody).current_dir("/"), &data);
    let owner = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(owner.contains("Uid:\t65534\t65534"), "{owner}");
    // Its end is the ordinary one here: standard input closes.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(!is_alive(pid));

    // Root goes on with the data of another account, as that account.
    let server = PrivatePg::start(&options(&data)).unwrap();
    let owner = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    assert!(owner.contains("Uid:\t65534\t65534"), "{owner}");
    write_a_row(&server);
}

#[test]
fn root_with_a_closed_home_keeps_the_data_elsewhere_and_says_so() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let data = folder.path().join("data");
    let server = PrivatePg::start(&options(&data)).unwrap();
    write_a_row(&server);
    let location = server.location().join("\n");
    assert!(location.contains("/var/lib/forecourt/"), "{location}");
    let root = server.location()[0].split(": ").nth(1).map(PathBuf::from).unwrap();
    drop(server);
    // The same again, also when the folder has been opened meanwhile: data stays where it is.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let server = PrivatePg::start(&options(&data)).unwrap();
    assert_eq!(rows(&server), 1);
    drop(server);
    fs::remove_dir_all(root.parent().unwrap()).unwrap();
}
