//! What can be told without the database: settings, certificate, disk, port.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Finding;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::{listener, tls};

const DAY: i64 = 86_400;
/// A certificate that ends within so many days is mentioned.
const RENEW_DAYS: i64 = 14;
/// A disk with less is mentioned, in bytes.
const LITTLE_SPACE: u64 = 1 << 30;
/// A disk with less is no place to start, in bytes.
const NO_SPACE: u64 = 100 << 20;

/// The settings themselves, which are usable by now.
pub(super) fn settings(settings: &Settings) -> Vec<Finding> {
    let origin = match settings.origin(settings.listen) {
        Ok(origin) => origin,
        Err(message) => {
            let sentence = format!("--public-origin (FORECOURT_PUBLIC_ORIGIN) {message}");
            return vec![Finding::fail("settings", Failure::new(sentence))];
        }
    };
    let mut findings =
        vec![Finding::ok("settings", format!("listen on {}, cards name {origin}", settings.listen))];
    if origin.is_loopback() && !settings.listen.ip().is_loopback() {
        findings.push(Finding::warn(
            "settings",
            format!("other machines can connect, but cards name {origin}, which only this one can reach"),
            "set --public-origin (FORECOURT_PUBLIC_ORIGIN) to the https:// address that agents use",
        ));
    }
    findings
}

/// The certificate, if there is one: it is readable and fits its key, or the settings would not be usable.
pub(super) fn tls(settings: &Settings) -> Option<Finding> {
    const CHECK: &str = "tls";
    let files = settings.tls.as_ref()?;
    let host = settings.origin(settings.listen).map(|origin| origin.host().to_owned()).unwrap_or_default();
    let Some(facts) = tls::facts(&files.cert, &host) else {
        let sentence = format!("{} is no certificate that can be read", files.cert.display());
        return Some(Finding::fail(
            CHECK,
            Failure::new(sentence).advise("put the server's certificate first in the file"),
        ));
    };
    let now = Utc::now().timestamp();
    let date = |seconds| DateTime::from_timestamp(seconds, 0).map(|time| time.format("%Y-%m-%d").to_string());
    let until = date(facts.not_after).unwrap_or_default();
    let renew = "renew it; a running platform takes up the new files within half a minute";
    Some(if now > facts.not_after {
        Finding::fail(CHECK, Failure::new(format!("the certificate ended on {until}")).advise(renew))
    } else if now < facts.not_before {
        let from = date(facts.not_before).unwrap_or_default();
        let failure = Failure::new(format!("the certificate is valid from {from} only"));
        Finding::fail(CHECK, failure.advise("check the clock of this machine, or wait"))
    } else if !facts.covers_host {
        Finding::warn(
            CHECK,
            format!("the certificate is not made out for {host}, which the cards name"),
            "use one that names it, or set --public-origin (FORECOURT_PUBLIC_ORIGIN) to a name that it covers",
        )
    } else if facts.not_after - now < RENEW_DAYS * DAY {
        Finding::warn(CHECK, format!("the certificate ends on {until}"), renew)
    } else {
        Finding::ok(CHECK, format!("certificate for {host}, valid until {until}"))
    })
}

/// Space for the private database.
pub(super) fn disk(settings: &Settings) -> Option<Finding> {
    const CHECK: &str = "disk";
    if settings.database_url.is_some() {
        return None;
    }
    let folder = std::path::absolute(&settings.data_dir).ok()?;
    let free = free_space(folder.ancestors().find(|path| path.exists())?)?;
    let text = format!("{} MiB free for {}", free >> 20, folder.display());
    let advice = "make room, or name another folder with --data-dir (FORECOURT_DATA_DIR)";
    Some(match free {
        ..NO_SPACE => Finding::fail(CHECK, Failure::new(text).advise(advice)),
        NO_SPACE..LITTLE_SPACE => Finding::warn(CHECK, text, advice),
        LITTLE_SPACE.. => Finding::ok(CHECK, text),
    })
}

/// Bytes that an ordinary account may still write.
fn free_space(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: a plain structure of numbers, for which zeros are valid.
    let mut told: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: `path` is terminated and outlives the call, `told` is ours to be written to.
    let done = unsafe { libc::statvfs(path.as_ptr(), &raw mut told) };
    // The widths of these fields differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    (done == 0).then(|| (told.f_bavail as u64).saturating_mul(told.f_frsize as u64))
}

/// Whether the port can be had, or is in the hands of a platform that runs already.
pub(super) async fn port(settings: &Settings) -> Finding {
    const CHECK: &str = "port";
    let address = settings.listen;
    if address.port() == 0 {
        return Finding::ok(CHECK, "any free one is taken");
    }
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok(CHECK, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => match answers(settings).await {
            Some(true) => Finding::ok(CHECK, format!("{address} is served by a running platform")),
            Some(false) => Finding::fail(CHECK, listener::explain(address, &error)),
            None => Finding::warn(
                CHECK,
                format!("{address} is in use, by a running platform or by another program"),
                "nothing to do if your platform is running; else choose another port with --listen (FORECOURT_LISTEN)",
            ),
        },
        Err(error) => Finding::fail(CHECK, listener::explain(address, &error)),
    }
}

/// Whether a platform answers on our port; `None` where TLS hides it.
async fn answers(settings: &Settings) -> Option<bool> {
    if settings.tls.is_some() {
        return None;
    }
    let mut address = settings.listen;
    if address.ip().is_unspecified() {
        let loopback = match address.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        address = SocketAddr::new(loopback, address.port());
    }
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        let question = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(64 * 1024).read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = timeout(Duration::from_secs(3), ask).await;
    Some(
        matches!(answer, Ok(Ok(text)) if text.starts_with("HTTP/1.1 200") && text.contains(r#""status":"alive""#)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[tokio::test]
    async fn a_port_held_by_a_stranger_fails_and_a_free_one_is_fine() {
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut settings = Settings { listen: held.local_addr().unwrap(), ..Settings::default() };
        let stranger = std::thread::spawn(move || drop(held.accept()));
        assert_eq!(port(&settings).await.verdict, Verdict::Fail);
        stranger.join().unwrap();
        settings.listen = "127.0.0.1:0".parse().unwrap();
        assert_eq!(port(&settings).await.verdict, Verdict::Ok);
    }

    #[test]
    fn a_card_that_only_this_machine_can_reach_is_mentioned() {
        let everywhere = Settings { listen: "0.0.0.0:8080".parse().unwrap(), ..Settings::default() };
        let verdicts: Vec<_> = settings(&everywhere).iter().map(|finding| finding.verdict).collect();
        assert_eq!(verdicts, [Verdict::Ok, Verdict::Warn]);
        assert_eq!(settings(&Settings::default()).len(), 1);
    }

    #[test]
    fn the_disk_is_measured() {
        let finding = disk(&Settings::default()).unwrap();
        assert!(finding.text.contains("MiB free"), "{finding:?}");
    }
}
