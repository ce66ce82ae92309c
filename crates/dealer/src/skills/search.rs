//! `inventory.search`: filters, order, pages.

use contract::listing::integer_restored;
use contract::payload::{Filters, InventorySearchRequest, Sort, SortField};
use contract::{Fault, FaultCode, Paging, SkillId, Violation, with_further};
use inventory::cursor::{self, Cursor, CursorError, Scope};
use inventory::{Page, Start};
use serde::Deserialize;
use serde_json::Value;

use super::{Skill, close_lot_payload, open_payload};
use crate::lot::CURSOR_SECONDS;
use crate::policy::FILTERS;
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
        let spec = dealer.contract(call.contract)?.spec();
        check_offered(call, raw)?;
        let policy = &call.tenant.policy;
        let asked = request.pagination.limit.unwrap_or_else(|| policy.page_size().into());
        let page = Asked {
            dealer,
            call,
            filters: &request.filters,
            sort: request.sort.unwrap_or(policy.default_sort),
            limit: asked.clamp(1, policy.max_limit.into()),
        };
        match spec.paging {
            Paging::Skip => page.by_skip(request.pagination.skip.unwrap_or_default(), out).await,
            Paging::Cursor => page.by_cursor(request.pagination.cursor.as_deref(), raw, out).await,
        }
    }
}

/// What is asked, whichever way the contract pages.
struct Asked<'a> {
    dealer: &'a Dealer,
    call: &'a Call,
    filters: &'a Filters,
    sort: Sort,
    limit: i64,
}

