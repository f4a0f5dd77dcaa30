//! A server on the Rust SDK that writes down what it was asked to execute: see `witness_py2.py`.
//!
//! usage: rmcp-witness FILE

use std::{fs::File, io::Write, sync::Mutex};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
};

struct Witness(Mutex<File>);

impl ServerHandler for Witness {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("witness-rmcp", "1.0.0"))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let line = serde_json::json!({"name": params.name, "arguments": params.arguments});
        if let Ok(mut file) = self.0.lock() {
            let _ = writeln!(file, "{line}");
        }
        Ok(CallToolResult::success(vec![]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rmcp-witness FILE")?;
    let file = File::options().append(true).create(true).open(path)?;
    let service = Witness(Mutex::new(file)).serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
