// One scripted MCP session with the TypeScript SDK 2.x.
//
// usage: NODE_MODULES=DIR node client_ts2.mjs --era legacy|modern|auto
//            [--calls JSON] [--cancel JSON] [--answers JSON] -- SERVER ARGS...
//
// In modern and auto this SDK starts the command TWICE: a sibling that only answers
// server/discover and is killed, then the one the session runs on.
import { createRequire } from "node:module";
import { args, run, user } from "./session.mjs";

const require = createRequire(`${process.env.NODE_MODULES}/`);
const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const wanted = args();
const mode = wanted.era === "modern" ? { pin: "2026-07-28" } : wanted.era;
const capabilities = wanted.answers ? { elicitation: { form: {} } } : {};
const client = new Client(
  { name: "peer-ts2", version: "1.0.0" },
  { capabilities, versionNegotiation: { mode, probe: { timeoutMs: 10_000 } } },
);
if (wanted.answers) {
  client.setRequestHandler("elicitation/create", user(wanted));
}
await client.connect(new StdioClientTransport({ command: wanted.command, args: wanted.commandArgs }));
await run({
  name: "ts2",
  protocol: () => client.getNegotiatedProtocolVersion(),
  client,
  wanted,
  callTool: (call, options) => client.callTool(call, options),
});
