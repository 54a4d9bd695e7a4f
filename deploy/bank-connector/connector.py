"""A bank connector: Kopeck's protocol (docs/BANK.md) on one side, a card processor on the other.

    KOPECK_BANK_SECRET=… python serve.py --port 8090 --database connector.sqlite --processor http://127.0.0.1:9000

Three ideas carry it. An instruction is recorded under its key *before* the processor hears of it. Each call to the processor
has an `external_id` made of that key, so a call that is repeated has its effect once. And whoever comes across an instruction
without a verdict goes on with it from where it stopped.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import sqlite3
import threading
import urllib.parse
from datetime import datetime, timezone
from decimal import Decimal

from flask import Flask, g, jsonify, request

import protocol
from protocol import PAGE, Refused, number

log = logging.getLogger("connector")

SCHEMA = """
CREATE TABLE IF NOT EXISTS instructions (
    key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, body TEXT NOT NULL,
    outcome TEXT NOT NULL DEFAULT 'PENDING', reason TEXT, returned INTEGER);
CREATE TABLE IF NOT EXISTS issued (
    order_key TEXT NOT NULL, position INTEGER NOT NULL, number TEXT NOT NULL UNIQUE, type TEXT NOT NULL, first_top_up INTEGER,
    PRIMARY KEY (order_key, position));
