//! What the catalog says of the tables: they can be distributed by tenant, and the roles have no more than they need.

use std::collections::BTreeSet;

use crate::support::Ground;

/// Tables that answer before a tenant is known. Anything else is a tenant table.
const PLATFORM_TABLES: [&str; 6] =
    ["tenant_slugs", "tenant_domains", "settings", "secrets", "key_sets", "_sqlx_migrations"];

#[tokio::test]
async fn keys_of_tenant_tables_begin_with_the_tenant_and_none_crosses_tenants() {
    let ground = Ground::new().await;
    let mut admin = ground.superuser().await;
    let tables: Vec<String> = sqlx::query_scalar(
        "select c.relname::text from pg_class c
         where c.relnamespace = 'forecourt'::regnamespace and c.relkind in ('r', 'p') order by 1",
    )
    .fetch_all(&mut admin)
    .await
    .unwrap();
    let found: BTreeSet<&str> = tables.iter().map(String::as_str).collect();
    for table in PLATFORM_TABLES {
        assert!(found.contains(table), "{table} is listed and does not exist");
    }
    let tenant_tables: Vec<&str> =
        found.iter().copied().filter(|table| !PLATFORM_TABLES.contains(table)).collect();
    assert!(tenant_tables.len() >= 7, "{tenant_tables:?}");

    for table in &tenant_tables {
        // Every unique index: of primary keys, of unique constraints, and those that are only an index.
        let keys: Vec<(String, bool, Vec<String>)> = sqlx::query_as(
            "select i.indexrelid::regclass::text, i.indisprimary,
                    array(select coalesce(a.attname::text, '(expression)')
                          from unnest(i.indkey) with ordinality k (number, place)
                          left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
                          order by k.place)
             from pg_index i where i.indrelid = $1::regclass and i.indisunique",
        )
        .bind(*table)
        .fetch_all(&mut admin)
        .await
        .unwrap();
        assert!(keys.iter().any(|(_, primary, _)| *primary), "{table} has no primary key");
        for (index, primary, columns) in keys {
            assert!(columns.contains(&"tenant_id".to_owned()), "{index} of {table} is unique across tenants");
            assert!(
                !primary || columns[0] == "tenant_id",
                "the key of {table} does not begin with tenant_id"
            );
        }
        // A foreign key carries the tenant on both sides, at the same place.
        let foreign: Vec<(String, bool)> = sqlx::query_as(
            "select k.conname::text,
                    exists (select from unnest(k.conkey, k.confkey) pair (mine, theirs)
                            join pg_attribute m on m.attrelid = k.conrelid and m.attnum = pair.mine
                            join pg_attribute t on t.attrelid = k.confrelid and t.attnum = pair.theirs
                            where m.attname = 'tenant_id' and t.attname = 'tenant_id')
             from pg_constraint k where k.contype = 'f' and k.conrelid = $1::regclass",
        )
        .bind(*table)
        .fetch_all(&mut admin)
        .await
        .unwrap();
        for (name, within) in foreign {
            assert!(within, "{name} of {table} crosses tenants");
        }
        let exclusions: i64 = sqlx::query_scalar(
            "select count(*) from pg_constraint where contype = 'x' and conrelid = $1::regclass",
        )
        .bind(*table)
        .fetch_one(&mut admin)
        .await
        .unwrap();
        assert_eq!(exclusions, 0, "{table}");
    }
}

#[tokio::test]
async fn documents_are_compressed_with_lz4() {
    let ground = Ground::new().await;
    let mut admin = ground.superuser().await;
    let has_lz4: bool = sqlx::query_scalar(
        "select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression'",
    )
    .fetch_one(&mut admin)
    .await
    .unwrap();
    let method: String = sqlx::query_scalar(
        "select attcompression::text from pg_attribute where attrelid = 'vehicles'::regclass and attname = 'listing'",
    )
    .fetch_one(&mut admin)
    .await
    .unwrap();
    assert_eq!(method, if has_lz4 { "l" } else { "" });
}

#[test]
fn every_statement_on_a_tenant_table_names_the_tenant() {
    // Statements of the platform role, which work across tenants on purpose.
    const ACROSS: [&str; 24] = [
        "delete from lead_keys where expires_at",
        "update caller_keys k set last_used_at",
        "from tenants t left join tenant_inventory i",
        "insert into tenants (tenant_id, slug",
        "select tenant_id from tenant_slugs where slug = $1",
        "insert into tenant_domains as own (tenant_id, domain, position)\n             select $1",
        "insert into tenant_heat as h",
        "select h.tenant_id from tenant_heat h",
        "delete from removed_vehicles r using due",
        "delete from superseded_vehicles s using gone",
        "from jobs) j",
        "from jobs where failed_at is not null",
        "delete from jobs where failed_at < $1",
        "select r.tenant_id from feed_runs r where r.run_id = $1",
        "from feed_runs r join tenants t",
        "where r.findings_kept and r.received_at < $1",
        "delete from feed_runs r using",
        "select f.tenant_id, f.file_id from feed_files f",
        "from feed_sources s join tenants t",
        "where s.credentials is not null order by",
        "from feed_notices n where n.resolved_at is null",
        "delete from feed_notices where resolved_at < $1",
        "from vehicle_edits e",
        "delete from vehicle_history where at < $1",
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    let mut statements = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let query: serde_json::Value = serde_json::from_str(&text).unwrap();
        let sql = query["query"].as_str().unwrap();
        statements += 1;
        let tenant_tables = [
            "tenants",
            "rooftops",
            "cards",
            "card_revisions",
            "tenant_inventory",
            "vehicles",
            "tenant_domains",
            "tenant_slugs",
            "tenant_heat",
            "inventory_versions",
            "superseded_vehicles",
            "caller_keys",
            "leads",
            "lead_notes",
            "lead_keys",
            "appointments",
        ];
        let touches = tenant_tables.iter().chain(&crate::feeds::TABLES).any(|table| sql.contains(table));
        let names = sql.contains("tenant_id = $1")
            || sql.contains("(tenant_id,") && (sql.contains("select $1") || sql.contains("values ($1"));
        assert!(!touches || names || ACROSS.iter().any(|part| sql.contains(part)), "names no tenant: {sql}");
    }
    assert!(statements > 20);
}
