"""A server on the Python SDK 2.x that has no tools but takes every call: it writes down what it was asked
to execute, as one JSON line each, in the file it is given.

The other witnesses in this folder do the same, one for each SDK.
"""

import json
import sys

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

log = open(sys.argv[1], "a", encoding="utf-8")


async def call(_context, params):
    log.write(json.dumps({"name": params.name, "arguments": params.arguments}) + "\n")
    log.flush()
    return types.CallToolResult(content=[])


async def tools(_context, _params):
    return types.ListToolsResult(tools=[])


async def main():
    server = Server("witness-py2", version="1.0.0", on_call_tool=call, on_list_tools=tools)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


anyio.run(main)
