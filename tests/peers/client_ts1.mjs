// One scripted MCP session with the TypeScript SDK 1.x.
//
// usage: NODE_MODULES=DIR node client_ts1.mjs [--calls JSON] [--cancel JSON] [--answers JSON] -- SERVER ARGS...
import { createRequire } from "node:module";
import { args, run, user } from "./session.mjs";

// The SDK is in the cache, not above this file, so it cannot be imported by name.
const require = createRequire(`${process.env.NODE_MODULES}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const wanted = args();
const capabilities = wanted.answers ? { elicitation: {} } : {};
const client = new Client({ name: "peer-ts1", version: "1.0.0" }, { capabilities });
if (wanted.answers) {
  client.setRequestHandler(ElicitRequestSchema, user(wanted));
}
const transport = new StdioClientTransport({ command: wanted.command, args: wanted.commandArgs });
let version;
transport.setProtocolVersion = (negotiated) => (version = negotiated);
await client.connect(transport);
await run({
  name: "ts1",
  protocol: () => version,
  client,
  wanted,
  callTool: (call, options) => client.callTool(call, undefined, options),
});
