"""A fictitious card processor, with an API as processors have them: roubles as decimal texts, one call for each card, an
`external_id` that makes a call idempotent, operations that can be looked up by it, a list of events, and webhooks.

    python processor.py --port 9000 --database processor.sqlite [--webhook http://127.0.0.1:8090/hooks/processor]

It is there so that the connector has something to speak to. Nothing of it is part of Kopeck's protocol.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import string
import threading
import urllib.request
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from flask import Flask, g, jsonify, request
from waitress.server import create_server

MOST_ON_A_CARD = 1_500_000  # minor units

SCHEMA = """
CREATE TABLE IF NOT EXISTS cards (
    number TEXT PRIMARY KEY, product TEXT NOT NULL, state TEXT NOT NULL, frozen INTEGER NOT NULL DEFAULT 0,
    balance INTEGER NOT NULL DEFAULT 0, controls TEXT NOT NULL DEFAULT '{}', expires TEXT NOT NULL, created TEXT NOT NULL,
    activated TEXT, activation_code TEXT, code_expires TEXT);
CREATE TABLE IF NOT EXISTS operations (
    external_id TEXT PRIMARY KEY, kind TEXT NOT NULL, card TEXT, amount INTEGER, status TEXT NOT NULL, reason TEXT);
CREATE TABLE IF NOT EXISTS transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, card TEXT NOT NULL, kind TEXT NOT NULL, amount INTEGER NOT NULL,
    created TEXT NOT NULL, external_id TEXT, merchant TEXT, mcc TEXT);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, card TEXT NOT NULL, transaction_id INTEGER, detail TEXT,
    created TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS clock (one INTEGER PRIMARY KEY CHECK (one = 1), offset_micros INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS test_calls (key TEXT PRIMARY KEY, answer TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS transactions_of_card ON transactions (card, id);
"""


def roubles(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"


def minor(text: str) -> int:
    amount = Decimal(text) * 100
    if amount != amount.to_integral_value() or amount <= 0:
        raise ValueError("an amount has two decimals and is above zero")
    return int(amount)


def with_check_digit(digits: str) -> str:
    """EAN-13."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return digits + str(-total % 10)


def new_number(product: str) -> str:
    if product == "VIRTUAL":
        return str(random.randrange(10**9, 10**10))
    return with_check_digit(str(random.randrange(10**11, 10**12)))


def create_app(database: str, webhook: str | None = None) -> Flask:
    app = Flask(__name__)
    write = threading.Lock()

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(database, isolation_level=None, timeout=30)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    with connect() as connection:
        connection.executescript(SCHEMA)

    def db() -> sqlite3.Connection:
        if "db" not in g:
            g.db = connect()
        return g.db

    @app.teardown_appcontext
    def close(_: object) -> None:
        if "db" in g:
            g.pop("db").close()

    def offset() -> int:
        row = db().execute("SELECT offset_micros FROM clock").fetchone()
        return row["offset_micros"] if row else 0

    def moment() -> datetime:
        """The time, which tests can move forward."""
        return datetime.now(timezone.utc) + timedelta(microseconds=offset())

    def now() -> str:
        return moment().isoformat(timespec="microseconds")

    def card_body(card: sqlite3.Row) -> dict:
        body = {key: card[key] for key in ("number", "product", "state", "expires", "created", "activated")}
        body |= {"frozen": bool(card["frozen"]), "balance": roubles(card["balance"]), "controls": json.loads(card["controls"])}
        room = 0 if card["state"] == "CLOSED" else MOST_ON_A_CARD - card["balance"]
        body |= {"can_load": roubles(room), "activation_code": card["activation_code"], "code_expires": card["code_expires"]}
        return body

    def operation_body(operation: sqlite3.Row) -> dict:
        amount = operation["amount"]
        return {**dict(operation), "amount": None if amount is None else roubles(amount)}

    def find(number: str) -> sqlite3.Row | None:
        return db().execute("SELECT * FROM cards WHERE number = ?", (number,)).fetchone()

    def tell(kind: str, card: str, transaction: int | None = None, detail: dict | None = None) -> None:
        db().execute("INSERT INTO events (kind, card, transaction_id, detail, created) VALUES (?, ?, ?, ?, ?)",
                     (kind, card, transaction, detail and json.dumps(detail), now()))
        if webhook:
            threading.Thread(target=knock, args=(webhook,), daemon=True).start()

    def move(card: str, kind: str, amount: int, external_id: str | None, merchant: dict | None = None) -> int:
        sign = 1 if kind in ("LOAD", "REFUND") else -1
        db().execute("UPDATE cards SET balance = balance + ? WHERE number = ?", (sign * amount, card))
        made = db().execute(
            "INSERT INTO transactions (card, kind, amount, created, external_id, merchant, mcc) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (card, kind, amount, now(), external_id, merchant and merchant.get("name"), merchant and merchant.get("mcc")))
        tell("transaction", card, made.lastrowid)
        return made.lastrowid

    def once(kind: str, card: str | None, effect) -> tuple[object, int]:
        """Runs `effect` for an `external_id` that is new; else returns what became of it."""
        external_id = request.get_json()["external_id"]
        with write:
            db().execute("BEGIN IMMEDIATE")
            known = db().execute("SELECT * FROM operations WHERE external_id = ?", (external_id,)).fetchone()
            if known is None:
                status, reason, amount, card = effect(external_id)
                db().execute("INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?)",
                             (external_id, kind, card, amount, status, reason))
                known = db().execute("SELECT * FROM operations WHERE external_id = ?", (external_id,)).fetchone()
            db().execute("COMMIT")
        return jsonify(operation_body(known)), 200

    @app.post("/v2/cards")
    def create_card():
        body = request.get_json()

        def effect(external_id: str):
            number = new_number(body["product"])
            while find(number):
                number = new_number(body["product"])
            virtual = body["product"] == "VIRTUAL"
            code = "".join(random.choices(string.ascii_uppercase + string.digits, k=8)) if virtual else None
            today = moment().date()
            db().execute(
                "INSERT INTO cards (number, product, state, expires, created, activated, activation_code, code_expires)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, body["product"], "INACTIVE" if virtual else "ACTIVE", str(today + timedelta(days=3 * 365)), now(),
                 None if virtual else now(), code, str(today + timedelta(days=90)) if virtual else None))
            if body.get("initial_load"):
                move(number, "LOAD", minor(body["initial_load"]), external_id)
            return "COMPLETED", None, None, number

        return once("CREATE", None, effect)

    def on_card(number: str, kind: str, decide):
        def effect(external_id: str):
            card = find(number)
            if card is None:
                return "REJECTED", "NO_SUCH_CARD", None, number
            reason, amount = decide(card, external_id)
            return ("REJECTED" if reason else "COMPLETED"), reason, amount, number

        return once(kind, number, effect)

    @app.post("/v2/cards/<number>/load")
    def load(number: str):
        amount = minor(request.get_json()["amount"])

        def decide(card, external_id):
            if amount % 100 == 13:  # a test account refuses such loads, so that a refusal can be tried
                return "TEST_REFUSAL", None
            if card["state"] in ("CLOSED", "INACTIVE", "BLOCKED"):
                return f"CARD_{card['state']}", None
            if card["frozen"]:
                return "CARD_FROZEN", None
            if card["balance"] + amount > MOST_ON_A_CARD:
                return "BALANCE_TOO_HIGH", None
            move(number, "LOAD", amount, external_id)
            return None, amount

        return on_card(number, "LOAD", decide)

    @app.post("/v2/cards/<number>/unload")
    def unload(number: str):
        text = request.get_json().get("amount")  # absent: everything

        def decide(card, external_id):
            amount = card["balance"] if text is None else minor(text)
            if card["state"] == "CLOSED":
                return "CARD_CLOSED", None
            if amount > card["balance"] or amount == 0:
                return "INSUFFICIENT_FUNDS", None
            move(number, "UNLOAD", amount, external_id)
            return None, amount

        return on_card(number, "UNLOAD", decide)

    @app.post("/v2/cards/<number>/close")
    def close_card(number: str):
        def decide(card, _):
            if card["state"] == "CLOSED":
                return "CARD_CLOSED", None
            if card["balance"]:
                return "CARD_NOT_EMPTY", None
            db().execute("UPDATE cards SET state = 'CLOSED' WHERE number = ?", (number,))
            tell("closed", number)
            return None, None

        return on_card(number, "CLOSE", decide)

    @app.post("/v2/cards/<number>/freeze")
    def freeze(number: str):
        frozen = bool(request.get_json()["frozen"])

        def decide(card, _):
            if card["state"] == "CLOSED":
                return "CARD_CLOSED", None
            db().execute("UPDATE cards SET frozen = ? WHERE number = ?", (frozen, number))
            return None, None

        return on_card(number, "FREEZE", decide)

    @app.post("/v2/cards/<number>/controls")
    def controls(number: str):
        wanted = request.get_json()["controls"]

        def decide(card, _):
            if card["state"] == "CLOSED":
                return "CARD_CLOSED", None
            db().execute("UPDATE cards SET controls = ? WHERE number = ?", (json.dumps(wanted), number))
            return None, None

        return on_card(number, "CONTROLS", decide)

    @app.get("/v2/cards/<number>")
    def get_card(number: str):
        card = find(number)
        return (jsonify(card_body(card)), 200) if card else (jsonify(error="NO_SUCH_CARD"), 404)

    @app.get("/v2/operations")
    def get_operation():
        found = db().execute("SELECT * FROM operations WHERE external_id = ?", (request.args["external_id"],)).fetchone()
        return (jsonify(operation_body(found)), 200) if found else (jsonify(error="NO_SUCH_OPERATION"), 404)

    def transaction_body(made: sqlite3.Row) -> dict:
        return {**dict(made), "amount": roubles(made["amount"])}

    @app.get("/v2/cards/<number>/transactions")
    def transactions(number: str):
        rows = db().execute(
            "SELECT * FROM transactions WHERE card = ? AND id > ? ORDER BY id LIMIT ?",
            (number, int(request.args.get("after", 0)), int(request.args.get("limit", 100))))
        return jsonify(transactions=[transaction_body(row) for row in rows])

    @app.get("/v2/events")
    def events():
        rows = db().execute("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT 1000", (int(request.args.get("after", 0)),))
        found = []
        for row in rows.fetchall():
            made = db().execute("SELECT * FROM transactions WHERE id = ?", (row["transaction_id"],)).fetchone()
            found.append({**dict(row), "transaction": transaction_body(made) if made else None,
                          "detail": row["detail"] and json.loads(row["detail"])})
        return jsonify(events=found)

    # -- for tests: what holders, merchants, the bank's staff and time do

    def test_call(effect):
        """Runs `effect` once for a key, if there is one."""
        body = request.get_json()
        with write:
            db().execute("BEGIN IMMEDIATE")
            known = db().execute("SELECT answer FROM test_calls WHERE key = ?", (body.get("key"),)).fetchone()
            answer = json.loads(known["answer"]) if known else effect(body)
            if body.get("key") and not known:
                db().execute("INSERT INTO test_calls VALUES (?, ?)", (body["key"], json.dumps(answer)))
            db().execute("COMMIT")
        return jsonify(answer)

    def refusal(card: sqlite3.Row, amount: int, mcc: str) -> str | None:
        """Why a card does not pay."""
        if card["state"] != "ACTIVE" or card["frozen"]:
            return {"CLOSED": "CLOSED", "INACTIVE": "NOT_ACTIVATED"}.get(card["state"], "BLOCKED")
        local = moment() + timedelta(hours=3)
        if str(local.date()) > card["expires"]:
            return "EXPIRED"
        limits = json.loads(card["controls"])
        for kind, codes in limits.get("merchants", {}).items():
            ranges = [(code[:4], code[-4:]) for code in codes]
            if any(low <= mcc <= high for low, high in ranges) != (kind == "only"):
                return "MERCHANT_CATEGORY"
        if limits.get("weekdays") and local.isoweekday() not in limits["weekdays"]:
            return "DAY_NOT_ALLOWED"
        at = f"{local:%H:%M}"
        if limits.get("hours") and not any(
                window["from"] <= at < window["to"] if window["from"] < window["to"] else at >= window["from"] or at < window["to"]
                for window in limits["hours"]):
            return "TIME_NOT_ALLOWED"
        if "spend" in limits and amount + spent(card["number"], limits["spend"]["window"], local) > minor(limits["spend"]["amount"]):
            return "OVER_AMOUNT"
        return "INSUFFICIENT_BALANCE" if amount > card["balance"] else None

    def spent(number: str, window: str, local: datetime) -> int:
        days = {"DAY": 0, "WEEK": local.weekday(), "MONTH": local.day - 1}.get(window)
        if days is None:  # a quarter
            days = (local.date() - local.date().replace(month=(local.month - 1) // 3 * 3 + 1, day=1)).days
        start = (local - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(hours=3)
        row = db().execute(
            "SELECT coalesce(sum(CASE kind WHEN 'PURCHASE' THEN amount WHEN 'REFUND' THEN -amount ELSE 0 END), 0) AS total"
            " FROM transactions WHERE card = ? AND created >= ?", (number, start.isoformat(timespec="microseconds"))).fetchone()
        return max(row["total"], 0)

    @app.post("/v2/test/cards/<number>/purchase")
    def purchase(number: str):
        def effect(body: dict) -> dict:
            card, amount, merchant = find(number), minor(body["amount"]), body.get("merchant", {})
            if card is None:
                return {"error": "NO_SUCH_CARD"}
            if why := refusal(card, amount, merchant.get("mcc") or ""):
                tell("declined", number, detail={"amount": body["amount"], "reason": why, **merchant})
                return {"refused": why}
            return {"id": move(number, "PURCHASE", amount, None, merchant)}

        return test_call(effect)

    @app.post("/v2/test/cards/<number>/refund")
    def refund(number: str):
        def effect(body: dict) -> dict:
            paid = db().execute("SELECT * FROM transactions WHERE id = ? AND card = ? AND kind = 'PURCHASE'",
                                (body["payment"], number)).fetchone()
            if paid is None:
                return {"error": "NO_SUCH_PAYMENT"}
            merchant = {"name": paid["merchant"], "mcc": paid["mcc"]}
            return {"id": move(number, "REFUND", minor(body["amount"]), None, merchant)}

        return test_call(effect)

    @app.post("/v2/test/cards/<number>/state")
    def set_state(number: str):
        def effect(body: dict) -> dict:
            card, event = find(number), body["event"]
            if card is None:
                return {"error": "NO_SUCH_CARD"}
            if event == "activated":
                if body.get("code") not in (None, card["activation_code"]):
                    return {"error": "WRONG_CODE"}
                if card["state"] != "INACTIVE":
                    return {}
                db().execute("UPDATE cards SET state = 'ACTIVE', activated = ? WHERE number = ?", (now(), number))
            elif event == "expired":
                db().execute("UPDATE cards SET expires = ? WHERE number = ?", (str((moment() - timedelta(days=1)).date()), number))
            elif card["state"] != "CLOSED":
                state = "BLOCKED" if event == "blocked" else "ACTIVE" if card["activated"] else "INACTIVE"
                db().execute("UPDATE cards SET state = ? WHERE number = ?", (state, number))
            tell(event, number)
            return {}

        return test_call(effect)

    @app.route("/v2/test/clock", methods=["GET", "POST"])
    def clock():
        def effect(body: dict) -> dict:
            db().execute("INSERT OR REPLACE INTO clock VALUES (1, ?)", (offset() + body["seconds"] * 1_000_000,))
            return {"offset_micros": offset()}

        return test_call(effect) if request.method == "POST" else jsonify(offset_micros=offset())

    return app


def knock(address: str) -> None:
    """Webhooks may be lost: whoever receives them reads the list of events."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, data=b"{}", method="POST"), timeout=5).close()
    except OSError:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--database", default="processor.sqlite")
    parser.add_argument("--webhook")
    arguments = parser.parse_args()
    server = create_server(create_app(arguments.database, arguments.webhook), host="127.0.0.1", port=arguments.port, threads=8)
    print(f"the processor listens on http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()
