"""Makes generated calls meet something: identifiers that answers have shown take the place of made-up ones, and each call
has a nonce of its own. Values that are wrong on purpose are left alone. Loaded by schemathesis, see scripts/fuzz-api."""

import json
import os
import random
import re
import secrets
import time
import unicodedata
import urllib.request

import schemathesis

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NONCE = re.compile(r"[A-Za-z0-9._~+/=-]{16,64}")
KEY = re.compile(r"[!-~]{1,255}")
NUMBER = re.compile(r"[1-9]([0-9]{9}|[0-9]{12})")

# What an answer calls a thing, and what calls take it under.
ALSO = {
    "orderId": ["orderId", "order_id"],
    "replenishmentId": ["replenishmentId", "idReplenishment"],
}
KEPT = 50

known = {}
choice = random.Random(1)


def call(method, path, body=None):
    """Makes a call in clear, which has to succeed, and learns from its answer."""
    headers = {
        "authorization": "Bearer " + os.environ["KOPECK_FUZZ_TOKEN"],
        "x-nonce": secrets.token_hex(16),
        "content-type": "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["KOPECK_FUZZ_URL"] + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    learn(answer)
    return answer


def furnish():
    """Makes some of everything, so that calls about things that exist can be made from the start."""
    order = call("POST", "/v1/order/virtualcards", {"data": [{"numberCards": 4, "typeCard": "MLZ", "amount": 50000}]})
    while call("GET", "/v1/order/status/" + order["orderId"])["message"] != "SUCCESS":
        time.sleep(0.2)
    cards = call("GET", "/v1/order/result/" + order["orderId"])["data"]
    for number, card in enumerate(cards[:2]):
        name = f"fuzz-{secrets.token_hex(4)}"
        call("POST", "/v1/category", {"nameCategory": name})
        employee = call("POST", "/v1/employee/add", {"customId": name})
        link = {"customIdCard": card["customIdCard"], "statusCard": "MAIN"}
        linked = call("POST", f"/v1/employee/{employee['idEmployee']}/link_card", link)
        path = f"/sandbox/v1/card/{linked['idCard']}/activate"
        call("POST", path, {"activationCode": card["activationCode"]} if number else None)
        call("POST", "/v1/replenishment", {"cards": [{"idCard": linked["idCard"], "amountReplenishment": 1000}]})
        limit = {"amount": 1000, "period": "CDAY"}
        call("POST", "/v1/setlimitscards", {"data": [{"idCard": linked["idCard"]}], "limit": limit})
    available = [card["idCard"] for card in call("GET", "/v1/cards/available")["data"]]
    call("POST", "/v1/closings", {"data": [{"idCard": available[0], "reason": "OTHER"}]})
    call("POST", "/v1/withdrawals", {"data": [{"idCard": available[1], "amount": 100}]})


def is_free_text(text):
    """Whether a text is free of what a pattern cannot name: hidden and unassigned characters, letters that grow in NFC."""
    hidden = any(unicodedata.category(character) in ("Cf", "Cn") for character in text)
    return not hidden and len(unicodedata.normalize("NFC", text)) <= len(text)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def is_reference(text):
    """Whether a reference of the right form consists of letters, digits and the signs that it may have."""
    return all(character in " -_./#" or character.isalpha() or character.isdecimal() for character in text)


def references_are_fine(values):
    given = values.get("reference") if isinstance(values, dict) else None
    return not isinstance(given, str) or is_reference(given)


@schemathesis.hook
def filter_body(context, body):
    return all(map(is_free_text, texts(body))) and references_are_fine(body)


@schemathesis.hook
def filter_query(context, query):
    return references_are_fine(query)


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    if isinstance(headers.get("x-nonce"), str) and NONCE.fullmatch(headers["x-nonce"]):
        case.headers["x-nonce"] = secrets.token_hex(16)
    # The simplest keys are made up again and again; most calls are to be the first under theirs.
    if isinstance(headers.get("idempotency-key"), str) and KEY.fullmatch(headers["idempotency-key"]):
        if choice.random() < 0.75:
            case.headers["idempotency-key"] = secrets.token_hex(16)
    for values in (case.path_parameters, case.query, case.body):
        acquaint(values)


@schemathesis.hook
def after_call(context, case, response):
    try:
        learn(response.json())
    except ValueError:
        pass


def acquaint(value):
    """Puts known identifiers, three times of four, where there is one of the right form."""
    if isinstance(value, list):
        for item in value:
            acquaint(item)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and (UUID.fullmatch(inner) or NUMBER.fullmatch(inner)):
                if known.get(name) and choice.random() < 0.75:
                    value[name] = choice.choice(known[name])
            else:
                acquaint(inner)


def learn(value):
    if isinstance(value, list):
        for item in value:
            learn(item)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and (UUID.fullmatch(inner) or NUMBER.fullmatch(inner)):
                for kept in ALSO.get(name, [name]):
                    known.setdefault(kept, []).append(inner)
                    del known[kept][:-KEPT]
            else:
                learn(inner)


if os.environ.get("KOPECK_FUZZ_FURNISH"):
    furnish()
