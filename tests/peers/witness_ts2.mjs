// A server on the TypeScript SDK 2.x that writes down what it was asked to execute: see witness_py2.py.
//
// usage: node witness_ts2.mjs NODE_MODULES_DIR FILE
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const { Server } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");

serveStdio(() => {
  const server = new Server({ name: "witness-ts2", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/call", async ({ params }) => {
    appendFileSync(process.argv[3], `${JSON.stringify({ name: params.name, arguments: params.arguments })}\n`);
    return { content: [] };
  });
  return server;
});
