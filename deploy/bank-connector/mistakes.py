"""The twenty commonest mistakes of connectors, each planted by a switch: `serve.py --mistake NAME`.

`docs/bank/mistakes.md` explains them. `kopeck bank-check` has to find each, by the rule that stands beside it, and none in the
connector as it is. Nothing here is needed by a connector.
"""

from __future__ import annotations

import json
import time

import protocol
from connector import Connector, roubles

# Name of the mistake: the rule that finds it.
MISTAKES: dict[str, tuple[int, type[Connector]]] = {}


def mistake(rule: int):
    def add(kind: type[Connector]) -> type[Connector]:
        MISTAKES[kind.__name__] = (rule, kind)
        return kind

    return add


def plant(name: str) -> type[Connector]:
    kind = MISTAKES[name][1]
    getattr(kind, "prepare", lambda: None)()
    return kind


@mistake(11)
class forgets_keys(Connector):
    """Every copy of an instruction is carried out."""

    copies = 0

    def carry_out(self, key, instruction):
        self.copies += 1
        super().carry_out(key, instruction)

    def answer(self, instruction):
        self.db().execute("UPDATE instructions SET outcome = 'PENDING' WHERE key = ?", (instruction["key"],))
        return super().answer(instruction)

    def top_up(self, key, instruction):
        return super().top_up(f"{key}~{self.copies}", instruction)


@mistake(12)
class looks_up_then_acts(Connector):
    """The key is looked up, and recorded after the effect: two copies at the same time are both new."""

    copies = 0

    def submit(self, batch):
        return [self.both(instruction) for instruction in batch]

    def both(self, instruction):
        if instruction["type"] != "TOP_UP" or self.known(instruction["key"]):
            return super().submit([instruction])[0]
        looks_up_then_acts.copies += 1
        copy = self.copies
        time.sleep(0.2)  # the processor is slow
        verdict = self.top_up(f"{instruction['key']}~{copy}", instruction)
        self.db().execute(
            "INSERT OR REPLACE INTO instructions VALUES (?, ?, ?, ?, ?, ?)",
            (instruction["key"], self.fingerprint(instruction), json.dumps(instruction), *verdict))
        return self.result(instruction["key"])


@mistake(13)
class compares_no_content(Connector):
    """A used key has its verdict, whatever the instruction says now."""

    def fingerprint(self, instruction):
        return ""


@mistake(14)
class decides_again(Connector):
    """Only what was done is recorded: what was declined is decided anew."""

    retries = 0

    def answer(self, instruction):
        self.db().execute("UPDATE instructions SET outcome = 'PENDING' WHERE key = ? AND outcome = 'DECLINED'",
                          (instruction["key"],))
        return super().answer(instruction)

    def top_up(self, key, instruction):
        decides_again.retries += 1
        return super().top_up(f"{key}~{self.retries}", instruction)


@mistake(10)
class inserts_what_is_queried(Connector):
    """A query makes a row for its key, which looks pending ever after."""

    def query(self, keys):
        for key in keys:
            self.db().execute(
                "INSERT OR IGNORE INTO instructions (key, fingerprint, body, outcome) VALUES (?, '', '{}', 'PENDING_')", (key,))
        results = [self.result(key) for key in keys]
        return [result | {"outcome": result["outcome"].rstrip("_")} for result in results]


@mistake(3)
class validates_as_it_goes(Connector):
    """Instructions before an invalid one are carried out."""

    @staticmethod
    def prepare():
        def read_batch(body):
            return protocol.items(protocol.fields(body, {"instructions"})["instructions"], protocol.LARGEST_BATCH, "instructions")

        protocol.read_batch = read_batch

    def submit(self, batch):
        return [super(validates_as_it_goes, self).submit([protocol.read_instruction(instruction)])[0] for instruction in batch]


@mistake(4)
class ignores_unknown_fields(Connector):
    """A field that is not known is dropped, and the rest is carried out."""

    @staticmethod
    def prepare():
        strict = protocol.fields

        def lax(value, required, optional=frozenset()):
            if isinstance(value, dict):
                value = {name: value[name] for name in value if name in required | optional}
            return strict(value, required, optional)

        protocol.fields = lax


