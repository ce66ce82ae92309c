//! Fetches the public keys of issuers whose tokens dealers take, beside the requests.
//!
//! What is fetched is decided by the core; this file is the only one that calls a foreign server, and it calls only
//! public addresses unless the platform itself is on loopback: the addresses come from documents.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dealer::{Dealer, WeakDealer};
use serde_json::Value;
use tokio::task::{Id, JoinSet};
use url::{Host, Url};
use worker::outbound::{PublicOnly, is_public};

use crate::failure::chain;

/// How long an issuer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest key set, in bytes.
const MAX_SET: usize = 256 * 1024;

/// Fetches what is due until nobody uses the core any more.
pub(crate) fn follow(dealer: &Dealer) {
    let inside = dealer.addresses().origin.is_loopback();
    drop(tokio::spawn(run(dealer.downgrade(), inside)));
}

async fn run(dealer: WeakDealer, inside: bool) {
    // Made when it is needed: it reads the certificates of this machine, which may have none.
    let mut client = None;
    let mut line = Line::default();
    let mut fetching = JoinSet::new();
    loop {
        let Some(core) = dealer.upgrade() else { return };
        match core.key_sets_due().await {
            Ok(due) => due.into_iter().for_each(|url| line.join(url)),
            Err(error) => tracing::debug!(%error, "the database does not say which keys are due"),
        }
        let mut stirred = std::pin::pin!(core.key_sets_stirred());
        // Not held while waiting: the core ends with its last handle.
        drop(core);
        loop {
            while let Some(url) = line.next() {
                let client = with_client(&mut client, inside).cloned();
                let (dealer, taken) = (dealer.clone(), url.clone());
                let task = fetching.spawn(async move { fetch_one(&dealer, client, &taken, inside).await });
                line.begun(task.id(), url);
            }
            tokio::select! {
                () = &mut stirred => break,
                Some(ended) = fetching.join_next_with_id() => match ended {
                    Ok((task, well)) => line.ended(task, well),
                    Err(error) => line.ended(error.id(), false),
                },
            }
        }
    }
}

/// Fetches a key set and stores it; whether there was one.
async fn fetch_one(
    dealer: &WeakDealer,
    client: Result<reqwest::Client, reqwest::Error>,
    url: &str,
    inside: bool,
) -> bool {
    let fetched = match client {
        Ok(client) => fetch(&client, url, inside).await,
        Err(error) => Err(chain(&error)),
    };
    let well = fetched.is_ok();
    let Some(core) = dealer.upgrade() else { return well };
    if let Err(error) = core.key_set_fetched(url, fetched).await {
        tracing::warn!(%error, url, "the keys of an issuer cannot be stored");
    }
    well
}

/// So many key sets are fetched at once.
const AT_ONCE: usize = 8;
/// So many of them from one host: whoever keeps us waiting there keeps others of that host waiting, and nobody else.
const AT_ONE_HOST: usize = 2;
/// So many of them from issuers that failed last time, so that those that let us wait are never all there is.
const IN_TROUBLE: usize = 4;

/// Key sets that are to be fetched and those that are being fetched: who is next.
#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<String>,
    fetching: HashMap<Id, String>,
    /// Issuers whose keys could not be had when they were last asked.
    troubled: HashSet<String>,
}

impl Line {
    /// Puts an address at the end, unless it is in hand already.
    fn join(&mut self, url: String) {
        if !self.waiting.contains(&url) && !self.fetching.values().any(|other| *other == url) {
            self.waiting.push_back(url);
        }
    }

    /// Takes the first address that may be fetched now out of the line.
    fn next(&mut self) -> Option<String> {
        if self.fetching.len() >= AT_ONCE {
            return None;
        }
        let mut hosts = HashMap::<_, usize>::new();
        for url in self.fetching.values() {
            *hosts.entry(host_of(url)).or_default() += 1;
        }
        let in_trouble = self.fetching.values().filter(|url| self.troubled.contains(*url)).count();
        let at = self.waiting.iter().position(|url| {
            let host_is_free = hosts.get(&host_of(url)).is_none_or(|count| *count < AT_ONE_HOST);
            host_is_free && (in_trouble < IN_TROUBLE || !self.troubled.contains(url))
        })?;
        self.waiting.remove(at)
    }

    fn begun(&mut self, task: Id, url: String) {
        self.fetching.insert(task, url);
    }

    fn ended(&mut self, task: Id, well: bool) {
        let Some(url) = self.fetching.remove(&task) else { return };
        if well {
            self.troubled.remove(&url);
        } else {
            self.troubled.insert(url);
        }
    }
}

