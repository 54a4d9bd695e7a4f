"""Makes the operations, words and models from docs/openapi.json: kopeck/operations.py, words.py and models/generated.py.

Names and types of the client are Python's: this says where they are not the rule's.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "kopeck"
DOCUMENT = Path(__file__).parents[3] / "docs/openapi.json"

WORDS = {"ErrorCode": "Code", "LimitPeriod": "Period"} | {
    name: name
    for name in (
        *("BankStatus", "CardStatus", "CardType", "ClosingReason", "DeliveryStatus", "EmployeeStatus"),
        *("EntrySourceKind", "EntryType", "OrderKind", "RequestState", "TransactionType"),
    )
}
# Values that are called otherwise.
WORD_NAMES = {"CDAY": "DAY", "CWEEK": "WEEK", "CMONTH": "MONTH", "CQUARTET": "QUARTER"}
BASES = {"RequestState": "State"}


@dataclass(frozen=True)
class Model:
    """A model: the schema that it is made of, or `schema.field` for the items of a field, and what is special."""

    schema: str
    base: str = ""
    """The model or class that it extends."""
    omit: str = ""
    """Fields that it has not."""
    late: str = ""
    """Numbers that an older service does not send."""
    defaults: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    """Types in place of those of the document."""
    order: str = ""
    """Fields that come first, in this order."""


PARTS = "openingHold openingAvailable closingHold closingAvailable"
CHANGES = "balanceChange holdChange"
GIVEN_CARD = {"idCard": "UUID | str"}

MODELS = {
    "TimeWindow": Model("Window"),
    "MerchantCategories": Model("MerchantCategories"),
    "CardLimit": Model("Limit", defaults={"unlimited": "False", "days": "()", "times": "()"}),
    "AccountBalance": Model("CardAccount", order="value"),
    "CardBalance": Model("CardBalance"),
    "Card": Model("Card", base="CardBalance", order="customCardId dateUntil limit activated bankStatus type"),
    "AvailableCard": Model("UnassignedCard"),
    "LinkedCard": Model("Link"),
    "UnlinkedCard": Model("Unlinked"),
    "Transaction": Model("Transaction", order="id dateExecutionAt timeExecutionAt amount type"),
    "PaymentAnswer": Model("Forecast"),
    "Event": Model("Event"),
    "Feed": Model("Feed"),
    "Balance": Model("Balance"),
    "Purchase": Model("Purchase"),
    "Refund": Model("Refund"),
    "Category": Model("Category", order="idCategory"),
    "CategoryWithCount": Model("CategoryInList", base="Category", late="employees"),
    "Employee": Model("Employee"),
    "EmployeeCard": Model("LinkedCard"),
    "EmployeeErased": Model("EmployeeErased"),
    "EmployeeWithCards": Model("EmployeeWithCards", base="Employee", defaults={"cards": "()"}),
    "RequestStatus": Model("OrderState", order="orderId"),
    "PlasticItem": Model("OrderPlasticRequest.data"),
    "VirtualItem": Model("OrderVirtualRequest.data", types={"amount": "int"}, defaults={"typeCard": "CardType.MLZ"}),
    "OrderCreated": Model("OrderAccepted"),
    "IssuedCard": Model("OrderedCard", order="customIdCard", defaults={"typeCard": "None"}),
    "OrderResult": Model("OrderResult", omit="orderId"),
    "Order": Model("Order"),
    "TopUp": Model("ReplenishmentCreateRequest.cards", types=GIVEN_CARD),
    "ReplenishmentCreated": Model("ReplenishmentAccepted"),
    "ReplenishmentResult": Model("ReplenishmentResult"),
    "Replenishment": Model("Replenishment"),
    "LimitChangeCreated": Model("LimitChangeAccepted"),
    "LimitResult": Model("LimitChangeResult"),
    "LimitChange": Model("LimitChange"),
    "CardClosing": Model("ClosingCreateRequest.data", types=GIVEN_CARD),
    "ClosingCreated": Model("ClosingAccepted"),
    "ClosingResult": Model("ClosingResult"),
    "Closing": Model("Closing", omit="amount"),
    "CardWithdrawal": Model("WithdrawalCreateRequest.data", types=GIVEN_CARD),
    "WithdrawalCreated": Model("WithdrawalAccepted"),
    "WithdrawalResult": Model("WithdrawalResult"),
    "Withdrawal": Model("Withdrawal", defaults={"amount": ""}),
    "EntrySource": Model("EntrySource"),
    "BalanceEntry": Model(
        "BalanceEntry", late=f"available {CHANGES}", order="seq at amount balance hold of type available"
    ),
    "BalanceEntries": Model("BalanceEntries", base="Paged", late=PARTS),
    "PartnerTransaction": Model(
        "PartnerTransaction", order="seq idCard id dateExecutionAt timeExecutionAt amount type"
    ),
    "TransactionFeed": Model("TransactionFeed"),
    "StatementTotal": Model("StatementTotal", late=CHANGES, order="number amount type"),
    "StatementDay": Model("StatementDay", late=f"{CHANGES} {PARTS}"),
    "Statement": Model("Statement", late=PARTS),
    "Webhook": Model("WebhookCreated", order="idWebhook url description sealed enabled pending createdAt", defaults={"secret": "None"}),
    "WebhookDelivery": Model("WebhookDelivery"),
}

# Fields of the wire that the client calls otherwise, everywhere.
FIELD_NAMES = {
    **{"except": "except_", "orderId of RequestStatus": "id", "message": "state", "updateAt": "updated_at"},
    **{"from of TimeWindow": "start", "to of TimeWindow": "end"},
    **dict.fromkeys(("amountReplenishment", "amountReturned", "amountWithdrawn"), "amount"),
}
# Other names under which a field comes.
OTHER_NAMES = {
    "updateAt": ["updatedAt"],
    "updatedAt": ["updateAt"],
    "statusUpdatedAt": ["statusUpdateAt"],
    "orderId of RequestStatus": ["replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId"],
}
TYPES = {
    "phone of Employee": ("str | None", "read=phone_text"),
    "timeExecutionAt": ("time", ""),
    "data of Event": ("Mapping[str, Any]", "read=mapping"),
}
FORMS = {"uuid": "UUID", "date-time": "datetime", "DD.MM.YYYY": "date", "DD.MM.YYYY HH:MM": "datetime"}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
NEVER = {"success"}
SECRETS = {"activationCode", "secret"}


def generated() -> dict[Path, str]:
    """The files and what they hold."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return {
        PACKAGE / "operations.py": _operations(document["paths"]),
        PACKAGE / "words.py": _words(document["components"]["schemas"]),
        PACKAGE / "models/generated.py": _models(document["components"]["schemas"]),
    }


