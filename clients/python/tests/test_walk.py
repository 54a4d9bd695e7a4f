"""Lists that change while they are read."""

from __future__ import annotations

import random
import unittest
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from kopeck.models.page import Page, PageMeta
from kopeck.walk import Walk
from tests.stub import OverAsyncio, Reply, Seen, Stub


def page_of(records: list[int], number: int, size: int) -> Page[int]:
    """A page as the service gives it."""
    first, total = (number - 1) * size, len(records)
    last_page = max(1, -(-total // size))
    return Page(tuple(records[first : first + size]), PageMeta(number, last_page, size, total=total))


def walked(records: list[int], per_page: int, change: Callable[[list[int]], None]) -> list[int]:
    """What a walk finds in a list that `change` changes after each page."""
    walk: Walk[int] = Walk(per_page, lambda record: record)
    found: list[int] = []
    while not walk.ended:
        number, size = walk.next_page()
        assert 1 <= size <= max(per_page, 20)
        found += walk.take(page_of(records, number, size))
        change(records)
    return found


class Walks(unittest.TestCase):
    def test_a_list_that_stays_is_read_whole_and_in_order(self) -> None:
        for length in (0, 1, 19, 20, 21, 99, 100, 101, 997, 2_520, 2_521):
            for per_page in (1, 20, 33, 100, 500):
                records = list(range(length))
                self.assertEqual(walked(records, per_page, lambda _: None), records, (length, per_page))

    def test_overlaps_are_small(self) -> None:
        read = 0
        records = list(range(10_000))
        walk: Walk[int] = Walk(100, lambda record: record)
        while not walk.ended:
            number, size = walk.next_page()
            page = page_of(records, number, size)
            read += len(page.data)
            walk.take(page)
        self.assertLess(read, 10_500)

    def test_what_stays_in_a_list_comes_once_however_the_list_changes(self) -> None:
        for seed in range(300):
            chance = random.Random(seed)
            records = list(range(chance.randrange(400)))
            stays = {record for record in records if chance.random() < 0.5}
            # New ones come to the front of lists with the newest first, and to the end of others; those that a filter
            # lets in come anywhere.
            place = chance.choice(("front", "end", "anywhere"))
            fresh = iter(range(1_000_000, 2_000_000))

            pages = iter(range(100))

            def change(records: list[int]) -> None:
                # A list that grows as fast as it is read would have no end.
                if next(pages, None) is None:
                    return
                for record in [record for record in records if record not in stays and chance.random() < 0.2]:
                    records.remove(record)
                for _ in range(chance.randrange(30)):
                    at = {"front": 0, "end": len(records)}.get(place, chance.randrange(len(records) + 1))
                    records.insert(at, next(fresh))

            order = list(records)
            found = walked(records, chance.choice((1, 20, 50)), change)
            self.assertEqual(len(found), len(set(found)), seed)
            there = [record for record in order if record in stays and record < 1_000_000]
            self.assertEqual([record for record in found if record in set(there)], there, seed)


class Service:
    """A service whose lists change after their first page was read."""

    def __init__(self, ids: list[UUID], change: Callable[[list[UUID]], None]) -> None:
        self.ids, self.change = ids, change

    def answer(self, seen: Seen) -> Reply:
        query = parse_qs(urlsplit(seen.target).query)
        number, size = int(query["page"][0]), int(query["per_page"][0])
        first = (number - 1) * size
        data = [self.record(id) for id in self.ids[first : first + size]]
        last = max(1, -(-len(self.ids) // size))
        meta: dict[str, Any] = {"current_page": number, "from": 1, "to": 1, "total": len(self.ids), "last_page": last}
        if number == 1:
            self.change(self.ids)
        return Reply(200, {"data": data, "meta": meta | {"per_page": size, "path": seen.path}})

    def record(self, id: UUID) -> dict[str, Any]:
        names = ("orderId", "idCategory", "idCard", "idEmployee", "replenishmentId", "setLimitsCardsId")
        record: dict[str, Any] = {name: str(id) for name in names}
        record |= {"id": id.int, "status": "WORK", "kind": "VIRTUAL", "typeCard": "MLZ", "numberCards": 1, "amount": 1}
        record |= {"createdAt": "07.02.2026 09:05", "statusUpdatedAt": "07.02.2026 09:05", "nameCategory": "N"}
        record |= {"customIdCard": "1", "dateUntil": "31.01.2029", "bankStatus": "OPEN", "customId": "T", "type": "PAYMENT"}
        return {**record, "dateExecutionAt": "07.02.2026", "timeExecutionAt": "09:05"}


class ListsThatChange(unittest.TestCase):
    def test_an_order_made_meanwhile_neither_repeats_nor_hides_another(self) -> None:
        ids = [UUID(int=number) for number in range(60, 0, -1)]
        service = Service(list(ids), lambda all: all.insert(0, UUID(int=len(all) + 100)))
        with Stub(service.answer) as stub, stub.client() as client:
            self.assertEqual([order.order_id for order in client.orders.all(per_page=20)], ids)
            service.ids = list(ids)
            self.assertEqual([one.replenishment_id for one in client.replenishments.all(per_page=20)], ids)
            service.ids = list(ids)
            self.assertEqual([one.set_limits_cards_id for one in client.limits.all(per_page=20)], ids)
            service.ids = list(ids)
            transactions = client.cards.all_transactions(ids[0], per_page=20)
            self.assertEqual([one.id for one in transactions], [id.int for id in ids])

    def test_what_leaves_a_list_meanwhile_hides_no_other(self) -> None:
        ids = [UUID(int=number) for number in range(1, 61)]
        service = Service(list(ids), lambda all: all.__delitem__(slice(3)))
        with Stub(service.answer) as stub, stub.client() as client:
            self.assertEqual([one.id_category for one in client.categories.all(per_page=20)], ids)
            service.ids = list(ids)
            self.assertEqual([one.id_card for one in client.cards.all_available(per_page=20)], ids)


class AsyncListsThatChange(OverAsyncio, ListsThatChange):
    pass


if __name__ == "__main__":
    unittest.main()