CREATE TABLE IF NOT EXISTS blocks (card TEXT PRIMARY KEY, change INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS feed (
    seq INTEGER PRIMARY KEY, at TEXT NOT NULL, card TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS movements (
    card INTEGER NOT NULL, id INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, key TEXT, PRIMARY KEY (card, id));
CREATE INDEX IF NOT EXISTS movements_by_time ON movements (at);
"""

# What the processor's refusals mean.
REASONS = {
    "BALANCE_TOO_HIGH": "OVER_CARD_LIMIT", "CARD_FROZEN": "BLOCKED_BY_PARTNER", "CARD_BLOCKED": "BLOCKED",
    "CARD_CLOSED": "BLOCKED", "CARD_INACTIVE": "NOT_ACTIVATED", "INSUFFICIENT_FUNDS": "NOT_ENOUGH_ON_CARD",
}
TYPES = {"LOAD": "REPLENISHMENT", "UNLOAD": "REVERSAL", "PURCHASE": "PAYMENT", "REFUND": "REFUND"}
# Why purchases are declined, where the lower case of the processor's word is another one.
DECLINES = {
    "CLOSED": "card_closed", "BLOCKED": "card_blocked", "EXPIRED": "card_expired", "OVER_AMOUNT": "limit_exceeded",
    "INSUFFICIENT_BALANCE": "insufficient_funds",
}
MOST_CARDS_OF_AN_ORDER = 10_000
MOST_ON_A_CARD = 1_500_000


def roubles(kopecks: int) -> str:
    return f"{Decimal(kopecks) / 100:.2f}"


def kopecks(text: str) -> int:
    return int(Decimal(text) * 100)


class NoAnswer(Exception):
    """The processor may or may not have had an effect."""


class Processor:
    """The processor's API, on one connection a thread."""

    def __init__(self, address: str):
        self.host = urllib.parse.urlsplit(address).netloc
        self.local = threading.local()

    def call(self, method: str, path: str, body: dict | None = None) -> tuple[int, dict]:
        data = None if body is None else json.dumps(body)
        for attempt in range(2):
            connection = getattr(self.local, "connection", None)
            try:
                if connection is None:
                    connection = self.local.connection = http.client.HTTPConnection(self.host, timeout=5)
                connection.request(method, path, data, {"content-type": "application/json"})
                response = connection.getresponse()
                status, answer = response.status, json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                if connection:
                    connection.close()
                self.local.connection = None
                # Once more on a new connection: an idle one may have been closed. Every call can be repeated.
                if attempt == 1:
                    raise NoAnswer("the processor does not answer") from None
            else:
                if status >= 500:
                    raise NoAnswer("the processor failed")
                return status, answer

    def operation(self, path: str, external_id: str, **body: object) -> dict:
        status, answer = self.call("POST", path, {"external_id": external_id, **body})
        if status != 200:
            raise NoAnswer(f"the processor has status {status}")
        return answer


class Connector:
    """Carries out instructions. A method of an instruction returns outcome, reason, and what came back."""

    def __init__(self, database: str, processor: Processor):
        self.database, self.processor = database, processor
        # One instruction of a card at a time within this process; the key's row holds off other processes.
        self.cards: dict[str, threading.Lock] = {}
        self.sync = threading.Lock()
        with self.connect() as connection:
            connection.executescript(SCHEMA)

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.database, isolation_level=None, timeout=30)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def db(self) -> sqlite3.Connection:
        if "db" not in g:
            g.db = self.connect()
        return g.db

    # -- keys and verdicts

    def fingerprint(self, instruction: dict) -> str:
        return hashlib.sha256(json.dumps(instruction, sort_keys=True).encode()).hexdigest()

    def submit(self, batch: list[dict]) -> list[dict]:
        db = self.db()
        # All keys in one transaction, before the first effect.
        db.execute("BEGIN IMMEDIATE")
        for instruction in batch:
            db.execute("INSERT OR IGNORE INTO instructions (key, fingerprint, body) VALUES (?, ?, ?)",
                       (instruction["key"], self.fingerprint(instruction), json.dumps(instruction)))
        db.execute("COMMIT")
        return [self.answer(instruction) for instruction in batch]

    def answer(self, instruction: dict) -> dict:
        known = self.known(instruction["key"])
        if known["fingerprint"] != self.fingerprint(instruction):
            return {"key": instruction["key"], "outcome": "NOT_ACCEPTED"}
        if known["outcome"] == "PENDING":
            self.carry_out(instruction["key"], instruction)
        return self.result(instruction["key"])

    def known(self, key: str) -> sqlite3.Row | None:
        return self.db().execute("SELECT * FROM instructions WHERE key = ?", (key,)).fetchone()

    def result(self, key: str) -> dict:
        known = self.known(key)
        if known is None:
            return {"key": key, "outcome": "NOT_SEEN"}
        result = {"key": key, "outcome": known["outcome"]}
        if known["outcome"] == "DECLINED":
            result["reason"] = known["reason"]
        if known["returned"] is not None:
            result["returned"] = known["returned"]
        return result

    def query(self, keys: list[str]) -> list[dict]:
        for key in keys:
            known = self.known(key)
            if known is not None and known["outcome"] == "PENDING":
                self.carry_out(key, json.loads(known["body"]))
        return [self.result(key) for key in keys]

    def carry_out(self, key: str, instruction: dict) -> None:
        """Goes on with an instruction until it has a verdict, or leaves it pending if the processor does not answer."""
        lock = self.cards.setdefault(instruction.get("card", key), threading.Lock())
        with lock:
            if self.known(key)["outcome"] != "PENDING":
                return
            try:
                outcome, reason, returned = getattr(self, instruction["type"].lower())(key, instruction)
            except NoAnswer as error:
                # No personal data and no body: the type and the key are enough to find it.
                log.warning("pending key=%s type=%s reason=%s", key, instruction["type"], error)
                return
            self.settle(key, outcome, reason, returned)

    def settle(self, key: str, outcome: str, reason: str | None, returned: int | None) -> None:
        # A verdict is final: only a pending one is replaced.
        self.db().execute(
            "UPDATE instructions SET outcome = ?, reason = ?, returned = ? WHERE key = ? AND outcome = 'PENDING'",
            (outcome, reason, returned, key))

    # -- instructions

    def verdict(self, operation: dict, returns: bool = False) -> tuple[str, str | None, int | None]:
        if operation["status"] == "COMPLETED":
            return "DONE", None, kopecks(operation["amount"]) if returns else None
        return "DECLINED", REASONS.get(operation["reason"], "REFUSED"), None

    def issue_cards(self, key: str, order: dict):
        lines = order["lines"]
        if sum(line["count"] for line in lines) > MOST_CARDS_OF_AN_ORDER:
            return "DECLINED", "REFUSED", None
        if any("firstTopUp" in line and (line["type"] not in protocol.VIRTUAL or line["firstTopUp"] > MOST_ON_A_CARD)
               for line in lines):
            return "DECLINED", "REFUSED", None
        cards = []
        for line in lines:
            virtual, load = line["type"] in protocol.VIRTUAL, line.get("firstTopUp")
            for _ in range(line["count"]):
                operation = self.processor.operation(
                    "/v2/cards", f"{key}#{len(cards)}", product="VIRTUAL" if virtual else "PLASTIC",
                    initial_load=None if load is None else roubles(load))
                cards.append((key, len(cards), operation["card"], line["type"], load))
        db = self.db()
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT OR IGNORE INTO issued VALUES (?, ?, ?, ?, ?)", cards)
        db.execute("COMMIT")
        return "DONE", None, None

    def top_up(self, key: str, instruction: dict):
        if instruction["amount"] > MOST_ON_A_CARD:  # more than the processor's numbers hold
            return "DECLINED", "OVER_CARD_LIMIT", None
        return self.verdict(self.processor.operation(
            f"/v2/cards/{instruction['card']}/load", key, amount=roubles(instruction["amount"])))

    def set_limit(self, key: str, instruction: dict):
        return self.verdict(self.processor.operation(
            f"/v2/cards/{instruction['card']}/controls", key, controls=self.controls(instruction["limit"])))

    def controls(self, limit: dict) -> dict:
        controls: dict = {}
        if "amount" in limit:
            controls["spend"] = {"amount": roubles(limit["amount"]), "window": limit["period"].removeprefix("C")}
        for ours, theirs in (("days", "weekdays"), ("times", "hours"), ("merchantCategories", "merchants")):
            if limit.get(ours):
                controls[theirs] = limit[ours]
        return controls

    def set_block(self, key: str, instruction: dict):
        card, db = instruction["card"], self.db()
        latest = db.execute("SELECT change FROM blocks WHERE card = ?", (card,)).fetchone()
        if latest and latest["change"] > instruction["change"]:
            return "DONE", None, None
        verdict = self.verdict(self.processor.operation(f"/v2/cards/{card}/freeze", key, frozen=instruction["blocked"]))
        if verdict[0] == "DONE":
            db.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?)", (card, instruction["change"]))
        return verdict

    def withdraw(self, key: str, instruction: dict):
        amount = instruction.get("amount")
        if amount is not None and amount > MOST_ON_A_CARD:
            return "DECLINED", "NOT_ENOUGH_ON_CARD", None
        return self.closed(self.verdict(self.processor.operation(
            f"/v2/cards/{instruction['card']}/unload", key, amount=None if amount is None else roubles(amount)), returns=True))

    def close_card(self, key: str, instruction: dict):
        """The processor closes empty cards alone: freeze, so that no purchase comes between, unload, close."""
        path = f"/v2/cards/{instruction['card']}"
        frozen = self.verdict(self.processor.operation(f"{path}/freeze", f"{key}:freeze", frozen=True))
        if frozen[0] == "DECLINED":
            return self.closed(frozen)
        emptied = self.verdict(self.processor.operation(f"{path}/unload", f"{key}:unload", amount=None), returns=True)
        self.processor.operation(f"{path}/close", f"{key}:close")
        return "DONE", None, emptied[2] or 0

    def closed(self, verdict):
        """A closed card is BLOCKED for top-ups, limits and blocks, and CLOSED for what takes money from it."""
        return ("DECLINED", "CLOSED", None) if verdict[1] == "BLOCKED" else verdict

    # -- reads

    def card(self, number_: str) -> dict:
        status, card = self.processor.call("GET", f"/v2/cards/{number_}")
        if status == 404:
            raise Refused(404, "unknown_card", "the bank has no such card")
        return card

    def card_state(self, number_: str) -> dict:
        card = self.card(number_)
        balance = kopecks(card["balance"])
        standing = card["state"] if card["state"] in ("CLOSED", "BLOCKED") else "OPEN"
        state = {"number": number_, "balance": balance, "topUpRoom": kopecks(card["can_load"]), "account": balance,
                 "standing": standing, "validUntil": card["expires"]}
        return state | ({"activatedAt": card["activated"]} if card["activated"] else {})

    def issued(self, order: str, skip: int, limit: int) -> list[dict]:
        rows = self.db().execute(
            "SELECT * FROM issued WHERE order_key = ? ORDER BY position LIMIT ? OFFSET ?", (order, limit, skip))
        return [self.issued_card(row) for row in rows.fetchall()]

    def issued_card(self, row: sqlite3.Row) -> dict:
        card = self.card(row["number"])
        body = {"number": row["number"], "type": row["type"], "validUntil": card["expires"], "issuedAt": card["created"],
                "topUpRoom": kopecks(card["can_load"])}
        if row["first_top_up"] is not None:
            body["firstTopUp"] = row["first_top_up"]
        optional = {"activationCode": card["activation_code"], "codeValidUntil": card["code_expires"],
                    "activatedAt": card["activated"]}
        return body | {name: value for name, value in optional.items() if value}

    def transaction(self, made: dict) -> dict:
        body = {"id": made["id"], "executedAt": made["created"], "type": TYPES[made["kind"]], "amount": kopecks(made["amount"])}
        return body | {name: made[theirs] for name, theirs in (("place", "merchant"), ("mcc", "mcc")) if made[theirs]}

    def transactions(self, number_: str, after: int, limit: int) -> list[dict]:
        self.card(number_)
        _, answer = self.processor.call("GET", f"/v2/cards/{number_}/transactions?after={after}&limit={limit}")
        return [self.transaction(made) for made in answer["transactions"]]

    # -- feed and registry, from the processor's events

    def read_events(self) -> None:
        """Copies new events. A webhook only hints that there are some: it may be lost, doubled or late."""
        db = self.db()
        with self.sync:
            while True:
                last = db.execute("SELECT coalesce(max(seq), 0) FROM feed").fetchone()[0]
                _, answer = self.processor.call("GET", f"/v2/events?after={last}")
                if not answer["events"]:
                    return
                db.execute("BEGIN IMMEDIATE")
                for event in answer["events"]:
                    self.copy(db, event)
                db.execute("COMMIT")

    def copy(self, db: sqlite3.Connection, event: dict) -> None:
        made, card = event["transaction"], int(event["card"])
        if made:
            previous = db.execute("SELECT max(id) FROM movements WHERE card = ?", (card,)).fetchone()[0]
            key = self.key_of(made["external_id"]) if made["external_id"] else None
            db.execute("INSERT OR IGNORE INTO movements VALUES (?, ?, ?, ?, ?)",
                       (card, made["id"], micros(made["created"]), json.dumps(self.transaction(made)), key))
            body = {"type": "TRANSACTION", "transaction": self.transaction(made)} | ({"previousId": previous} if previous else {})
        elif event["kind"] == "declined":
            tried = event["detail"]
            purchase = {"at": event["created"], "amount": kopecks(tried["amount"]), "place": tried.get("name"),
                        "mcc": tried.get("mcc"), "reason": DECLINES.get(tried["reason"], tried["reason"].lower())}
            body = {"type": "DECLINED", "purchase": {name: value for name, value in purchase.items() if value is not None}}
        else:
            kind = event["kind"].upper()
            body = {"type": kind if kind in ("ACTIVATED", "BLOCKED", "UNBLOCKED", "EXPIRED") else "CHANGED"}
        db.execute("INSERT OR IGNORE INTO feed VALUES (?, ?, ?, ?)", (event["id"], event["created"], event["card"], json.dumps(body)))

    def key_of(self, external_id: str) -> str:
        """`KEY`, `KEY#7` of a card of an order, `KEY:unload` of a closing; a key may have # and : itself."""
        if self.known(external_id):
            return external_id
        return external_id.removesuffix(":unload") if external_id.endswith(":unload") else external_id.rpartition("#")[0]

    def feed(self, after: int, limit: int) -> list[dict]:
        self.read_events()
        rows = self.db().execute("SELECT * FROM feed WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)).fetchall()
        return [{"seq": row["seq"], "at": row["at"], "card": row["card"]} | json.loads(row["body"]) for row in rows]

    def registry(self, start: int, end: int, after: tuple[int, int], limit: int) -> list[dict]:
        self.read_events()
        rows = self.db().execute(
            "SELECT * FROM movements WHERE at >= ? AND at < ? AND (card, id) > (?, ?) ORDER BY card, id LIMIT ?",
            (start, end, *after, limit)).fetchall()
        return [{"card": str(row["card"]), "transaction": json.loads(row["body"])} | ({"key": row["key"]} if row["key"] else {})
                for row in rows]


def micros(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise protocol.invalid("a timestamp is malformed") from None
    if at.tzinfo is None:
        raise protocol.invalid("a timestamp has no offset")
    delta = at - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def create_app(connector: Connector, secret: str) -> Flask:
    app = Flask(__name__)

    @app.before_request
    def authenticate() -> None:
        shown = request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(shown, f"Bearer {secret}".encode()):
            raise Refused(401, "unauthorized", "the secret is missing or wrong")

    @app.teardown_appcontext
    def close(_: object) -> None:
        if "db" in g:
            g.pop("db").close()

    @app.errorhandler(Refused)
    def refused(error: Refused):
        return jsonify(code=error.code, message=str(error)), error.status

    @app.errorhandler(NoAnswer)
    def no_answer(error: NoAnswer):
        return jsonify(code="unavailable", message=str(error)), 503

    @app.errorhandler(404)
    def not_found(_: object):
        return jsonify(code="not_found", message="there is no such path"), 404

    def body() -> object:
        try:
            return json.loads(request.get_data())
        except ValueError:
            raise Refused(400, "malformed", "the body is not JSON") from None

    def limit() -> int:
        return number(request.args, "limit", PAGE, 1, PAGE)

    @app.get("/bank/v1/capabilities")
    def capabilities():
        return jsonify(without=[], largestBatch=protocol.LARGEST_BATCH)

    @app.post("/bank/v1/instructions")
    def submit():
        return jsonify(results=connector.submit(protocol.read_batch(body())))

    @app.post("/bank/v1/instructions/query")
    def query():
        return jsonify(results=connector.query(protocol.read_keys(body())))

    @app.get("/bank/v1/issued-cards")
    def issued():
        order = protocol.text(request.args.get("order"), protocol.KEY, "order")
        return jsonify(cards=connector.issued(order, number(request.args, "skip", 0, 0, 2**32), limit()))

    @app.get("/bank/v1/cards/<card>")
    def card(card: str):
        return jsonify(card=connector.card_state(protocol.text(card, protocol.CARD, "card")))

    @app.get("/bank/v1/cards/<card>/transactions")
    def transactions(card: str):
        after = number(request.args, "after", 0, -(2**63), 2**63 - 1)
        return jsonify(transactions=connector.transactions(protocol.text(card, protocol.CARD, "card"), after, limit()))

    @app.get("/bank/v1/feed")
    def feed():
        return jsonify(entries=connector.feed(number(request.args, "after", 0, -(2**63), 2**63 - 1), limit()))

    @app.get("/bank/v1/registry")
    def registry():
        start, end = micros(request.args.get("from", "")), micros(request.args.get("until", ""))
        after = (number(request.args, "afterCard", 0, 0, 10**13), number(request.args, "afterId", 0, 0, 2**63 - 1))
        return jsonify(entries=connector.registry(start, end, after, limit()))

    return app
