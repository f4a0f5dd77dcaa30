// A server on the TypeScript SDK 1.x that writes down what it was asked to execute: see witness_py2.py.
//
// usage: node witness_ts1.mjs NODE_MODULES_DIR FILE
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { CallToolRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const server = new Server({ name: "witness-ts1", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  appendFileSync(process.argv[3], `${JSON.stringify({ name: params.name, arguments: params.arguments })}\n`);
  return { content: [] };
});
await server.connect(new StdioServerTransport());
