//! What the SDK asks of a server: one lives as long as one request.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{ContractSpec, Fault, FaultCode, SkillSpec};
use dealer::{Call, Dealer, Denied};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tracing::{Instrument, Span};

use super::{prompts, resources, text, tools};
use crate::interfaces::ask::{self, Refused};
use crate::interfaces::one_line::one_line;
use crate::interfaces::refused::AapError;
use crate::observe::Note;

/// What a request leaves behind beside the SDK's answer.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// The payload of a tool's answer. It goes into the place that [`Mark`] holds free, byte for byte: read into a
    /// tree and written again its numbers might not be spelt as they were, and it would take longer than the skill.
    pub(super) payload: Option<Vec<u8>>,
    /// The caller may not use the skill, which is said by HTTP.
    pub(super) denied: Option<Denied>,
    /// The version of the lot that the answer is from.
    pub(super) version: Option<u64>,
    /// For counting.
    pub(super) note: Note,
}

/// What stands in the SDK's answer where the payload belongs: an object, since older clients are not told of
/// anything else, whose name nobody can know before.
#[derive(Debug, Clone)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Mark {
        Mark(crate::ids::random().simple().to_string())
    }

    fn value(&self) -> Value {
        Value::from_iter([(self.0.clone(), 0)])
    }

    /// An answer of the SDK with the payload in the mark's place.
    pub(super) fn replaced(&self, answer: &[u8], payload: &[u8]) -> Option<Vec<u8>> {
        let mark = self.value().to_string();
        let at = answer.windows(mark.len()).position(|part| part == mark.as_bytes())?;
        let (before, after) = answer.split_at_checked(at)?;
        let (_, after) = after.split_at_checked(mark.len())?;
        let mut whole = Vec::with_capacity(answer.len() + payload.len());
        for part in [before, payload, after] {
            whole.extend_from_slice(part);
        }
        Some(whole)
    }
}

/// One request to one dealer.
pub(super) struct Door {
    pub(super) dealer: Dealer,
    pub(super) call: Call,
    pub(super) spec: &'static ContractSpec,
    pub(super) mark: Mark,
    pub(super) left: Arc<Mutex<Left>>,
    /// Of the HTTP request: the SDK works in tasks of its own.
    pub(super) span: Span,
}

/// Why a skill gave no answer.
enum Stopped {
    Fault(Box<Fault>),
    /// Said by HTTP; whatever the SDK says is thrown away.
    Denied(ErrorData),
}

