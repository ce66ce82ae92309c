//! Preparing a database with every kind of login, again, and by many at once.

use store::{Database, Error, Store, setup};

use crate::support::{Ground, OwnServer, run, server};

async fn works(database: &Database) {
    let store = Store::connect(database, 4).await.unwrap();
    setup::check_wall(&store).await.unwrap();
    let mut tx = store.platform().await.unwrap();
    let id = tx.create_tenant("first").await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = store.tenant(id).await.unwrap();
    assert_eq!(tx.row().await.unwrap().unwrap().slug, "first");
    tx.commit().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_superuser_prepares_once_and_again_without_effect() {
    let database = Database::private(server()).named("prepare_superuser");
    let all = [
        "0001_tenants",
        "0002_inventory",
        "0003_versions",
        "0004_leads",
        "0005_callers",
        "0006_feeds",
        "0007_feed_parts",
    ]
    .map(str::to_owned);
    assert_eq!(setup::pending(&database).await.unwrap(), all);
    let first = setup::prepare(&database).await.unwrap();
    assert_eq!(first.applied, all);
    assert!(setup::pending(&database).await.unwrap().is_empty());
    let second = setup::prepare(&database).await.unwrap();
    assert!(second.applied.is_empty());
    assert!(!second.roles_made);
    works(&database).await;
}

#[tokio::test]
async fn a_login_that_may_create_roles_and_owns_the_database() {
    let own = OwnServer::start();
    let mut admin = own.superuser("postgres").await;
    run(&mut admin, "create role \"si\"\"te\" login createrole").await;
    run(&mut admin, "create database shop owner \"si\"\"te\"").await;
    let database = own.database("shop").with_login("si\"te", "");
    assert!(setup::prepare(&database).await.unwrap().roles_made);
    assert!(!setup::prepare(&database).await.unwrap().roles_made);
    works(&database).await;
}

#[tokio::test]
async fn a_plain_login_is_told_the_statements_and_works_after_them() {
    let own = OwnServer::start();
    let mut admin = own.superuser("postgres").await;
    run(&mut admin, "create role site login").await;
    run(&mut admin, "create database \"the shop\"").await;
    let database = own.database("the shop").with_login("site", "");

    let Err(Error::RolesMissing { login, sql }) = setup::prepare(&database).await else { panic!() };
    assert_eq!(login, "site");
    assert_eq!(sql, setup::role_sql("site", "the shop"));
    let refused = Store::connect(&database, 2).await.unwrap_err();
    assert!(refused.to_string().contains("forecourt_app"), "{refused}");

    run(&mut admin, &sql).await;
    run(&mut admin, &sql).await;
    assert!(!setup::prepare(&database).await.unwrap().roles_made);
    assert!(!setup::prepare(&database).await.unwrap().roles_made);
    works(&database).await;
}

#[tokio::test]
async fn roles_without_the_right_to_create_are_told_as_well() {
    let own = OwnServer::start();
    let mut admin = own.superuser("postgres").await;
    run(&mut admin, "create role site login").await;
    run(&mut admin, "create database shop").await;
    run(&mut admin, "create role forecourt_owner; create role forecourt_app; create role forecourt_platform")
        .await;
    run(&mut admin, "grant forecourt_owner, forecourt_app to site").await;
    let database = own.database("shop").with_login("site", "");
    assert!(matches!(setup::prepare(&database).await, Err(Error::RolesMissing { .. })));
    run(&mut admin, "grant forecourt_platform to site").await;
    assert!(matches!(setup::prepare(&database).await, Err(Error::RolesMissing { .. })));
    run(&mut admin, "grant create on database shop to forecourt_owner").await;
    setup::prepare(&database).await.unwrap();
    works(&database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_programs_at_once_on_several_databases_of_a_fresh_server() {
    let own = OwnServer::start();
    let mut tasks = Vec::new();
    for number in 0..16 {
        let database = own.database(&format!("shop{}", number % 4));
        tasks.push(tokio::spawn(
            async move { setup::prepare(&database).await.map(|done| done.applied.len()) },
        ));
    }
    let mut applied = 0;
    for task in tasks {
        applied += task.await.unwrap().unwrap();
    }
    let each = setup::pending(&own.database("another")).await.unwrap().len();
    assert_eq!(applied, 4 * each, "each migration once in each database");
    works(&own.database("shop0")).await;
}

#[tokio::test]
async fn a_newer_program_has_been_here() {
    let ground = Ground::new().await;
    let mut admin = ground.superuser().await;
    run(
        &mut admin,
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'of the future', true, '', 0)",
    )
    .await;
    assert!(setup::prepare(ground.store.database()).await.unwrap().applied.is_empty());
    run(&mut admin, "update _sqlx_migrations set checksum = '' where version = 1").await;
    let Err(Error::Migration(text)) = setup::prepare(ground.store.database()).await else { panic!() };
    assert!(text.contains("0001"), "{text}");
}

#[tokio::test]
async fn another_database_is_not_made_where_the_server_is_not_ours() {
    let host = server().socket_dir().display().to_string();
    let url = format!("postgres://postgres@localhost/not_there?host={host}&port={}", server().port());
    let error = setup::prepare(&Database::from_url(&url).unwrap()).await.unwrap_err();
    assert_eq!(error.sql_state().as_deref(), Some("3D000"), "{error}");
}

#[test]
fn addresses_are_read_and_never_repeated_in_errors() {
    let database = Database::from_url("postgres://site:hunter2@db.example:6000/shop").unwrap();
    assert_eq!(database.to_string(), "db.example:6000, database shop, login site");
    assert!(!format!("{database:?}").contains("hunter2"));
    for wrong in ["", "mysql://site:hunter2@db/shop", "postgres://site:hunter2@db:port/shop"] {
        let error = Database::from_url(wrong).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
