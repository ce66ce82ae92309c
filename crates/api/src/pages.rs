//! Pages for people who open an address in a browser: what is here and how to call it.

use std::fmt::Write as _;

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse};
use contract::payload::SortField;
use contract::{ContractSpec, ContractVersion, SkillId};
use dealer::{Dealer, Place, Tenant};

use crate::{answer, interfaces};

/// How many dealers the platform's page lists.
const LISTED: usize = 50;

/// The letter F, so that browsers need not ask for one.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
%3Crect width='16' height='16' rx='3' fill='%230b5cad'/%3E\
%3Cpath d='M5 12V4h7M5 8h5' stroke='white' stroke-width='2' fill='none'/%3E%3C/svg%3E";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:0 auto;padding:2rem 1rem;\
color:#1b2430;background:#fbfbf9}h1{font-size:1.8rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}\
a{color:#0b5cad}code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#10202f;color:#e8eef4;\
padding:1rem;border-radius:8px;overflow-x:auto;white-space:pre}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid #dcdfe3;vertical-align:top;\
overflow-wrap:break-word}main{overflow-x:auto}p.lead{color:#48535f;margin:0}";

/// The platform's own page.
pub(crate) async fn platform(request: &HttpRequest, dealer: &Dealer) -> HttpResponse {
    let origin = dealer.addresses().origin.as_str();
    let slugs = dealer.active_slugs(LISTED);
    let active = dealer.figures().active;
    let mut body = String::new();
    push(
        &mut body,
        format_args!("<h1>Forecourt</h1><p class=lead>{active} car dealer agents for AI buyer agents.</p>"),
    );
    body.push_str(
        "<p>Each dealer here has an <a href=\"https://a2a-protocol.org/\">A2A 1.0</a> Agent Card and an endpoint that \
         speaks the <a href=\"https://autoagentprotocol.org/\">Auto Agent Protocol</a>: dealer information, \
         inventory search, facets, vehicle detail and leads. Give your agent a dealer's base address; it needs nothing \
         else.</p>",
    );
    if slugs.is_empty() {
        body.push_str(
            "<h2>No dealers yet</h2><p>Load the demo dealers with <code>forecourt demo</code>, or your own with \
             <code>forecourt provision FILE</code>.</p>",
        );
    } else {
        body.push_str(
            "<h2>Dealers</h2><table><tr><th>Base address</th><th>Agent Card</th><th>Contracts: that of the card, \
             and others</th><th>Callers</th></tr>",
        );
        let mut example = None;
        for slug in &slugs {
            let base = dealer.addresses().path_base(slug);
            // One that cannot be read now is listed all the same.
            let tenant = dealer.resolve(Place::Slug(slug)).await.ok();
            listed(&mut body, &base, tenant.as_deref());
            if let Some(tenant) = tenant.filter(|tenant| tenant.card(tenant.default_contract).is_some()) {
                example.get_or_insert((base, tenant));
            }
        }
        body.push_str("</table>");
        if active > slugs.len() {
            push(&mut body, format_args!("<p>… and {} more.</p>", active - slugs.len()));
        }
        if let Some((base, tenant)) = example {
            try_it(&mut body, &tenant, &base, tenant.default_contract);
        }
    }
    push(
        &mut body,
        format_args!(
            "<h2>Addresses</h2><table>\
             <tr><td><code>{origin}/t/{{slug}}/</code></td><td>a dealer, in its default contract version</td></tr>\
             <tr><td><code>{origin}/t/{{slug}}/v3.0/</code></td><td>a dealer, in a named contract version</td></tr>\
             <tr><td><code>…/.well-known/agent-card.json</code></td><td>its Agent Card in that version</td></tr>\
             <tr><td><code>…/docs</code>, <code>…/openapi.json</code></td><td>its skills as plain HTTP in that \
             version</td></tr>\
             <tr><td><code>…/vehicles</code></td><td>its vehicles as pages</td></tr>\
             <tr><td><code>…/mcp</code></td><td>its skills as an MCP server (POST)</td></tr>\
             <tr><td><code>…/schemas/</code></td><td>the schemas of that version</td></tr>\
             <tr><td><code>…/a2a</code></td><td>its A2A JSON-RPC endpoint (POST)</td></tr>\
             <tr><td><code>{origin}/v3.0/a2a</code></td><td>one endpoint for all dealers; \
             <code>params.tenant</code> is the slug</td></tr>\
             <tr><td><a href=\"/healthz\">/healthz</a>, <a href=\"/readyz\">/readyz</a>, \
             <a href=\"/metrics\">/metrics</a></td><td>for operators</td></tr></table>",
            origin = escaped(origin),
        ),
    );
    html(request, "Forecourt", &body, None)
}

