//! An OpenAPI document as a page: nothing of another host, no script.

use dealer::Tenant;
use serde_json::Value;

use crate::pages::{escaped, push};

/// What the page may do: wear its own style.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                                 frame-ancestors 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1.5rem 1rem;\
color:#1b2430;background:#fbfbf9}h1{font-size:1.8rem;margin:0 0 .25rem}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;\
border-bottom:2px solid #dcdfe3}h3{font-size:1.1rem;margin:1.75rem 0 .25rem}h4{font-size:1rem;margin:1rem 0 .25rem}\
a{color:#0b5cad}code,pre{font:14px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}pre{background:#10202f;\
color:#e8eef4;padding:1rem;border-radius:8px;overflow-x:auto}table{border-collapse:collapse;width:100%}td,th{\
text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid #dcdfe3;vertical-align:top}caption{\
text-align:left;font-weight:600;padding-top:.75rem}th code{white-space:nowrap}.scroll{overflow-x:auto}summary{cursor:pointer;padding:.35rem 0}\
.verb{background:#0b5cad;color:#fff;border-radius:4px;padding:.1rem .45rem;margin-right:.5rem;font:600 13px \
ui-monospace,monospace}.skip{position:absolute;left:-100vw}.skip:focus{left:1rem;top:.5rem;background:#fff}\
@media(prefers-color-scheme:dark){body{background:#10161d;color:#dfe6ee}a{color:#7db8f5}td,th,h2{border-color:#33404d}\
.skip:focus{background:#10161d}}";

/// The whole page.
pub(super) fn page(tenant: &Tenant, document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut out = String::with_capacity(64 * 1024);
    push(
        &mut out,
        format_args!(
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}: HTTP interface</title>\
             <meta name=viewport content=\"width=device-width,initial-scale=1\">\
             <link rel=icon href=\"data:,\"><link rel=service-desc type=\"application/openapi+json\" \
             href=\"openapi.json\"><style>{STYLE}</style></head><body><a class=skip href=\"#main\">To the content</a>\
             <main id=main><h1>{title}</h1><p>{description}</p><p>Base address: <code>{server}</code>. This page as a \
             document for programs: <a href=\"openapi.json\">openapi.json</a>, <a href=\"openapi.yaml\">openapi.yaml</a>\
             . <a href=\"{base}\">The dealer's own page</a>.</p>",
            title = escaped(text("/info/title")),
            description = prose(text("/info/description")),
            server = escaped(text("/servers/0/url")),
            base = escaped(&tenant.base),
        ),
    );
    contents(document, &mut out);
    credentials(document, &mut out);
    out.push_str("<h2 id=operations>Operations</h2>");
    for (path, verb, operation) in operations(document) {
        one(path, verb, operation, &mut out);
    }
    errors(document, &mut out);
    out.push_str("<h2 id=schemas>Schemas</h2>");
    for (name, schema) in members(document.pointer("/components/schemas")) {
        push(&mut out, format_args!("<h3 id=\"schema-{0}\">{0}</h3>", escaped(name)));
        described(schema, &mut out);
    }
    out.push_str("</main></body></html>");
    out
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = members(document.get("paths"));
    paths.flat_map(|(path, item)| members(Some(item)).map(move |(verb, operation)| (path, verb, operation)))
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Text in which words between backticks are code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        match i % 2 {
            0 => out.push_str(&escaped(part)),
            _ => push(&mut out, format_args!("<code>{}</code>", escaped(part))),
        }
    }
    out
}

fn contents(document: &Value, out: &mut String) {
    out.push_str("<nav aria-label=Contents><h2>Contents</h2><ul>");
    for (path, verb, operation) in operations(document) {
        push(
            out,
            format_args!(
                "<li><a href=\"#{}\">{} {}</a>: {}</li>",
                escaped(word(operation, "operationId")),
                verb.to_uppercase(),
                escaped(path),
                escaped(word(operation, "summary")),
            ),
        );
    }
    out.push_str(
        "<li><a href=\"#errors\">Errors</a></li><li><a href=\"#schemas\">Schemas</a></li></ul></nav>",
    );
}

fn credentials(document: &Value, out: &mut String) {
    out.push_str("<h2 id=callers>Who may ask</h2>");
    let mut schemes = members(document.pointer("/components/securitySchemes")).peekable();
    if schemes.peek().is_none() {
        out.push_str("<p>Everybody; no credential is needed.</p>");
        return;
    }
    out.push_str("<p>Send <code>Authorization: Bearer …</code> with one of these:</p><ul>");
    for (name, scheme) in schemes {
        let address = scheme.pointer("/flows/clientCredentials/tokenUrl").and_then(Value::as_str);
        push(out, format_args!("<li><b>{}</b>: {}", escaped(name), prose(word(scheme, "description"))));
        if let Some(address) = address {
            push(out, format_args!(" Tokens are given at <code>{}</code>.", escaped(address)));
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
}

fn one(path: &str, verb: &str, operation: &Value, out: &mut String) {
    push(
        out,
        format_args!(
            "<section aria-labelledby=\"{id}\"><h3 id=\"{id}\"><span class=verb>{}</span><code>{}</code></h3><p>{}. {}</p>",
            verb.to_uppercase(),
            escaped(path),
            escaped(word(operation, "summary")),
            prose(word(operation, "description")),
            id = escaped(word(operation, "operationId")),
        ),
    );
    let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let mut parameters = parameters.peekable();
    if parameters.peek().is_some() {
        out.push_str(
            "<div class=scroll><table><caption>Parameters</caption><tr><th scope=col>Name<th scope=col>In\
             <th scope=col>Value<th scope=col>Meaning</tr>",
        );
        for parameter in parameters {
            push(
                out,
                format_args!(
                    "<tr><th scope=row><code>{}</code><td>{}<td>{}<td>{}</tr>",
                    escaped(word(parameter, "name")),
                    escaped(word(parameter, "in")),
                    kind(parameter.get("schema").unwrap_or(&Value::Null)),
                    prose(word(parameter, "description")),
                ),
            );
        }
        out.push_str("</table></div>");
    }
    if let Some(body) = operation.pointer("/requestBody/content/application~1json") {
        push(
            out,
            format_args!("<h4>Request</h4><p>{}</p>", kind(body.get("schema").unwrap_or(&Value::Null))),
        );
        example(body, out);
    }
    out.push_str(
        "<div class=scroll><table><caption>Answers</caption><tr><th scope=col>Status<th scope=col>Meaning</tr>",
    );
    for (status, response) in members(operation.get("responses")) {
        push(
            out,
            format_args!(
                "<tr><th scope=row>{}<td>{}</tr>",
                escaped(status),
                prose(word(response, "description"))
            ),
        );
    }
    out.push_str("</table></div>");
    if let Some(body) = operation.pointer("/responses/200/content/application~1json") {
        push(out, format_args!("<h4>Answer</h4><p>{}</p>", kind(body.get("schema").unwrap_or(&Value::Null))));
        example(body, out);
    }
    out.push_str("</section>");
}

/// The first example of a body, folded.
fn example(body: &Value, out: &mut String) {
    let first = members(body.get("examples")).next().and_then(|(_, example)| example.get("value"));
    if let Some(text) = first.and_then(|value| serde_json::to_string_pretty(value).ok()) {
        let text = escaped(&text);
        push(out, format_args!("<details><summary>Example</summary><pre tabindex=0>{text}</pre></details>"));
    }
}

/// Every code with its meaning, under the address that problems name.
fn errors(document: &Value, out: &mut String) {
    out.push_str(
        "<h2 id=errors>Errors</h2><p>A refusal is <code>application/problem+json</code>; its member <code>error</code> \
         is the protocol's own error, with every problem of the request in <code>details.errors</code>. Their \
         <code>instanceLocation</code> points into the request payload; parameters of reads stand there in \
         <code>filters</code>, <code>sort</code> and <code>pagination</code>.</p><div class=scroll><table>\
         <caption>Codes</caption><tr><th scope=col>Code<th scope=col>Status<th scope=col>Meaning</tr>",
    );
    let mut seen: Vec<&str> = Vec::new();
    for (_, _, operation) in operations(document) {
        for (status, response) in members(operation.get("responses")) {
            let content = response.pointer("/content/application~1problem+json/examples");
            for (code, shown) in members(content).filter(|(code, _)| *code != "problem") {
                if seen.contains(&code.as_str()) {
                    continue;
                }
                seen.push(code);
                push(
                    out,
                    format_args!(
                        "<tr id=\"{0}\"><th scope=row><code>{0}</code><td>{1}<td>{2}</tr>",
                        escaped(code),
                        escaped(status),
                        prose(word(shown, "summary")),
                    ),
                );
            }
        }
    }
    out.push_str("</table></div>");
}

/// What a value must be, in a few words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = escaped(reference.rsplit('/').next().unwrap_or(reference));
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    let list = |values: &Value| {
        let words = values.as_array().into_iter().flatten();
        words.map(|one| format!("<code>{}</code>", escaped(&plain(one)))).collect::<Vec<_>>().join(", ")
    };
    if let Some(only) = schema.get("const") {
        return format!("<code>{}</code>", escaped(&plain(only)));
    }
    if let Some(options) = schema.get("enum") {
        return format!("one of {}", list(options));
    }
    if let Some(items) = schema.get("items") {
        return format!("list of: {}", kind(items));
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(branches) = schema.get(choice).and_then(Value::as_array)
            && !schema.as_object().is_some_and(|members| members.contains_key("properties"))
        {
            return branches.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let mut words = match schema.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => several.iter().map(plain).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    };
    for (name, text) in [
        ("format", ""),
        ("pattern", "pattern "),
        ("minimum", "from "),
        ("maximum", "to "),
        ("minLength", "min. length "),
        ("maxLength", "max. length "),
        ("default", "default "),
    ] {
        if let Some(value) = schema.get(name) {
            push(&mut words, format_args!(", {text}{}", plain(value)));
        }
    }
    escaped(&words)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A schema: its words, and its members in a table.
fn described(schema: &Value, out: &mut String) {
    push(out, format_args!("<p>{}</p>", prose(word(schema, "description"))));
    let mut inner = members(schema.get("properties")).peekable();
    if inner.peek().is_none() {
        push(out, format_args!("<p>{}</p>", kind(schema)));
        return;
    }
    let required = schema.get("required").and_then(Value::as_array);
    if let Some(whole) = schema.get("$ref") {
        push(out, format_args!("<p>All of {}, and:</p>", kind(&serde_json::json!({"$ref": whole}))));
    }
    out.push_str(
        "<div class=scroll><table><tr><th scope=col>Member<th scope=col>Value<th scope=col>Meaning</tr>",
    );
    for (name, member) in inner {
        let must = required.is_some_and(|names| names.iter().any(|one| one == name));
        push(
            out,
            format_args!(
                "<tr><th scope=row><code>{}</code>{}<td>{}<td>{}</tr>",
                escaped(name),
                if must { " (required)" } else { "" },
                kind(member),
                prose(word(member, "description")),
            ),
        );
        for (below, deeper) in members(member.get("properties")) {
            push(
                out,
                format_args!(
                    "<tr><th scope=row><code>{}.{}</code><td>{}<td>{}</tr>",
                    escaped(name),
                    escaped(below),
                    kind(deeper),
                    prose(word(deeper, "description")),
                ),
            );
        }
    }
    out.push_str("</table></div>");
}
