//! What is here, for programs that know none of this: `llms.txt`, and the catalogue of interfaces (RFC 9727).
//!
//! Both name only interfaces that stand in the table.

use std::fmt::Write as _;

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use contract::{ContractVersion, SkillId};
use dealer::{Dealer, Place, Tenant};
use serde_json::{Value, json};

use super::one_line::one_line;
use super::{INTERFACES, Visit, schemas};
use crate::answer;

/// Of a catalogue: links, by the profile of RFC 9727.
const CATALOG: &str = "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";
const TEXT: &str = "text/plain; charset=utf-8";
const OPENAPI: &str = "application/openapi+json";
/// How many dealers the platform's own documents name.
const LISTED: usize = 1000;

/// A way of asking, as catalogues describe it.
struct Door {
    /// The path that requests go to; empty for the base.
    path: &'static str,
    /// What it speaks.
    name: &'static str,
    /// What describes it to programs.
    description: &'static str,
    description_type: &'static str,
}

const DOORS: [Door; 3] = [
    Door { path: "", name: "Plain HTTP", description: "openapi.json", description_type: OPENAPI },
    Door {
        path: "a2a",
        name: "A2A 1.0, JSON-RPC",
        description: ".well-known/agent-card.json",
        description_type: "application/json",
    },
    Door {
        path: "mcp",
        name: "MCP, Streamable HTTP",
        description: "mcp.json",
        description_type: "application/json",
    },
];

/// Those that are served.
fn doors() -> impl Iterator<Item = &'static Door> {
    let served = |path: &str| INTERFACES.iter().any(|interface| interface.path == path);
    DOORS.iter().filter(move |door| served(door.path) && served(door.description))
}

/// The catalogue's entry of a dealer in one contract.
fn entries(tenant: &Tenant, version: ContractVersion) -> impl Iterator<Item = Value> {
    let base = format!("{}{version}/", tenant.base);
    doors().map(move |door| {
        let title = format!("{} ({version}): {}", tenant.name, door.name);
        json!({
            "anchor": format!("{base}{}", door.path),
            "service-desc": [{"href": format!("{base}{}", door.description), "type": door.description_type, "title": title}],
            "service-doc": [{"href": format!("{base}docs"), "type": "text/html"}],
            "service-meta": [{"href": format!("{base}llms.txt"), "type": "text/plain"}],
        })
    })
}

/// The contracts of a dealer in which it can be asked, its default one first.
fn contracts(tenant: &Tenant) -> Vec<ContractVersion> {
    let mut all: Vec<_> =
        tenant.contracts.iter().copied().filter(|version| tenant.card(*version).is_some()).collect();
    all.sort_by_key(|version| *version != tenant.default_contract);
    all
}

/// The catalogue of one dealer.
pub(super) async fn catalog(visit: Visit<'_>) -> HttpResponse {
    let tenant = &visit.target.tenant;
    let here = format!("{}.well-known/api-catalog", tenant.base);
    let all: Vec<_> = contracts(tenant).into_iter().flat_map(|version| entries(tenant, version)).collect();
    let items: Vec<_> = all.iter().filter_map(|entry| Some(json!({"href": entry.get("anchor")?}))).collect();
    let itself = json!({"anchor": here, "item": items});
    let set = json!({"linkset": std::iter::once(itself).chain(all).collect::<Vec<_>>()});
    let mut answered = document(&visit, CATALOG, set.to_string());
    let link = format!("<{here}>; rel=\"api-catalog\"");
    if let Ok(link) = HeaderValue::from_str(&link) {
        answered.headers_mut().insert(header::LINK, link);
    }
    answered
}

/// `llms.txt` of one dealer.
pub(super) async fn llms(visit: Visit<'_>) -> HttpResponse {
    let text = introduction(&visit.target.tenant, visit.target.contract);
    document(&visit, TEXT, text)
}

fn document(visit: &Visit<'_>, media_type: &str, text: String) -> HttpResponse {
    if !matches!(*visit.request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(visit.request, "GET, HEAD, OPTIONS");
    }
    schemas::found(visit, media_type, text)
}

/// One line that no name can break out of.
fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '[' | ']' | '<' | '>' | '`' | '*' | '_' | '\\' | '#' => line.extend(['\\', c]),
            c => line.push(c),
        }
    }
    line
}

