"""Plays the shared scenario against a running service; see scripts/test-clients, which starts one.

    KOPECK_TEST_URL=… KOPECK_TEST_REQUIRED=… KOPECK_TEST_OPTIONAL=… python -m tests.live [--asyncio]
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any
from uuid import uuid4

from kopeck import (
    ApiError,
    CardLimit,
    CardsError,
    CardStatus,
    Client,
    Employee,
    ErrorCode,
    InvalidError,
    LimitPeriod,
    RequestState,
    TopUp,
    VirtualItem,
    new_key,
)
from tests import stub

URL = os.environ["KOPECK_TEST_URL"]
REQUIRED: dict[str, str] = json.loads(os.environ["KOPECK_TEST_REQUIRED"])
OPTIONAL: dict[str, str] = json.loads(os.environ["KOPECK_TEST_OPTIONAL"])
REFRESH, LOGIN = "/v1/get_refresh_token", "/v1/get_access_token"


def client_of(partner: dict[str, str], **options: Any) -> Client:
    given = {"api_key": partner["apiKey"], "login": partner["login"], "password": partner["password"], **options}
    return stub.client_of(URL, **given)


def http(method: str, path: str, headers: dict[str, str] | None = None, body: object = None) -> tuple[int, Any]:
    """A call past the client: its status and JSON."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"content-type": "application/json", "x-nonce": new_key(), **(headers or {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(URL + path, data, sent, method=method)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, None


def seen(path: str | None = None) -> list[dict[str, Any]]:
    """What passed the proxy since this was asked last."""
    calls: list[dict[str, Any]] = http("GET", "/control/seen")[1]
    return [call for call in calls if path in (None, call["path"])]


def logs_in() -> None:
    with client_of(REQUIRED, sealing_key=REQUIRED["sealingKey"]) as client:
        pair = client.login()
        assert pair.access_expire_at < pair.refresh_expire_at
    with client_of(REQUIRED, password="a guess", sealing_key=REQUIRED["sealingKey"]) as client:
        assert refused(client.balance).code is ErrorCode.BAD_CREDENTIALS
    with client_of(REQUIRED) as client:
        error = refused(client.balance)
        assert isinstance(error, InvalidError) and [fault.field for fault in error.faults] == ["body"]


def adds_employees(client: Client) -> Employee:
    key = new_key()
    anna = client.employees.add("T-0001", surname="Ёжикова", name="Анна", phone="0031234567", idempotency_key=key)
    assert client.employees.get(anna.id_employee).surname == "Ёжикова"
    again = client.employees.add("T-0001", surname="Ёжикова", name="Анна", phone="0031234567", idempotency_key=key)
    assert again == anna
    error = refused(lambda: client.employees.add("T-0009", idempotency_key=key))
    assert isinstance(error, InvalidError) and error.faults[0].field == "idempotency-key"
    return anna


def repeats_after_a_broken_connection(client: Client) -> None:
    seen()
    http("POST", "/control/cut", body={})
    client.employees.add("T-0002")
    calls = seen("/v1/employee/add")
    assert [call["cut"] for call in calls] == [True, False], calls
    assert calls[0]["key"] == calls[1]["key"] and calls[0]["nonce"] != calls[1]["nonce"]
    assert [one.custom_id for one in client.employees.all(per_page=1)] == ["T-0001", "T-0002"]


def hears_of_all_faulty_fields(client: Client) -> None:
    error = refused(lambda: client.employees.add("T 0003", phone="+79031234567", email="anna"))
    assert isinstance(error, InvalidError) and error.request_id
    assert [fault.field for fault in error.faults] == ["customId", "phone", "email"]


def orders_and_links(client: Client, employee: Employee) -> Any:
    order = client.orders.virtual([VirtualItem(2, 50_000)])
    states: list[RequestState] = []
    assert client.orders.wait(order.order_id, timeout=60, on_progress=states.append) is RequestState.SUCCESS
    assert states[-1] is RequestState.SUCCESS
    issued, other = client.orders.result(order.order_id).data
    assert issued.amount == other.amount == 50_000
    card = client.cards.link(employee.id_employee, issued.custom_id_card, CardStatus.MAIN).id_card
    client.sandbox.activate(card, issued.activation_code)
    assert client.employees.get(employee.id_employee).cards[0].id_card == card
    assert [free.custom_id_card for free in client.cards.all_available()] == [other.custom_id_card]
    return card


