"""Stands between partners' clients and a running service, for scripts/test-clients.

Passes every call on, notes it, and can lose an answer: the service then has carried the call out, and the client sees a
connection that breaks. Says `proxy: URL` when it listens.

    python3 scripts/lib/clients_proxy.py http://127.0.0.1:PORT [--close]

--close ends the connection with each answer. Browsers repeat by themselves what is lost on a connection that was used
before, with the same nonce; with this they leave it to the client.

    POST /control/cut        the next call that changes something gets no answer
    GET  /control/seen       the calls since the last time this was asked
    GET  /control/partners   what the page of the browser test calls as, from the environment
    POST /control/report     what the page has to say
    GET  /control/report     the same, once it is there
    GET  /page/...           files of the TypeScript client and of the shared vectors
"""

from __future__ import annotations

import http.client
import json
import mimetypes
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
SERVED = (ROOT / "clients/typescript", ROOT / "crates/sealing/tests/data")
PASSED_ON = ("authorization", "x-api-key", "x-nonce", "idempotency-key", "accept", "content-type", "x-request-id")
PASSED_BACK = ("content-type", "x-request-id", "retry-after", "idempotent-replayed")


class State:
    """What the calls leave behind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.cut_next = False
        self.seen: list[dict[str, object]] = []
        self.report: bytes | None = None


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    upstream: str
    state: State
    close = False

    def answer_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.startswith("/control/"):
            self.control(f"{self.command} {self.path.removeprefix('/control/')}", body)
        elif self.path.startswith("/page/"):
            self.page(self.path.removeprefix("/page/"))
        else:
            self.pass_on(body)

    do_GET = do_POST = do_PUT = do_DELETE = answer_any

    def pass_on(self, body: bytes) -> None:
        headers = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        service = http.client.HTTPConnection(self.upstream, timeout=60)
        service.request(self.command, self.path, body=body or None, headers=headers)
        answer = service.getresponse()
        content = answer.read()
        service.close()
        with self.state.lock:
            cut = self.state.cut_next and "idempotency-key" in headers
            if cut:
                self.state.cut_next = False
            call = {"method": self.command, "path": self.path.partition("?")[0], "status": answer.status, "cut": cut}
            self.state.seen.append({**call, "key": headers.get("idempotency-key"), "nonce": headers.get("x-nonce")})
        if cut:
            self.close_connection = True
            return
        back = {name: answer.headers[name] for name in PASSED_BACK if name in answer.headers}
        self.reply(answer.status, back, content)

    def control(self, what: str, body: bytes) -> None:
        state, status, content = self.state, 200, b"{}"
        with state.lock:
            if what == "POST cut":
                state.cut_next = True
            elif what == "GET seen":
                content, state.seen = json.dumps(state.seen).encode(), []
            elif what == "GET partners":
                content = json.dumps(partners()).encode()
            elif what == "POST report":
                state.report = body
            elif what == "GET report" and state.report is not None:
                content = state.report
            else:
                status = 404
        self.reply(status, {"content-type": "application/json"}, content)

    def page(self, name: str) -> None:
        path = (ROOT / name).resolve()
        if not path.is_file() or not any(path.is_relative_to(folder) for folder in SERVED):
            self.reply(404, {}, b"")
            return
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self.reply(200, {"content-type": kind}, path.read_bytes())

    def reply(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close:
            self.send_header("connection", "close")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def partners() -> dict[str, object]:
    required, optional, access_ttl = (
        json.loads(os.environ[f"KOPECK_TEST_{name}"]) for name in ("REQUIRED", "OPTIONAL", "ACCESS_TTL")
    )
    return {"required": required, "optional": optional, "accessTtl": access_ttl}


def main(upstream: str, *options: str) -> None:
    Proxy.close = "--close" in options
    Proxy.upstream = urlsplit(upstream).netloc
    Proxy.state = State()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    print(f"proxy: http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
