//! What is kept of a lead, and that no dealer sees another's.

use serde_json::{Value, json};
use sqlx::Row;
use testkit::{Process, cluster};

use super::{ahead, behind, count, dealer, lead, platform, visit, with};

#[tokio::test]
async fn everything_that_was_said_is_kept_characters_that_no_text_can_hold_included() {
    let platform = platform(json!({})).await;
    let mut odd = with(lead("noor"), "message", json!("a\u{0}b\u{1}é🚗\u{2028}\"\\"));
    odd["customer"]["last_name"] = json!("Had\u{0}dad");
    odd["source_agent"]["name"] = json!("peli\u{0}can");
    odd["vehicle_of_interest"] = json!({"stock": "S\u{0}", "x\u{0}y": ["\u{0}"]});
    odd["idempotency_key"] = json!("\u{0}");
    let answer = platform.ask("harbor", odd.clone()).result().await;
    assert_eq!(platform.ask("harbor", odd.clone()).result().await, answer, "it is known again");
    let row =
        sqlx::query("select request, consent, contract, door, caller, lead_id::text as lead_id from leads")
            .fetch_one(&mut behind(&platform).await)
            .await
            .unwrap();
    let read = |column: &str| serde_json::from_str::<Value>(row.get(column)).unwrap();
    assert_eq!(read("request"), odd);
    assert_eq!(read("consent"), odd["consent"]);
    let text = |column: &str| row.get::<String, _>(column);
    assert_eq!(
        (text("contract"), text("door"), text("caller")),
        ("v3.0".into(), "a2a".into(), "agent:peli\u{2400}can".into())
    );
    assert_eq!(answer["lead_id"], format!("lead_{}", text("lead_id").replace('-', "")));
}

#[tokio::test]
async fn no_dealer_sees_or_touches_what_another_has() {
    let platform = platform(json!({})).await;
    platform.provision(&json!({"lakeside": dealer(json!({}))})).await;
    let visiting = with(lead("noor"), "appointment", visit("sales", ahead(3, 11, 0)));
    let visiting = with(visiting, "idempotency_key", json!("k"));
    for slug in ["harbor", "lakeside"] {
        let answer = platform.ask(slug, visiting.clone()).result().await;
        assert_eq!(answer["appointment"]["status"], "confirmed", "agendas do not meet");
        platform.ask(slug, lead("noor")).result().await;
    }
    let mut admin = cluster().superuser(&platform.database).await;
    let ids: Vec<String> = sqlx::query_scalar("select tenant_id::text from tenants order by slug")
        .fetch_all(&mut admin)
        .await
        .unwrap();
    // As the platform's own connections are: one dealer at a time.
    sqlx::raw_sql("set role forecourt_app").execute(&mut admin).await.unwrap();
    sqlx::query("select set_config('app.tenant', $1, false)")
        .bind(&ids[0])
        .execute(&mut admin)
        .await
        .unwrap();
    for table in ["leads", "lead_notes", "lead_keys", "appointments"] {
        let sql = sqlx::AssertSqlSafe(format!("select count(*), count(distinct tenant_id) from {table}"));
        let row = sqlx::query(sql).fetch_one(&mut admin).await.unwrap();
        assert_eq!((row.get::<i64, _>(0), row.get::<i64, _>(1)), (1, 1), "{table}");
    }
    let peek = "select known_answer, earlier_lead from lead_turn($1::uuid, '{}', 'v3.0', 'k', null, null,
                (select vehicle_hash from leads limit 1), now(), now() - interval '1 day')";
    for (id, seen) in [(&ids[0], true), (&ids[1], false)] {
        let row = sqlx::query(peek).bind(id).fetch_one(&mut admin).await.unwrap();
        assert_eq!(row.get::<Option<String>, _>(0).is_some(), seen);
    }
    for (sql, refused) in [
        (
            "insert into lead_keys select $1::uuid, contract, 'x', request_hash, lead_id, answer, expires_at from lead_keys",
            true,
        ),
        ("update appointments set status = 'rejected' where tenant_id = $1::uuid", false),
        ("delete from leads where tenant_id = $1::uuid", true),
        ("update leads set request = '' where tenant_id = $1::uuid", true),
    ] {
        match sqlx::query(sql).bind(&ids[1]).execute(&mut admin).await {
            Ok(done) => assert!(!refused && done.rows_affected() == 0, "{sql}"),
            Err(error) => assert!(refused, "{sql}: {error}"),
        }
    }
    drop(admin);
    assert_eq!((count(&platform, "leads").await, count(&platform, "appointments").await), (2, 2));
}

#[tokio::test]
async fn an_operator_reads_the_leads_of_a_dealer() {
    let platform = platform(json!({})).await;
    let url = cluster().url(&platform.database);
    let list = |arguments: &[&str]| {
        let mut command = Process::command(&[&["lead", "list"], arguments].concat());
        let output = Process::output(command.env("DATABASE_URL", &url));
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert!(list(&["harbor"]).1.contains("has no leads"));
    let first = with(lead("noor"), "appointment", visit("sales", ahead(3, 11, 0)));
    let answer = platform.ask("harbor", first.clone()).result().await;
    let again = with(lead("noor"), "message", json!("In\u{0} red?"));
    platform.ask("harbor", again.clone()).result().await;
    platform.ask("harbor", lead("nora")).result().await;
    let (status, text, _) = list(&["harbor"]);
    assert_eq!(status, Some(0));
    for words in ["noor@mail.example", "sales at Main: confirmed", "says: In  red?", "agent:pelican"] {
        assert!(text.contains(words), "{words:?} is missing in:\n{text}");
    }
    let (_, text, _) = list(&["harbor", "--json"]);
    let leads: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((leads.len(), &leads[0]["request"]["customer"]["email"]), (2, &json!("nora@mail.example")));
    assert_eq!((&leads[1]["lead_id"], &leads[1]["request"]), (&answer["lead_id"], &first));
    assert_eq!(leads[1]["sent_again"][0]["request"], again);
    assert_eq!(leads[1]["appointments"][0]["appointment_id"], answer["appointment"]["appointment_id"]);
    assert_eq!(list(&["harbor", "--json", "--limit", "1"]).1.lines().count(), 1);
    let (status, _, said) = list(&["nobody"]);
    assert!(status == Some(1) && said.contains("there is no dealer nobody"), "{status:?} {said}");
}
