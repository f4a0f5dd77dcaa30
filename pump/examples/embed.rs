//! A harness of its own: refuses `delete_file`, adds a tool `session_info`.
use std::process::Stdio;

use framegate_pump::{
    Frame, InjectedTool, Interceptor, Kind, Pump, Request, Side, ToolInjector, Verdict, Wants,
};

struct NoDeletes;

impl Interceptor for NoDeletes {
    fn wants(&self, from: Side, method: &str) -> Wants {
        match (from, method) {
            (Side::Client, "tools/call") => Wants::Decide,
            _ => Wants::Nothing,
        }
    }

    fn request(&self, call: &Request) -> Verdict {
        // No certain name (two of them, say) is no reason to let it pass.
        if call.tool().is_some_and(|tool| tool != "delete_file") {
            return Verdict::Forward;
        }
        let refusal = call.refuse_tool("Nothing is deleted here. Move the file to /trash instead.");
        refusal.map_or(Verdict::Drop { to_client: vec![] }, Verdict::Answer)
    }

    // What two readers could take for two things (a batch, a double key) may hide a call.
    fn odd_frame(&self, _: &Frame, _: Kind, from: Side) -> Verdict {
        if from == Side::Client { Verdict::Drop { to_client: vec![] } } else { Verdict::Forward }
    }
}

struct SessionInfo;

impl ToolInjector for SessionInfo {
    fn tools(&self) -> Vec<InjectedTool> {
        let json =
            r#"{"name":"session_info","description":"Who is watching","inputSchema":{"type":"object"}}"#;
        vec![InjectedTool { name: "session_info".into(), json: json.into() }]
    }

    fn call(&self, call: &Request) -> Verdict {
        let result = r#"{"content":[{"type":"text","text":"a pump"}],"resultType":"complete"}"#;
        call.answer(result).map_or(Verdict::Forward, Verdict::Answer)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = tokio::process::Command::new("env")
        .args(std::env::args().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(to), Some(from)) = (server.stdin.take(), server.stdout.take()) else { return Ok(()) };
    let pump = Pump::new(tokio::io::stdin(), tokio::io::stdout(), from, to);
    pump.interceptor(NoDeletes).tools(SessionInfo).run().await?;
    Ok(())
}
