//! What the help of a command ends with: examples, and what they mean.

pub(super) const INIT_EXAMPLES: &str = "Examples:
  framegate init
  framegate init -o framegate.yaml -- npx -y @modelcontextprotocol/server-filesystem /work

Tools that the server calls read-only are let through, all others are commented out; arguments that name files or
addresses get a rule. Read it, change it, then: framegate check framegate.yaml -- SERVER

Exit codes: 0 written; 74 FILE is there already or cannot be written; otherwise as `framegate run`, when the server does not start";

pub(super) const PROXY_EXAMPLES: &str = "Examples:
  framegate import elicitation-proxy config.yaml
  framegate import elicitation-proxy config.yaml -o framegate.yaml

The policy goes to FILE, or to stdout. The entry for the client's configuration that replaces the old one goes to stdout
after it, or to stderr where the policy is on stdout. What could not be carried over is named on stderr, with its line:
`upstream.url`, `proxy.name`, and keys that had no effect there either (`ambiguous_if`, `confirm_if`).

Exit codes: 0 written; 74 a file cannot be read, or FILE is there already or cannot be written; 78 the configuration
cannot be used";

pub(super) const PRAXIOM_EXAMPLES: &str = "Examples:
  framegate import praxiom praxiom-policy.yaml
  framegate import praxiom praxiom-policy.yaml --name fs -o framegate.yaml

The policy goes to FILE, or to stdout. What cannot be said in it is named on stderr, with its line; a rule that denies stands
in its place. What decides otherwise than there is listed in guard/PRAXIOM.md.

Exit codes: 0 written; 74 a file cannot be read, or FILE is there already or cannot be written; 78 the policy cannot be
used";

pub(super) const CHECK_EXAMPLES: &str = "Examples:
  framegate check framegate.yaml
  framegate check framegate.yaml -- npx -y @modelcontextprotocol/server-filesystem /work

Exit codes: 0 no errors; 78 errors (with --strict: or warnings); otherwise as `framegate run`, when the server does not start";

pub(super) const EXPLAIN_EXAMPLES: &str = r#"Examples:
  echo '{"call":{"name":"read_text_file","arguments":{"path":"/etc/passwd"}}}' | framegate explain --policy framegate.yaml -
  framegate explain --policy framegate.yaml --fact role=admin session.jsonl

A session is JSON lines: {"tools":[...]}, {"message":{"role","content"}}, {"facts":{...}}, {"now":"2026-01-31T12:00:00Z"},
{"paths":{".":"/work","/work/link":"/etc"}} for a made-up disk instead of this one, {"programs":{"authorizer":0.95}} for
what the policy's programs answer (unknown otherwise, unless --run-programs runs them), and
{"call":{"name","arguments"},"output":"...","is_error":false,"made":true}. One decision is printed for each call, before
the next line is read. Blank lines and lines that begin with # are skipped. {"policy":"FILE"} may come first instead of
--policy.

Exit codes: 0 all lines were read; 65 a line cannot be read; 74 the file cannot be opened; 78 the policy cannot be used"#;