impl Door {
    fn leave(&self, leave: impl FnOnce(&mut Left)) {
        leave(&mut self.left.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Asks a skill; the payload of its answer.
    async fn ask(&self, skill: &'static SkillSpec, data: Value) -> Result<Vec<u8>, Stopped> {
        let mut note = Note { interface: super::DOOR, ..Note::default() };
        let mut out = Vec::with_capacity(2048);
        let asking = ask::ask(&self.dealer, &self.call, skill, data, &mut out, &mut note);
        let asked = asking.instrument(self.span.clone()).await;
        note.outcome = asked.as_ref().map_or_else(Refused::outcome, |_| "ok");
        self.leave(|left| left.note = note);
        match asked {
            Ok(answered) => {
                self.leave(|left| left.version = answered.inventory_version);
                Ok(out)
            }
            Err(Refused::Fault(fault)) => Err(Stopped::Fault(fault)),
            Err(Refused::Denied(why)) => {
                self.leave(|left| left.denied = Some(why));
                Err(Stopped::Denied(ErrorData::internal_error("The caller is not let in.", None)))
            }
        }
    }

    fn error(&self, fault: &Fault) -> AapError {
        self.span.in_scope(|| AapError::of(fault, self.spec))
    }

    /// A refusal in MCP's own words, counted.
    fn refuse(&self, outcome: &'static str, error: ErrorData) -> ErrorData {
        self.leave(|left| left.note.outcome = outcome);
        error
    }

    fn invalid_params(&self, words: impl Into<std::borrow::Cow<'static, str>>) -> ErrorData {
        self.refuse("invalid_params", ErrorData::invalid_params(words, None))
    }
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let tenant = &self.call.tenant;
        let name = one_line(&tenant.name);
        let mut info = Implementation::new("forecourt", env!("CARGO_PKG_VERSION")).with_title(name.as_ref());
        info.website_url = Some(tenant.base.clone());
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let mut words = format!(
            "This is the car dealer {name}. Its stock, prices and opening hours come from its own systems and change \
             all the time: ask again instead of remembering, and say nothing about a vehicle that is not in the \
             answers. Prices are whole US dollars; fees are listed apart."
        );
        if tenant.skills.contains(&contract::SkillId::LeadSubmit) {
            words.push_str(
                " Searching needs no personal data. A shopper's data goes to the dealer through aap_lead_submit \
                 alone, and only after the shopper has agreed.",
            );
        }
        if tenant.sandbox {
            words.push_str(" It is a sandbox for trying out: nothing here is for sale.");
        }
        ServerConfig::new(capabilities.build()).with_server_info(info).with_instructions(words)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::offered(&self.call.tenant, self.call.contract)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(skill) = tools::skill(&request.name) else {
            return Err(self.invalid_params("There is no such tool; tools/list names those of this dealer."));
        };
        let data = Value::Object(request.arguments.unwrap_or_default());
        let result = match self.ask(skill, data).await {
            Ok(payload) => {
                let words = text::of_answer(skill.id, &payload);
                let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
                result.structured_content = Some(self.mark.value());
                self.leave(|left| left.payload = Some(payload));
                result
            }
            Err(Stopped::Fault(fault)) => {
                let error = self.error(&fault).object;
                let mut result = CallToolResult::error(vec![ContentBlock::text(text::of_error(&error))]);
                result.structured_content = Some(error);
                result
            }
            Err(Stopped::Denied(error)) => return Err(error),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::fixed(&self.call.tenant)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.call.tenant)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some((skill, data)) = resources::meant(&self.call.tenant, &request.uri) else {
            let words = "There is no such resource; resources/list and resources/templates/list name those of \
                         this dealer.";
            return Err(self.refuse("resource_not_found", ErrorData::resource_not_found(words, None)));
        };
        match self.ask(skill, data).await {
            Ok(payload) => {
                let text = String::from_utf8(payload)
                    .map_err(|_| ErrorData::internal_error("The answer is no text.", None))?;
                let contents = ResourceContents::text(text, request.uri).with_mime_type(resources::MIME_TYPE);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Err(Stopped::Fault(fault)) => {
                let error = self.error(&fault);
                let number = match error.code {
                    FaultCode::VehicleNotFound | FaultCode::VehicleUnavailable => {
                        ErrorCode::RESOURCE_NOT_FOUND
                    }
                    _ => ErrorCode::INTERNAL_ERROR,
                };
                Err(ErrorData::new(number, text::of_error(&error.object), Some(error.object)))
            }
            Err(Stopped::Denied(error)) => Err(error),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(&self.call.tenant)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (words, description) = prompts::get(&self.call.tenant, &request.name, request.arguments.as_ref())
            .map_err(|words| self.invalid_params(words))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]);
        result.description = Some(description.to_owned());
        Ok(result.into())
    }

    /// Where the SDK cannot read the parameters of a method that it knows, it takes the method for one it does not.
    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            return Err(
                self.invalid_params("The parameters of the request have not the shape of its method.")
            );
        }
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "There is no such method.", None);
        Err(self.refuse("method_not_found", error))
    }
}

/// What is served with parameters.
const METHODS: [&str; 8] = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_stands_where_the_mark_stood_and_nowhere_else() {
        let mark = Mark::new();
        let answer = format!("{{\"id\":\"{{}}\",\"structuredContent\":{},\"isError\":false}}", mark.value());
        let whole = mark.replaced(answer.as_bytes(), b"{\"n\":1.0}").unwrap();
        let expected = "{\"id\":\"{}\",\"structuredContent\":{\"n\":1.0},\"isError\":false}";
        assert_eq!(String::from_utf8(whole).unwrap(), expected);
        assert_eq!(Mark::new().replaced(answer.as_bytes(), b"{}"), None, "no two marks are alike");
    }
}
