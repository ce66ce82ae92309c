//! `params` of SendMessage: tenant, message, parts, modes (AAP.md 2.3 and 4).

use std::borrow::Cow;

use contract::{ContractSpec, Fault, SkillSpec, Violation, errors};
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::Envelope;
use super::error::{ProtocolError, Refusal};
use super::usual::Usual;
use crate::json::{self, NotText, RawObject};

/// Longest `messageId` and `contextId`, in characters.
pub(super) const MAX_ID: usize = 256;
/// More than any honest message can get wrong; a megabyte of bad parts would otherwise be answered with thirty.
const MOST_LISTED: usize = 100;

/// The parameters.
pub(super) enum SendMessage<'a> {
    /// Not judged yet.
    Raw(RawObject<'a>),
    /// Beyond reproach.
    Usual(Usual<'a>),
}

/// A message that may be served.
pub(super) struct Parsed<'a> {
    /// The request's own context, to be kept.
    pub(super) context_id: Option<Cow<'a, str>>,
    /// The AAP request.
    pub(super) data: Value,
    /// Media type of its part.
    pub(super) media_type: Option<Cow<'a, str>>,
}

impl<'a> SendMessage<'a> {
    pub(super) fn read(envelope: &Envelope<'a>) -> Result<SendMessage<'a>, Refusal> {
        let params = envelope.params.and_then(|raw| RawObject::parse(raw.get()));
        match params {
            Some(params) => Ok(SendMessage::Raw(params)),
            None => Err(ProtocolError::invalid_params("params", "must be an object").into()),
        }
    }

    /// `tenant`, where one is said; the empty string says none.
    pub(super) fn tenant(&self) -> Result<Option<Cow<'a, str>>, Refusal> {
        let params = match self {
            SendMessage::Raw(params) => params,
            SendMessage::Usual(usual) => return Ok(usual.tenant.map(Cow::Borrowed)),
        };
        match params.proto("tenant", "tenant").map(json::string) {
            None => Ok(None),
            Some(Ok(tenant)) if tenant.is_empty() => Ok(None),
            Some(Ok(tenant)) => Ok(Some(tenant)),
            // The same words as for a wrong one: its type is no news to anybody.
            Some(Err(_)) => {
                Err(ProtocolError::invalid_params("tenant", "must name the dealer of this interface").into())
            }
        }
    }

    /// What the buyer accepts; empty means anything.
    pub(super) fn accepted_output_modes(&mut self) -> Result<Vec<Cow<'a, str>>, Refusal> {
        let params = match self {
            SendMessage::Raw(params) => params,
            SendMessage::Usual(usual) => return Ok(std::mem::take(&mut usual.accepted)),
        };
        let wrong = |field, why| Err(ProtocolError::invalid_params(field, why).into());
        let Some(raw) = params.proto("configuration", "configuration") else { return Ok(Vec::new()) };
        let Some(configuration) = RawObject::parse(raw.get()) else {
            return wrong("configuration", "must be an object");
        };
        let Some(raw) = configuration.proto("acceptedOutputModes", "accepted_output_modes") else {
            return Ok(Vec::new());
        };
        match json::value(raw).map(serde_json::from_value::<Vec<String>>) {
            Some(Ok(modes)) => Ok(modes.into_iter().map(Cow::Owned).collect()),
            _ => wrong("configuration.acceptedOutputModes", "must be a list of strings"),
        }
    }

    /// The message, with everything that is wrong about it.
    pub(super) fn message(self) -> Result<Parsed<'a>, Refusal> {
        let params = match self {
            SendMessage::Raw(params) => params,
            SendMessage::Usual(usual) => return Ok(usual.parsed),
        };
        let Some(raw) = params.proto("message", "message") else {
            return Err(ProtocolError::invalid_params("message", "is required").into());
        };
        let Some(message) = RawObject::parse(raw.get()) else {
            return Err(ProtocolError::invalid_params("message", "must be an object").into());
        };
        // A task that cannot exist is said before anything else is judged: A2A clients rely on it.
        check_task(&message)?;
        let mut wrong = Vec::new();
        let mut add = |field: &'static str, why: &'static str| wrong.push((field.to_owned(), why));
        match message.proto("messageId", "message_id").map(json::string) {
            None => add("message.messageId", "is required"),
            Some(Err(NotText::OtherType)) => add("message.messageId", "must be a string"),
            Some(Ok(id)) if id.is_empty() => add("message.messageId", "must not be empty"),
            Some(Ok(id)) if id.chars().count() > MAX_ID => {
                add("message.messageId", "is longer than 256 characters")
            }
            Some(_) => {}
        }
        match message.proto("role", "role").map(json::string) {
            None => add("message.role", "is required"),
            Some(Ok(role)) if role == "ROLE_USER" => {}
            Some(_) => add("message.role", "must be ROLE_USER"),
        }
        let context_id = match message.proto("contextId", "context_id").map(json::string) {
            None => None,
            Some(Ok(id)) if id.is_empty() => None,
            Some(Ok(id)) if id.chars().count() > MAX_ID || id.chars().any(char::is_control) => {
                add("message.contextId", "must be at most 256 characters without control characters");
                None
            }
            Some(Ok(id)) => Some(id),
            Some(Err(NotText::OtherType)) => {
                add("message.contextId", "must be a string");
                None
            }
            Some(Err(NotText::LoneSurrogate)) => {
                add("message.contextId", "is no text that can be kept");
                None
            }
        };
        let part = match message
            .proto("parts", "parts")
            .map(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()))
        {
            None => {
                add("message.parts", "is required");
                None
            }
            Some(Err(_)) => {
                add("message.parts", "must be a list of parts");
                None
            }
            Some(Ok(parts)) => data_part(&parts, &mut wrong),
        };
        match part {
            Some(part) if wrong.is_empty() => part.read(context_id),
            _ => Err(ProtocolError::invalid_fields(wrong).into()),
        }
    }
}

