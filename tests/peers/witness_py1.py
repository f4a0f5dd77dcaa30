"""A server on the Python SDK 1.x that writes down what it was asked to execute: see witness_py2.py."""

import json
import sys

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

log = open(sys.argv[1], "a", encoding="utf-8")
server = Server("witness-py1", version="1.0.0")


async def call(request):
    params = request.params
    log.write(json.dumps({"name": params.name, "arguments": params.arguments}) + "\n")
    log.flush()
    return types.ServerResult(types.CallToolResult(content=[]))


# Not the decorator: it turns missing arguments into an empty object and validates.
server.request_handlers[types.CallToolRequest] = call


async def main():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


anyio.run(main)
