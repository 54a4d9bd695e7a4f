"""Between JSON and dataclasses. Fields that a newer service adds are passed over."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime, time, timezone
from typing import Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

from kopeck.errors import ConfigError, DecodeError
from kopeck.word import Word

T = TypeVar("T")

_DATE = "%d.%m.%Y"
_MOMENT = "%d.%m.%Y %H:%M"
_TIME = "%H:%M"


def named(*names: str, read: Callable[[object], object] | None = None, **options: Any) -> Any:
    """A field with names of the service's own, or a way of reading of its own.

    The first name is written, any of them is read.
    """
    metadata = {key: value for key, value in (("names", names), ("read", read)) if value}
    return dataclasses.field(metadata=metadata, **options)


def decode(kind: type[T], value: object, at: str = "the answer") -> T:
    """Reads a dataclass from a JSON object. Raises `DecodeError`, which names the place and not the value."""
    if not isinstance(value, Mapping):
        raise DecodeError(f"{at} is no object")
    read = {}
    for field, hint, names in _fields(typing.cast(Hashable, kind)):
        found = next((value[name] for name in names if value.get(name) is not None), None)
        place = f"{at}.{names[0]}"
        if found is not None:
            read[field.name] = _value(field.metadata.get("read") or hint, found, place)
        elif field.default is dataclasses.MISSING:
            # `null` is the same as an absent field.
            if not _takes_none(hint):
                raise DecodeError(f"{place} is missing")
            read[field.name] = None
    return kind(**read)


def encode(value: object) -> Any:
    """The JSON of a value; of a dataclass, the fields that are not `None`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((names[0], getattr(value, field.name)) for field, _, names in _fields(type(value)))
        return {name: encode(item) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {name: encode(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, Word):
        return value.value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            raise ConfigError("a time is in the service's own zone: give a datetime without tzinfo")
        return value.strftime(_MOMENT)
    return value.strftime(_DATE) if isinstance(value, date) else value


def under_data(answer: object) -> object:
    """What an answer says under `data`."""
    if not isinstance(answer, Mapping) or "data" not in answer:
        raise DecodeError("the answer has no data")
    return answer["data"]


def phone_text(value: object) -> str:
    """Ten digits: the service sends them as a string here and as an integer there, without leading zeros."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:010}"
    raise ValueError


def moment(value: object) -> datetime:
    """A moment by RFC 3339, in UTC."""
    if not isinstance(value, str):
        raise ValueError
    return datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def mapping(value: object) -> Mapping[str, Any]:
    """An object whose fields are not known."""
    if not isinstance(value, Mapping):
        raise ValueError
    return value


def identifier(name: str, value: UUID | str) -> UUID:
    """An identifier that a caller gives as `UUID` or as its text. Raises `ConfigError`, which tells its name."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (AttributeError, TypeError, ValueError):
        hint = "; a customId is looked up with employees.list(custom_id=...)" if name == "id_employee" else ""
        # Not the value: it may be personal.
        raise ConfigError(f"{name}: this is no uuid{hint}") from None


@functools.cache
def _fields(kind: Hashable) -> tuple[tuple[dataclasses.Field[Any], Any, tuple[str, ...]], ...]:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(typing.cast(type, kind))
    return tuple((field, hints[field.name], field.metadata.get("names", (_camel(field.name),))) for field in fields)


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _takes_none(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)


def _value(hint: Any, value: object, at: str) -> Any:
    if _takes_none(hint):
        (hint,) = (option for option in get_args(hint) if option is not type(None))
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise DecodeError(f"{at} is no list")
        item = get_args(hint)[0]
        return tuple(_value(item, one, f"{at}[{place}]") for place, one in enumerate(value))
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type, hint), value, at)
    try:
        return _scalar(hint, value)
    # `from None`: the cause would show the value, which may be personal.
    except (TypeError, ValueError):
        raise DecodeError(f"{at} is no {hint.__name__}") from None


def _scalar(hint: Any, value: object) -> object:
    if isinstance(hint, types.FunctionType):
        return hint(value)
    if hint is bool or hint is int or hint is float:
        accepted = (int, float) if hint is float else hint
        if not isinstance(value, accepted) or isinstance(value, bool) is not (hint is bool):
            raise TypeError
        return value
    if not isinstance(value, str):
        raise TypeError
    return _OF_TEXT.get(hint, hint)(value)


_OF_TEXT: dict[type, Callable[[str], object]] = {
    date: lambda text: datetime.strptime(text, _DATE).date(),
    datetime: lambda text: datetime.strptime(text, _MOMENT),
    time: lambda text: datetime.strptime(text, _TIME).time(),
}
