"""One scripted MCP session with the Python SDK 2.x.

usage: client_py2.py --era legacy|modern|auto [--calls JSON] [--cancel JSON] [--answers JSON] -- SERVER ARGS...

Prints one JSON line of what the client got; the other clients here print the same
members, so a run through a wrapper can be compared with a direct one.
"""

import json
import sys

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from session_args import parse, shape_of

MODES = {"legacy": "legacy", "modern": "2026-07-28", "auto": "auto"}


async def call(client: Client, wanted: dict) -> dict:
    try:
        result = await client.call_tool(wanted["name"], wanted.get("arguments"))
    except MCPError as err:
        return {"tool": wanted["name"], "error": err.error.code}
    return {"tool": wanted["name"], **shape_of(result.model_dump(by_alias=True, mode="json"))}


def user(answers: list, asked: list):
    """Says the next answer to whoever asks for an approval or for missing arguments, and accepts what a server asks."""

    async def answer(context, params) -> ElicitResult:
        is_form = params.message.startswith("Input for tool")
        if not is_form and "approve" not in params.requested_schema["properties"]:
            asked.append("other")
            return ElicitResult(action="accept", content={"name": "Ada"})
        asked.append(params.message)
        return ElicitResult.model_validate(answers.pop(0))

    return answer


async def main() -> None:
    args = parse()
    params = StdioServerParameters(command=args.server[0], args=args.server[1:])
    got: dict = {"client": "py2"}
    asked: list = []
    more = {} if args.answers is None else {"elicitation_callback": user(args.answers, asked)}
    async with Client(params, mode=MODES[args.era], read_timeout_seconds=12, **more) as client:
        got["protocol"] = client.protocol_version
        got["server"] = client.server_info.name if client.server_info else None
        tools = await client.list_tools()
        got["tools"] = sorted(tool.name for tool in tools.tools)
        got["calls"] = [await call(client, wanted) for wanted in args.calls]
        if args.cancel:
            # Leaving the scope sends notifications/cancelled; the session goes on.
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool(args.cancel["name"], args.cancel.get("arguments"))
            got["cancelled"] = scope.cancelled_caught
            got["after_cancel"] = len((await client.list_tools()).tools)
        if client.protocol_version < "2026":  # ping left the protocol there
            await client.send_ping()
            got["ping"] = True
    if args.answers is not None:
        got["asked"] = asked
    print(json.dumps(got), file=sys.stdout, flush=True)


anyio.run(main)
