//! A small MCP server on the Rust SDK; it answers both protocol eras and offers the same
//! five tools as the other servers of the peer tests.

use std::time::Duration;

use rmcp::{
    Json, RoleServer, ServerHandler, ServiceExt,
    handler::server::wrapper::Parameters,
    model::{CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig},
    schemars,
    service::RequestContext,
    tool, tool_handler, tool_router,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    result: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Size {
    chars: usize,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wait {
    seconds: f64,
}

struct Peer;

#[tool_router]
impl Peer {
    #[tool(description = "Answers with its own argument.")]
    fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }

    #[tool(description = "The sum of two integers, as structured content too.")]
    fn add(&self, Parameters(Pair { a, b }): Parameters<Pair>) -> Json<Sum> {
        Json(Sum { result: a + b })
    }

    #[tool(description = "Always fails, as a tool does: isError in a result.")]
    fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("this tool always fails")])
    }

    #[tool(description = "A long text, so that one frame spans many reads.")]
    fn big(&self, Parameters(Size { chars }): Parameters<Size>) -> String {
        "0123456789abcdef".repeat(chars / 16)
    }

    #[tool(description = "Sleeps, so that there is something to cancel.")]
    async fn slow(
        &self,
        Parameters(Wait { seconds }): Parameters<Wait>,
        context: RequestContext<RoleServer>,
    ) -> String {
        // The SDK drains running calls at the end of input, so a call that did not notice
        // its cancellation would hold the exit for seconds.
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => "slept".into(),
            () = context.ct.cancelled() => "cancelled".into(),
        }
    }
}

#[tool_handler]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("peer-rmcp", "1.0.0"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Peer.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
