//! `params.id` is new exactly when the card is, and everything about a card changes at once, on every node.

mod content;
mod nodes;
mod versions;

use serde_json::Value;
use sqlx::Row;
use testkit::{Platform, Wire, cluster};

/// A card as it is served and stored.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    id: String,
    etag: String,
    last_modified: String,
    card: Value,
    /// Newest first.
    history: Vec<Revision>,
}

/// A line of the revision history.
#[derive(Debug, Clone, PartialEq)]
struct Revision {
    number: i32,
    id: String,
    body: String,
    cause: String,
    actor: String,
}

fn id_of(card: &Value) -> String {
    card["capabilities"]["extensions"][0]["params"]["id"].as_str().expect("an id").to_owned()
}

/// Looks at a dealer's card from outside and from behind, and checks that both are the same.
async fn look(platform: &Platform, slug: &str) -> Seen {
    let target = format!("/t/{slug}/v3.0/.well-known/agent-card.json");
    let reply = Wire::to(&platform.origin).send("GET", &target, &[("host", "127.0.0.1")], b"").await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let card = reply.json();
    let id = id_of(&card);
    let mut admin = cluster().superuser(&platform.database).await;
    let rows = sqlx::query(
        "select r.revision, r.params_id::text as id, r.body, r.cause, r.actor,
                to_char(r.changed_at at time zone 'UTC', 'Dy, DD Mon YYYY HH24:MI:SS \"GMT\"') as changed_at,
                c.revision as current, c.params_id::text as current_id, c.body as current_body,
                c.changed_at = r.changed_at and c.content_hash = r.content_hash as is_current
         from card_revisions r
         join tenants t using (tenant_id)
         join cards c on c.tenant_id = r.tenant_id and c.contract = r.contract
         where t.slug = $1 and r.contract = 'v3.0' order by r.revision desc",
    )
    .bind(slug)
    .fetch_all(&mut admin)
    .await
    .expect("the history");
    let newest = &rows[0];
    assert_eq!(newest.get::<String, _>("id"), id, "what is served is the newest of the history");
    assert_eq!(newest.get::<String, _>("current_id"), id);
    assert_eq!(newest.get::<i32, _>("current"), newest.get::<i32, _>("revision"));
    assert!(newest.get::<bool, _>("is_current"));
    assert_eq!(newest.get::<String, _>("body").as_bytes(), reply.body);
    assert_eq!(newest.get::<String, _>("current_body").as_bytes(), reply.body);
    assert_eq!(Some(newest.get::<String, _>("changed_at").as_str()), reply.header("last-modified"));
    let history = rows.iter().map(|row| Revision {
        number: row.get("revision"),
        id: row.get("id"),
        body: row.get("body"),
        cause: row.get("cause"),
        actor: row.get("actor"),
    });
    Seen {
        id,
        etag: reply.header("etag").expect("a tag").to_owned(),
        last_modified: reply.header("last-modified").expect("a date").to_owned(),
        card,
        history: history.collect(),
    }
}
