// What the TypeScript clients share: arguments in, one scripted session, the same JSON
// line as the Python clients print.
import { parseArgs } from "node:util";

// Longer texts are given by their length: a failed comparison stays readable.
const TEXT_MAX = 200;

export function args() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      era: { type: "string", default: "legacy" },
      calls: { type: "string", default: "[]" },
      cancel: { type: "string" },
      // What the user says when asked for a yes, in order; without it nobody can be asked.
      answers: { type: "string" },
    },
  });
  return {
    era: values.era,
    calls: JSON.parse(values.calls),
    cancel: values.cancel && JSON.parse(values.cancel),
    answers: values.answers && JSON.parse(values.answers),
    asked: [],
    command: positionals[0],
    commandArgs: positionals.slice(1),
  };
}

function shapeOf(result) {
  const content = result.content.map((block) => {
    const body = block.text ?? block.data ?? "";
    // Code points, as Python counts them.
    const chars = body.length > TEXT_MAX ? [...body].length : body.length;
    return [block.type, block.type === "text" && chars <= TEXT_MAX ? body : chars];
  });
  return { is_error: !!result.isError, content, structured: result.structuredContent != null };
}

// Says the next answer to whoever asks for an approval or for missing arguments, and accepts what a server asks.
export function user({ answers, asked }) {
  return async ({ params }) => {
    const isForm = params.message.startsWith("Input for tool");
    if (!isForm && !params.requestedSchema.properties.approve) {
      asked.push("other");
      return { action: "accept", content: { name: "Ada" } };
    }
    asked.push(params.message);
    return answers.shift();
  };
}

// `listTools` and `callTool` hide where the two SDK generations differ.
export async function run({ name, protocol, client, wanted, callTool }) {
  const got = { client: name, protocol: protocol(), server: client.getServerVersion()?.name ?? null };
  got.tools = (await client.listTools()).tools.map((tool) => tool.name).sort();
  got.calls = [];
  for (const call of wanted.calls) {
    try {
      got.calls.push({ tool: call.name, ...shapeOf(await callTool(call, {})) });
    } catch (err) {
      got.calls.push({ tool: call.name, error: err.code });
    }
  }
  if (wanted.cancel) {
    // An aborted call sends notifications/cancelled; the session goes on.
    const stop = new AbortController();
    setTimeout(() => stop.abort("enough"), 500);
    got.cancelled = await callTool(wanted.cancel, { signal: stop.signal }).then(
      () => false,
      () => true,
    );
    got.after_cancel = (await client.listTools()).tools.length;
  }
  if (protocol() < "2026") {
    await client.ping();
    got.ping = true;
  }
  if (wanted.answers) {
    got.asked = wanted.asked;
  }
  await client.close();
  console.log(JSON.stringify(got));
}
