"""What the Python clients share: arguments in, the shape of a result out."""

import argparse
import json
import sys

# Longer texts are given by their length: a failed comparison stays readable.
TEXT_MAX = 200


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern", "auto"], default="legacy")
    parser.add_argument("--calls", type=json.loads, default=[])
    parser.add_argument("--cancel", type=json.loads)
    # What the user says when asked for a yes, in order; without it nobody can be asked.
    parser.add_argument("--answers", type=json.loads)
    # Split by hand: the server command may hold a `--` of its own, and argparse has
    # changed its mind more than once about which of several it swallows.
    split = sys.argv.index("--")
    args = parser.parse_args(sys.argv[1:split])
    args.server = sys.argv[split + 1 :]
    return args


def shape_of(result: dict) -> dict:
    """The part of a tools/call result that both a person and a comparison want."""
    content = []
    for block in result["content"]:
        kind = block["type"]
        body = block.get("text") or block.get("data") or ""
        content.append([kind, body if kind == "text" and len(body) <= TEXT_MAX else len(body)])
    return {
        "is_error": bool(result.get("isError")),
        "content": content,
        "structured": result.get("structuredContent") is not None,
    }
