//! Texts: one line, several, or HTML (FEEDS.md 3 and 5.6).
//!
//! Text is data. Words that look like instructions are kept as they are.

use std::borrow::Cow;

use super::{double_encoding, is_nothing};

/// Repairs a text whose UTF-8 was taken for Windows-1252 once too often (`Dealerâ€™s`); none where it was not. To be
/// asked before anything else is done to a cell: blanks that do not break are part of the trace.
pub fn repair(cell: &str) -> Option<String> {
    double_encoding::repaired(cell)
}

/// A text on one line: no control characters, blanks of every kind collapsed, entities decoded. None where nothing is
/// left.
pub fn line(cell: &str) -> Option<String> {
    let line = collapsed(&decode_entities(cell));
    (!line.is_empty()).then_some(line)
}

/// A [`line()`] that names something: `N/A` and its like are none.
pub fn name(cell: &str) -> Option<String> {
    line(cell).filter(|line| !is_nothing(line))
}

/// An identifier, such as a stock number: a line without the apostrophe that spreadsheets put in front, and with nothing
/// decoded. Leading zeros stay.
pub fn identifier(cell: &str) -> Option<String> {
    let line = collapsed(cell);
    let line = line.strip_prefix('\'').map_or(line.as_str(), str::trim_start);
    (!is_nothing(line)).then(|| line.to_owned())
}

/// The dealer's words as plain text. What looks like HTML loses its tags; `5 < 7` does not look like it. The whole length
/// is kept.
pub fn description(cell: &str) -> Option<String> {
    let mut text = without_tags(cell);
    for _ in 0..2 {
        let Some(decoded) = decoded_once(&text) else { break };
        // Markup that came escaped is markup all the same.
        text = Cow::Owned(without_tags(&decoded).into_owned());
    }
    let text = collapsed(&text);
    (!text.is_empty()).then_some(text)
}

/// Blanks of every kind become one plain blank, controls go. Copied by runs: descriptions are most of a file.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut start = 0;
    let mut blank = true;
    for (place, sign) in text.char_indices() {
        if sign.is_ascii_graphic() {
            blank = false;
        } else if sign == ' ' && !blank {
            blank = true;
        } else if sign.is_whitespace() || is_dropped(sign) {
            out.push_str(text.get(start..place).unwrap_or_default());
            start = place + sign.len_utf8();
            if sign.is_whitespace() && !blank {
                out.push(' ');
                blank = true;
            }
        } else {
            blank = false;
        }
    }
    out.push_str(text.get(start..).unwrap_or_default());
    if out.ends_with(' ') {
        out.pop();
    }
    out
}

/// Controls, and signs without width that only hide in a text.
fn is_dropped(sign: char) -> bool {
    sign.is_control() || matches!(sign, '\u{feff}' | '\u{200b}' | '\u{2060}' | '\u{ad}')
}

/// Decodes entities, at most twice: feeds are written through more than one tool.
pub fn decode_entities(text: &str) -> Cow<'_, str> {
    match decoded_once(text) {
        None => Cow::Borrowed(text),
        Some(once) => Cow::Owned(decoded_once(&once).unwrap_or(once)),
    }
}

/// Longest entity that is looked for, `&` and `;` left out.
const ENTITY: usize = 33;

/// None where there was nothing to decode.
fn decoded_once(text: &str) -> Option<String> {
    let mut rest = text;
    let mut out = String::new();
    let mut any = false;
    while let Some(place) = rest.find('&') {
        let (before, from) = rest.split_at_checked(place)?;
        out.push_str(before);
        let inside = from.get(1..).unwrap_or_default();
        let end = inside.bytes().take(ENTITY).position(|byte| byte == b';');
        let decoded = end.and_then(|end| inside.get(..end)).and_then(entity);
        if let (Some(decoded), Some(end)) = (decoded, end) {
            any = true;
            out.push_str(&decoded);
            rest = inside.get(end + 1..).unwrap_or_default();
        } else {
            out.push('&');
            rest = inside;
        }
    }
    out.push_str(rest);
    any.then_some(out)
}