def _operations(paths: dict[str, Any]) -> str:
    lines = []
    for path, methods in paths.items():
        for method, operation in methods.items():
            # `PUT` includes `PATCH`.
            if (name := operation.get("operationId")) and method != "patch":
                arguments = f'"{method.upper()}", "{path}", changes={operation["x-changes"]}'
                lines.append(f"{name.replace('.', '_').upper()} = Operation({arguments})")
    head = '"""The operations of the service."""\n\nfrom kopeck.operation import Operation as Operation\n\n'
    return HEAD + head + "\n".join(lines) + "\n"


def _words(schemas: dict[str, Any]) -> str:
    words = [_word(name, schemas[schema]) for name, schema in WORDS.items()]
    head = '"""Words of the service. A newer service may add some, which then break no older client."""\n\n'
    return HEAD + head + "from kopeck.word import State, Word\n" + _with_names(WORDS, words)


def _models(schemas: dict[str, Any]) -> str:
    models = [_model(name, model, schemas) for name, model in MODELS.items()]
    return HEAD + IMPORTS + f"from kopeck.words import {', '.join(sorted(WORDS))}\n" + _with_names(MODELS, models)


def _with_names(names: Mapping[str, object], classes: list[str]) -> str:
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    return f"\n__all__ = [\n{listed}]\n\n\n" + "\n\n\n".join(classes) + "\n"