def tops_up(client: Client, card: Any) -> None:
    before = client.balance().available
    top_up = client.replenishments.create([TopUp(card, 10_000)])
    assert client.replenishments.wait(top_up.replenishment_id, timeout=60) is RequestState.SUCCESS
    assert client.replenishments.result(top_up.replenishment_id)[0].succeeded
    assert client.balance().available == before - 10_000
    assert client.cards.balance(card).balance == 60_000
    # The bank of a sandbox refuses what ends in 13.
    refusal = client.replenishments.create([TopUp(card, 10_013)])
    assert client.replenishments.wait(refusal.replenishment_id, timeout=60) is RequestState.DECLINE
    assert client.replenishments.result(refusal.replenishment_id)[0].error == "refused by the bank"
    stranger = uuid4()
    error = refused(lambda: client.replenishments.create([TopUp(stranger, 10_000)]))
    assert isinstance(error, CardsError) and error.faults[0].id_card == stranger


def limits(client: Client, card: Any) -> None:
    limit = CardLimit(amount=5_000, period=LimitPeriod.DAY)
    change = client.limits.set([card], limit)
    assert client.limits.wait(change.set_limits_cards_id, timeout=60) is RequestState.SUCCESS
    assert client.limits.result(change.set_limits_cards_id)[0].succeeded
    assert client.cards.info(card).limit == limit
    assert client.cards.can_pay(card, 5_000).allowed and not client.cards.can_pay(card, 5_001).allowed
    assert client.sandbox.purchase(card, 5_000, place="Столовая").approved
    assert client.cards.transactions(card, per_page=1).data[0].place == "Столовая"


def renews_an_expired_token(client: Client) -> None:
    seen()
    # Only the service's clock moves: the client learns of it by a 401.
    client.sandbox.advance_clock(int(os.environ["KOPECK_TEST_ACCESS_TTL"]) + 60)
    client.balance()
    calls = seen()
    assert [call["status"] for call in calls if call["path"] == "/v1/balance"] == [401, 200], calls
    assert [call["status"] for call in calls if call["path"] in (REFRESH, LOGIN)] == [200], calls


def logs_in_anew_after_a_revocation(client: Client, other: Client) -> None:
    first = client.refresh()
    second = client.refresh()
    client.balance()
    # A token that is shown once too often tells of a thief: all that grew from the same login ends.
    status, _ = http("POST", REFRESH, {"x-api-key": OPTIONAL["apiKey"]}, {"token": first.refresh_token})
    assert status == 401
    # What the service has just seen to be good it believes for two seconds.
    other.sandbox.advance_clock(5)
    assert http("GET", "/v1/balance", {"authorization": f"Bearer {second.access_token}"})[0] == 401
    seen()
    client.balance()
    calls = [(call["path"], call["status"]) for call in seen()]
    assert calls == [("/v1/balance", 401), (REFRESH, 401), (LOGIN, 200), ("/v1/balance", 200)], calls


def refused(call: Any) -> ApiError:
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError("the call was not refused")


def makes_orders_while_they_are_listed(client: Client) -> None:
    """An order made during the walk shifts the others, and none of them comes twice or not at all."""
    for _ in range(25):
        client.orders.virtual([VirtualItem(1, 5_000)])
    before = [order.order_id for order in client.orders.list(per_page=500).data]
    found = []
    for number, order in enumerate(client.orders.all(per_page=20)):
        found.append(order.order_id)
        if number % 10 == 0:
            client.orders.virtual([VirtualItem(1, 5_000)])
    assert found == before, (len(found), len(set(found)), len(before))


def main() -> None:
    over_asyncio = sys.argv[1:] == ["--asyncio"]
    if over_asyncio:
        stub.OverAsyncio.setUpClass()
    logs_in()
    sealed = client_of(REQUIRED, sealing_key=REQUIRED["sealingKey"], seal_parameters=True)
    clear = client_of(OPTIONAL)
    with sealed, clear:
        for client in (sealed, clear):
            anna = adds_employees(client)
            repeats_after_a_broken_connection(client)
            hears_of_all_faulty_fields(client)
            card = orders_and_links(client, anna)
            tops_up(client, card)
            limits(client, card)
            makes_orders_while_they_are_listed(client)
            renews_an_expired_token(client)
        logs_in_anew_after_a_revocation(clear, sealed)
    client_kind = "for asyncio" if over_asyncio else "blocking"
    print(f"Python, {client_kind}: the scenario has passed, sealed and in clear")


if __name__ == "__main__":
    main()