fn entity(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        // Numbers 128 to 159 are bytes of Windows-1252 in every browser.
        let high =
            code.checked_sub(0x80).and_then(|place| double_encoding::HIGH.get(usize::try_from(place).ok()?));
        return high.copied().or_else(|| char::from_u32(code)).map(String::from);
    }
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let whole = format!("&{name};");
    let decoded = html_escape::decode_html_entities(&whole);
    (decoded != whole).then(|| decoded.into_owned())
}

/// Tags that stand within a line: they go without a blank in their place.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "svg", "tt", "u", "var", "wbr",
];

/// Tags that part lines, cells and blocks.
const BLOCK: &[&str] = &[
    "address",
    "article",
    "aside",
    "audio",
    "base",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "input",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "marquee",
    "menu",
    "meta",
    "nav",
    "noscript",
    "object",
    "ol",
    "option",
    "p",
    "param",
    "picture",
    "pre",
    "section",
    "select",
    "source",
    "summary",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
    "xml",
];

/// What a `<` begins.
enum Tag {
    /// It is no tag.
    Text,
    Inline,
    Block,
    /// What it holds is no text.
    Script(&'static str),
    Comment,
}

fn tag(from: &str) -> Tag {
    if from.starts_with("!--") {
        return Tag::Comment;
    }
    if from.starts_with(['!', '?'])
        && from.get(1..).is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_alphabetic()))
    {
        return Tag::Block;
    }
    let closes = from.starts_with('/');
    let name = from.strip_prefix('/').unwrap_or(from);
    let end = name
        .find(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, ':' | '-')))
        .unwrap_or(name.len());
    let (name, after) = name.split_at_checked(end).unwrap_or((name, ""));
    if !after.starts_with(|sign: char| sign.is_whitespace() || matches!(sign, '>' | '/')) || name.len() > 40 {
        return Tag::Text;
    }
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "script" if !closes => Tag::Script("</script"),
        "style" if !closes => Tag::Script("</style"),
        "script" | "style" => Tag::Block,
        name if INLINE.contains(&name) => Tag::Inline,
        name if BLOCK.contains(&name) => Tag::Block,
        // `<o:p>` of word processors, elements of a site's own.
        name if name.starts_with(|sign: char| sign.is_ascii_alphabetic()) && name.contains([':', '-']) => {
            Tag::Inline
        }
        _ => Tag::Text,
    }
}

/// Takes the tags out. Every sign is looked at a bounded number of times, whatever the text.
fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') || !text.contains('>') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Looked for once: a text may begin a comment at every third sign.
    let last_comment = text.rfind("-->").map_or(0, |place| text.len() - place);
    while let Some(place) = rest.find('<') {
        let (before, from) = rest.split_at_checked(place).unwrap_or((rest, ""));
        out.push_str(before);
        let inside = from.get(1..).unwrap_or_default();
        let kind = tag(inside);
        if matches!(kind, Tag::Text) {
            out.push('<');
            rest = inside;
            continue;
        }
        // Without a `>` anywhere behind there is no tag any more.
        let Some(end) = inside.find('>') else {
            out.push('<');
            out.push_str(inside);
            return Cow::Owned(out);
        };
        let end = match kind {
            // A comment that nobody closed is over where a browser's reader would give up: at its first `>`.
            Tag::Comment if inside.len() >= last_comment && last_comment > 0 => {
                inside.find("-->").map_or(end, |end| end + 2)
            }
            Tag::Script(closing) => {
                out.push(' ');
                match find_ignoring_case(inside, closing) {
                    Some(start) => {
                        rest = inside.get(start..).unwrap_or_default();
                        continue;
                    }
                    None => return Cow::Owned(out),
                }
            }
            _ => end,
        };
        if !matches!(kind, Tag::Inline) {
            out.push(' ');
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    text.as_bytes().windows(what.len()).position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}
