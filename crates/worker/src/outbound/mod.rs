//! Requests to addresses that others gave us: to public addresses only, whatever names and redirects say.
//!
//! A dealer's document names the address of a feed, so whoever writes documents could have us read what only this
//! machine's network may. Names are resolved by us and what they lead to is filtered; address literals, which reach no
//! resolver, are looked at; redirects are followed by hand, few of them, and each target is checked like the first.

mod public;

use std::sync::Arc;
use std::time::Duration;

use dealer::vault::Credentials;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, StatusCode};
use url::{Host, Url};

pub use public::{NoPublicAddress, PublicOnly, is_public};

/// Redirects that are followed.
const REDIRECTS: usize = 3;
/// How long a connection may take, names and TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may send nothing.
const SILENCE: Duration = Duration::from_secs(30);

/// Places of the operator's own network that may be asked all the same, also without TLS: `host` or `host:port`.
/// For tests, and for a platform whose feeds come from the same machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(Vec<(String, Option<u16>)>);

impl Allowed {
    /// Reads a list separated by commas.
    ///
    /// # Errors
    /// The rest of a sentence about the setting.
    pub fn parse(text: &str) -> Result<Allowed, String> {
        let mut allowed = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let url = Url::parse(&format!("https://{entry}")).ok();
            let plain = |url: &Url| url.path() == "/" && url.query().is_none() && url.username().is_empty();
            let Some(host) = url.as_ref().filter(|url| plain(url)).and_then(Url::host_str) else {
                return Err(format!("names {entry:?}, which is no host; write it like feeds.internal:8443"));
            };
            // The port that goes without saying is said here, and means itself.
            let port = url.as_ref().and_then(Url::port).or_else(|| entry.ends_with(":443").then_some(443));
            allowed.push((host.to_owned(), port));
        }
        Ok(Allowed(allowed))
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        self.0.iter().any(|(host, only)| url.host_str() == Some(host) && (only.is_none() || *only == port))
    }
}

/// Asks.
#[derive(Debug, Clone)]
pub struct Outbound {
    public: Client,
    /// Without the filter of names, for the allowed places.
    inside: Client,
    allowed: Arc<Allowed>,
}

/// What is asked for.
#[derive(Debug, Default)]
pub struct Ask<'a> {
    /// Who we are, to the first host alone.
    pub credentials: Option<&'a Credentials>,
    /// Further headers.
    pub headers: HeaderMap,
    /// How long everything may take, the body included.
    pub patience: Option<Duration>,
}

/// Why there is no answer. Shows hosts, never paths or queries, which may hold a key.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// It is no address, or none that is asked.
    #[error("{0}")]
    Address(String),
    /// It leads to this machine or a network that is not public.
    #[error("{host} is no public address; files are fetched from the internet only, never from inside our network{}", by(*redirected))]
    NotPublic {
        /// What was to be asked.
        host: String,
        /// A redirect led there.
        redirected: bool,
    },
    /// Not encrypted.
    #[error("{host} would be asked without encryption; the address must begin with https://{}", by(*redirected))]
    NotEncrypted {
        /// What was to be asked.
        host: String,
        /// A redirect led there.
        redirected: bool,
    },
    /// It redirects on and on.
    #[error("it redirects more than {REDIRECTS} times; enter the address that it ends at")]
    TooManyRedirects,
    /// It redirects to nowhere.
    #[error("{0} redirects without saying where to")]
    Nowhere(String),
    /// No answer in time.
    #[error("{0} does not answer in time")]
    TooSlow(String),
    /// It cannot be reached, or breaks off.
    #[error("{host} cannot be asked ({cause})")]
    Broken {
        /// What was asked.
        host: String,
        /// What went wrong.
        cause: String,
    },
}

impl OutboundError {
    /// Whether a later try may go better without anybody changing anything.
    pub fn may_pass(&self) -> bool {
        matches!(self, OutboundError::TooSlow(_) | OutboundError::Broken { .. })
    }
}

fn by(redirected: bool) -> &'static str {
    if redirected { " (it was redirected there)" } else { "" }
}

