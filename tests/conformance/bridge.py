"""Streamable HTTP in front of a stdio MCP server, for the conformance suite.

usage: bridge.py -- SERVER ARGS...        (prints its URL as the first line)

The suite speaks only HTTP. What the protocol says about sessions becomes processes:

* `initialize` starts a child of its own; `Mcp-Session-Id` leads back to it.
* Requests without a session are modern (2026-07-28) and share one child. It is primed
  with one valid `server/discover`: a Python server takes its era from the first request
  that it sees, and the suite likes to begin with a malformed one.
* Ids are replaced by unique ones, since independent requests may use the same.
* A request is answered as plain JSON, or as an event stream if anything else (progress,
  a log message, a question to the client) comes before its response.
* A connection that is closed before the response becomes `notifications/cancelled`.
"""

import json
import queue
import socket
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from child import Child, Pending

VERSION = "io.modelcontextprotocol/protocolVersion"
# What the transport must answer for a JSON-RPC error of the modern era.
STATUS_OF = {-32601: 404, -32600: 400, -32602: 400, -32020: 400, -32021: 400, -32022: 400}
POLL_SECONDS = 0.05


class Bridge(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, command: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.command = command
        self.sessions: dict[str, Child] = {}
        self.shared_lock = threading.Lock()
        self.shared_child: Child | None = None

    def handle_error(self, *_args) -> None:
        """A client that closes its connection is part of the suite, not an error."""

    def shared(self) -> Child:
        with self.shared_lock:
            if self.shared_child is None:
                self.shared_child = Child(self.command)
                meta = {VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
                prime = {
                    "jsonrpc": "2.0",
                    "id": 0,
                    "method": "server/discover",
                    "params": {"_meta": meta},
                }
                self.shared_child.request(prime).messages.get(timeout=20)
            return self.shared_child

    def close_children(self) -> None:
        for child in [*self.sessions.values(), self.shared_child]:
            if child is not None:
                child.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Bridge

    def log_message(self, *_args) -> None:
        pass

    # --- the three verbs ---

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.refuse_foreign():
            return
        try:
            message = json.loads(body)
        except ValueError:
            return self.error(400, -32700, "Parse error")
        if not isinstance(message, dict):
            return self.error(400, -32600, "Invalid request")
        session = self.headers.get("Mcp-Session-Id")
        if session is not None and session not in self.server.sessions:
            return self.error(404, -32600, "Session not found", message.get("id"))
        is_request = "method" in message and message.get("id") is not None
        opening = message.get("method") == "initialize" and not modern(message)
        if opening and session is None:
            session = uuid.uuid4().hex
            self.server.sessions[session] = Child(self.server.command)
            self.exchange(self.server.sessions[session], message, session)
        elif not is_request:
            if session is not None:
                self.server.sessions[session].notify(message)
            self.reply(202)
        elif session is not None:
            self.exchange(self.server.sessions[session], message, session)
        elif modern(message) and self.headers.get("MCP-Protocol-Version") != version_of(message):
            self.error(400, -32020, "Header mismatch", message["id"])
        else:
            self.exchange(self.server.shared(), message, None)

    def do_GET(self) -> None:
        child = self.server.sessions.get(self.headers.get("Mcp-Session-Id", ""))
        if self.refuse_foreign():
            return
        if child is None:
            return self.reply(405)
        self.start_stream(None)
        while not self.gone() and not child.ended:
            try:
                self.event(child.unsolicited.get(timeout=POLL_SECONDS))
            except queue.Empty:
                continue
            except OSError:
                return

    def do_DELETE(self) -> None:
        child = self.server.sessions.pop(self.headers.get("Mcp-Session-Id", ""), None)
        if child is None:
            return self.reply(404)
        child.close()
        self.reply(200)

    # --- one request ---

    def exchange(self, child: Child, message: dict, session: str | None) -> None:
        pending = child.request(message)
        try:
            self.answer(child, pending, session)
        except OSError:
            child.cancel(pending)

    def answer(self, child: Child, pending: Pending, session: str | None) -> None:
        streaming = False
        while True:
            if self.gone():
                return child.cancel(pending)
            try:
                message = pending.messages.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if child.ended:
                    return self.close_abruptly()
                continue
            is_response = "method" not in message
            if is_response and not streaming:
                code = message.get("error", {}).get("code")
                # The legacy era answers every JSON-RPC error with 200.
                status = 200 if session is not None else STATUS_OF.get(code, 200)
                return self.reply(status, message, session)
            if not streaming:
                self.start_stream(session)
                streaming = True
            self.event(message)
            if is_response:
                return None

    # --- HTTP ---

    def refuse_foreign(self) -> bool:
        """DNS rebinding: a page elsewhere must not reach a server on this machine."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        origin = self.headers.get("Origin")
        local = ("127.0.0.1", "localhost")
        origin_ok = origin is None or origin.split("//")[-1].rsplit(":", 1)[0] in local
        if host in local and origin_ok:
            return False
        self.reply(403)
        return True

    def gone(self) -> bool:
        """Whether the client closed the connection."""
        try:
            return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def reply(self, status: int, message: dict | None = None, session: str | None = None) -> None:
        body = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        if session is not None:
            self.send_header("Mcp-Session-Id", session)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status: int, code: int, text: str, request_id=None) -> None:
        error = {"jsonrpc": "2.0", "error": {"code": code, "message": text}}
        if request_id is not None:
            error["id"] = request_id
        self.reply(status, error)

    def start_stream(self, session: str | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        if session is not None:
            self.send_header("Mcp-Session-Id", session)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message: dict) -> None:
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def close_abruptly(self) -> None:
        self.close_connection = True


def version_of(message: dict) -> object:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(VERSION) if isinstance(meta, dict) else None


def modern(message: dict) -> bool:
    return version_of(message) is not None


def main() -> None:
    bridge = Bridge(sys.argv[sys.argv.index("--") + 1 :])
    print(f"http://127.0.0.1:{bridge.server_address[1]}/mcp", flush=True)
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    sys.stdin.read()  # Whoever started us ends us by closing our stdin.
    bridge.shutdown()
    bridge.close_children()


main()
