//! A2A 1.0 over JSON-RPC: decode, ask the dealer, encode. Order of checks: AAP.md 2.4.

mod envelope;
mod error;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod headers;
mod message;
mod usual;

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use contract::{ContractSpec, ContractVersion, Fault};
use dealer::{Dealer, Denied, Place, ResolveError, Tenant};
use uuid::Uuid;

use self::envelope::Envelope;
use self::error::{ProtocolError, Refusal};
use self::message::SendMessage;
use self::usual::Usual;
use super::Visit;
use super::ask::{self, NoVersion, Refused};
use crate::address::Target;
use crate::ids;
use crate::observe::{self, Note};
use crate::{answer, callers};

/// Where a request came in.
enum Door<'a> {
    /// At a dealer's own address.
    Own(&'a Target),
    /// At the shared address, where `params.tenant` is the slug.
    Shared(ContractVersion),
}

impl Door<'_> {
    fn contract(&self) -> ContractVersion {
        match self {
            Door::Own(target) => target.contract,
            Door::Shared(contract) => *contract,
        }
    }
}

pub(super) async fn serve(visit: Visit<'_>, payload: Payload) -> HttpResponse {
    let door = Door::Own(&visit.target);
    answer_at(visit.request, payload, visit.dealer, door).await
}

/// The shared endpoint `{origin}/{contract}/a2a`.
pub(crate) async fn serve_shared(
    request: &HttpRequest,
    payload: Payload,
    dealer: &Dealer,
    contract: ContractVersion,
) -> HttpResponse {
    answer_at(request, payload, dealer, Door::Shared(contract)).await
}

async fn answer_at(request: &HttpRequest, payload: Payload, dealer: &Dealer, door: Door<'_>) -> HttpResponse {
    let mut note = Note { interface: "a2a", ..Note::default() };
    if request.method() != Method::POST {
        observe::note(request, note);
        return answer::wrong_method(request, "POST, OPTIONS");
    }
    let Some(spec) = door.contract().spec() else {
        return answer::not_found(request);
    };
    let body = match ask::body(request, payload).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let exchange = Exchange { request, dealer, door: &door, spec };
    let ran = exchange.run(&body, &mut note).await;
    observe::note(request, note);
    let reply = match ran {
        Ok(reply) => reply,
        Err((tenant, why)) => return callers::denied(request, &tenant, why),
    };

    let mut respond = HttpResponse::Ok();
    respond.content_type(answer::JSON).insert_header((header::CACHE_CONTROL, answer::NO_STORE));
    if reply.activated {
        respond.insert_header((answer::A2A_EXTENSIONS, HeaderValue::from_static(spec.extension_uri)));
    }
    if let Some(version) = reply.version {
        respond.insert_header((answer::INVENTORY_VERSION, HeaderValue::from(version)));
    }
    if let Some(seconds) = reply.retry_after {
        respond.insert_header((header::RETRY_AFTER, HeaderValue::from(seconds)));
    }
    respond.body(reply.body)
}

/// A JSON-RPC answer.
struct Reply {
    body: Vec<u8>,
    /// Whether the request activated the extension, which the answer then says.
    activated: bool,
    /// The version of the lot that it is from.
    version: Option<u64>,
    /// When a caller of whom there are too many calls may come again, in seconds; the body says it as well.
    retry_after: Option<u64>,
}

/// Why a request was not answered with a result.
enum Stop {
    /// In the words of JSON-RPC.
    Refused(Refusal),
    /// The dealer does not let the caller in; that is said by HTTP.
    Denied(Arc<Tenant>, Denied),
}

impl<R: Into<Refusal>> From<R> for Stop {
    fn from(refusal: R) -> Self {
        Stop::Refused(refusal.into())
    }
}

/// A body as far as it has been read.
enum Asked<'a> {
    /// Nothing is wrong with it.
    Usual(Usual<'a>),
    /// To be judged step by step.
    Otherwise(Envelope<'a>),
}

/// One request on its way.
struct Exchange<'a> {
    request: &'a HttpRequest,
    dealer: &'a Dealer,
    door: &'a Door<'a>,
    spec: &'static ContractSpec,
}

