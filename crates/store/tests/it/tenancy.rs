//! Tenants: their rows, and that one transaction never reaches another tenant's.

use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use store::{Error, RooftopRow, TenantState};

use crate::lots::unit;
use crate::support::{Ground, server};

#[tokio::test]
async fn a_tenant_is_made_filled_and_read_back() {
    let ground = Ground::new().await;
    let mut platform = ground.store.platform().await.unwrap();
    let id = platform.create_tenant("harbor").await.unwrap();
    assert_eq!(platform.create_tenant("harbor").await.unwrap(), id, "the slug decides");
    platform.claim_domains(id, &["b.example".to_owned(), "a.example".to_owned()]).await.unwrap();
    // One transaction from the slug to the content.
    let mut tx = platform.into_tenant(id).await.unwrap();
    let mut row = tx.lock().await.unwrap().unwrap();
    assert_eq!((row.state, row.revision, row.slug.as_str()), (TenantState::Active, 0, "harbor"));
    row.dealer_id = "harbor-city".into();
    row.name = "Hafen & Söhne 🚗".into();
    row.welcome_message = Some("Hi".into());
    row.state = TenantState::Suspended;
    row.sandbox = true;
    row.interface_tenant = Some("x".into());
    row.skills = vec!["inventory.search".into(), "dealer.information".into()];
    row.contracts = vec!["v3.0".into()];
    row.policy = json!({"max_limit": 50, "nested": {"a": [1, 2.5, null]}});
    tx.save_tenant(&row).await.unwrap();
    let rooftops: Vec<RooftopRow> = ["Zeta", "Alpha", "Ω"]
        .map(|name| RooftopRow {
            name: name.into(),
            profile: json!({"name": name}),
            holidays: json!(["2026-12-25"]),
        })
        .to_vec();
    tx.save_rooftops(&rooftops).await.unwrap();
    row.revision = tx.bump_revision().await.unwrap();
    tx.commit().await.unwrap();

    row.domains = vec!["b.example".into(), "a.example".into()];
    let mut tx = ground.store.tenant(id).await.unwrap();
    assert_eq!(tx.row().await.unwrap().unwrap(), row);
    assert_eq!(tx.rooftops().await.unwrap(), rooftops);
    tx.save_rooftops(&rooftops[1..]).await.unwrap();
    assert_eq!(tx.rooftops().await.unwrap(), rooftops[1..]);
    let twice = [rooftops[0].clone(), rooftops[0].clone()];
    let error = tx.save_rooftops(&twice).await.unwrap_err();
    assert!(matches!(&error, Error::Constraint { name } if name == "rooftops_tenant_id_name_key"), "{error}");
    drop(tx);

    let mut platform = ground.store.platform().await.unwrap();
    let directory = platform.directory().await.unwrap();
    assert_eq!(directory.len(), 1);
    assert_eq!(directory[0].domains, ["b.example", "a.example"]);
    assert_eq!((directory[0].state, directory[0].revision), (TenantState::Suspended, 1));
    assert_eq!(platform.directory_of(id).await.unwrap().as_ref(), directory.first());
    assert_eq!(platform.directory_of(store::TenantId::new()).await.unwrap(), None);
    assert_eq!(platform.tenant_by_slug("harbor").await.unwrap(), Some(id));
    assert_eq!(platform.tenant_by_slug("Harbor").await.unwrap(), None);
    let versions = platform.versions().await.unwrap();
    assert_eq!((versions[0].tenant_id, versions[0].revision, versions[0].inventory_version), (id, 1, 0));
}

#[tokio::test]
async fn nothing_of_a_dropped_transaction_stays() {
    let ground = Ground::new().await;
    let mut platform = ground.store.platform().await.unwrap();
    let id = platform.create_tenant("gone").await.unwrap();
    let mut tx = platform.into_tenant(id).await.unwrap();
    tx.bump_revision().await.unwrap();
    drop(tx);
    let mut platform = ground.store.platform().await.unwrap();
    assert_eq!(platform.tenant_by_slug("gone").await.unwrap(), None);
    assert!(platform.directory().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_role_of_a_tenant_ends_with_its_transaction() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    // The platform pool has one connection here: the same one serves all three.
    let tx = ground.store.platform().await.unwrap().into_tenant(id).await.unwrap();
    tx.commit().await.unwrap();
    let tx = ground.store.platform().await.unwrap().into_tenant(id).await.unwrap();
    drop(tx);
    let mut platform = ground.store.platform().await.unwrap();
    assert_eq!(platform.directory().await.unwrap().len(), 1);
    platform.set_setting("k", &json!(1)).await.unwrap();
}

#[tokio::test]
async fn domains_belong_to_one_tenant() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let claim = async |id, domains: &[&str]| {
        let mut tx = ground.store.platform().await.unwrap();
        let done = tx.claim_domains(id, &names(domains)).await;
        if done.is_ok() {
            tx.commit().await.unwrap();
        }
        done
    };
    claim(a, &["x.example", "y.example", "x.example"]).await.unwrap();
    let taken = claim(b, &["z.example", "y.example"]).await.unwrap_err();
    assert!(matches!(&taken, Error::DomainTaken { domain } if domain == "y.example"), "{taken}");
    claim(a, &["y.example"]).await.unwrap();
    claim(b, &["x.example"]).await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.directory_of(a).await.unwrap().unwrap().domains, ["y.example"]);
    assert_eq!(tx.directory_of(b).await.unwrap().unwrap().domains, ["x.example"]);
    tx.claim_domains(b, &[]).await.unwrap();
    assert!(tx.directory_of(b).await.unwrap().unwrap().domains.is_empty());
}

