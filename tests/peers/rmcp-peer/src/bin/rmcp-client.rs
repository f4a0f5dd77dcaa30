//! One scripted MCP session with the Rust SDK.
//!
//! usage: rmcp-client legacy|modern|auto CALLS_JSON CANCEL_JSON|- ANSWERS_JSON|- SERVER ARGS...
//!
//! ANSWERS are what its user says to whoever asks for an approval, in order; without them nobody can be asked.
//!
//! Prints the same JSON line as the other clients of the peer tests.

use std::{collections::VecDeque, error::Error, sync::Mutex, time::Duration};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams,
        ElicitResult, PingRequest, ProtocolVersion,
    },
    service::{RequestContext, RunningService, ServiceError},
    transport::TokioChildProcess,
};
use serde_json::{Value, json};

/// Longer texts are given by their length: a failed comparison stays readable.
const TEXT_MAX: usize = 200;

type Client = RunningService<RoleClient, User>;

/// Says the next answer to whoever asks for an approval, and accepts what a server asks.
struct User {
    answers: Option<Mutex<VecDeque<Value>>>,
    asked: Mutex<Vec<String>>,
}

impl User {
    fn answer(&self, request: &ElicitRequestParams) -> Result<ElicitResult, Box<dyn Error>> {
        let asked = serde_json::to_value(request)?;
        let is_approval = asked["requestedSchema"]["properties"].get("approve").is_some();
        let text = if is_approval { asked["message"].as_str().unwrap_or_default() } else { "other" };
        self.asked.lock().map_err(|_| "a lock")?.push(text.to_owned());
        let answer = match &self.answers {
            Some(answers) if is_approval => {
                answers.lock().map_err(|_| "a lock")?.pop_front().ok_or("no answer is left")?
            }
            _ => json!({"action": "accept", "content": {"name": "Ada"}}),
        };
        Ok(serde_json::from_value(answer)?)
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        if self.answers.is_some() {
            info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.answer(&request).map_err(|why| ErrorData::internal_error(why.to_string(), None))
    }
}

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
    let [era, calls, cancel, answers, program, server_args @ ..] = args.as_slice() else {
        return Err("usage: rmcp-client ERA CALLS CANCEL|- ANSWERS|- SERVER ARGS...".into());
    };
    let calls: Vec<Value> = serde_json::from_str(calls)?;
    let answers: Option<VecDeque<Value>> =
        if answers == "-" { None } else { Some(serde_json::from_str(answers)?) };
    let user = User { answers: answers.map(Mutex::new), asked: Mutex::default() };
    let mut command = tokio::process::Command::new(program);
    command.args(server_args);
    let transport = TokioChildProcess::new(command)?;
    let mut client: Client = user.serve_with_lifecycle(transport, lifecycle(era)?).await?;

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
    if client.service().answers.is_some() {
        got["asked"] = client.service().asked.lock().map_err(|_| "a lock")?.clone().into();
    }
    client.close().await?;
    println!("{got}");
    Ok(())
}
