//! `inventory.search`: filters, order, pages.

use contract::listing::integer_restored;
use contract::payload::{InventorySearchRequest, Sort};
use contract::{Fault, FaultCode, SkillId, Violation};
use inventory::cursor::{self, Cursor, CursorError, Scope};
use inventory::{Page, Start};
use serde_json::Value;

use super::{Skill, close_payload, open_payload};
use crate::lot::CURSOR_SECONDS;
use crate::{Call, Dealer, unix_now};

pub(crate) struct Search;

impl Skill for Search {
    const ID: SkillId = SkillId::InventorySearch;
    type Request = InventorySearchRequest;

    async fn call(
        dealer: &Dealer,
        call: &Call,
        request: InventorySearchRequest,
        raw: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        check_offered(call, &request, raw)?;
        let policy = &call.tenant.policy;
        let sort = request.sort.unwrap_or(policy.default_sort);
        let asked = request.pagination.limit.unwrap_or_else(|| policy.page_size().into());
        let limit = asked.clamp(1, policy.max_limit.into());
        let page_size = usize::try_from(limit).unwrap_or(usize::MAX);

        let scope = Scope {
            tenant: call.tenant.id.0.as_bytes(),
            contract: call.contract.as_str(),
            fingerprint: cursor::fingerprint(&request.filters, sort),
        };
        let now = unix_now();
        let expires_at = now + CURSOR_SECONDS;
        let cursor = match &request.pagination.cursor {
            Some(text) => {
                Some(cursor::decode(&dealer.inner.cursor_key, &scope, text, now).map_err(bad_cursor)?)
            }
            None => None,
        };
        let view = dealer.inner.lot(call).await?;
        let former;
        let (held, start) = match &cursor {
            None => (&view.current, Start::Beginning),
            Some(cursor) => {
                let found = dealer.inner.lots.version(call.tenant.id, &view, cursor.version);
                let found = found.await.map_err(Fault::internal)?;
                former = found.ok_or_else(|| bad_cursor(CursorError::Expired))?;
                (&former, Start::After(&cursor.after))
            }
        };
        let page = inventory::search(&held.snapshot, &request.filters, sort, start, page_size)
            .map_err(|_| bad_cursor(CursorError::Malformed))?;
        let version = held.snapshot.version();
        let last = page.more.then(|| page.rows.last()).flatten();
        let next = last.map(|last| {
            held.keep_until(expires_at);
            let next = Cursor { version, after: last.vehicle_id().to_owned(), expires_at };
            cursor::encode(&dealer.inner.cursor_key, &scope, &next)
        });
        open_payload(out, Self::ID);
        write_result(out, &page, limit, next.as_deref(), raw, sort);
        close_payload(out, call);
        Ok(Some(version))
    }
}

fn write_result(out: &mut Vec<u8>, page: &Page<'_>, limit: i64, next: Option<&str>, raw: &Value, sort: Sort) {
    out.reserve(page.documents() + page.rows.len() + 1024);
    let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
    text("{\"total\":");
    text(&page.total.to_string());
    text(",\"limit\":");
    text(&limit.to_string());
    text(",\"next_cursor\":");
    match next {
        // A cursor is base64url: nothing in it needs escaping.
        Some(cursor) => {
            text("\"");
            text(cursor);
            text("\"");
        }
        None => text("null"),
    }
    text(",\"applied_filters\":");
    write_applied(out, raw);
    let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
    text(",\"sort\":{\"field\":\"");
    text(sort.field.as_str());
    text("\",\"order\":\"");
    text(sort.order.as_str());
    text("\"},\"vehicles\":[");
    for (i, row) in page.rows.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(row.listing());
    }
    out.extend_from_slice(b"]}");
}

/// Appends the request's own filters without empty lists (AAP.md 16.2 #7). Written as they stand: copies of them,
/// made first, took a twentieth of a search.
fn write_applied(out: &mut Vec<u8>, raw: &Value) {
    let mut before = b'{';
    for (name, value) in raw.get("filters").and_then(Value::as_object).into_iter().flatten() {
        if is_empty_list(value) {
            continue;
        }
        out.push(before);
        before = b',';
        write_json(out, name);
        out.push(b':');
        match value {
            // Whole numbers are spelled as such, whatever the request wrote.
            Value::Number(_) => write_json(out, &integer_restored(value)),
            _ => write_json(out, value),
        }
    }
    if before == b'{' {
        out.push(before);
    }
    out.push(b'}');
}

fn write_json(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    // Neither memory nor a tree of JSON refuses to be written.
    let _ = serde_json::to_writer(out, value);
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Refuses filters, feature codes and sort fields that the schema knows and this dealer does not offer
/// (AAP.md 16.2 #12, #13). An empty list asks for nothing and is let through.
pub(crate) fn check_offered(call: &Call, request: &InventorySearchRequest, raw: &Value) -> Result<(), Fault> {
    let Some(search) = &call.tenant.policy.search else { return Ok(()) };
    let mut violations = Vec::new();
    if let (Some(offered), Some(filters)) = (&search.filters, raw.get("filters").and_then(Value::as_object)) {
        for (name, value) in filters {
            if !is_empty_list(value) && !offered.contains(name) {
                violations.push(Violation::new(
                    format!("/filters/{name}"),
                    "x-unsupported",
                    "this dealer does not offer this filter",
                ));
            }
        }
    }
    let features_offered = violations.iter().all(|v| v.location != "/filters/features");
    if let (Some(codes), true) = (&search.feature_codes, features_offered) {
        for (i, feature) in request.filters.features.iter().enumerate() {
            let wanted = contract::text::fold(feature);
            if !codes.iter().any(|code| contract::text::fold(code) == wanted) {
                violations.push(Violation::new(
                    format!("/filters/features/{i}"),
                    "x-unsupported",
                    "this dealer does not offer this feature code",
                ));
            }
        }
    }
    let code = if violations.is_empty() { FaultCode::UnsupportedSort } else { FaultCode::UnsupportedFilter };
    let mut sorts = None;
    if let (Some(fields), Some(sort)) = (&search.sort_fields, request.sort)
        && !fields.contains(&sort.field)
    {
        sorts = Some(fields.iter().map(|field| field.as_str()).collect::<Vec<_>>());
        violations.push(Violation::new(
            "/sort/field",
            "x-unsupported",
            "this dealer does not offer this sort field",
        ));
    }
    if violations.is_empty() {
        return Ok(());
    }
    let message = match code {
        FaultCode::UnsupportedSort => "This dealer does not sort by that field.",
        _ => "This dealer does not offer every filter of the request; see details.errors.",
    };
    let fault = Fault::new(code, message).with_violations(violations);
    Err(match sorts {
        Some(offered) => fault.with_detail("supported_sort_fields", offered),
        None => fault,
    })
}

fn bad_cursor(why: CursorError) -> Fault {
    let message = match why {
        CursorError::Expired => {
            "The cursor is over, or the inventory changed meanwhile; start again from the first page."
        }
        CursorError::Malformed => "The cursor is not one of ours; start again from the first page.",
        CursorError::Mismatch => {
            "The cursor belongs to another request; send it with the same filters and sort, to the same dealer."
        }
    };
    Fault::new(FaultCode::InvalidCursor, message).with_detail("reason", why.as_str())
}