/// AAP makes no tasks, so any `taskId` refers to nothing.
fn check_task(message: &RawObject<'_>) -> Result<(), Refusal> {
    match message.proto("taskId", "task_id").map(json::string) {
        None => Ok(()),
        Some(Ok(id)) if id.is_empty() => Ok(()),
        Some(Err(NotText::OtherType)) => {
            Err(ProtocolError::invalid_params("message.taskId", "must be a string").into())
        }
        Some(_) => {
            Err(ProtocolError::new(&errors::TASK_NOT_FOUND, "There is no such task; this agent keeps none.")
                .into())
        }
    }
}

/// The part that carries the AAP request.
struct DataPart<'a> {
    data: &'a RawValue,
    media_type: Option<&'a RawValue>,
}

/// The one data part. Text beside it means nothing (AAP.md 4.2).
fn data_part<'a>(parts: &[&'a RawValue], wrong: &mut Vec<(String, &'static str)>) -> Option<DataPart<'a>> {
    if parts.is_empty() {
        wrong.push(("message.parts".to_owned(), "must hold at least one part"));
        return None;
    }
    let mut found = None;
    for (i, raw) in parts.iter().enumerate() {
        if wrong.len() >= MOST_LISTED {
            wrong.push(("message.parts".to_owned(), "has further problems that are not listed"));
            return None;
        }
        let at = format!("message.parts[{i}]");
        let Some(part) = RawObject::parse(raw.get()) else {
            wrong.push((at, "must be an object"));
            continue;
        };
        // `null` is a value of `data` and means "not there" for the others.
        let data = part.get("data");
        let others = ["text", "raw", "url"].iter().filter(|name| part.proto(name, name).is_some()).count();
        match (data, others) {
            (Some(data), 0) if found.is_none() => {
                found = Some(DataPart { data, media_type: part.proto("mediaType", "media_type") });
            }
            (Some(_), 0) => wrong.push((at, "is a second data part; send one request per message")),
            (None, 1) => {}
            (None, 0) => wrong.push((at, "must hold one of text, raw, url and data")),
            _ => wrong.push((at, "must hold only one of text, raw, url and data")),
        }
    }
    if found.is_none() && wrong.is_empty() {
        wrong.push(("message.parts".to_owned(), "must hold a data part with the AAP request"));
    }
    found
}

impl<'a> DataPart<'a> {
    fn read(self, context_id: Option<Cow<'a, str>>) -> Result<Parsed<'a>, Refusal> {
        let media_type = match self.media_type.map(json::string) {
            None => None,
            Some(Ok(text)) => Some(text),
            Some(Err(_)) => Some(Cow::Borrowed("?")),
        };
        match json::value(self.data) {
            Some(data) => Ok(Parsed { context_id, data, media_type }),
            None => Err(Fault::validation(vec![Violation::new("", "type", "must be an object")]).into()),
        }
    }
}

/// The part must say that it is this skill's request (AAP.md 4.3).
pub(super) fn check_input_mode(
    media_type: Option<&str>,
    skill: &SkillSpec,
    spec: &ContractSpec,
) -> Result<(), ProtocolError> {
    let fits = match media_type {
        None => !spec.part_media_type_required,
        Some(sent) => {
            let sent = essence(sent);
            sent.eq_ignore_ascii_case(skill.request_media_type) || is_plain_json(sent, spec)
        }
    };
    if fits {
        return Ok(());
    }
    let message = format!("Send the request part of {} with its own media type.", skill.id);
    Err(ProtocolError::new(&errors::CONTENT_TYPE_NOT_SUPPORTED, message)
        .with("supportedInputModes", skill.request_media_type))
}

/// Modes are alternatives: one that fits is enough, and none at all means anything.
pub(super) fn check_output_modes(
    accepted: &[Cow<'_, str>],
    skill: &SkillSpec,
    spec: &ContractSpec,
) -> Result<(), ProtocolError> {
    let fits = |mode: &Cow<'_, str>| {
        let mode = essence(mode);
        mode.eq_ignore_ascii_case(skill.response_media_type)
            || mode == "*/*"
            || mode.eq_ignore_ascii_case("application/*")
            || is_plain_json(mode, spec)
    };
    if accepted.is_empty() || accepted.iter().any(fits) {
        return Ok(());
    }
    let message = format!("None of the accepted output modes can be produced for {}.", skill.id);
    Err(ProtocolError::new(&errors::CONTENT_TYPE_NOT_SUPPORTED, message)
        .with("supportedOutputModes", skill.response_media_type))
}

/// Whether a media type is `application/json`, in a contract that takes it for the vendor types.
fn is_plain_json(essence: &str, spec: &ContractSpec) -> bool {
    spec.plain_json && essence.eq_ignore_ascii_case("application/json")
}

/// A media type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}
