"""The tools of the conformance server that ask the client something during a call.

Legacy era: a request from the server to the client while the call is pending. Modern
era: the call is answered with what is wanted, and the client repeats it with answers.
"""

import json

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

Asked = CallToolResult | InputRequiredResult


def said(body: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=body)])


def schema(**properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties)}


# === legacy: requests to the client ===


async def test_sampling(prompt: str, ctx: Context) -> CallToolResult:
    """Asks the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([message], max_tokens=100)
    return said(f"LLM response: {getattr(answer.content, 'text', answer.content)}")


async def ask(ctx: Context, lead: str, message: str, wanted: dict) -> CallToolResult:
    answer: ElicitResult = await ctx.session.elicit_form(message, wanted)
    return said(f"{lead}: action={answer.action}, content={json.dumps(answer.content)}")


async def test_elicitation(message: str, ctx: Context) -> CallToolResult:
    """Asks the user for two texts."""
    wanted = schema(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return await ask(ctx, "User response", message, wanted)


async def test_elicitation_sep1034_defaults(ctx: Context) -> CallToolResult:
    """Asks with a default for each primitive type."""
    wanted = schema(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await ask(ctx, "Elicitation completed", "Please review the form", wanted)


async def test_elicitation_sep1330_enums(ctx: Context) -> CallToolResult:
    """Asks with each way to write an enumeration."""
    plain = ["option1", "option2", "option3"]

    def titled(word: str) -> list[dict]:
        names = ("First", "Second", "Third")
        return [
            {"const": f"value{n}", "title": f"{name} {word}"} for n, name in enumerate(names, 1)
        ]

    wanted = schema(
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled("Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled("Choice")}},
    )
    return await ask(ctx, "Elicitation completed", "Please choose", wanted)


# === modern: input_required ===


def elicit(message: str, **properties: dict) -> ElicitRequest:
    wanted = schema(**properties)
    params = ElicitRequestFormParams(message=message, requested_schema=wanted)
    return ElicitRequest(params=params)


def sample(prompt: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    params = CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    return CreateMessageRequest(params=params)


def want(state: str | None = None, **requests) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def answer(ctx: Context, key: str):
    return (ctx.input_responses or {}).get(key)


NAME = {"type": "string"}


async def test_input_required_result_elicitation(ctx: Context) -> Asked:
    """Asks for a name, again and again until there is one."""
    got = answer(ctx, "user_name")
    if isinstance(got, ElicitResult) and got.action == "accept" and (got.content or {}).get("name"):
        return said(f"Hello, {got.content['name']}!")
    return want(user_name=elicit("What is your name?", name=NAME))


async def test_streaming_elicitation(ctx: Context) -> Asked:
    """Asks within the answer, never by a request of its own."""
    if answer(ctx, "user_name"):
        return said("thank you")
    return want(user_name=elicit("What is your name?", name=NAME))


async def test_input_required_result_sampling(ctx: Context) -> Asked:
    """Asks the client's model."""
    if got := answer(ctx, "capital_question"):
        return said(f"The model said: {getattr(got.content, 'text', got.content)}")
    return want(capital_question=sample("What is the capital of France?", 100))


async def test_input_required_result_list_roots(ctx: Context) -> Asked:
    """Asks for the client's roots."""
    if got := answer(ctx, "client_roots"):
        return said("Roots: " + ", ".join(str(root.uri) for root in got.roots))
    return want(client_roots=ListRootsRequest())


async def test_input_required_result_request_state(ctx: Context) -> Asked:
    """Gives a state that must come back."""
    if answer(ctx, "confirm") and ctx.request_state == "confirming":
        return said("state-ok")
    return want("confirming", confirm=elicit("Please confirm", ok={"type": "boolean"}))


async def test_input_required_result_tampered_state(ctx: Context) -> Asked:
    """Gives a state; the SDK seals it and refuses one that was altered."""
    return await test_input_required_result_request_state(ctx)


async def test_input_required_result_multiple_inputs(ctx: Context) -> Asked:
    """Asks three things at once."""
    if all(answer(ctx, key) for key in ("user_name", "greeting", "client_roots")):
        return said("all three answered")
    return want(
        "three",
        user_name=elicit("What is your name?", name=NAME),
        greeting=sample("Generate a greeting", 50),
        client_roots=ListRootsRequest(),
    )


async def test_input_required_result_multi_round(ctx: Context) -> Asked:
    """Asks twice, one after the other."""
    if ctx.request_state == "round 2" and answer(ctx, "step2"):
        return said("both rounds done")
    if ctx.request_state == "round 1" and answer(ctx, "step1"):
        question = "Step 2: What is your favorite color?"
        return want("round 2", step2=elicit(question, color={"type": "string"}))
    return want("round 1", step1=elicit("Step 1: What is your name?", name=NAME))


async def test_input_required_result_capabilities(ctx: Context) -> Asked:
    """Asks only what this client says it can answer."""
    able = ctx.client_capabilities
    requests = {}
    if able and able.sampling is not None:
        requests["greeting"] = sample("Generate a greeting", 50)
    if able and able.elicitation is not None:
        requests["user_name"] = elicit("What is your name?", name=NAME)
    return want(**requests) if requests else said("this client can answer nothing")


async def test_missing_capability(ctx: Context) -> CallToolResult:
    """Cannot work without sampling, and says so."""
    able = ctx.client_capabilities
    if able is None or able.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is required", data)
    return said("sampling is there")


async def test_input_required_result_prompt(ctx: Context):
    """A prompt that asks before it answers."""
    got = answer(ctx, "user_context")
    if isinstance(got, ElicitResult) and got.content:
        return f"Use this context: {got.content.get('context')}"
    question = "What context should the prompt use?"
    return want(user_context=elicit(question, context={"type": "string"}))


TOOLS = (
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_input_required_result_elicitation,
    test_streaming_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_missing_capability,
)


def register(server: MCPServer) -> None:
    for tool in TOOLS:
        server.add_tool(tool)
    server.prompt()(test_input_required_result_prompt)
