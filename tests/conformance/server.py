"""A stdio MCP server with what the public conformance suite asks a server for.

On the Python SDK 2.x, both protocol eras. The names, texts and schemas are the suite's
own requirements, so they are not ours to improve. `asking.py` has the tools that need
the client's help in the middle of a call.
"""

import base64
import json

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    CallToolResult,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)

import asking

# One red pixel, and a WAV file without samples.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

server = MCPServer("conformance-peer", version="1.0.0")


def content(*blocks) -> CallToolResult:
    return CallToolResult(content=list(blocks))


def text(body: str) -> TextContent:
    return TextContent(type="text", text=body)


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def resource(uri: str, mime_type: str, body: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=body)
    return EmbeddedResource(type="resource", resource=contents)


# === tools ===


@server.tool()
def test_simple_text() -> CallToolResult:
    """Answers with a text."""
    return content(text("This is a simple text response for testing."))


@server.tool()
def test_image_content() -> CallToolResult:
    """Answers with an image."""
    return content(image())


@server.tool()
def test_audio_content() -> CallToolResult:
    """Answers with a sound."""
    return content(AudioContent(type="audio", data=WAV, mime_type="audio/wav"))


@server.tool()
def test_embedded_resource() -> CallToolResult:
    """Answers with a resource inside the result."""
    body = "This is an embedded resource content."
    return content(resource("test://embedded-resource", "text/plain", body))


@server.tool()
def test_multiple_content_types() -> CallToolResult:
    """Answers with three kinds of content."""
    body = json.dumps({"test": "data", "value": 123})
    return content(
        text("Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", body),
    )


@server.tool()
async def test_tool_with_logging(ctx: Context) -> CallToolResult:
    """Logs three messages while it runs."""
    await ctx.info("Tool execution started")
    await anyio.sleep(0.05)
    await ctx.info("Tool processing data")
    await anyio.sleep(0.05)
    await ctx.info("Tool execution completed")
    return content(text("logged three messages"))


@server.tool()
async def test_logging_tool(ctx: Context) -> CallToolResult:
    """Logs; a modern client that did not ask for it must see nothing."""
    await ctx.info("a message that must be asked for")
    return content(text("logged"))


@server.tool()
def test_error_handling() -> CallToolResult:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> CallToolResult:
    """Reports progress, if the request has a token for it."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
        await anyio.sleep(0.05)
    return content(text("done"))


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> CallToolResult:
    """Tells those who listen that the list of tools changed."""
    await ctx.notify_tools_changed()
    return content(text("notified"))


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> CallToolResult:
    """Tells those who listen that the list of prompts changed."""
    await ctx.notify_prompts_changed()
    return content(text("notified"))


@server.tool()
def json_schema_2020_12_tool() -> CallToolResult:
    """Its schema uses the newer keywords, none of which may get lost."""
    return content(text("ok"))


# The SDK makes schemas from signatures; none has these keywords.
server._tool_manager.get_tool("json_schema_2020_12_tool").parameters = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


# === resources ===


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text that a client may subscribe to."""
    return "watched"


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002  (the template's own word)
    """Data that depends on the address."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


# === prompts ===


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    """A prompt that holds a resource."""
    body = "Embedded resource content for testing."
    return [
        UserMessage(resource(resourceUri, "text/plain", body)),
        UserMessage("Please process the embedded resource above."),
    ]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """A prompt that holds an image."""
    return [UserMessage(image()), UserMessage("Please analyze the image above.")]


@server.completion()
async def complete(_ref, argument, _context) -> Completion:
    words = [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
    return Completion(values=words, total=len(words), has_more=False)


# === what the high-level server has no decorator for ===


async def acknowledge(_ctx, _params) -> EmptyResult:
    return EmptyResult()


for method, params in (
    ("resources/subscribe", SubscribeRequestParams),
    ("resources/unsubscribe", UnsubscribeRequestParams),
    ("logging/setLevel", SetLevelRequestParams),
):
    server._lowlevel_server.add_request_handler(method, params, acknowledge)

asking.register(server)

if __name__ == "__main__":
    server.run("stdio")