/// A dealer's page.
pub(crate) fn dealer(request: &HttpRequest, tenant: &Tenant, contract: ContractVersion) -> HttpResponse {
    let Some(spec) = contract.spec() else { return answer::not_found(request) };
    let is_default = contract == tenant.default_contract;
    let below = if is_default { String::new() } else { format!("{contract}/") };
    let card = format!("{}{below}.well-known/agent-card.json", tenant.base);
    let endpoint = format!("{}{contract}/a2a", tenant.base);
    let mut body = String::new();
    if tenant.card(contract).is_none() {
        push(
            &mut body,
            format_args!(
                "<h1>{name}</h1><p class=lead>A car dealer agent that offers nothing here yet: none of its skills is \
                 served by this build, so it has no Agent Card.</p>",
                name = escaped(&tenant.name),
            ),
        );
        return html(request, &tenant.name, &body, None);
    }
    let vehicles = match tenant.skills.contains(&SkillId::InventorySearch) {
        true => {
            let address = escaped(&format!("{}{contract}/vehicles", tenant.base));
            format!("<tr><th>Vehicles</th><td><a href=\"{address}\">{address}</a></td></tr>")
        }
        false => String::new(),
    };
    push(
        &mut body,
        format_args!(
            "<h1>{name}</h1><p class=lead>A car dealer agent. This address is made for programs; here is how they \
             use it.</p><h2>Addresses</h2><table>\
             <tr><th>Agent Card</th><td><a href=\"{card}\">{card}</a></td></tr>\
             <tr><th>Endpoint</th><td><code>{endpoint}</code> (A2A 1.0, JSON-RPC, POST)</td></tr>\
             <tr><th>Extension</th><td><code>{uri}</code></td></tr>\
             <tr><th>Plain HTTP</th><td><a href=\"{docs}\">{docs}</a>, \
             <a href=\"{openapi}\">openapi.json</a></td></tr>{vehicles}\
             <tr><th>MCP</th><td><code>{mcp}</code> (Streamable HTTP, POST)</td></tr>\
             <tr><th>Schemas</th><td><a href=\"{schemas}\">{schemas}</a></td></tr>\
             <tr><th>Callers</th><td>{callers}</td></tr></table>",
            name = escaped(&tenant.name),
            card = escaped(&card),
            endpoint = escaped(&endpoint),
            uri = spec.extension_uri,
            docs = escaped(&format!("{}{contract}/docs", tenant.base)),
            openapi = escaped(&format!("{}{contract}/openapi.json", tenant.base)),
            vehicles = vehicles,
            mcp = escaped(&format!("{}{contract}/mcp", tenant.base)),
            schemas = escaped(&format!("{}{contract}/schemas/", tenant.base)),
            callers = who_may_ask(tenant),
        ),
    );
    versions(&mut body, tenant);
    body.push_str("<h2>Skills</h2><table>");
    for id in &tenant.skills {
        let skill = id.spec();
        push(&mut body, format_args!("<tr><td><code>{id}</code></td><td>{}</td></tr>", skill.description));
    }
    body.push_str("</table>");
    try_it(&mut body, tenant, &tenant.base, contract);
    let link = |relation: &str, kind: &str, address: &str| {
        format!("<link rel={relation} type=\"{kind}\" href=\"{}\">", escaped(address))
    };
    let mut head = format!(
        "<link rel=alternate type=\"application/json\" title=\"Agent Card\" href=\"{}\">",
        escaped(&card)
    );
    head +=
        &link("service-desc", "application/openapi+json", &format!("{}{contract}/openapi.json", tenant.base));
    head += &link("service-doc", "text/html", &format!("{}{contract}/docs", tenant.base));
    head +=
        &link("api-catalog", "application/linkset+json", &format!("{}.well-known/api-catalog", tenant.base));
    if let Some(dealer) = interfaces::json_ld::dealer(tenant) {
        head += &interfaces::json_ld::script(&dealer);
    }
    page(request, &tenant.name, &head, &body)
}

/// Every version that the dealer publishes, and which one its bare address selects.
fn versions(body: &mut String, tenant: &Tenant) {
    body.push_str(
        "<h2>Contract versions</h2><p>Each version of the protocol has its own card and endpoint. The card at the bare \
         address is that of the default version.</p><table>",
    );
    for spec in tenant.contracts.iter().filter_map(|version| version.spec()) {
        let version = spec.version;
        let default = if version == tenant.default_contract { " (default)" } else { "" };
        let card = escaped(&format!("{}{version}/.well-known/agent-card.json", tenant.base));
        push(
            body,
            format_args!(
                "<tr><th>{version}{default}</th><td><a href=\"{card}\">{card}</a><br>{}</td></tr>",
                escaped(spec.summary)
            ),
        );
    }
    body.push_str("</table>");
}

