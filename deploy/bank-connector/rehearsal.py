"""Lets the sandbox of `kopeck serve --sandbox true` rule the processor's tests: purchases, refunds, blocks, and the clock.

`serve.py --rehearsal` adds it, for `scripts/demo --connector`. It is no part of the bank protocol, and a bank must not have it.
"""

from __future__ import annotations

import json

from flask import Flask, jsonify, request

from connector import Connector, roubles
from protocol import Refused

ERRORS = {
    "NO_SUCH_CARD": Refused(404, "unknown_card", "the bank has no such card"),
    "NO_SUCH_PAYMENT": Refused(404, "unknown_payment", "the card has no such payment"),
    "WRONG_CODE": Refused(422, "wrong_code", "the activation code is wrong"),
}


def add(app: Flask, connector: Connector) -> None:
    def call(path: str, body: dict) -> dict:
        _, answer = connector.processor.call("POST", f"/v2/test/{path}", body)
        if "error" in answer:
            raise ERRORS[answer["error"]]
        return answer

    def wanted() -> dict:
        body = json.loads(request.get_data() or b"{}")
        once = body.get("once")
        return body | {"key": once["key"] if once else None}

    @app.post("/simulator/v1/cards/<card>/purchase")
    def purchase(card: str):
        body = wanted()
        merchant = {"name": body.get("place"), "mcc": body.get("mcc")}
        answer = call(f"cards/{card}/purchase", {"amount": roubles(body["amount"]), "merchant": merchant, "key": body["key"]})
        if "refused" in answer:
            return jsonify(outcome="REFUSED", reason=answer["refused"])
        return jsonify(outcome="APPROVED", transaction=answer["id"])

    @app.post("/simulator/v1/cards/<card>/refund")
    def refund(card: str):
        body = wanted()
        answer = call(f"cards/{card}/refund", {"amount": roubles(body["amount"]), "payment": body["payment"], "key": body["key"]})
        return jsonify(transaction=answer["id"])

    @app.post("/simulator/v1/cards/<card>/<command>")
    def state(card: str, command: str):
        event = {"activate": "activated", "block": "blocked", "unblock": "unblocked", "expire": "expired"}.get(command)
        if event is None:
            raise Refused(404, "not_found", "there is no such path")
        return jsonify(call(f"cards/{card}/state", {"event": event, "code": wanted().get("code")}))

    @app.get("/simulator/v1/clock")
    def clock():
        _, answer = connector.processor.call("GET", "/v2/test/clock")
        return jsonify(offsetMicros=answer["offset_micros"])

    @app.post("/simulator/v1/clock/advance")
    def advance():
        body = wanted()
        return jsonify(offsetMicros=call("clock", {"seconds": body["seconds"], "key": body["key"]})["offset_micros"])