impl Asked<'_> {
    fn page_size(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// v1.3 and the draft: each page is from the newest version of the lot.
    async fn by_skip(&self, skip: i64, out: &mut Vec<u8>) -> Result<Option<u64>, Fault> {
        let view = self.dealer.inner.lot(self.call).await?;
        let snapshot = &view.current.snapshot;
        let start = Start::Skip(skip.try_into().unwrap_or_default());
        let page = inventory::search(snapshot, self.filters, self.sort, start, self.page_size())
            .map_err(|_| Fault::internal("counting from the start led behind a unit that is not there"))?;
        open_payload(out, Search::ID);
        open_result(out, &page, self.limit);
        out.extend_from_slice(b",\"skip\":");
        out.extend_from_slice(skip.to_string().as_bytes());
        close_result(out, &page);
        close_lot_payload(out, self.call);
        Ok(Some(snapshot.version()))
    }

    /// v3.0: all pages are from the version that the first one was from.
    async fn by_cursor(
        &self,
        cursor: Option<&str>,
        raw: &Value,
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, Fault> {
        let (inner, call, sort) = (&self.dealer.inner, self.call, self.sort);
        let scope = Scope {
            tenant: call.tenant.id.0.as_bytes(),
            contract: call.contract.as_str(),
            fingerprint: cursor::fingerprint(self.filters, sort),
        };
        let now = unix_now();
        let expires_at = now + CURSOR_SECONDS;
        let cursor = match cursor {
            Some(text) => Some(cursor::decode(&inner.cursor_key, &scope, text, now).map_err(bad_cursor)?),
            None => None,
        };
        let view = inner.lot(call).await?;
        let former;
        let (held, start) = match &cursor {
            None => (&view.current, Start::Beginning),
            Some(cursor) => {
                let found = inner.lots.version(call.tenant.id, &view, cursor.version);
                let found = found.await.map_err(Fault::internal)?;
                former = found.ok_or_else(|| bad_cursor(CursorError::Expired))?;
                (&former, Start::After(&cursor.after))
            }
        };
        let page = inventory::search(&held.snapshot, self.filters, sort, start, self.page_size())
            .map_err(|_| bad_cursor(CursorError::Malformed))?;
        let version = held.snapshot.version();
        let last = page.more.then(|| page.rows.last()).flatten();
        let next = last.map(|last| {
            held.keep_until(expires_at);
            let next = Cursor { version, after: last.vehicle_id().to_owned(), expires_at };
            cursor::encode(&inner.cursor_key, &scope, &next)
        });
        open_payload(out, Search::ID);
        open_result(out, &page, self.limit);
        out.extend_from_slice(b",\"next_cursor\":");
        match &next {
            // A cursor is base64url: nothing in it needs escaping.
            Some(cursor) => {
                out.push(b'"');
                out.extend_from_slice(cursor.as_bytes());
                out.push(b'"');
            }
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"applied_filters\":");
        write_applied(out, raw);
        let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
        text(",\"sort\":{\"field\":\"");
        text(sort.field.as_str());
        text("\",\"order\":\"");
        text(sort.order.as_str());
        text("\"}");
        close_result(out, &page);
        close_lot_payload(out, call);
        Ok(Some(version))
    }
}

/// Appends what every contract's answer begins with.
fn open_result(out: &mut Vec<u8>, page: &Page<'_>, limit: i64) {
    out.reserve(page.documents() + page.rows.len() + 1024);
    let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
    text("{\"total\":");
    text(&page.total.to_string());
    text(",\"limit\":");
    text(&limit.to_string());
}

/// Appends the vehicles of the page and ends the result.
fn close_result(out: &mut Vec<u8>, page: &Page<'_>) {
    out.extend_from_slice(b",\"vehicles\":[");
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
/// (AAP.md 16.2 #12, #13), in a contract that has words for it.
pub(crate) fn check_offered(call: &Call, data: &Value) -> Result<(), Fault> {
    let violations = with_further(Vec::new(), not_offered(call, data));
    let unsorted = violations.iter().any(|violation| violation.location == SORT_FIELD);
    let fault = match (violations.len(), unsorted) {
        (0, _) => return Ok(()),
        (1, true) => Fault::new(FaultCode::UnsupportedSort, "This dealer does not sort by that field."),
        _ => Fault::new(
            FaultCode::UnsupportedFilter,
            "This dealer does not offer every filter of the request; see details.errors.",
        ),
    };
    let fault = fault.with_violations(violations);
    let search = call.tenant.policy.search.as_ref().filter(|_| unsorted);
    Err(match search.and_then(|search| search.sort_fields.as_ref()) {
        Some(fields) => {
            let offered: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
            fault.with_detail("supported_sort_fields", offered)
        }
        None => fault,
    })
}

/// Where a sort field stands in a request.
const SORT_FIELD: &str = "/sort/field";

/// What of a request the schema knows and this dealer does not offer. The request may break its schema elsewhere:
/// everything that is wrong with it is to be said at once (AAP.md 6.1). An empty list asks for nothing.
pub(crate) fn not_offered(call: &Call, data: &Value) -> Vec<Violation> {
    let has_words = call.contract.spec().is_some_and(|spec| spec.search_restrictable);
    let Some(search) = call.tenant.policy.search.as_ref().filter(|_| has_words) else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    let mut refuse = |at: String, why| violations.push(Violation::new(at, "x-unsupported", why));
    let is_offered =
        |name: &str| search.filters.as_ref().is_none_or(|offered| offered.iter().any(|one| one == name));
    for (name, value) in data.get("filters").and_then(Value::as_object).into_iter().flatten() {
        if FILTERS.contains(&name.as_str()) && !is_empty_list(value) && !is_offered(name) {
            refuse(format!("/filters/{name}"), "this dealer does not offer this filter");
        }
    }
    let features = data.pointer("/filters/features").and_then(Value::as_array);
    if let (Some(codes), Some(features), true) = (&search.feature_codes, features, is_offered("features")) {
        for (i, feature) in features.iter().enumerate() {
            let Some(wanted) = feature.as_str().map(contract::text::fold) else { continue };
            if !codes.iter().any(|code| contract::text::fold(code) == wanted) {
                refuse(format!("/filters/features/{i}"), "this dealer does not offer this feature code");
            }
        }
    }
    let field = data.pointer(SORT_FIELD).and_then(|field| SortField::deserialize(field).ok());
    if let (Some(fields), Some(field)) = (&search.sort_fields, field)
        && !fields.contains(&field)
    {
        refuse(SORT_FIELD.to_owned(), "this dealer does not offer this sort field");
    }
    violations
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
