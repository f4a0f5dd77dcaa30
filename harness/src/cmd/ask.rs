//! A server started once and asked for its tools.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use framegate_guard::world::World;
use serde_json::json;

use super::out::{Failure, say};
use crate::args::Era;
use crate::bridge::listing;
use crate::child::{ServerCommand, ServerName};
use crate::client::{Client, ClientError, Start};
use crate::exit::Exit;
use crate::program::{Asking, Launch};
use crate::stderr::Stderr;

/// Pages of a listing that are followed.
const PAGES_MAX: usize = 1000;

/// What a server says of itself.
pub(super) struct Asked {
    pub(super) tools: Vec<listing::Listed>,
    pub(super) has_resources: bool,
}

/// The name that `server/tool` patterns know a server by.
pub(super) fn name_of(given: Option<&str>, program: &OsString, arguments: &[OsString]) -> ServerName {
    let made = || ServerCommand::new(program.clone(), arguments.to_vec()).name();
    given.map_or_else(made, ServerName::given)
}

/// Programs of a policy in this folder, none of them started yet; everything else is asked of `world`.
pub(super) fn programs(folder: &Path, world: Arc<dyn World>) -> Result<Asking, Failure> {
    let launch = Launch::new(folder, Stderr::start(), Arc::new(say)).with_warden();
    Asking::new(launch, world).map_err(|text| Failure { exit: Exit::Broken, text })
}

/// Starts the server, lists its tools, and ends it. `timeout` is for each answer.
pub(super) fn ask(command: &[OsString], cwd: Option<&Path>, timeout: Duration) -> Result<Asked, Failure> {
    let start = Start { command, policy: None, cwd, timeout, is_bare: true };
    let system = |why: ClientError| Failure { exit: Exit::Broken, text: why.to_string() };
    let mut client = Client::start(&start).map_err(system)?;
    let listed = client.open(Era::Auto).and_then(|()| list(&mut client));
    let has_resources = client.capabilities.get("resources").is_some();
    let (said, code) = client.close();
    let why = match listed {
        Ok(Ok(tools)) => return Ok(Asked { tools, has_resources }),
        Ok(Err(why)) => why,
        Err(why @ ClientError::Late(..)) => format!(
            "{why}; if it is only slow to start (npx and uvx download on their first run), give it more time: --timeout 60"
        ),
        Err(why) => why.to_string(),
    };
    // What the server said is mostly why.
    let _ = io::stderr().write_all(unsaid(&said, &why).as_bytes());
    let code = code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
    let text = format!("the server's tools are not known: {why}");
    Err(Failure { exit: code.map_or(Exit::Broken, Exit::Server), text })
}

/// What was said on stderr without what `why` says anyway, or what is no news: that a server which did not answer
/// was ended.
fn unsaid(said: &str, why: &str) -> String {
    let is_news = |line: &&str| match line.strip_prefix("framegate: ") {
        Some(own) => {
            let text = own.split_once(": ").map_or(own, |(_, text)| text);
            !why.contains(text.trim_end()) && !own.contains("(--drain)")
        }
        None => true,
    };
    said.split_inclusive('\n').filter(is_news).collect()
}

/// All pages; or what is wrong with one.
fn list(client: &mut Client) -> Result<Result<Vec<listing::Listed>, String>, ClientError> {
    let (mut params, mut tools) = (json!({}), Vec::new());
    for _ in 0..PAGES_MAX {
        let line = match client.request_line("tools/list", params) {
            Ok(line) => line,
            // A server without tools says so by "method not found".
            Err(ClientError::Refused(_, text)) if text.starts_with("-32601:") => return Ok(Ok(tools)),
            Err(why) => return Err(why),
        };
        match listing::page(&line, &mut tools) {
            Ok(Some(cursor)) => params = json!({ "cursor": cursor }),
            Ok(None) => return Ok(Ok(tools)),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Err(format!("the listing has more than {PAGES_MAX} pages")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_failure_says_is_not_said_before_it() {
        let said = "hello\nframegate: error: command `x` was not found\nframegate: warning: the server wrote a line\n\
                    framegate: warning: the server was ended: nothing moved for 1s (--drain)\n";
        let why = "`initialize` was answered with an error: -32603: command `x` was not found";
        assert_eq!(unsaid(said, why), "hello\nframegate: warning: the server wrote a line\n");
    }
}
