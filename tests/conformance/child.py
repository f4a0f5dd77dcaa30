"""One stdio server process and the requests that are under way in it."""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from dataclasses import dataclass, field

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
# Never reused, also between processes: a log of a failed run stays readable.
_ids = itertools.count(1000)


@dataclass
class Pending:
    """A request that has no response yet, and what belongs to its HTTP answer."""

    original_id: object
    wire_id: int
    progress_token: object
    messages: queue.Queue = field(default_factory=queue.Queue)


class Child:
    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.pending: dict[int, Pending] = {}
        self.unsolicited: queue.Queue = queue.Queue()
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    # --- to the server ---

    def request(self, message: dict) -> Pending:
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        pending = Pending(message["id"], next(_ids), token)
        with self.lock:
            self.pending[pending.wire_id] = pending
        self._write({**message, "id": pending.wire_id})
        return pending

    def notify(self, message: dict) -> None:
        """A notification, or the client's response to a request of the server."""
        if message.get("method") == "notifications/cancelled":
            params = message.get("params", {})
            with self.lock:
                mine = [
                    p for p in self.pending.values() if p.original_id == params.get("requestId")
                ]
            if mine:
                message = {**message, "params": {**params, "requestId": mine[-1].wire_id}}
        self._write(message)

    def cancel(self, pending: Pending) -> None:
        with self.lock:
            known = self.pending.pop(pending.wire_id, None)
        if known is not None:
            params = {"requestId": pending.wire_id}
            self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(3)

    def _write(self, message: dict) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.lock, contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(line)
            self.process.stdin.flush()

    # --- from the server ---

    def _read(self) -> None:
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a banner
            if isinstance(message, dict):
                self._dispatch(message)
        self.ended = True

    def _dispatch(self, message: dict) -> None:
        with self.lock:
            if "method" not in message:
                pending = self.pending.pop(message.get("id"), None)
                if pending is not None:
                    message["id"] = pending.original_id
            else:
                pending = self._stream_of(message)
        if pending is not None:
            pending.messages.put(message)
        elif "method" in message:
            self.unsolicited.put(message)

    def _stream_of(self, message: dict) -> Pending | None:
        """stdio does not say which request a message belongs to: go by what it names."""
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        if SUBSCRIPTION in meta:
            pending = self.pending.get(meta[SUBSCRIPTION])
            if pending is not None:
                meta[SUBSCRIPTION] = pending.original_id
            return pending
        live = list(self.pending.values())
        if message["method"] == "notifications/progress":
            token = params.get("progressToken")
            live = [pending for pending in live if pending.progress_token == token]
        elif message["method"].endswith("/list_changed"):
            return None
        # Anything else was most likely caused by the newest request.
        return live[-1] if live else None
