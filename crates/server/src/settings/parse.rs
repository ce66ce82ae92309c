//! From the texts of flags to values. Each function's error is the rest of a sentence about the setting, without
//! naming it, that ends in what to write instead.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    let port = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    match port {
        Some(("localhost", port)) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        Some(("", port) | ("*", port)) => {
            Err(format!("names no address; write 0.0.0.0:{port} for all of this machine's"))
        }
        Some(_) => Err("must begin with an IP address; write it like 127.0.0.1:8080 or [::]:8080".to_owned()),
        None => Err("is no address and port; write it like 127.0.0.1:8080".to_owned()),
    }
}

/// A switch.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// A whole number within bounds.
pub(super) fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from {least} to {most}")),
    }
}

/// `90`, `90s`, `15m` or `2h`.
pub(super) fn duration(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let scale = match unit {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        "d" => Some(86_400),
        _ => None,
    };
    let value = scale.zip(digits.parse::<u64>().ok()).and_then(|(scale, number)| number.checked_mul(scale));
    match value.map(Duration::from_secs) {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        Some(_) => Err(format!("must lie between {} and {} seconds", least.as_secs(), most.as_secs())),
        None => Err("is no duration; write it like 90s, 15m or 2h".to_owned()),
    }
}

/// A host name without scheme, port or address literals: `dealers.example`, `localhost`.
pub(super) fn domain(text: &str) -> Result<String, String> {
    let name = text.to_ascii_lowercase();
    let name = name.trim_end_matches('.');
    if name.contains("://") || name.contains('/') {
        return Err(
            "must be a bare name; write it like dealers.example, without https:// and without a path"
                .to_owned(),
        );
    }
    if name.contains(':') {
        return Err("must be without a port; write it like dealers.example".to_owned());
    }
    if name.starts_with("*.") {
        return Err("already means all names below it; leave out the `*.`".to_owned());
    }
    if name.parse::<IpAddr>().is_ok() {
        return Err(
            "is an address, and an address has no names below it; write a domain like dealers.example"
                .to_owned(),
        );
    }
    let plain = name == "localhost" || dealer::is_domain(name);
    // `{slug}.` takes up to 64 bytes more, and a whole name may have 253.
    if plain && name.len() <= 253 - 64 {
        Ok(name.to_owned())
    } else {
        Err("is no domain name; write it like dealers.example".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_takes_addresses_and_localhost_only() {
        assert_eq!(listen("localhost:0").unwrap().to_string(), "127.0.0.1:0");
        assert_eq!(listen("[::]:80").unwrap().to_string(), "[::]:80");
        for bad in ["8080", ":8080", "dealers.example:80", "127.0.0.1", "127.0.0.1:99999", ""] {
            assert!(listen(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_units_and_bounds() {
        let bounds = (Duration::from_secs(1), Duration::from_secs(86_400));
        for (text, seconds) in [("90", 90), ("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86_400)] {
            assert_eq!(duration(text, bounds.0, bounds.1).unwrap().as_secs(), seconds, "{text}");
        }
        for bad in ["", "m", "0", "1w", "-5", "1.5h", "2d", "99999999999999999999d"] {
            assert!(duration(bad, bounds.0, bounds.1).is_err(), "{bad}");
        }
    }

    #[test]
    fn domains_are_bare_names() {
        assert_eq!(domain("Dealers.Example.").unwrap(), "dealers.example");
        assert_eq!(domain("localhost").unwrap(), "localhost");
        for bad in [
            "https://dealers.example",
            "dealers.example:8080",
            "*.dealers.example",
            "127.0.0.1",
            "a_b.example",
            "x",
        ] {
            assert!(domain(bad).is_err(), "{bad}");
        }
    }
}
