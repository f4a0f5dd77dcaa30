// A small MCP server on the TypeScript SDK 2.x; it answers both protocol eras and offers
// the same five tools as the other servers in this folder.
//
// usage: node server_ts2.mjs NODE_MODULES_DIR   (clients do not hand an environment on)
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(`${process.argv[2]}/`);
const { McpServer } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { z } = require("zod");

const text = (body) => ({ content: [{ type: "text", text: body }] });

serveStdio(() => {
  const server = new McpServer({ name: "peer-ts2", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Answers with its own argument.", inputSchema: z.object({ text: z.string() }) },
    (input) => text(input.text),
  );
  server.registerTool(
    "add",
    {
      description: "The sum of two numbers, as structured content too.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ result: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { result: a + b } }),
  );
  server.registerTool("fail", { description: "Always fails, as a tool does: isError in a result." }, () => {
    throw new Error("this tool always fails");
  });
  server.registerTool(
    "big",
    { description: "A long text, so that one frame spans many reads.", inputSchema: z.object({ chars: z.number() }) },
    ({ chars }) => text("0123456789abcdef".repeat(chars / 16)),
  );
  server.registerTool(
    "slow",
    { description: "Sleeps, so that there is something to cancel.", inputSchema: z.object({ seconds: z.number() }) },
    async ({ seconds }, ctx) => {
      await sleep(seconds * 1000, undefined, { signal: ctx.mcpReq?.signal });
      return text("slept");
    },
  );
  return server;
});