fn introduction(tenant: &Tenant, version: ContractVersion) -> String {
    let base = format!("{}{version}/", tenant.base);
    let has = |id| tenant.skills.contains(&id);
    let mut text = format!(
        "# {}\n\n> A car dealer that programs can ask: the Auto Agent Protocol {version}, by any of the interfaces \
         below. All of them give the same answers.\n",
        line(&tenant.name)
    );
    let mut add = |more: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _ = text.write_fmt(more);
    };
    if tenant.sandbox {
        add(format_args!("\nThis is a sandbox dealer: for trying out; nothing here is for sale.\n"));
    }
    if !tenant.access.is_public() {
        add(format_args!(
            "\nQuestions need a credential of this dealer's, sent as `Authorization: Bearer`.\n"
        ));
    }
    add(format_args!("\n## Interfaces\n\n"));
    for door in doors() {
        add(format_args!(
            "- [{}]({base}{}): described by {base}{}\n",
            door.name, door.path, door.description
        ));
    }
    add(format_args!(
        "- [Documentation of the HTTP interface]({base}docs)\n- [JSON Schemas]({base}schemas/)\n"
    ));
    add(format_args!("\n## What can be asked\n\n"));
    for id in &tenant.skills {
        add(format_args!("- `{id}`: {}\n", id.spec().description));
    }
    add(format_args!("\n## Quickest way\n\n"));
    if has(SkillId::InventoryFacets) {
        add(format_args!("- [What there is to choose from]({base}facets): GET, JSON\n"));
    }
    if has(SkillId::InventorySearch) {
        add(format_args!(
            "- [Vehicles]({base}inventory): GET, JSON, with parameters such as `make`, `price_max`, `sort=price`; a \
             `Link` header leads to the next page\n"
        ));
    }
    if has(SkillId::InventoryVehicle) {
        add(format_args!("- One vehicle: GET `{base}inventory/{{vehicle_id}}`, JSON\n"));
    }
    if has(SkillId::DealerInformation) {
        add(format_args!("- [Who the dealer is]({base}dealer): GET, JSON\n"));
    }
    if has(SkillId::LeadSubmit) {
        add(format_args!(
            "- A lead: POST `{base}skills/lead.submit`, only with the shopper's consent as the schema asks for it\n"
        ));
    }
    add(format_args!(
        "\n`price` is the advertised price in US dollars, with every mandatory charge of the dealer's and without \
         taxes. A vehicle without `price` has none to be promised.\n"
    ));
    text
}

/// The platform's own documents: which dealers there are, and where each describes itself.
pub(crate) async fn platform(request: &HttpRequest, dealer: &Dealer, wanted: Wanted) -> HttpResponse {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let origin = dealer.addresses().origin.as_str();
    let mut items = Vec::new();
    let mut lines = String::new();
    for slug in dealer.active_slugs(LISTED) {
        // One that cannot be read now is missing for now.
        let Ok(tenant) = dealer.resolve(Place::Slug(&slug)).await else { continue };
        if contracts(&tenant).is_empty() {
            continue;
        }
        let base = &tenant.base;
        items.push(
            json!({"href": format!("{base}.well-known/api-catalog"), "type": CATALOG, "title": tenant.name}),
        );
        let _ = writeln!(lines, "- [{}]({base}llms.txt)", line(&tenant.name));
    }
    let (media_type, body) = match wanted {
        Wanted::Catalog => {
            let here = format!("{origin}/.well-known/api-catalog");
            (CATALOG, json!({"linkset": [{"anchor": here, "api-catalog": items}]}).to_string())
        }
        Wanted::Llms => (
            TEXT,
            format!(
                "# Forecourt\n\n> Car dealers that programs can ask, by A2A, MCP and plain HTTP. Each dealer has a \
                 base address and describes itself there.\n\n## Dealers\n\n{lines}"
            ),
        ),
    };
    HttpResponse::Ok()
        .content_type(media_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=60"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(body)
}

/// Which of the platform's own documents.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// `/.well-known/api-catalog`.
    Catalog,
    /// `/llms.txt`.
    Llms,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_a_name() {
        assert_eq!(line("A [b](c)\n# d\u{2028}e"), "A \\[b\\](c) \\# d e");
    }
}