impl Outbound {
    /// Ready to ask.
    ///
    /// # Errors
    /// This machine's certificates cannot be read.
    pub fn new(allowed: Allowed) -> Result<Outbound, reqwest::Error> {
        let builder = || {
            Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(CONNECT)
                .read_timeout(SILENCE)
                .pool_max_idle_per_host(1)
                .user_agent(concat!("forecourt/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Outbound {
            public: builder().https_only(true).dns_resolver(Arc::new(PublicOnly)).build()?,
            inside: builder().build()?,
            allowed: Arc::new(allowed),
        })
    }

    /// Gets what is at an address, through at most three redirects.
    ///
    /// # Errors
    /// It may not be asked, does not answer, or redirects to what may not be asked.
    pub async fn get(&self, address: &str, ask: &Ask<'_>) -> Result<Response, OutboundError> {
        let mut url =
            Url::parse(address).map_err(|_| OutboundError::Address("it is no address".to_owned()))?;
        let first = url.origin();
        for hop in 0..=REDIRECTS {
            let client = self.client_for(&url, hop > 0)?;
            let mut headers = ask.headers.clone();
            headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
            // Another host, port or scheme is somebody else.
            if let Some(credentials) = ask.credentials.filter(|_| url.origin() == first) {
                headers.insert(AUTHORIZATION, authorization(credentials)?);
            }
            let mut request = client.get(url.clone()).headers(headers);
            if let Some(patience) = ask.patience {
                request = request.timeout(patience);
            }
            let answer = request.send().await.map_err(|error| explain(&url, hop > 0, &error))?;
            if !is_redirect(answer.status()) {
                return Ok(answer);
            }
            let target = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let target = target.and_then(|target| url.join(target).ok());
            url = target.ok_or_else(|| OutboundError::Nowhere(shown(&url)))?;
        }
        Err(OutboundError::TooManyRedirects)
    }

    /// Whether an address may be asked, as far as that shows without resolving its name: for whoever enters one.
    ///
    /// # Errors
    /// It may not.
    pub fn check(&self, address: &str) -> Result<(), OutboundError> {
        let url = Url::parse(address).map_err(|_| OutboundError::Address("it is no address".to_owned()))?;
        self.client_for(&url, false).map(drop)
    }

    fn client_for(&self, url: &Url, redirected: bool) -> Result<&Client, OutboundError> {
        let host = shown(url);
        if !url.username().is_empty() || url.password().is_some() {
            let text = format!("the address of {host} holds a name or password; give those as credentials");
            return Err(OutboundError::Address(text));
        }
        let scheme = url.scheme();
        if !matches!(scheme, "https" | "http") {
            return Err(OutboundError::Address(format!("{scheme} is nothing that we fetch by; use https")));
        }
        if self.allowed.contains(url) {
            return Ok(&self.inside);
        }
        let public = match url.host() {
            Some(Host::Ipv4(ip)) => is_public(ip.into()),
            Some(Host::Ipv6(ip)) => is_public(ip.into()),
            Some(Host::Domain(_)) => true,
            None => false,
        };
        if !public {
            return Err(OutboundError::NotPublic { host, redirected });
        }
        if scheme != "https" {
            return Err(OutboundError::NotEncrypted { host, redirected });
        }
        Ok(&self.public)
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn authorization(credentials: &Credentials) -> Result<HeaderValue, OutboundError> {
    use base64::Engine;
    let text = match credentials {
        Credentials::Basic { user, password } => {
            let pair = format!("{user}:{password}");
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        }
        Credentials::Bearer { token } => format!("Bearer {token}"),
    };
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| OutboundError::Address("the credentials cannot stand in a header".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Host and port.
fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or("the address");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// What went wrong with a request, without the address itself.
pub(crate) fn explain(url: &Url, redirected: bool, error: &reqwest::Error) -> OutboundError {
    let host = shown(url);
    let mut causes = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        if cause.is::<NoPublicAddress>() {
            return OutboundError::NotPublic { host, redirected };
        }
        causes.push(cause.to_string());
        next = cause.source();
    }
    if error.is_timeout() {
        return OutboundError::TooSlow(host);
    }
    // The last one is the closest to what happened.
    let cause = causes.pop().unwrap_or_else(|| "no reason is known".to_owned());
    OutboundError::Broken { host, cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound(allowed: &str) -> Outbound {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Outbound::new(Allowed::parse(allowed).unwrap()).unwrap()
    }

    #[test]
    fn addresses_that_are_never_asked() {
        let outbound = outbound("");
        for address in [
            "http://feeds.example/a.csv",
            "https://127.0.0.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00:ec2::254]/",
            "https://me:secret@feeds.example/a.csv",
            "ftp://feeds.example/a.csv",
            "file:///etc/passwd",
            "feeds.example",
            "",
        ] {
            let error = outbound.check(address).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
            assert!(!error.may_pass(), "{address} would be tried again");
        }
        for address in ["https://feeds.example/a.csv?key=1", "https://9.9.9.9:8443/"] {
            outbound.check(address).unwrap();
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_at_its_port() {
        let outbound = outbound("127.0.0.1:8081, feeds.internal,[::1]:443");
        for good in ["http://127.0.0.1:8081/x", "http://feeds.internal:99/", "https://[::1]/"] {
            outbound.check(good).unwrap();
        }
        for bad in ["http://127.0.0.1:8082/x", "http://127.0.0.1/", "https://[::1]:444/"] {
            outbound.check(bad).unwrap_err();
        }
        for bad in ["http://x", "a b", "me@x", "x/y", ":1"] {
            assert!(Allowed::parse(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_after_resolving() {
        let outbound = outbound("localhost:1");
        let error = outbound.get("https://localhost:8443/", &Ask::default()).await.unwrap_err();
        assert!(matches!(error, OutboundError::NotPublic { .. }), "{error:?}");
    }
}
