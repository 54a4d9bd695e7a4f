"""The form of Kopeck's bank protocol: what a request may hold. Nothing here knows the processor."""

from __future__ import annotations

import re

KEY = re.compile(r"[!-~]{1,100}\Z")
CARD = re.compile(r"[1-9]([0-9]{9}|[0-9]{12})\Z")
TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")
CATEGORY = re.compile(r"([0-9]{4})(-([0-9]{4}))?\Z")
PERIODS = ("CDAY", "CWEEK", "CMONTH", "CQUARTET")
VIRTUAL, PLASTIC = ("MLZ",), ("MP4", "KKL")
LARGEST_BATCH = 200
PAGE = 1_000


class Refused(Exception):
    """A request that has no effect: status code, code, message. The message quotes no value."""

    def __init__(self, status: int, code: str, message: str):
        super().__init__(message)
        self.status, self.code = status, code


def invalid(message: str) -> Refused:
    return Refused(422, "invalid", message)


def fields(value: object, required: set[str], optional: set[str] = frozenset()) -> dict:
    """An object with these fields and no others: an unknown one may change what the request means."""
    if not isinstance(value, dict):
        raise invalid("an object is expected")
    if missing := required - value.keys():
        raise invalid(f"{min(missing)} is missing")
    if value.keys() - required - optional:
        raise invalid("a field is not known")
    return value


def whole(value: object, least: int, name: str) -> int:
    # A bool is an int in Python, and 1.0 is none in the protocol.
    if type(value) is not int or value < least:
        raise invalid(f"{name} must be an integer of at least {least}")
    return value


def text(value: object, pattern: re.Pattern, name: str) -> str:
    if not isinstance(value, str) or not pattern.match(value):
        raise invalid(f"{name} is malformed")
    return value


def items(value: object, most: int, name: str) -> list:
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        raise invalid(f"{name} must be a list of 1 to {most}")
    return value


def read_batch(body: object) -> list[dict]:
    """The instructions of a request. All are validated before the first one is carried out."""
    batch = items(fields(body, {"instructions"})["instructions"], LARGEST_BATCH, "instructions")
    return [read_instruction(instruction) for instruction in batch]


def read_instruction(value: object) -> dict:
    if not isinstance(value, dict) or value.get("type") not in INSTRUCTIONS:
        raise invalid("type is not known")
    return INSTRUCTIONS[value["type"]](value)


def named(value: dict, required: set[str], optional: set[str] = frozenset()) -> dict:
    fields(value, {"type", "key", "card"} | required, optional)
    text(value["key"], KEY, "key")
    text(value["card"], CARD, "card")
    return value


def read_order(value: dict) -> dict:
    fields(value, {"type", "key", "lines"})
    text(value["key"], KEY, "key")
    for line in items(value["lines"], PAGE, "lines"):
        fields(line, {"type", "count"}, {"firstTopUp", "delivery"})
        if line["type"] not in VIRTUAL + PLASTIC:
            raise invalid("type of a line is not known")
        whole(line["count"], 1, "count")
        if "firstTopUp" in line:
            whole(line["firstTopUp"], 1, "firstTopUp")
        if "delivery" in line:
            fields(line["delivery"], {"address", "recipient", "phone"})
    return value


def read_top_up(value: dict) -> dict:
    whole(named(value, {"amount"})["amount"], 1, "amount")
    return value


def read_withdrawal(value: dict) -> dict:
    if "amount" in named(value, set(), {"amount"}):
        whole(value["amount"], 1, "amount")
    return value


def read_block(value: dict) -> dict:
    named(value, {"blocked", "change"})
    if not isinstance(value["blocked"], bool):
        raise invalid("blocked must be true or false")
    whole(value["change"], 0, "change")
    return value


def read_limit(value: dict) -> dict:
    limit = fields(named(value, {"limit"})["limit"], {"unlimited"}, {"amount", "period", "days", "times", "merchantCategories"})
    if not isinstance(limit["unlimited"], bool) or limit["unlimited"] != (len(limit) == 1):
        raise invalid("a limit is unlimited and nothing else, or has a part")
    if ("amount" in limit) != ("period" in limit):
        raise invalid("amount and period belong together")
    if "amount" in limit:
        whole(limit["amount"], 0, "amount")
        if limit["period"] not in PERIODS:
            raise invalid("period is not known")
    for day in limit.get("days", []):
        if whole(day, 1, "days") > 7:
            raise invalid("days go from 1 to 7")
    for window in limit.get("times", []):
        fields(window, {"from", "to"})
        text(window["from"], TIME, "from")
        if window["to"] != "24:00":
            text(window["to"], TIME, "to")
    if "merchantCategories" in limit:
        read_categories(limit["merchantCategories"])
    return value


def read_categories(value: object) -> None:
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"only", "except"}:
        raise invalid("merchantCategories has either only or except")
    for (codes,) in [tuple(value.values())]:
        for code in items(codes, 100, "merchantCategories"):
            text(code, CATEGORY, "a category")


INSTRUCTIONS = {
    "ISSUE_CARDS": read_order, "TOP_UP": read_top_up, "SET_LIMIT": read_limit, "SET_BLOCK": read_block,
    "CLOSE_CARD": lambda value: named(value, set()), "WITHDRAW": read_withdrawal,
}


def read_keys(body: object) -> list[str]:
    keys = items(fields(body, {"keys"})["keys"], LARGEST_BATCH, "keys")
    return [text(key, KEY, "a key") for key in keys]


def number(arguments: dict, name: str, default: int | None, least: int, most: int) -> int:
    given = arguments.get(name, default)
    try:
        value = int(given)
    except (TypeError, ValueError):
        raise invalid(f"{name} must be an integer") from None
    if not least <= value <= most:
        raise invalid(f"{name} must lie between {least} and {most}")
    return value