def _word(name: str, schema: dict[str, Any]) -> str:
    members = [f'{WORD_NAMES.get(value, value.upper())} = "{value}"' for value in schema["enum"]]
    return _class(f"class {name}({BASES.get(name, 'Word')}):", schema.get("description"), members)


def _model(name: str, model: Model, schemas: dict[str, Any]) -> str:
    schema, _, item = model.schema.partition(".")
    body = schemas[schema]["properties"][item]["items"] if item else schemas[schema]
    inherited = schemas[MODELS[model.base].schema]["properties"] if model.base in MODELS else {}
    left_out = {*NEVER, *model.omit.split(), *inherited}
    if schema.endswith("Accepted"):
        left_out.add("message")
    order = model.order.split()
    wires = [*order, *(wire for wire in body["properties"] if wire not in order)]
    required: list[str] = []
    optional: list[str] = []
    for wire in wires:
        if wire not in left_out:
            text, has_default = _field(name, model, wire, body)
            (optional if has_default else required).append(text)
    header = f"@dataclass(frozen=True, slots=True)\nclass {name}{f'({model.base})' if model.base else ''}:"
    return _class(header, body.get("description"), [*required, *optional])


def _field(name: str, model: Model, wire: str, body: dict[str, Any]) -> tuple[str, bool]:
    schema = body["properties"][wire]
    special = f"{wire} of {name}"
    kind, read = TYPES.get(special) or TYPES.get(wire) or (_type(schema), "")
    if schema.get("format") == "date-time":
        read = "read=moment"
    if wire in model.types:
        kind = model.types[wire]
    default = "None" if "None" in kind or wire not in body.get("required", ()) else ""
    default = model.defaults.get(wire, "0" if wire in model.late.split() else default)
    if default == "None" and "None" not in kind:
        kind += " | None"
    python = FIELD_NAMES.get(special) or FIELD_NAMES.get(wire) or _python_name(wire, kind)
    if name.endswith("Result"):
        python = re.sub(r"^result_.*", "succeeded", re.sub(r"^error_.*", "error", python))
    names = [wire, *OTHER_NAMES.get(special, OTHER_NAMES.get(wire, []))]
    arguments = [f'"{each}"' for each in names] if read or len(names) > 1 or _camel(python) != wire else []
    if read:
        arguments.append(read)
    line = f"{python}: {kind}"
    if wire in SECRETS:
        line += f" = field(default={default}, repr=False)" if default else " = field(repr=False)"
    elif arguments:
        line += f" = named({', '.join([*arguments, *([f'default={default}'] if default else [])])})"
    elif default:
        line += f" = {default}"
    return line + _doc(schema.get("description"), "\n"), bool(default)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        known = {model.schema: name for name, model in MODELS.items()} | {word: name for name, word in WORDS.items()}
        return known.get(name, "str" if name == "EventType" else name)
    if options := schema.get("anyOf"):
        return " | ".join(map(_type, options))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    form = FORMS.get(schema.get("x-form") or schema.get("format", ""))
    return " | ".join(
        f"tuple[{_type(schema['items'])}, ...]" if kind == "array" else form if form and kind == "string" else SCALARS[kind]
        for kind in kinds
    )


def _python_name(wire: str, kind: str) -> str:
    # `type` hides a builtin; which type it is says more.
    snake = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", wire if wire != "type" or kind not in WORDS else kind)
    return snake.lower()


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _class(header: str, description: str | None, members: list[str]) -> str:
    body = "\n".join(members) or "pass"
    return header + _doc(description, "\n    ") + "\n\n" * bool(description) + "\n" * (not description) + textwrap.indent(body, "    ")


def _doc(description: str | None, before: str) -> str:
    return f'{before}"""{description}"""' if description else ""


HEAD = "# Generated by tools/generate.py from docs/openapi.json.\n"
IMPORTS = '''"""What the service sends and takes. Money is in kopecks; dates and times are in the service's own zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

from kopeck.models.page import Paged, PageMeta
from kopeck.wire import mapping, moment, named, phone_text
'''
