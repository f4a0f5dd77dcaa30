"""An MCP server on the Python SDK 2.x that asks its user twice within one call (2026-07-28).

The SDK seals `requestState`: a state that is not, byte for byte, the one it gave is refused.
"""

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("asks-py2", version="1.0.0")


def ask(state: str) -> InputRequiredResult:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = ElicitRequestFormParams(message=f"Name {state}?", requested_schema=schema)
    return InputRequiredResult(input_requests={state: ElicitRequest(params=params)}, request_state=state)


@server.tool()
async def rename(to: str, ctx: Context) -> str | InputRequiredResult:
    """Asks for two names, one after the other."""
    if ctx.request_state is None:
        return ask("first")
    if ctx.request_state == "first":
        return ask("second")
    return f"renamed to {to}: {sorted(ctx.input_responses)}"


server.run("stdio")
