"""A small MCP server on FastMCP, the framework on top of the Python SDK.

The other servers in this folder offer the same five tools, so that every client can
run one script against any of them.
"""

import asyncio

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("peer-fastmcp", version="1.0.0")


@server.tool()
def echo(text: str) -> str:
    """Answers with its own argument."""
    return text


@server.tool()
def add(a: int, b: int) -> int:
    """The sum of two integers, as structured content too."""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails, as a tool does: isError in a result."""
    raise ToolError("this tool always fails")


@server.tool(output_schema=None)
def big(chars: int) -> str:
    """A long text, so that one frame spans many reads."""
    return "0123456789abcdef" * (chars // 16)


@server.tool()
async def slow(seconds: float) -> str:
    """Sleeps, so that there is something to cancel."""
    await asyncio.sleep(seconds)
    return "slept"


server.run("stdio", show_banner=False)
