//! JSON as people like to read it: members in their own order, short things on one line.

/// A JSON value whose members keep their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A text, number, boolean or null, as it is spelled.
    Plain(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

/// A name and a value.
pub type Member = (String, Node);

/// As many columns as a line may take.
const WIDTH: usize = 104;

const ORDER: &[&str] = &[
    "jsonrpc",
    "id",
    "@type",
    "type",
    "reason",
    "domain",
    "metadata",
    "lead_id",
    "appointment_id",
    "status",
    "title",
    "detail",
    "name",
    "welcome_message",
    "value",
    "address",
    "phones",
    "timezone",
    "schedules",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "open",
    "close",
    "address_line_1",
    "city",
    "state",
    "instanceLocation",
    "keyword",
    "field",
    "mediaType",
    "data",
];
const ORDER_OF_ERRORS: &[&str] =
    &["@type", "type", "code", "message", "data", "retryable", "details", "error_id", "created_at"];

impl Node {
    /// Reads JSON that is known to be well-formed.
    pub fn read(text: &str) -> Node {
        serde_json::from_str::<serde_json::Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let mut rest = text;
        value(&mut rest)
    }

    /// The member at the end of a path of names and indices.
    pub fn at(&self, path: &str) -> &Node {
        let mut node = self;
        for name in path.split('/') {
            let inner = match node {
                Node::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, inner)| inner),
                Node::List(items) => items.get(name.parse::<usize>().unwrap()),
                Node::Plain(_) => None,
            };
            node = inner.unwrap_or_else(|| panic!("no {path} in {}", self.print()));
        }
        node
    }

    /// Puts other words where something is different each time.
    pub fn mask(&mut self, masks: &dyn Fn(&str, &str) -> Option<String>) {
        match self {
            Node::Plain(_) => {}
            Node::List(items) => items.iter_mut().for_each(|item| item.mask(masks)),
            Node::Object(members) => {
                for (key, inner) in members {
                    match inner {
                        Node::Plain(spelled) => {
                            if let Some(other) = masks(key, spelled) {
                                *spelled = other;
                            }
                        }
                        _ => inner.mask(masks),
                    }
                }
            }
        }
    }

    /// Brings members into the order in which people read them; what is not known here stays where it is, and so
    /// does a vehicle, whose order is the platform's own.
    pub fn ordered(&mut self) {
        match self {
            Node::Plain(_) => {}
            Node::List(items) => items.iter_mut().for_each(Node::ordered),
            Node::Object(members) => {
                members.iter_mut().for_each(|(_, inner)| inner.ordered());
                let has = |name: &str| members.iter().any(|(key, _)| key == name);
                if !has("vehicle_id") {
                    let order = if has("code") { ORDER_OF_ERRORS } else { ORDER };
                    let place = |key: &str| order.iter().position(|known| *known == key);
                    members.sort_by_key(|(key, _)| place(key).unwrap_or(order.len()));
                }
            }
        }
    }

    /// The first object, from the outside in, of which this holds.
    pub fn find(&self, holds: &dyn Fn(&[Member]) -> bool) -> Option<&Node> {
        match self {
            Node::Object(members) if holds(members) => Some(self),
            Node::Object(members) => members.iter().find_map(|(_, inner)| inner.find(holds)),
            Node::List(items) => items.iter().find_map(|item| item.find(holds)),
            Node::Plain(_) => None,
        }
    }

    /// The text, over as many lines as it needs.
    pub fn print(&self) -> String {
        let mut out = String::new();
        self.write(0, 0, &mut out);
        out
    }

    fn write(&self, indent: usize, before: usize, out: &mut String) {
        let line = self.in_line();
        if indent + before + line.chars().count() <= WIDTH {
            out.push_str(&line);
            return;
        }
        let inner = indent + 2;
        let (open, close, count) = match self {
            Node::Plain(_) => return out.push_str(&line),
            Node::List(items) => ('[', ']', items.len()),
            Node::Object(members) => ('{', '}', members.len()),
        };
        out.push(open);
        for at in 0..count {
            out.push('\n');
            out.push_str(&" ".repeat(inner));
            match self {
                Node::List(items) => items[at].write(inner, 1, out),
                Node::Object(members) => {
                    let (key, value) = &members[at];
                    out.push_str(&format!("\"{key}\": "));
                    value.write(inner, key.len() + 5, out);
                }
                Node::Plain(_) => {}
            }
            if at + 1 < count {
                out.push(',');
            }
        }
        out.push('\n');
        out.push_str(&" ".repeat(indent));
        out.push(close);
    }

    fn in_line(&self) -> String {
        match self {
            Node::Plain(spelled) => spelled.clone(),
            Node::List(items) => {
                format!("[{}]", items.iter().map(Node::in_line).collect::<Vec<_>>().join(", "))
            }
            Node::Object(members) => {
                let member = |(key, value): &(String, Node)| format!("\"{key}\": {}", value.in_line());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn value(rest: &mut &str) -> Node {
    *rest = rest.trim_start();
    match rest.as_bytes()[0] {
        b'{' => Node::Object(entries(rest, '}', |rest| {
            let name = plain(rest);
            skip(rest, ':');
            (name.trim_matches('"').to_owned(), value(rest))
        })),
        b'[' => Node::List(entries(rest, ']', value)),
        _ => Node::Plain(plain(rest)),
    }
}

fn entries<T>(rest: &mut &str, close: char, mut read: impl FnMut(&mut &str) -> T) -> Vec<T> {
    *rest = &rest[1..];
    let mut all = Vec::new();
    loop {
        *rest = rest.trim_start();
        if rest.starts_with(close) {
            *rest = &rest[1..];
            return all;
        }
        all.push(read(rest));
        *rest = rest.trim_start();
        if rest.starts_with(',') {
            *rest = &rest[1..];
        }
    }
}

fn skip(rest: &mut &str, what: char) {
    *rest = rest.trim_start().strip_prefix(what).unwrap();
}

/// A text with its quotes, or the characters up to the next mark.
fn plain(rest: &mut &str) -> String {
    *rest = rest.trim_start();
    let mut escaped = false;
    let quoted = rest.starts_with('"');
    let ends = |(at, c): &(usize, char)| {
        if !quoted {
            return matches!(*c, ',' | '}' | ']') || c.is_whitespace();
        }
        let end = *at > 0 && *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        end
    };
    let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at + usize::from(quoted));
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken.to_owned()
}

#[test]
fn order_and_spelling_stay() {
    let text = r#"{"z":1.50,"a":["x\"}",{"b":null}],"é":{},"e":[]}"#;
    assert_eq!(Node::read(text).print(), r#"{"z": 1.50, "a": ["x\"}", {"b": null}], "é": {}, "e": []}"#);
    let long = format!(r#"{{"b":["{}","{}"],"a":{{"c":true}}}}"#, "x".repeat(60), "y".repeat(60));
    let expected = format!(
        "{{\n  \"b\": [\n    \"{}\",\n    \"{}\"\n  ],\n  \"a\": {{\"c\": true}}\n}}",
        "x".repeat(60),
        "y".repeat(60)
    );
    assert_eq!(Node::read(&long).print(), expected);
}
