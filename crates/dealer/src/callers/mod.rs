//! Who asks a dealer, and who may.

use std::net::IpAddr;
use std::sync::Arc;

/// Who asks: by its key, else by the agent it declares, else by its address.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The interface through which it came, such as `a2a`.
    pub door: &'static str,
    /// Where it called from, as far as that can be believed.
    pub address: Option<IpAddr>,
    /// The credential that it proved, if it showed one.
    pub key: Option<Arc<CallerKey>>,
}

/// A credential that was proved.
#[derive(Debug)]
pub struct CallerKey {
    /// What the dealer calls it; unique among the dealer's keys.
    pub name: String,
}

impl Caller {
    /// Somebody who showed no credential.
    pub fn anonymous(door: &'static str, address: Option<IpAddr>) -> Caller {
        Caller { door, address, key: None }
    }

    /// What the caller is known by: `key:<name>`, else `agent:<declared name>`, else `addr:<ip>`.
    ///
    /// A declared name is a claim that anybody can make; it tells honest callers apart and proves nothing.
    pub fn name(&self, declared_agent: Option<&str>) -> String {
        match (&self.key, declared_agent, self.address) {
            (Some(key), _, _) => format!("key:{}", key.name),
            (None, Some(agent), _) => format!("agent:{agent}"),
            (None, None, Some(address)) => format!("addr:{address}"),
            (None, None, None) => "addr:unknown".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_known_by_its_key_else_by_its_agent_else_by_its_address() {
        let mut caller = Caller::anonymous("a2a", Some(IpAddr::from([192, 0, 2, 7])));
        assert_eq!(caller.name(None), "addr:192.0.2.7");
        assert_eq!(caller.name(Some("pelican")), "agent:pelican");
        caller.key = Some(Arc::new(CallerKey { name: "broker".into() }));
        assert_eq!(caller.name(Some("pelican")), "key:broker");
        assert_eq!(Caller::anonymous("a2a", None).name(None), "addr:unknown");
    }
}
