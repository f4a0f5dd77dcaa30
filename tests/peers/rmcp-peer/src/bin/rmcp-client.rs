//! One scripted MCP session with the Rust SDK.
//!
//! usage: rmcp-client legacy|modern|auto CALLS_JSON CANCEL_JSON|- SERVER ARGS...
//!
//! Prints the same JSON line as the other clients of the peer tests.

use std::{error::Error, time::Duration};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{CallToolRequestParams, ClientRequest, PingRequest, ProtocolVersion},
    service::{RunningService, ServiceError},
    transport::TokioChildProcess,
};
use serde_json::{Value, json};

/// Longer texts are given by their length: a failed comparison stays readable.
const TEXT_MAX: usize = 200;

type Client = RunningService<RoleClient, ()>;

fn params(call: &Value) -> CallToolRequestParams {
    let name = call["name"].as_str().unwrap_or_default().to_owned();
    let params = CallToolRequestParams::new(name);
    match call["arguments"].as_object() {
        Some(arguments) => params.with_arguments(arguments.clone()),
        None => params,
    }
}

/// The shape of one content block: its type, and its text or the length of it.
fn block_shape(block: &Value) -> Value {
    let body = block.get("text").or(block.get("data"));
    let body = body.and_then(Value::as_str).unwrap_or_default();
    let chars = body.chars().count();
    if block["type"] == "text" && chars <= TEXT_MAX {
        json!([block["type"], body])
    } else {
        json!([block["type"], chars])
    }
}

async fn call(client: &Client, wanted: &Value) -> Result<Value, Box<dyn Error>> {
    match client.call_tool(params(wanted)).await {
        Ok(result) => {
            let content = serde_json::to_value(&result.content)?;
            let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
            Ok(json!({
                "tool": wanted["name"],
                "is_error": result.is_error.unwrap_or(false),
                "content": blocks.iter().map(block_shape).collect::<Vec<_>>(),
                "structured": result.structured_content.is_some(),
            }))
        }
        Err(ServiceError::McpError(err)) => {
            Ok(json!({"tool": wanted["name"], "error": err.code.0}))
        }
        Err(other) => Err(other.into()),
    }
}

fn lifecycle(era: &str) -> Result<ClientLifecycleMode, Box<dyn Error>> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match era {
        "legacy" => Ok(ClientLifecycleMode::Initialize),
        "modern" => Ok(ClientLifecycleMode::Discover { preferred_versions }),
        "auto" => Ok(ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }),
        other => Err(format!("unknown era `{other}`").into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [era, calls, cancel, program, server_args @ ..] = args.as_slice() else {
        return Err("usage: rmcp-client ERA CALLS CANCEL|- SERVER ARGS...".into());
    };
    let calls: Vec<Value> = serde_json::from_str(calls)?;
    let mut command = tokio::process::Command::new(program);
    command.args(server_args);
    let transport = TokioChildProcess::new(command)?;
    let mut client: Client = ().serve_with_lifecycle(transport, lifecycle(era)?).await?;

    let info = client.peer_info();
    let version = info.map(|info| info.protocol_version.to_string()).unwrap_or_default();
    let mut tools: Vec<String> =
        client.list_all_tools().await?.iter().map(|tool| tool.name.to_string()).collect();
    tools.sort();
    let mut got = json!({"client": "rmcp", "protocol": version, "tools": tools, "calls": []});
    let mut results = Vec::new();
    for wanted in &calls {
        results.push(call(&client, wanted).await?);
    }
    got["calls"] = results.into();
    if cancel != "-" {
        // Dropping the future sends notifications/cancelled; the session goes on.
        let wanted = serde_json::from_str(cancel)?;
        let given_up =
            tokio::time::timeout(Duration::from_millis(500), client.call_tool(params(&wanted)))
                .await;
        got["cancelled"] = given_up.is_err().into();
        got["after_cancel"] = client.list_all_tools().await?.len().into();
    }
    if version.as_str() < "2026" {
        client.send_request(ClientRequest::PingRequest(PingRequest::default())).await?;
        got["ping"] = true.into();
    }
    client.close().await?;
    println!("{got}");
    Ok(())
}
