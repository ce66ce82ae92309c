//! The errors of JSON-RPC and A2A themselves: no skill ran, or none was asked (AAP.md 2.2, 5, 5.1).
//!
//! The codes of skills stand in [`crate::FaultCode`]; what a contract does otherwise, in its
//! [`crate::ContractSpec`]. Both tables together are `docs/errors.md`, which a test holds against them.

/// `@type` of the entry that names an error, its domain and its metadata.
pub const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
/// `@type` of the entry that lists the fields at fault.
pub const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
/// `@type` of the entry that wraps an AAP error where [`crate::ErrorForm::Struct`] rules.
pub const STRUCT: &str = "type.googleapis.com/google.protobuf.Struct";
/// `@type` of the AAP error where [`crate::ErrorForm::Tagged`] rules. It names no version.
pub const AAP_ERROR: &str = "https://autoagentprotocol.org/extensions/aap/error";
/// `domain` of the ErrorInfo of a skill's refusal.
pub const AAP_DOMAIN: &str = "autoagentprotocol.org";
/// `domain` of the ErrorInfo of an A2A error.
pub const A2A_DOMAIN: &str = "a2a-protocol.org";

/// One error that is not a skill's. The same in every contract.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolErrorSpec {
    /// What A2A or JSON-RPC calls it.
    pub name: &'static str,
    /// `error.code`.
    pub number: i32,
    /// `reason` of the ErrorInfo that `error.data` begins with; plain JSON-RPC errors have neither.
    pub reason: Option<&'static str>,
    /// Keys that the metadata of the ErrorInfo may have; all values are strings.
    pub metadata: &'static [&'static str],
    /// Whether `error.data` holds a BadRequest that names the fields at fault.
    pub fields: bool,
    /// When it is sent; `None` if this platform never does.
    pub when: Option<&'static str>,
}

macro_rules! protocol_errors {
    ($( $id:ident = $name:literal, $number:literal, $reason:expr, $metadata:expr, $fields:literal, $when:expr; )*) => {
        $(
            #[doc = concat!($name, ", ", stringify!($number), ".")]
            pub static $id: ProtocolErrorSpec = ProtocolErrorSpec {
                name: $name, number: $number, reason: $reason, metadata: &$metadata, fields: $fields, when: $when,
            };
        )*

        /// All of them, in the order of the table.
        pub static PROTOCOL_ERRORS: &[&ProtocolErrorSpec] = &[ $( &$id, )* ];
    };
}