/// The host of an address; what is none stands for itself and fails by itself.
fn host_of(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| url.to_owned())
}

fn with_client(made: &mut Option<reqwest::Client>, inside: bool) -> Result<&reqwest::Client, reqwest::Error> {
    match made {
        Some(client) => Ok(client),
        None => Ok(made.insert(new_client(inside)?)),
    }
}

fn new_client(inside: bool) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        .user_agent(concat!("forecourt/", env!("CARGO_PKG_VERSION")));
    let builder = if inside { builder } else { builder.https_only(true).dns_resolver(Arc::new(PublicOnly)) };
    builder.build()
}

async fn fetch(client: &reqwest::Client, url: &str, inside: bool) -> Result<Value, String> {
    // An address literal never reaches a resolver.
    let host = Url::parse(url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    let foreign = match host {
        Some(Host::Ipv4(ip)) => is_public(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => is_public(IpAddr::V6(ip)),
        Some(Host::Domain(_)) => true,
        None => false,
    };
    if !foreign && !inside {
        return Err("it is no public address".to_owned());
    }
    let mut answer = client
        .get(url)
        .header("accept", "application/jwk-set+json, application/json")
        .send()
        .await
        .map_err(|error| chain(&error))?;
    if !answer.status().is_success() {
        return Err(format!("the issuer answers {}", answer.status()));
    }
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| chain(&error))? {
        body.extend_from_slice(&part);
        if body.len() > MAX_SET {
            return Err("it is longer than any key set".to_owned());
        }
    }
    serde_json::from_slice(&body).map_err(|error| format!("it is no JSON ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what may be fetched now, and the tasks that fetch it.
    fn begin(line: &mut Line, tasks: &mut JoinSet<()>) -> Vec<(String, Id)> {
        let mut begun = Vec::new();
        while let Some(url) = line.next() {
            let task = tasks.spawn(std::future::pending()).id();
            line.begun(task, url.clone());
            begun.push((url, task));
        }
        begun
    }

    fn urls(begun: &[(String, Id)]) -> Vec<&str> {
        begun.iter().map(|(url, _)| url.as_str()).collect()
    }

    #[tokio::test]
    async fn one_host_and_those_that_failed_leave_room_for_others() {
        let (mut line, mut tasks) = (Line::default(), JoinSet::new());
        for i in 0..5 {
            line.join(format!("https://slow.example/{i}"));
            line.join(format!("https://slow.example/{i}"));
        }
        line.join("https://good.example/keys".to_owned());
        let begun = begin(&mut line, &mut tasks);
        let expected = ["https://slow.example/0", "https://slow.example/1", "https://good.example/keys"];
        assert_eq!(urls(&begun), expected);
        // What is in hand is not taken twice; who is done makes room for the next of its host.
        line.join("https://slow.example/0".to_owned());
        line.ended(begun[0].1, false);
        line.ended(begun[2].1, true);
        let begun = begin(&mut line, &mut tasks);
        assert_eq!(urls(&begun), ["https://slow.example/2"]);
        assert_eq!(line.waiting.len(), 2);

        // Many that kept us waiting last time: half of the places are for others.
        let (mut line, mut tasks) = (Line::default(), JoinSet::new());
        let bad: Vec<String> = (0..20).map(|i| format!("https://bad-{i}.example/")).collect();
        let mut failed = 0;
        bad.iter().cloned().for_each(|url| line.join(url));
        while failed < bad.len() {
            let begun = begin(&mut line, &mut tasks);
            assert!((1..=AT_ONCE).contains(&begun.len()));
            failed += begun.len();
            begun.iter().for_each(|(_, task)| line.ended(*task, false));
        }
        bad.iter().cloned().for_each(|url| line.join(url));
        assert_eq!(begin(&mut line, &mut tasks).len(), IN_TROUBLE);
        (0..9).for_each(|i| line.join(format!("https://good-{i}.example/")));
        let begun = begin(&mut line, &mut tasks);
        assert_eq!(begun.len(), AT_ONCE - IN_TROUBLE);
        assert!(urls(&begun).iter().all(|url| url.contains("good")), "{begun:?}");
        // One that answers again is as good as any other.
        let back = line.fetching.iter().find(|(_, url)| url.contains("bad")).map(|(task, _)| *task).unwrap();
        let before = line.troubled.len();
        line.ended(back, true);
        assert_eq!(line.troubled.len(), before - 1);
    }
}