impl Exchange<'_> {
    async fn run(&self, body: &[u8], note: &mut Note) -> Result<Reply, (Arc<Tenant>, Denied)> {
        let mut id = "null";
        let mut activated = false;
        let mut version = None;
        let mut retry_after = None;
        let body = match self.attempt(body, &mut id, &mut activated, &mut version, note).await {
            Ok(body) => {
                note.outcome = "ok";
                body
            }
            Err(Stop::Refused(refusal)) => {
                note.outcome = refusal.name();
                retry_after = refusal.retry_after();
                refusal.encode(id, self.spec)
            }
            Err(Stop::Denied(tenant, why)) => {
                note.outcome = callers::outcome(why);
                return Err((tenant, why));
            }
        };
        Ok(Reply { body, activated, version, retry_after })
    }

    async fn attempt<'b>(
        &self,
        body: &'b [u8],
        id: &mut &'b str,
        activated: &mut bool,
        version: &mut Option<u64>,
        note: &mut Note,
    ) -> Result<Vec<u8>, Stop> {
        headers::check_content_type(self.request.headers())?;
        let text = envelope::text(body)?;
        let asked = match usual::read(text) {
            Some(usual) => {
                *id = usual.id;
                Asked::Usual(usual)
            }
            None => Asked::Otherwise(Envelope::parse(text, id)?),
        };
        headers::check_version(self.request.headers(), self.spec)?;
        *activated = headers::check_extension(self.request.headers(), self.spec)?;
        let mut sent = match asked {
            Asked::Usual(usual) => SendMessage::Usual(usual),
            Asked::Otherwise(envelope) => {
                envelope::check_method(&envelope.method)?;
                SendMessage::read(&envelope)?
            }
        };
        let accepted = sent.accepted_output_modes()?;
        let target = self.addressed(&sent).await?;
        let parsed = sent.message()?;

        let call = ask::question(self.request, target, "a2a")
            .map_err(|_| ProtocolError::invalid_request(NoVersion::WORDS))?;
        let skill = ask::find(self.dealer, &call, &parsed.data, note).map_err(|refused| match refused {
            Refused::Fault(fault) => Stop::Refused(Refusal::Fault(fault)),
            Refused::Denied(why) => Stop::Denied(Arc::clone(&call.tenant), why),
        })?;
        message::check_input_mode(parsed.media_type.as_deref(), skill, self.spec)?;
        message::check_output_modes(&accepted, skill, self.spec)?;

        let mut out = Vec::with_capacity(2048);
        open_reply(&mut out, id, &parsed.context_id);
        *version = self.dealer.call(&call, skill, parsed.data, &mut out).await?.inventory_version;
        out.extend_from_slice(b",\"mediaType\":\"");
        out.extend_from_slice(skill.response_media_type.as_bytes());
        out.extend_from_slice(b"\"}]}}}");
        Ok(out)
    }

    /// The dealer a request means, checked against `params.tenant` before anything of it is used.
    ///
    /// At the shared address nothing before this tells the dealer, so callers are let in here.
    async fn addressed(&self, sent: &SendMessage<'_>) -> Result<Target, Stop> {
        // One text for "unknown" and "wrong", so that dealers cannot be probed.
        let refused =
            || ProtocolError::invalid_params("tenant", "must name the dealer of this interface").into();
        match self.door {
            Door::Own(target) => {
                let said = sent.tenant()?.unwrap_or_default();
                let wanted = target.tenant.interface_tenant.as_deref().unwrap_or_default();
                if said == wanted { Ok((*target).clone()) } else { Err(refused()) }
            }
            Door::Shared(contract) => {
                let Some(slug) = sent.tenant()? else { return Err(refused()) };
                match self.dealer.resolve(Place::Slug(&slug)).await {
                    Ok(tenant) if tenant.contracts.contains(contract) => {
                        match callers::admit(self.request, self.dealer, &tenant) {
                            Ok(key) => Ok(Target { tenant, contract: *contract, key }),
                            Err(why) => Err(Stop::Denied(tenant, why)),
                        }
                    }
                    Ok(_) | Err(ResolveError::Nobody(_)) => Err(refused()),
                    Err(error) => Err(Fault::internal(error).into()),
                }
            }
        }
    }
}

fn open_reply(out: &mut Vec<u8>, id: &str, context_id: &Option<Cow<'_, str>>) {
    let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
    text("{\"jsonrpc\":\"2.0\",\"id\":");
    text(id);
    text(",\"result\":{\"message\":{\"messageId\":\"");
    text(ids::random().hyphenated().encode_lower(&mut Uuid::encode_buffer()));
    text("\",\"contextId\":");
    match context_id {
        Some(given) => text(&serde_json::Value::from(given.as_ref()).to_string()),
        None => {
            text("\"ctx-");
            text(ids::random().hyphenated().encode_lower(&mut Uuid::encode_buffer()));
            text("\"");
        }
    }
    text(",\"role\":\"ROLE_AGENT\",\"parts\":[{\"data\":");
}