pub(super) const TEST_EXAMPLES: &str = r#"Examples:
  framegate test policies/*.jsonl

A file is a session as `framegate explain` reads it, with {"policy":"framegate.yaml"} (a path from the file's folder; or
{"policy_text":"..."}) first and `"expect":{"outcome":"deny","failed":["inside_work"]}` beside each call that is checked.
It sees no disk and no clock: {"paths":{...}} and {"now":"..."} say what is there.

Exit codes: 0 all is as expected; 1 something is not, or a file cannot be played"#;

pub(super) const SCAN_EXAMPLES: &str = "Examples:
  framegate scan README.md
  curl -s https://example.org | framegate scan --json -
  framegate scan --explain --as description tool.txt

A row is FILE:LINE:COLUMN, the rule with its language, what the passage does, how the text had to be read for it to show,
and its words. With --explain what the text was read as comes first: folded, unwrapped, decoded.

Exit codes: 0 nothing was found; 1 something was, or the text was too costly to be read to its end; 65 it is no UTF-8, or
over 64 MiB; 74 it cannot be opened";

pub(super) const CALIBRATE_EXAMPLES: &str = r#"Examples:
  framegate calibrate scored.jsonl --max-risk 0.05
  framegate calibrate labelled.jsonl --max-risk 0.1 --policy framegate.yaml

An example is a line of JSON: what the authorizer is asked ("tool", "arguments", "conversation" or "user_request", and
"task" where it is not the policy's), and "label": "safe" where the user wanted the call, or "unsafe". "score" is what the
authorizer said of it; where that is not there, the command under `authorizer` in the policy is asked. The threshold is the
lowest one at which a call that is not authorized passes with a probability of at most --max-risk.

Exit codes: 0 there is a threshold; 1 none keeps the risk; 65 an example cannot be read, or they are too few; 74 the file
cannot be opened; 78 the policy cannot be used"#;

pub(super) const VERIFY_EXAMPLES: &str = "Examples:
  framegate verify
  framegate verify --head 412:8f0e... record.db
  framegate log --json --all | framegate verify -

The head that is printed is to be kept elsewhere: with --head, a later run says whether the record's end was cut or
written anew since. A record may be verified while sessions write to it; it is never changed.

Exit codes: 0 it is whole; 1 something is broken, and the first broken row is named; 74 the file cannot be read";

pub(super) const LOG_EXAMPLES: &str = "Examples:
  framegate log
  framegate log --follow
  framegate log --outcome deny --since 24h -n 0
  framegate log --rule inside_work --since 2026-01-30 --until 2026-01-31
  framegate log --tool 'write_*' --session 12 --json record.db
  framegate log --session work
  framegate log --json --all record.db > record.jsonl

The record is never changed by reading it, and can be read while sessions write it. --json --all prints every record with
its contents, unredacted, as `framegate verify` and `framegate replay` read it.

Exit codes: 0 all was read; 65 the record is damaged or none of ours; 74 it cannot be opened";

pub(super) const SHOW_EXAMPLES: &str = "Examples:
  framegate show 4711
  framegate show 4711 record.db --arguments full
  framegate show --json 4711 record.db

The number is that of `framegate log`, or of any other record. A call that a person was asked about is shown with what
came of it, and with the decision that was made anew after a yes.

Exit codes: 0 it was shown; 65 there is no such record, or the file is damaged; 74 it cannot be opened";

pub(super) const REPLAY_EXAMPLES: &str = "Examples:
  framegate replay
  framegate replay --policy next.yaml --since 7d
  framegate replay --policy next.yaml --fact role=admin --json record.jsonl
  framegate replay --policy next.yaml --path /srv/data --path .=/work
  framegate replay --learn --session 12 > draft.yaml

Without --policy each decision is made again under the policy that made it, and what the answers made of the state; what
comes out otherwise is a fault. With --policy it says what would be newly denied, asked or allowed, by which rule, and which
calls. Everything comes from the record: a fact or a path that was not asked for then is unknown, and such calls are told
apart. --path states where such paths lead, --disk looks them up where they may have changed since; the report says what
rests on which.

Exit codes: 0 all as recorded, or another policy was tried; 1 a decision, or what an answer made of the state, is not the
recorded one; 65 the record is damaged; 74 it cannot be opened; 78 the policy cannot be used";

pub(super) const RUN_EXAMPLES: &str = "Examples:
  framegate run -- npx -y @modelcontextprotocol/server-filesystem /work
  framegate run --policy framegate.yaml -- npx -y @modelcontextprotocol/server-filesystem /work
  framegate run --record session.jsonl -- uvx mcp-server-git
  framegate run --quiet --noise stderr --env LOG=1 -- ./server --stdio
  framegate run --session work --policy framegate.yaml --name files -- npx -y @modelcontextprotocol/server-filesystem /work

A call that the policy wants a person to decide on waits for the client's user, who is asked by elicitation; so does one
that lacks required arguments, which are asked for. A client that has no elicitation
gets a refusal with that reason, unless the policy lets calls be approved at a terminal (framegate approver init).

Exit codes:
  0      the session ended cleanly
  1      `try`: a tool that was to be called answered with an error; `test`: an expectation was not met; `verify`: the record is broken; `replay`: a decision, or what an answer made of the state, is not the recorded one; `approve`, `deny`, `revoke`: nothing came of it; `scan`: something reads like an instruction; `prove`: there is a counter-example; `calibrate`: no threshold keeps the risk
  2      the command line is wrong; `prove`: z3 is missing, or its answer cannot be read
  3      `prove`: neither a proof nor a counter-example was found
  65     a line given to `framegate explain` or `calibrate`, a record, or a text given to `framegate scan` cannot be read
  70     a stream of the client or the server failed
  74     a file named on the command line cannot be opened or written
  78     the policy cannot be used, or none was given where one is required
  76     one side sent a line over the limit of 64 MiB that does not end; it is not MCP
  126    the server's command is there but cannot be run
  127    the server's command was not found
  other  the server's own exit code; 128 and a signal's number if it, or Framegate, was ended by one";

pub(super) const TRY_EXAMPLES: &str = r#"Examples:
  framegate try
  framegate try --list --call read_text_file '{"path":"README.md"}' -- npx -y @modelcontextprotocol/server-filesystem .
  framegate try --policy framegate.yaml --call read_text_file '{"path":"/etc/passwd"}' -- npx -y @modelcontextprotocol/server-filesystem .
  framegate try --era modern --list -- framegate demo-server"#;
