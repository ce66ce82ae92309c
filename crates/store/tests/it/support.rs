//! Servers, databases and tenants for the tests.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use store::private::{Options, PrivatePg};
use store::{Database, Store, TenantId, setup};
use uuid::Uuid;

/// A folder that vanishes with its guard. Short, for unix sockets; readable by every account.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("fc-{}", &Uuid::new_v4().simple().to_string()[..10]));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn options(data_dir: &Path) -> Options {
    let mut options = Options::new(data_dir, "a test");
    options.durable = false;
    options.roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    options
}

/// A server of a test's own.
pub(crate) struct OwnServer {
    pub(crate) server: PrivatePg,
    _folder: Folder,
}

impl OwnServer {
    pub(crate) fn start() -> OwnServer {
        OwnServer::with(false)
    }

    /// One that loses nothing when it is killed.
    pub(crate) fn durable() -> OwnServer {
        OwnServer::with(true)
    }

    fn with(durable: bool) -> OwnServer {
        let folder = Folder::new();
        let options = Options { durable, ..options(folder.path()) };
        OwnServer { server: PrivatePg::start(&options).unwrap(), _folder: folder }
    }

    pub(crate) fn database(&self, name: &str) -> Database {
        Database::private(&self.server).named(name)
    }

    pub(crate) async fn superuser(&self, database: &str) -> PgConnection {
        superuser(&self.server, database).await
    }
}

/// The server of this binary. The last thing that the process does is to stop it.
pub(crate) fn server() -> &'static PrivatePg {
    static SHARED: OnceLock<PrivatePg> = OnceLock::new();
    static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);
    extern "C" fn at_exit() {
        if let Some(server) = SHARED.get() {
            // SAFETY: the process is ending and the number is that of our own server.
            unsafe { libc::kill(i32::try_from(server.pid()).unwrap(), libc::SIGQUIT) };
        }
        if let Some(folder) = FOLDER.lock().unwrap().take() {
            for _ in 0..50 {
                if std::fs::remove_dir_all(&folder).is_ok() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
    SHARED.get_or_init(|| {
        let folder = std::mem::ManuallyDrop::new(Folder::new());
        *FOLDER.lock().unwrap() = Some(folder.path().to_owned());
        // SAFETY: the function does not unwind across the border in any way that matters at exit.
        unsafe { libc::atexit(at_exit) };
        PrivatePg::start(&options(folder.path())).unwrap()
    })
}

/// A connection that no policy binds, to look at what is really stored.
pub(crate) async fn superuser(server: &PrivatePg, database: &str) -> PgConnection {
    PgConnectOptions::new_without_pgpass()
        .socket(server.socket_dir())
        .port(server.port())
        .username("postgres")
        .database(database)
        .options([("search_path", "forecourt")])
        .connect()
        .await
        .unwrap()
}

/// A database of a test's own on the shared server, prepared.
pub(crate) struct Ground {
    pub(crate) store: Store,
    pub(crate) name: String,
}

impl Ground {
    pub(crate) async fn new() -> Ground {
        Ground::with_connections(6).await
    }

    pub(crate) async fn with_connections(connections: u32) -> Ground {
        let name = format!("t{}", Uuid::new_v4().simple());
        let database = Database::private(server()).named(&name);
        setup::prepare(&database).await.unwrap();
        Ground { store: Store::connect(&database, connections).await.unwrap(), name }
    }

    pub(crate) async fn superuser(&self) -> PgConnection {
        superuser(server(), &self.name).await
    }

    pub(crate) async fn tenant(&self, slug: &str) -> TenantId {
        let mut tx = self.store.platform().await.unwrap();
        let id = tx.create_tenant(slug).await.unwrap();
        tx.commit().await.unwrap();
        id
    }
}

pub(crate) async fn run(conn: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(conn).await.unwrap();
}
