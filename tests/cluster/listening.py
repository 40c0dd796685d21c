"""A chat endpoint on loopback that records what it is asked and answers from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One answer; ``status`` 0 hangs up without one, ``hold`` says nothing until the test ends,
    ``drip`` says ``body`` again and again until then."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: bool = False
    drip: bool = False


def said(text: Any) -> Reply:
    """A chat completion with ``text``."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return Reply(json.dumps({"choices": [choice]}).encode())


@dataclass
class Heard:
    """``url`` to ask at; ``paths``, ``headers`` and ``bodies`` of the requests that came."""

    url: str
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def endpoint(*replies: Reply) -> Iterator[Heard]:
    """Answers the first request with the first of ``replies``, …; the last one goes on."""
    left, over = list(replies), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            heard.paths.append(self.path)
            heard.headers.append(dict(self.headers))
            heard.bodies.append(json.loads(raw))
            reply = left.pop(0) if len(left) > 1 else left[0]
            if reply.hold:
                over.wait(30)
            if reply.status == 0 or reply.hold:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)
            while reply.drip and not over.wait(0.02):
                self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that stops reading is no fault of the server."""

    server = Server(("127.0.0.1", 0), Handler)
    heard = Heard(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
