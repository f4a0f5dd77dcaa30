"""One scripted MCP session with the Python SDK 1.x.

usage: client_py1.py [--calls JSON] -- SERVER ARGS...

Prints the same JSON line as the other clients. It has no cancel step: this SDK tells
the server nothing when a caller gives up.
"""

import json
from datetime import timedelta

import anyio
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client

from session_args import parse, shape_of


async def call(session: ClientSession, wanted: dict) -> dict:
    try:
        result = await session.call_tool(wanted["name"], wanted.get("arguments"))
    except McpError as err:
        return {"tool": wanted["name"], "error": err.error.code}
    return {"tool": wanted["name"], **shape_of(result.model_dump(by_alias=True, mode="json"))}


async def main() -> None:
    args = parse()
    params = StdioServerParameters(command=args.server[0], args=args.server[1:])
    got: dict = {"client": "py1"}
    async with (
        stdio_client(params) as (read, write),
        ClientSession(read, write, read_timeout_seconds=timedelta(seconds=12)) as session,
    ):
        opened = await session.initialize()
        got["protocol"] = opened.protocolVersion
        got["server"] = opened.serverInfo.name
        got["tools"] = sorted(tool.name for tool in (await session.list_tools()).tools)
        got["calls"] = [await call(session, wanted) for wanted in args.calls]
        await session.send_ping()
        got["ping"] = True
    print(json.dumps(got), flush=True)


anyio.run(main)
