//! The calls that the page shows: sent as they are printed, to a real platform.

use contract::{ContractVersion, SkillId};
use testkit::Platform;

use super::fixture::{Times, settled};
use super::pretty::Node;

/// A whole JSON-RPC request with the payload of a skill, members in the order in which people write them.
pub fn request(skill: SkillId, payload: &str) -> String {
    let spec = skill.spec();
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m-1","role":"ROLE_USER","parts":[{{"mediaType":"{}","data":{payload}}}]}},"configuration":{{"acceptedOutputModes":["{}"]}}}}}}"#,
        spec.request_media_type, spec.response_media_type
    )
}

/// One call at a dealer's address of a version, with its headers; what is `None` is left out.
pub struct Call<'a> {
    pub slug: &'a str,
    pub version: ContractVersion,
    /// `A2A-Version`, `A2A-Extensions`.
    pub headers: [Option<&'a str>; 2],
    pub body: &'a str,
}

impl<'a> Call<'a> {
    /// With the headers that every version accepts.
    pub fn new(slug: &'a str, version: ContractVersion, body: &'a str) -> Call<'a> {
        let uri = version.spec().unwrap().extension_uri;
        Call { slug, version, headers: [Some("1.0"), Some(uri)], body }
    }

    /// Sends it; status and body.
    pub async fn send(&self, platform: &Platform) -> (u16, String) {
        let [version, extensions] = self.headers;
        let asking = platform.ask_in(self.version, self.slug, serde_json::json!({}));
        let asking = asking.header("a2a-version", version).header("a2a-extensions", extensions);
        let response = asking.raw(self.body.to_owned()).await;
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// The JSON-RPC answer, with what is different each time made the same.
    pub async fn answer(&self, platform: &Platform, times: &Times) -> Node {
        let (status, body) = self.send(platform).await;
        assert_eq!(status, 200, "{body}");
        settled(Node::read(&body), times)
    }
}
