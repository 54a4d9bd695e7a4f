"""Receives the events of a webhook with Flask, and handles each once.

    pip install flask
    KOPECK_WEBHOOK_SECRET=whsec_… KOPECK_SEALING_KEY=sk_… PORT=8000 python examples/receive_events_flask.py
"""

from __future__ import annotations

import os

import kopeck
from flask import Flask, request
from werkzeug.serving import make_server

# With the key it opens sealed events, and refuses all others. Without one it takes those of a webhook with `sealed: false`.
verifier = kopeck.WebhookVerifier(
    os.environ["KOPECK_WEBHOOK_SECRET"], sealing_key=os.environ.get("KOPECK_SEALING_KEY")
)
app = Flask(__name__)
# In a real receiver a table with a unique index, written in the transaction of what an event brings about.
seen: set[str] = set()


@app.post("/kopeck")
def receive() -> tuple[str, int]:
    try:
        # The body as it came: JSON that was read and written again has another signature.
        event = verifier.verify(dict(request.headers), request.get_data())
    except kopeck.WebhookError as error:
        return str(error), 400
    if str(event.id) not in seen:
        print(f"{event.type} {event.data}", flush=True)
        # Last: an event that could not be handled has to come again.
        seen.add(str(event.id))
    return "", 204


if __name__ == "__main__":
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "8000")), app, threaded=False)
    print(f"listening on http://127.0.0.1:{server.port}/kopeck", flush=True)
    server.serve_forever()
