"""Makes operations.py, words.py and models/generated.py of kopeck from docs/openapi.json.

Names and types of the client are Python's: this says where they are not the rule's.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "kopeck"
DOCUMENT = Path(__file__).parents[3] / "docs/openapi.json"

# Enums go by the names of their schemas but for these.
WORDS = {"ErrorCode": "Code", "LimitPeriod": "Period"}
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
    about: str = ""
    """Its description, if the schema has none."""


PARTS = "openingHold openingAvailable closingHold closingAvailable"
CHANGES = "balanceChange holdChange"
# The first argument is the card itself; by another name it is `None`.
GIVEN_CARD = {"idCard": "UUID | str | None", "idEmployee": "UUID | str | None"}
NEEDED_CARD = {"idCard": ""}

# Models that are special; the other bodies of responses go by the names of their schemas.
MODELS = {
    "TimeWindow": Model("Window"),
    "CardLimit": Model("Limit", defaults={"unlimited": "False", "days": "()", "times": "()"}),
    "AccountBalance": Model("CardAccount", order="value"),
    "Card": Model("Card", base="CardBalance", order="customCardId dateUntil limit activated bankStatus type"),
    "AvailableCard": Model("UnassignedCard"),
    "LinkedCard": Model("Link"),
    "UnlinkedCard": Model("Unlinked"),
    "Transaction": Model("Transaction", order="id dateExecutionAt timeExecutionAt amount type"),
    "PaymentAnswer": Model("Forecast"),
    "Category": Model("Category", order="idCategory"),
    "CategoryWithCount": Model("CategoryInList", base="Category", late="employees"),
    "EmployeeCard": Model("LinkedCard"),
    "EmployeeWithCards": Model("EmployeeWithCards", base="Employee", defaults={"cards": "()"}),
    "RequestStatus": Model("OrderState", order="orderId"),
    "PlasticItem": Model("OrderPlasticRequest.data", about="Plastic cards to order."),
    "VirtualItem": Model(
        "OrderVirtualRequest.data",
        types={"amount": "int"},
        defaults={"typeCard": "CardType.MLZ"},
        about="Virtual cards to order.",
    ),
    "OrderCreated": Model("OrderAccepted"),
    "IssuedCard": Model("OrderedCard", order="customIdCard", defaults={"typeCard": "None"}),
    "OrderResult": Model("OrderResult", omit="orderId"),
    "CardRef": Model("LimitsSetRequest.data", types=GIVEN_CARD, about="A card, by exactly one of its names."),
    "TopUp": Model(
        "ReplenishmentCreateRequest.cards", types=GIVEN_CARD, defaults=NEEDED_CARD, about="A main card to top up."
    ),
    "ReplenishmentCreated": Model("ReplenishmentAccepted"),
    "LimitChangeCreated": Model("LimitChangeAccepted"),
    "LimitResult": Model("LimitChangeResult"),
    "CardClosing": Model(
        "ClosingCreateRequest.data", types=GIVEN_CARD, defaults=NEEDED_CARD, about="A card to close, and why."
    ),
    "ClosingCreated": Model("ClosingAccepted"),
    "Closing": Model("Closing", omit="amount"),
    "CardWithdrawal": Model(
        "WithdrawalCreateRequest.data",
        types=GIVEN_CARD,
        defaults=NEEDED_CARD,
        order="idCard amount",
        about="A card to take money from.",
    ),
    "WithdrawalCreated": Model("WithdrawalAccepted"),
    "Withdrawal": Model("Withdrawal", defaults={"amount": ""}),
    "BalanceEntry": Model(
        "BalanceEntry", late=f"available {CHANGES}", order="seq at amount balance hold of type available"
    ),
    "BalanceEntries": Model("BalanceEntries", base="Paged", late=PARTS),
    "PartnerTransaction": Model(
        "PartnerTransaction", order="seq idCard id dateExecutionAt timeExecutionAt amount type"
    ),
    "StatementTotal": Model("StatementTotal", late=CHANGES, order="number amount type"),
    "StatementDay": Model("StatementDay", late=f"{CHANGES} {PARTS}"),
    "Statement": Model("Statement", late=PARTS),
    "Webhook": Model(
        "WebhookCreated",
        order="idWebhook url description sealed enabled pending createdAt",
        defaults={"secret": "None"},
    ),
}

# Bodies of responses without a model.
LEFT_OUT = re.compile(
    r"\w+(Page|Data|Event|State)|Done|EventType|PageMeta|Sealed|SealedText|Tokens|Webhook(Pinged|Redelivery|Secret)?"
)

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
LITERALS = {"`null`": "`None`", "`true`": "`True`", "`false`": "`False`"}
OTHER_TYPES = {"EventType": "str"}
SCALARS = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
NEVER = {"success"}
SECRETS = {"activationCode", "secret"}


def generated() -> dict[Path, str]:
    """The files and what they hold."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    models = Models(document)
    return {
        PACKAGE / "operations.py": _operations(document["paths"]),
        PACKAGE / "words.py": _words(models.words, models.schemas),
        PACKAGE / "models/generated.py": models.text(),
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


def _words(words: dict[str, str], schemas: dict[str, Any]) -> str:
    head = '"""Words of the service. A newer service may add some, which then break no older client."""\n\n'
    classes = [_word(name, schemas[schema]) for name, schema in words.items()]
    return HEAD + head + "from kopeck.word import State, Word\n" + _with_names(words, classes)


class Models:
    """The models and what they refer to."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.schemas = document["components"]["schemas"]
        enums = {name: name for name, schema in self.schemas.items() if "enum" in schema}
        self.words = WORDS | {name: name for name in enums if name not in {*WORDS.values(), "EventType"}}
        named = {model.schema for model in MODELS.values()} | set(self.words.values())
        found: set[str] = set()
        for methods in document["paths"].values():
            for operation in methods.values():
                for status, response in operation.get("responses", {}).items():
                    self._find(response if status.startswith("2") else {}, found)
        others = (name for name in sorted(found - named) if not LEFT_OUT.fullmatch(name))
        self.models = {name: Model(name) for name in others} | MODELS

    def _find(self, part: Any, found: set[str]) -> None:
        for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(part)):
            if name not in found:
                found.add(name)
                self._find(self.schemas[name], found)

    def text(self) -> str:
        classes = [self._model(name, model) for name, model in self.models.items()]
        words = f"from kopeck.words import {', '.join(sorted(self.words))}\n"
        return HEAD + IMPORTS + words + _with_names(self.models, classes)

    def _model(self, name: str, model: Model) -> str:
        schema, _, item = model.schema.partition(".")
        body = self.schemas[schema]["properties"][item]["items"] if item else self.schemas[schema]
        base = self.models.get(model.base)
        inherited = self.schemas[base.schema]["properties"] if base else {}
        left_out = {*NEVER, *model.omit.split(), *inherited}
        if schema.endswith("Accepted"):
            left_out.add("message")
        order = model.order.split()
        wires = [*order, *(wire for wire in body["properties"] if wire not in order)]
        required: list[str] = []
        optional: list[str] = []
        for wire in wires:
            if wire not in left_out:
                text, has_default = self._field(name, model, wire, body)
                (optional if has_default else required).append(text)
        header = f"@dataclass(frozen=True, slots=True)\nclass {name}{f'({model.base})' if model.base else ''}:"
        # A type checker takes `named` and `field` for defaults, and wants what has none first.
        required.sort(key=lambda text: " = " in text.partition("\n")[0])
        return _class(header, body.get("description", model.about), [*required, *optional])

    def _field(self, name: str, model: Model, wire: str, body: dict[str, Any]) -> tuple[str, bool]:
        schema = body["properties"][wire]
        special = f"{wire} of {name}"
        kind, read = TYPES.get(special) or TYPES.get(wire) or (self._type(schema), "")
        if schema.get("format") == "date-time":
            read = "read=moment"
        if wire in model.types:
            kind = model.types[wire]
        default = "None" if "None" in kind or wire not in body.get("required", ()) else ""
        default = model.defaults.get(wire, "0" if wire in model.late.split() else default)
        if default == "None" and "None" not in kind:
            kind += " | None"
        python = FIELD_NAMES.get(special) or FIELD_NAMES.get(wire) or _python_name(wire, kind, self.words)
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
        return line + _doc(_with_bounds(schema), "\n"), bool(default)

    def _type(self, schema: dict[str, Any]) -> str:
        if "$ref" in schema:
            name = str(schema["$ref"]).rsplit("/", 1)[1]
            schemas = {name: model.schema for name, model in self.models.items()} | self.words
            return next((known for known, schema in schemas.items() if schema == name), OTHER_TYPES.get(name, name))
        if options := schema.get("anyOf"):
            return " | ".join(map(self._type, options))
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        form = FORMS.get(schema.get("x-form") or schema.get("format", ""))
        scalars = {**SCALARS, "string": form or "str"}
        return " | ".join(
            f"tuple[{self._type(schema['items'])}, ...]" if kind == "array" else scalars[kind] for kind in kinds
        )


def _with_names(names: Mapping[str, object], classes: list[str]) -> str:
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    return f"\n__all__ = [\n{listed}]\n\n\n" + "\n\n\n".join(classes) + "\n"


def _word(name: str, schema: dict[str, Any]) -> str:
    members = [f'{WORD_NAMES.get(value, value.upper())} = "{value}"' for value in schema["enum"]]
    return _class(f"class {name}({BASES.get(name, 'Word')}):", schema.get("description"), members)


def _with_bounds(schema: dict[str, Any]) -> str:
    form = schema.get("x-form", "")
    parts = [schema.get("description", "" if form in FORMS else form)]
    if "minimum" in schema and "maximum" in schema:
        parts.append(f"{schema['minimum']:,} to {schema['maximum']:,}.")
    return " ".join(filter(None, parts))


def _python_name(wire: str, kind: str, words: Mapping[str, str]) -> str:
    # `type` hides a builtin; which type it is says more.
    name = _snake(wire if wire != "type" or kind not in words else kind).lower()
    return f"{name}_" if keyword.iskeyword(name) else name


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", name)


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _class(header: str, description: str | None, members: list[str]) -> str:
    gap = "\n\n" if description else "\n"
    return header + _doc(description, "\n    ") + gap + textwrap.indent("\n".join(members), "    ")


def _doc(description: str | None, before: str) -> str:
    if not description:
        return ""
    # As Python says it. A backslash would escape what follows.
    code = re.sub(r"`[^`]*`", lambda match: LITERALS.get(match[0], _snake(match[0])), description)
    return f'{before}"""{code}"""'.replace("\\", "\\\\")


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
