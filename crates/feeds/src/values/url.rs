//! Addresses of pages and pictures (FEEDS.md 5.8).

use ::url::Url;

use super::{Parsed, is_nothing};
use crate::code::Code;

/// Longest address that is taken.
const LONGEST: usize = 2_048;

/// Whether an address is of the machine that it is opened on. Browsers trust those without encryption as well (W3C
/// Secure Contexts, 3.1); whoever tries things out has such.
pub(crate) fn is_this_machine(address: &str) -> bool {
    match Url::parse(address).ok().as_ref().and_then(Url::host) {
        Some(::url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(::url::Host::Ipv4(address)) => address.is_loopback(),
        Some(::url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Makes an address out of a text: blanks inside become `%20`, `//host` becomes `https://host`. None for what is no
/// absolute address of the web, and for one that carries a password.
pub(crate) fn absolute(text: &str) -> Option<String> {
    let text = text.trim();
    let mut address = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    address.retain(|sign| !sign.is_control());
    if address.contains(char::is_whitespace) {
        address = address.split(char::is_whitespace).collect::<Vec<_>>().join("%20");
    }
    let begins =
        |scheme: &str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if !(begins("http://") || begins("https://")) {
        return None;
    }
    let url = Url::parse(&address).ok()?;
    if url.password().is_some() || !url.username().is_empty() || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    // As sent where that is an address by the letter, so that what the dealer sees is what he wrote.
    let by_the_letter = address.starts_with("http")
        && address
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte))
        && well_escaped(&address)
        && address.matches('#').count() <= 1
        && url.path() != "/";
    let address = if by_the_letter { address } else { rewritten(&url) };
    (address.len() <= LONGEST).then_some(address)
}

/// Whether each `%` begins an escape.
fn well_escaped(address: &str) -> bool {
    address
        .split('%')
        .skip(1)
        .all(|rest| rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
}

/// The address in the form of the URL standard, with what that leaves alone and RFC 3986 forbids escaped too.
fn rewritten(url: &Url) -> String {
    let text = url.as_str();
    let mut out = String::with_capacity(text.len());
    let mut fragment = false;
    for (place, sign) in text.char_indices() {
        let escape = text
            .get(place + 1..place + 3)
            .is_some_and(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let second_fragment = sign == '#' && std::mem::replace(&mut fragment, true);
        match sign {
            '%' if !escape => out.push_str("%25"),
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => {
                out.push_str(&format!("%{:02X}", u32::from(sign)))
            }
            '#' if second_fragment => out.push_str("%23"),
            sign => {
                if sign == '#' {
                    fragment = true;
                }
                out.push(sign);
            }
        }
    }
    out
}

/// The unit's page on the dealer's site: an absolute address, or none and `VDP_URL_INVALID`.
pub fn page(cell: &str) -> Parsed<String> {
    if is_nothing(cell) {
        return Parsed::nothing();
    }
    absolute(cell).map_or_else(|| Parsed::refused(Code::VdpUrlInvalid), Parsed::of)
}