@mistake(1)
class checks_the_secret_late(Connector):
    """The secret is compared by its beginning."""

    @staticmethod
    def prepare():
        import connector

        class Lax:
            @staticmethod
            def compare_digest(shown, expected):
                return shown.startswith(b"Bearer")

        connector.hmac = Lax


@mistake(30)
class takes_kopecks_for_roubles(Connector):
    """The processor's amounts are roubles."""

    def top_up(self, key, instruction):
        return super().top_up(key, instruction | {"amount": instruction["amount"] * 100})


@mistake(30)
class books_at_night(Connector):
    """DONE, though the card shows nothing yet."""

    def top_up(self, key, instruction):
        import threading

        def later():
            time.sleep(3)
            self.processor.operation(f"/v2/cards/{instruction['card']}/load", key, amount=roubles(instruction["amount"]))

        threading.Thread(target=later, daemon=True).start()
        return "DONE", None, None


@mistake(5)
class has_no_offset(Connector):
    """Timestamps are local, and say that they are UTC."""

    def card(self, number_):
        card = super().card(number_)
        hour = f"{(int(card['created'][11:13]) + 3) % 24:02}"
        return card | {"created": card["created"][:11] + hour + card["created"][13:]}


@mistake(22)
class sorts_by_number(Connector):
    """Cards of an order are sorted by their numbers, so that a page is another one than its position says."""

    def issued(self, order, skip, limit):
        rows = self.db().execute("SELECT * FROM issued WHERE order_key = ? ORDER BY number LIMIT ? OFFSET ?", (order, limit, skip))
        return [self.issued_card(row) for row in rows.fetchall()]


@mistake(24)
class fails_for_unknown_orders(Connector):
    """404 in place of an empty list."""

    def issued(self, order, skip, limit):
        if self.known(order) is None:
            raise protocol.Refused(404, "not_found", "there is no such order")
        return super().issued(order, skip, limit)


@mistake(32)
class refuses_nothing(Connector):
    """The room of a card is not checked before the processor is asked, whose error is taken for success."""

    def top_up(self, key, instruction):
        verdict = super().top_up(key, instruction)
        return ("DONE", None, None) if verdict[1] == "OVER_CARD_LIMIT" else verdict


@mistake(33)
class stops_at_the_first_refusal(Connector):
    """What follows a declined instruction is declined too."""

    def submit(self, batch):
        results = []
        for instruction in batch:
            if any(result["outcome"] == "DECLINED" for result in results):
                super().submit([])
                self.db().execute("INSERT OR IGNORE INTO instructions VALUES (?, ?, ?, 'DECLINED', 'REFUSED', NULL)",
                                  (instruction["key"], self.fingerprint(instruction), json.dumps(instruction)))
                results.append(self.result(instruction["key"]))
            else:
                results += super().submit([instruction])
        return results


@mistake(40)
class sets_half_a_limit(Connector):
    """Limits with merchant categories are declined as a whole, though the connector does not say that it lacks them."""

    def set_limit(self, key, instruction):
        if "merchantCategories" in instruction["limit"]:
            return "DECLINED", "REFUSED", None
        return super().set_limit(key, instruction)


@mistake(43)
class obeys_late_changes(Connector):
    """The last block that arrives counts."""

    def set_block(self, key, instruction):
        self.db().execute("DELETE FROM blocks WHERE card = ?", (instruction["card"],))
        return super().set_block(key, instruction)


@mistake(53)
class returns_what_is_there_now(Connector):
    """`returned` is computed when it is asked for."""

    def result(self, key):
        result = super().result(key)
        if result.get("returned") and json.loads(self.known(key)["body"]).get("amount") is None:
            card = json.loads(self.known(key)["body"])["card"]
            balance = self.card_state(card)["balance"]
            result["returned"] = balance or result["returned"]
        return result


@mistake(61)
class includes_the_cursor(Connector):
    """The feed begins at `after`, not behind it."""

    def feed(self, after, limit):
        return super().feed(max(after - 1, 0), limit)


@mistake(70)
class registers_what_was_sent(Connector):
    """The registry is made of the log of instructions, declined ones too, and without the bank's ids."""

    def registry(self, start, end, after, limit):
        return [entry | {"key": "unknown"} for entry in super().registry(start, end, after, limit)]