protocol_errors! {
    // name, number, reason, metadata keys, whether fields are named, when
    PARSE = "Parse error", -32700, None, [], false,
        Some("the body is not UTF-8 or not JSON");
    INVALID_REQUEST = "Invalid request", -32600, None, [], false,
        Some("the JSON is no request: a batch, no `id` or one of another type, another `jsonrpc`, nested too deep");
    METHOD_NOT_FOUND = "Method not found", -32601, None, [], false,
        Some("the method is none of A2A 1.0; `message/send` and the like are names of A2A 0.3");
    INVALID_PARAMS = "Invalid params", -32602, None, [], true,
        Some("`params` or the message in it has the wrong form, or `params.tenant` is not that of the interface");
    INTERNAL = "Internal error", -32603, None, [], false, None;
    TASK_NOT_FOUND = "TaskNotFoundError", -32001, Some("TASK_NOT_FOUND"), [], false,
        Some("the message has a `taskId`; there are no tasks");
    TASK_NOT_CANCELABLE = "TaskNotCancelableError", -32002, Some("TASK_NOT_CANCELABLE"), [], false, None;
    PUSH_NOT_SUPPORTED = "PushNotificationNotSupportedError", -32003, Some("PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ["method"], false, Some("a method for push notifications");
    UNSUPPORTED_OPERATION = "UnsupportedOperationError", -32004, Some("UNSUPPORTED_OPERATION"), ["method"], false,
        Some("a method for streaming, tasks or an extended card");
    CONTENT_TYPE_NOT_SUPPORTED = "ContentTypeNotSupportedError", -32005, Some("CONTENT_TYPE_NOT_SUPPORTED"),
        ["supportedContentTypes", "supportedInputModes", "supportedOutputModes"], false,
        Some("the request is not `application/json`, its part has not the media type of the skill, or no accepted output mode is that of the answer");
    INVALID_AGENT_RESPONSE = "InvalidAgentResponseError", -32006, Some("INVALID_AGENT_RESPONSE"), [], false, None;
    EXTENDED_CARD_NOT_CONFIGURED = "ExtendedAgentCardNotConfiguredError", -32007,
        Some("EXTENDED_AGENT_CARD_NOT_CONFIGURED"), [], false, None;
    EXTENSION_REQUIRED = "ExtensionSupportRequiredError", -32008, Some("EXTENSION_SUPPORT_REQUIRED"),
        ["extensionUri", "requiredHeader"], false, Some("`A2A-Extensions` lacks the URI of the contract");
    VERSION_NOT_SUPPORTED = "VersionNotSupportedError", -32009, Some("VERSION_NOT_SUPPORTED"),
        ["requestedVersion", "supportedVersions", "requiredHeader"], false, Some("`A2A-Version` does not mean 1.0");
}

/// A method of A2A that is known here and not served (AAP.md 5).
#[derive(Debug)]
pub struct Unserved {
    /// Its name, to the letter.
    pub method: &'static str,
    /// What it is answered with.
    pub error: &'static ProtocolErrorSpec,
    /// Why, for people.
    pub message: &'static str,
}

/// The one method that is served.
pub const SEND_MESSAGE: &str = "SendMessage";

const STREAMING: &str = "Streaming is not offered by this dealer agent.";
const TASKS: &str = "This dealer agent answers at once and keeps no tasks.";
const CARD: &str = "This dealer agent has no extended card.";
const PUSH: &str = "This dealer agent sends no push notifications.";

const fn unserved(
    method: &'static str,
    error: &'static ProtocolErrorSpec,
    message: &'static str,
) -> Unserved {
    Unserved { method, error, message }
}

/// Every other method of A2A 1.0.
pub static UNSERVED: &[Unserved] = &[
    unserved("SendStreamingMessage", &UNSUPPORTED_OPERATION, STREAMING),
    unserved("SubscribeToTask", &UNSUPPORTED_OPERATION, STREAMING),
    unserved("GetTask", &UNSUPPORTED_OPERATION, TASKS),
    unserved("ListTasks", &UNSUPPORTED_OPERATION, TASKS),
    unserved("CancelTask", &UNSUPPORTED_OPERATION, TASKS),
    unserved("GetExtendedAgentCard", &UNSUPPORTED_OPERATION, CARD),
    unserved("CreateTaskPushNotificationConfig", &PUSH_NOT_SUPPORTED, PUSH),
    unserved("GetTaskPushNotificationConfig", &PUSH_NOT_SUPPORTED, PUSH),
    unserved("ListTaskPushNotificationConfigs", &PUSH_NOT_SUPPORTED, PUSH),
    unserved("DeleteTaskPushNotificationConfig", &PUSH_NOT_SUPPORTED, PUSH),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_reasons_are_unambiguous() {
        for (i, one) in PROTOCOL_ERRORS.iter().enumerate() {
            for other in &PROTOCOL_ERRORS[i + 1..] {
                assert!(one.number != other.number && one.name != other.name, "{} {}", one.name, other.name);
                assert!(one.reason.is_none() || one.reason != other.reason, "{}", one.name);
            }
            // A2A's own range, and its reasons are made from its names.
            assert_eq!(one.reason.is_some(), (-32099..=-32000).contains(&one.number), "{}", one.name);
            if let Some(reason) = one.reason {
                let plain = reason.replace('_', "").to_lowercase();
                assert_eq!(one.name.strip_suffix("Error").unwrap().to_lowercase(), plain);
            }
        }
        for method in UNSERVED {
            assert!(
                method.method != SEND_MESSAGE && method.error.metadata == ["method"],
                "{}",
                method.method
            );
        }
    }
}