#[tokio::test]
async fn settings_and_secrets() {
    let ground = Ground::new().await;
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.setting("origin").await.unwrap(), None);
    tx.set_setting("origin", &json!("https://a.example")).await.unwrap();
    tx.set_setting("origin", &json!({"b": 1})).await.unwrap();
    assert_eq!(tx.setting("origin").await.unwrap(), Some(json!({"b": 1})));
    let secret = tx.secret("cursor").await.unwrap();
    assert_ne!(tx.secret("other").await.unwrap(), secret);
    tx.commit().await.unwrap();
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.secret("cursor").await.unwrap(), secret);
}

#[tokio::test]
async fn no_statement_reaches_another_tenant() {
    let ground = Ground::new().await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    for id in [a, b] {
        let mut tx = ground.store.tenant(id).await.unwrap();
        tx.lock_inventory().await.unwrap();
        // The same ids in both.
        tx.upsert_listings(1, &[unit("car-1"), unit("car-2")]).await.unwrap();
        tx.remove_listings(1, &["car-2"], "sold").await.unwrap();
        tx.save_rooftops(&[RooftopRow { name: "r".into(), profile: json!({}), holidays: json!([]) }])
            .await
            .unwrap();
        tx.publish_inventory(1).await.unwrap();
        tx.upsert_listings(2, &[unit("car-1")]).await.unwrap();
        tx.publish_inventory(2).await.unwrap();
        tx.commit().await.unwrap();
        let mut platform = ground.store.platform().await.unwrap();
        platform.add_heat(&[(id, 5)]).await.unwrap();
        platform.commit().await.unwrap();
    }
    let before = whole(&ground, b).await;

    let mut tx = ground.store.tenant(a).await.unwrap();
    tx.remove_listings(3, &["car-1"], "sold").await.unwrap();
    tx.save_rooftops(&[]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(whole(&ground, b).await, before);

    // Statements that forget the tenant, or name the other one, on a connection such as the pool's.
    let mut conn = app(&ground).await;
    for table in [
        "tenants",
        "rooftops",
        "cards",
        "card_revisions",
        "tenant_inventory",
        "vehicles",
        "removed_vehicles",
        "inventory_versions",
        "superseded_vehicles",
        "tenant_heat",
        "tenant_domains",
        "caller_keys",
    ] {
        let sql = format!("select count(*) from {table}");
        let none: i64 = sqlx::query_scalar(AssertSqlSafe(sql.clone())).fetch_one(&mut conn).await.unwrap();
        assert_eq!(none, 0, "{table} without a tenant");
        let mut tx =
            conn.begin_with(AssertSqlSafe(format!("begin; set local app.tenant = '{a}'"))).await.unwrap();
        let sql = format!("select count(*) from {table} where tenant_id <> '{a}'");
        let none: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *tx).await.unwrap();
        assert_eq!(none, 0, "{table} of others");
        tx.rollback().await.unwrap();
    }
    for write in [
        format!("update vehicles set status = 'pending' where tenant_id = '{b}'"),
        format!("delete from vehicles where tenant_id = '{b}'"),
        format!("delete from removed_vehicles where tenant_id = '{b}'"),
        format!("delete from rooftops where tenant_id = '{b}'"),
        format!("update tenants set name = 'x' where tenant_id = '{b}'"),
        format!("update tenant_inventory set version = 99 where tenant_id = '{b}'"),
    ] {
        let mut tx =
            conn.begin_with(AssertSqlSafe(format!("begin; set local app.tenant = '{a}'"))).await.unwrap();
        let done = sqlx::query(AssertSqlSafe(write.clone())).execute(&mut *tx).await.unwrap();
        assert_eq!(done.rows_affected(), 0, "{write}");
        tx.commit().await.unwrap();
    }
    for refused in [
        format!("insert into rooftops (tenant_id, position, name, profile) values ('{b}', 9, 'x', '{{}}')"),
        format!("update removed_vehicles set tenant_id = '{b}'"),
        "delete from card_revisions".to_owned(),
        "delete from inventory_versions".to_owned(),
        "delete from superseded_vehicles".to_owned(),
        "update superseded_vehicles set price_usd = 1".to_owned(),
        "update inventory_versions set version = 9".to_owned(),
        "update tenant_heat set heat = 9".to_owned(),
        format!("insert into inventory_versions values ('{b}', 9, now())"),
        format!("insert into superseded_vehicles (tenant_id, vehicle_id, written_by, replaced_by, status,
             vehicle_type, features, updated_at, content_hash, listing)
             values ('{b}', 'car-2', 0, 9, '', '', '{{}}', now(), '', '')"),
        "update card_revisions set body = ''".to_owned(),
        "update caller_keys set secret_hash = ''".to_owned(),
        "update caller_keys set last_used_at = now()".to_owned(),
        "delete from caller_keys".to_owned(),
        "select * from key_sets".to_owned(),
        "select * from secrets".to_owned(),
        "select * from settings".to_owned(),
        "select * from tenant_slugs".to_owned(),
        "insert into tenants (tenant_id, slug, dealer_id, name, default_contract) values (gen_random_uuid(), '', '', '', '')".to_owned(),
        "update tenants set slug = 'other'".to_owned(),
        "delete from tenants".to_owned(),
        "alter table tenants disable row level security".to_owned(),
        "set row_security = off; select * from tenants".to_owned(),
        "create table forecourt.mine (a int)".to_owned(),
    ] {
        let mut tx = conn.begin_with(AssertSqlSafe(format!("begin; set local app.tenant = '{a}'"))).await.unwrap();
        let error = sqlx::raw_sql(AssertSqlSafe(refused.clone())).execute(&mut *tx).await.unwrap_err();
        assert_eq!(Error::from(error).sql_state().as_deref(), Some("42501"), "{refused}");
        tx.rollback().await.unwrap();
    }
    assert_eq!(whole(&ground, b).await, before);

    // Leaving the role leads back to it.
    sqlx::raw_sql("reset role; reset all").execute(&mut conn).await.unwrap();
    let role: String = sqlx::query_scalar("select current_user::text").fetch_one(&mut conn).await.unwrap();
    assert_eq!(role, "forecourt_app");
    let none: i64 =
        sqlx::query_scalar("select count(*) from forecourt.tenants").fetch_one(&mut conn).await.unwrap();
    assert_eq!(none, 0);
}

