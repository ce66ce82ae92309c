//! `mcp.json`: the tools of a dealer as a document, for who looks before it connects (AAP.md 14).

use contract::{ContractSpec, SkillSpec};
use dealer::Tenant;
use rmcp::model::Tool;
use serde_json::{Value, json};

use super::tools;
use crate::interfaces::one_line::one_line;

/// The protocol version that the mapping was written for; any other that `mcp` speaks is as good.
const PROTOCOL_VERSION: &str = "2025-06-18";

/// The document of a dealer in a contract.
pub(super) fn of(tenant: &Tenant, spec: &ContractSpec) -> Value {
    let offered = tools::offered(tenant, spec.version);
    json!({
        "name": "auto-agent-protocol",
        "version": spec.full_version,
        "description": format!(
            "{}: the Auto Agent Protocol as MCP tools. Connect with Streamable HTTP to the address in endpoint.",
            one_line(&tenant.name)
        ),
        "protocolVersion": PROTOCOL_VERSION,
        "endpoint": format!("{}{}/mcp", tenant.base, spec.version),
        "tools": offered.iter().filter_map(|tool| Some(entry(tool, tools::skill(&tool.name)?, spec)))
            .collect::<Vec<_>>(),
    })
}

fn entry(tool: &Tool, skill: &SkillSpec, spec: &ContractSpec) -> Value {
    let mut annotations = json!(tool.annotations);
    if let Some(members) = annotations.as_object_mut() {
        let spread = tools::spread(skill, spec).into_iter();
        members.extend(spread.map(|(name, value)| (name.to_owned(), Value::from(value))));
    }
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": *tool.input_schema,
        "annotations": annotations,
    })
}