/// The row of a dealer on the platform's page: only what is served is named.
fn listed(body: &mut String, base: &str, tenant: Option<&Tenant>) {
    let base = escaped(base);
    let link = |below: &str| {
        format!("<a href=\"{base}{below}.well-known/agent-card.json\">{below}agent-card.json</a>")
    };
    let (card, contracts, callers) = match tenant {
        None => (link(""), "?".to_owned(), "?"),
        Some(tenant) => {
            let default = tenant.default_contract;
            let served = tenant.served();
            let names = |versions: &[ContractVersion]| {
                versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let (card, contracts) = match served.as_slice() {
                [] => ("none".to_owned(), "none is served here".to_owned()),
                [first] if *first == default => (link(""), format!("<b>{first}</b>")),
                [first, others @ ..] if *first == default => {
                    (link(""), format!("<b>{first}</b>, {}", names(others)))
                }
                [.., newest] => (
                    link(&format!("{newest}/")),
                    format!("{}; the default, {default}, is not served here", names(&served)),
                ),
            };
            (card, contracts, who_may_ask(tenant))
        }
    };
    // The page at the bare address is that of the default contract, as the card is.
    let has_page = tenant.is_none_or(|tenant| tenant.contracts.contains(&tenant.default_contract));
    let address = if has_page { format!("<a href=\"{base}\">{base}</a>") } else { base.clone() };
    push(
        body,
        format_args!("<tr><td>{address}</td><td>{card}</td><td>{contracts}</td><td>{callers}</td></tr>"),
    );
}

fn who_may_ask(tenant: &Tenant) -> &'static str {
    match (tenant.access.is_public(), tenant.access.takes_keys(), tenant.access.oauth()) {
        (true, ..) => "everybody",
        (_, true, None) => "bearers of a key",
        (_, true, Some(_)) => "bearers of a key or token",
        (_, false, _) => "bearers of a token",
    }
}

/// Commands that work when they are pasted into a shell.
fn try_it(body: &mut String, tenant: &Tenant, base: &str, contract: ContractVersion) {
    // A dealer whose only skills are those of a later build has no card yet.
    let (Some(spec), Some(_)) = (contract.spec(), tenant.card(contract)) else { return };
    let below = if contract == tenant.default_contract { String::new() } else { format!("{contract}/") };
    let card = format!("{base}{below}.well-known/agent-card.json");
    let endpoint = format!("{base}{contract}/a2a");
    body.push_str("<h2>Try it</h2>");
    push(body, format_args!("<pre tabindex=0>curl -s {}</pre>", escaped(&shell_quoted(&card))));
    if tenant.skills.contains(&SkillId::InventorySearch) {
        push(
            body,
            format_args!("<pre tabindex=0>{}</pre>", escaped(&search_command(tenant, &endpoint, spec))),
        );
    }
}

/// A search as a command that works when it is pasted into a shell.
pub fn search_command(tenant: &Tenant, endpoint: &str, spec: &ContractSpec) -> String {
    let skill = SkillId::InventorySearch.spec();
    let tenant_member = match &tenant.interface_tenant {
        Some(value) => format!("\"tenant\":{},", serde_json::Value::from(value.as_str())),
        None => String::new(),
    };
    let fields = tenant.policy.search.as_ref().and_then(|search| search.sort_fields.as_ref());
    let sort = match fields.is_none_or(|fields| fields.contains(&SortField::Price)) {
        true => ",\"sort\":{\"field\":\"price\",\"order\":\"asc\"}",
        false => "",
    };
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{{{tenant_member}\"message\":{{\
         \"messageId\":\"m-1\",\"role\":\"ROLE_USER\",\"parts\":[{{\"mediaType\":\"{}\",\"data\":{{\"type\":\"{}\",\
         \"pagination\":{{\"limit\":3}}{sort}}}}}]}},\
         \"configuration\":{{\"acceptedOutputModes\":[\"{}\"]}}}}}}",
        skill.request_media_type, skill.request_type, skill.response_media_type,
    );
    format!(
        "curl -s {} \\\n  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\\n  \
         -H 'A2A-Extensions: {}' \\\n{}  -d {}",
        shell_quoted(endpoint),
        spec.extension_uri,
        // What the dealer gave to its caller, who puts it there.
        if tenant.access.is_public() { "" } else { "  -H \"Authorization: Bearer $KEY\" \\\n" },
        shell_quoted(&request),
    )
}

fn html(request: &HttpRequest, title: &str, body: &str, card: Option<&str>) -> HttpResponse {
    let link = card.map(|card| {
        format!(
            "<link rel=alternate type=\"application/json\" title=\"Agent Card\" href=\"{}\">",
            escaped(card)
        )
    });
    page(request, title, &link.unwrap_or_default(), body)
}

/// A page of ours: `head` and `body` are markup.
pub(crate) fn page(request: &HttpRequest, title: &str, head: &str, body: &str) -> HttpResponse {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let page = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>{}</title>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">{head}<link rel=icon href=\"{ICON}\"><style>{STYLE}</style></head>\
         <body><main>{body}</main></body></html>",
        escaped(title),
    );
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "public, max-age=60"))
        .insert_header((
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
        ))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .body(page)
}

/// Appends formatted text.
pub(crate) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

/// Text as it may stand in HTML, in an attribute too.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Text as one word of a POSIX shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_markup_or_a_shell_word() {
        assert_eq!(escaped("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
        assert_eq!(shell_quoted("it's $(x)"), "'it'\\''s $(x)'");
    }
}
