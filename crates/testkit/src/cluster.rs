//! One PostgreSQL for all tests of a binary, and a fresh database for each.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc;

use store::private::{Options, PrivatePg};
use store::{Database, setup};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// The PostgreSQL of this test binary. It ends with the process.
#[derive(Debug)]
pub struct Cluster {
    database: Database,
    template: OnceCell<()>,
}

const TEMPLATE: &str = "forecourt_template";

/// The cluster, started by the first test that asks.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let (send, started) = mpsc::channel();
        // PostgreSQL ends with the thread that started it, so that thread must outlive every test.
        std::thread::spawn(move || {
            let mut options = Options::new(folder(), "tests");
            options.durable = false;
            options.roots = vec![crate::process::root()];
            let server = PrivatePg::start(&options);
            let _ = send.send(server.as_ref().map(Database::private).map_err(ToString::to_string));
            loop {
                std::thread::park();
                // Never reached while tests run; keeps the server owned.
                let _ = &server;
            }
        });
        let database = started.recv().expect("the PostgreSQL of the tests must start");
        Cluster { database: database.expect("PostgreSQL is needed for tests"), template: OnceCell::new() }
    })
}

impl Cluster {
    /// The maintenance connection's database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// A migrated database that nobody else uses.
    pub async fn fresh(&self) -> Database {
        self.template
            .get_or_init(|| async {
                setup::create_database(&self.database, TEMPLATE, None).await.expect("template database");
                setup::prepare(&self.database.named(TEMPLATE)).await.expect("migrations");
            })
            .await;
        let name = format!("t_{}", Uuid::new_v4().simple());
        // PostgreSQL refuses a template that somebody is connected to, also when that is another copy beginning.
        for _ in 0..100 {
            match setup::create_database(&self.database, &name, Some(TEMPLATE)).await {
                Ok(()) => return self.database.named(&name),
                Err(error) if error.sql_state().as_deref() == Some("55006") => {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
                Err(error) => panic!("a test database cannot be made: {error}"),
            }
        }
        panic!("the template database stayed busy");
    }
}

/// A folder of this process; those of processes that are gone are cleared away.
fn folder() -> PathBuf {
    let all = std::env::temp_dir().join("forecourt-tests");
    std::fs::create_dir_all(&all).expect("a folder for test databases");
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        let pid =
            entry.file_name().to_string_lossy().split('-').next().and_then(|pid| pid.parse::<i32>().ok());
        // SAFETY: signal 0 only asks whether the process exists.
        let gone = pid.is_some_and(|pid| unsafe { libc::kill(pid, 0) } != 0);
        if gone {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    all.join(format!("{}-pg", std::process::id()))
}