/// Everything that is stored of a tenant, as text.
async fn whole(ground: &Ground, id: store::TenantId) -> Vec<String> {
    let mut admin = ground.superuser().await;
    let mut all = Vec::new();
    for table in [
        "tenants",
        "rooftops",
        "tenant_inventory",
        "vehicles",
        "removed_vehicles",
        "inventory_versions",
        "superseded_vehicles",
        "tenant_heat",
    ] {
        let sql = format!("select t::text from {table} t where tenant_id = '{id}' order by 1");
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut admin).await.unwrap();
        all.extend(rows);
    }
    all
}

pub(crate) async fn app(ground: &Ground) -> sqlx::PgConnection {
    sqlx::postgres::PgConnectOptions::new_without_pgpass()
        .socket(server().socket_dir())
        .port(server().port())
        .username("postgres")
        .database(&ground.name)
        .options([("role", "forecourt_app"), ("search_path", "forecourt")])
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn texts_of_errors_hold_no_values() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut tx = ground.store.tenant(id).await.unwrap();
    let mut row = tx.row().await.unwrap().unwrap();
    row.name = "hidden\0word".into();
    let error = tx.save_tenant(&row).await.unwrap_err();
    assert!(matches!(error, Error::Unstorable), "{error}");
    drop(tx);
    let mut tx = ground.store.tenant(id).await.unwrap();
    row.name = "x".into();
    row.policy = json!({"a": "hidden\0word"});
    let error = tx.save_tenant(&row).await.unwrap_err();
    assert!(matches!(error, Error::Unstorable), "{error}");

    let mut admin = ground.superuser().await;
    for sql in ["select 'hidden word'::int", "do $$ begin raise exception 'hidden word'; end $$"] {
        let error = Error::from(sqlx::raw_sql(sql).execute(&mut admin).await.unwrap_err());
        let text =
            format!("{error} {error:?} {:?}", std::error::Error::source(&error).map(ToString::to_string));
        assert!(!text.contains("hidden") && text.contains("SQLSTATE"), "{text}");
    }
}
