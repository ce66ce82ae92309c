//! The start-up proof passes on what the migrations make and fails on every hole made in it.

use store::setup::{WallError, check_wall};

use crate::support::{Ground, OwnServer, run};

async fn holes(ground: &Ground) -> String {
    match check_wall(&ground.store).await {
        Ok(()) => String::new(),
        Err(error @ WallError::Open(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn what_the_migrations_make_holds_and_the_proof_leaves_nothing_behind() {
    let ground = Ground::new().await;
    ground.tenant("a").await;
    check_wall(&ground.store).await.unwrap();
    let mut admin = ground.superuser().await;
    let tenants: i64 =
        sqlx::query_scalar("select count(*) from tenants").fetch_one(&mut admin).await.unwrap();
    assert_eq!(tenants, 1);
}

#[tokio::test]
async fn every_hole_is_found() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut admin = ground.superuser().await;
    run(&mut admin, "set role forecourt_owner").await;
    let holes_and_words = [
        (
            "alter table vehicles disable row level security",
            "alter table vehicles enable row level security",
            "vehicles has no row level security",
        ),
        (
            "create table notes (tenant_id uuid primary key); grant select on notes to forecourt_app",
            "drop table notes",
            "notes has no row level security",
        ),
        (
            "create policy all_of_it on cards to public using (true)",
            "drop policy all_of_it on cards",
            "policy all_of_it of cards lets forecourt_app see other tenants",
        ),
        (
            "alter policy tenant on rooftops with check (true)",
            "alter policy tenant on rooftops with check (tenant_id = current_tenant())",
            "policy tenant of rooftops",
        ),
        (
            "create view all_tenants as select * from tenants; grant select on all_tenants to forecourt_app",
            "drop view all_tenants",
            "the view all_tenants",
        ),
        (
            "create function peek() returns bigint language sql security definer return 1",
            "drop function peek()",
            "the function peek",
        ),
        (
            // Without a tenant it is the first one's turn.
            &format!(
                "create or replace function current_tenant() returns uuid language sql stable
                 return coalesce(nullif(current_setting('app.tenant', true), ''), '{id}')::uuid"
            ),
            "create or replace function current_tenant() returns uuid language sql stable parallel safe
             return nullif(current_setting('app.tenant', true), '')::uuid",
            "forecourt_app without a tenant sees 1 tenants",
        ),
    ];
    for (hole, repair, words) in holes_and_words {
        run(&mut admin, hole).await;
        let found = check_wall(&ground.store).await;
        let Err(error) = found else { panic!("not found: {hole}") };
        assert!(error.to_string().contains(words), "{hole}: {error}");
        run(&mut admin, repair).await;
        assert_eq!(holes(&ground).await, "", "after {repair}");
    }
    run(&mut admin, "reset role").await;
    run(&mut admin, "alter table cards owner to postgres").await;
    assert!(holes(&ground).await.contains("cards belongs to postgres"));
}

#[tokio::test]
async fn a_role_that_is_too_strong_is_found() {
    // Roles belong to the server: not on the shared one.
    let own = OwnServer::start();
    let database = own.database("shop");
    store::setup::prepare(&database).await.unwrap();
    let ground =
        Ground { store: store::Store::connect(&database, 4).await.unwrap(), name: "shop".to_owned() };
    let mut admin = own.superuser("shop").await;
    for (hole, repair, words) in [
        ("alter role forecourt_app bypassrls", "alter role forecourt_app nobypassrls", "forecourt_app is a"),
        (
            "alter role forecourt_platform superuser",
            "alter role forecourt_platform nosuperuser",
            "forecourt_platform is a",
        ),
        (
            "grant forecourt_owner to forecourt_app",
            "revoke forecourt_owner from forecourt_app",
            "forecourt_app is a member of forecourt_owner",
        ),
        (
            "grant forecourt_platform to forecourt_app",
            "revoke forecourt_platform from forecourt_app",
            "forecourt_app is a member of forecourt_platform",
        ),
    ] {
        run(&mut admin, hole).await;
        assert!(holes(&ground).await.contains(words), "{hole}: {}", holes(&ground).await);
        run(&mut admin, repair).await;
        assert_eq!(holes(&ground).await, "");
    }
}
