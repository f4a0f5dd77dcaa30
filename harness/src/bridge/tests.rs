//! A bridge in a pump, between a client and a server that are both the test.

mod asking;
mod forms;
mod ids;
mod listings;
mod records;
mod reload;
mod results;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use framegate_guard::ledger::{Ledger, MemoryLedger, SessionKey};
use framegate_guard::policy::Policy;
use framegate_guard::world::World;
use framegate_guard::{Facts, Guard};
use framegate_pump::{IdLimits, Options, Pump};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

use super::{Bridge, BridgeSettings, Disk, Visible};
use crate::approve::AskSettings;
use crate::calls::{CallLog, Level, LogFormat};
use crate::child::ServerName;
use crate::stderr::Stderr;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);

/// One side as the test plays it.
struct End {
    says: DuplexStream,
    hears: Lines<BufReader<DuplexStream>>,
}

impl End {
    async fn says(&mut self, line: &str) {
        self.says.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hears(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.hears.next_line()).await;
        line.expect("nothing is said").unwrap().expect("the end")
    }

    async fn hears_nothing(&mut self, wait: Duration) {
        let heard = tokio::time::timeout(wait, self.hears.next_line()).await;
        assert!(heard.is_err(), "{heard:?}");
    }
}

struct Rig {
    client: End,
    server: End,
    bridge: Arc<Bridge>,
    pump: JoinHandle<()>,
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

fn policy(text: &str) -> Policy {
    let text = format!("framegate: 1\ndefault: allow\n{text}");
    Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy
}

impl Rig {
    fn start(text: &str) -> Rig {
        Rig::asking(text, AskSettings::default())
    }

    fn asking(text: &str, ask: AskSettings) -> Rig {
        Rig::over(text, ask, Arc::new(MemoryLedger::default()), Arc::new(Disk::new(Path::new("."))))
    }

    fn over(text: &str, ask: AskSettings, ledger: Arc<dyn Ledger>, world: Arc<dyn World>) -> Rig {
        let log =
            Arc::new(CallLog::new(Stderr::start(), ServerName::given("s"), Level::Off, LogFormat::Text));
        let bridge = Bridge::new(BridgeSettings {
            context: crate::context::ContextSettings::default(),
            programs: crate::program::Programs::default(),
            guard: Guard::new(policy(text), "s", Facts::default()),
            ledger,
            key: SessionKey { principal: "p".into(), name: "s".into() },
            world,
            log,
            noise: None,
            without_policy: false,
            annotates: false,
            ask,
        })
        .unwrap();
        let pipe = || tokio::io::duplex(16 * 1024 * 1024);
        let ((client_says, from_client), (to_client, client_hears)) = (pipe(), pipe());
        let ((server_says, from_server), (to_server, server_hears)) = (pipe(), pipe());
        let options = Options { id_limits: Some(IdLimits::default()), ..Options::default() };
        let pump = Pump::new(from_client, to_client, from_server, to_server).options(options);
        let handle = pump.handle();
        handle.set_interceptor(bridge.clone());
        handle.set_tools(Some(Arc::new(Visible(bridge.clone()))));
        bridge.start(&handle);
        let pump = tokio::spawn(async move { drop(pump.run().await) });
        let end = |says, hears| End { says, hears: BufReader::new(hears).lines() };
        Rig { client: end(client_says, client_hears), server: end(server_says, server_hears), bridge, pump }
    }

    /// The handshake; leaves the server with the guard's question for its tools, whose id is returned.
    async fn open(&mut self) -> String {
        self.client.says(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#).await;
        self.server.hears().await;
        self.server.says(r#"{"jsonrpc":"2.0","id":"i","result":{"capabilities":{"tools":{}}}}"#).await;
        self.client.hears().await;
        self.client.says(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert!(self.server.hears().await.contains("initialized"));
        id_of(&self.server.hears().await)
    }

    /// The handshake, and tools `t0` to `t<count-1>` that take anything.
    async fn opened(text: &str, count: usize) -> Rig {
        let mut rig = Rig::start(text);
        rig.list(count).await;
        rig
    }

    async fn list(&mut self, count: usize) {
        let id = self.open().await;
        self.server.says(&listing(&id, count)).await;
        while !self.bridge.guard().is_listed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn call(id: &str, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

fn id_of(line: &str) -> String {
    let read: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(read["method"], "tools/list", "{line}");
    read["id"].to_string()
}

fn listing(id: &str, count: usize) -> String {
    let tool = |n| {
        format!(
            r#"{{"name":"t{n}","inputSchema":{{"type":"object","properties":{{"a{n}":{{"type":"string"}}}}}}}}"#
        )
    };
    let tools: Vec<String> = (0..count).map(tool).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{}]}}}}"#, tools.join(","))
}
