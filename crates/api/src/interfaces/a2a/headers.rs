//! The request headers that decide whether a request is for us (AAP.md 3).

use actix_web::http::header::{self, HeaderMap};
use contract::{ContractSpec, ExtensionHeader, errors};

use super::error::ProtocolError;
use crate::answer::{A2A_EXTENSIONS, A2A_VERSION};

/// `application/json` with any parameters; decided before the body is looked at.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), ProtocolError> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ProtocolError::new(&errors::CONTENT_TYPE_NOT_SUPPORTED, "Send the request as application/json.")
        .with("supportedContentTypes", "application/json"))
}

/// `A2A-Version` must mean 1.0; where the contract allows it, saying nothing means that too.
pub(super) fn check_version(headers: &HeaderMap, spec: &ContractSpec) -> Result<(), ProtocolError> {
    let mut lines = headers.get_all(A2A_VERSION).map(|value| value.to_str().unwrap_or("?").trim());
    let Some(first) = lines.next() else {
        return if spec.version_header_optional { Ok(()) } else { Err(unsupported("none")) };
    };
    match lines.find(|line| *line != first) {
        None if is_1_0(first) => Ok(()),
        // An empty value is how A2A 0.3 speaks.
        None if first.is_empty() => Err(unsupported("0.3")),
        None => Err(unsupported(first)),
        Some(_) => Err(unsupported("several")),
    }
}

/// `Major.Minor[.Patch]`, compared on the first two.
fn is_1_0(version: &str) -> bool {
    let number = |part: Option<&str>| {
        part.filter(|digits| {
            !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit())
        })
        .and_then(|digits| digits.parse::<u32>().ok())
    };
    let mut parts = version.split('.');
    let (major, minor) = (number(parts.next()), number(parts.next()));
    let patch_is_fine = match parts.next() {
        None => true,
        patch => number(patch).is_some() && parts.next().is_none(),
    };
    (major, minor) == (Some(1), Some(0)) && patch_is_fine
}

fn unsupported(requested: &str) -> ProtocolError {
    // What a stranger sent is repeated only as far as it can be a version.
    let requested: String = requested.chars().filter(char::is_ascii_graphic).take(16).collect();
    let message =
        format!("A2A protocol version {requested} is not served here; send header A2A-Version: 1.0.");
    ProtocolError::new(&errors::VERSION_NOT_SUPPORTED, message)
        .with("requestedVersion", requested)
        .with("supportedVersions", "1.0")
        .with("requiredHeader", "A2A-Version")
}

/// Whether the contract's extension is active: named exactly, or not named at all where the contract infers it.
/// A contract that leaves the header alone serves also who does not activate it.
pub(super) fn check_extension(headers: &HeaderMap, spec: &ContractSpec) -> Result<bool, ProtocolError> {
    let mut lines = headers.get_all(A2A_EXTENSIONS).peekable();
    if lines.peek().is_none() && spec.extension_header == ExtensionHeader::Inferred {
        return Ok(true);
    }
    // As bytes: a neighbour in the list that is no text must not hide the right one.
    let named = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .any(|uri| uri.trim_ascii() == spec.extension_uri.as_bytes());
    if named || spec.extension_header == ExtensionHeader::Free {
        return Ok(named);
    }
    let message =
        format!("Send header A2A-Extensions with {} to use this dealer endpoint.", spec.extension_uri);
    Err(ProtocolError::new(&errors::EXTENSION_REQUIRED, message)
        .with("extensionUri", spec.extension_uri)
        .with("requiredHeader", "A2A-Extensions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_1_0_is_served_whatever_its_patch() {
        for good in ["1.0", "1.0.1", "1.0.99", "01.0"] {
            assert!(is_1_0(good), "{good}");
        }
        for bad in ["", "1", "1.1", "0.3", "2.0", "banana", "1.0.", "1.0.x", "1.0.0.0", "-1.0", "1.0 "] {
            assert!(!is_1_0(bad), "{bad:?}");
        }
    }
}
