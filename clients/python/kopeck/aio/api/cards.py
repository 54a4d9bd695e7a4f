"""Cards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date, datetime

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.generated import (
    AvailableCard,
    Card,
    CardBalance,
    LinkedCard,
    PaymentAnswer,
    Transaction,
    UnlinkedCard,
)
from kopeck.models.page import Page, decode_page
from kopeck.wire import decode, under_data
from kopeck.words import BankStatus, CardStatus, CardType, TransactionType


class Cards:
    """Calls about cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def info(self, id_card: Id) -> Card:
        """Reads a card."""
        return decode(Card, under_data(await self._core.call(operations.CARD_INFO, id=id_card)))

    async def balance(self, id_card: Id) -> CardBalance:
        """Reads a card's balance."""
        return decode(CardBalance, await self._core.call(operations.CARD_BALANCE, id=id_card))

    async def transactions(
        self,
        id_card: Id,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        transaction_type: TransactionType | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[Transaction]:
        """Lists a card's transactions, the newest first; 100 on a page by default, 500 at most.

        Both dates are inclusive.
        """
        query = {"from": from_date, "to": to_date, "type": transaction_type, "page": page, "per_page": per_page}
        return decode_page(Transaction, await self._core.call(operations.CARD_TRANSACTIONS, id=id_card, query=query))

    def all_transactions(
        self,
        id_card: Id,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        transaction_type: TransactionType | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Transaction]:
        """All of a card's transactions, read page by page as they are asked for; each once, whatever is added meanwhile."""
        return pages(
            lambda page, size: self.transactions(
                id_card,
                from_date=from_date,
                to_date=to_date,
                transaction_type=transaction_type,
                page=page,
                per_page=size,
            ),
            per_page,
            lambda transaction: transaction.id,
        )

    async def can_pay(
        self, id_card: Id, amount: int, *, at: datetime | None = None, mcc: str | None = None
    ) -> PaymentAnswer:
        """Asks whether a card would pay `amount` kopecks, now or at another time.

        `at` is to the minute, in the service's time zone; `mcc` is the merchant's category code, for limits by merchant.
        Nothing is paid or reserved.
        """
        body = {"amount": amount, **({} if at is None else {"at": at}), **({} if mcc is None else {"mcc": mcc})}
        return decode(PaymentAnswer, await self._core.call(operations.CARD_CAN_PAY, id=id_card, body=body))

    async def list(
        self,
        *,
        linked: bool | None = None,
        status_card: CardStatus | None = None,
        bank_status: BankStatus | None = None,
        type_card: CardType | None = None,
        order_id: Id | None = None,
        id_employee: Id | None = None,
        expires_before: date | None = None,
        custom_id_card: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[Card]:
        """Lists cards, the first issued first, with the service's own copy of the bank's data.

        `linked` tells those of employees from those of none. A page has 15 records by default, 500 at most.
        """
        query = {
            "linked": None if linked is None else str(linked).lower(),
            "statusCard": status_card,
            "bankStatus": bank_status,
            "typeCard": type_card,
            "orderId": order_id,
            "idEmployee": id_employee,
            "expiresBefore": expires_before,
            "customIdCard": custom_id_card,
        }
        answer = await self._core.call(operations.CARD_LIST, query={**query, "page": page, "per_page": per_page})
        return decode_page(Card, answer)

    def all(
        self,
        *,
        linked: bool | None = None,
        status_card: CardStatus | None = None,
        bank_status: BankStatus | None = None,
        type_card: CardType | None = None,
        order_id: Id | None = None,
        id_employee: Id | None = None,
        expires_before: date | None = None,
        custom_id_card: str | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Card]:
        """All cards, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                linked=linked,
                status_card=status_card,
                bank_status=bank_status,
                type_card=type_card,
                order_id=order_id,
                id_employee=id_employee,
                expires_before=expires_before,
                custom_id_card=custom_id_card,
                page=page,
                per_page=size,
            ),
            per_page,
            lambda card: card.id_card,
        )

    async def available(
        self, *, type_card: CardType | None = None, page: int | None = None, per_page: int | None = None
    ) -> Page[AvailableCard]:
        """Lists the cards that are free to be linked; 15 on a page by default, 500 at most."""
        query = {"typeCard": type_card, "page": page, "per_page": per_page}
        return decode_page(AvailableCard, await self._core.call(operations.CARD_AVAILABLE, query=query))

    def all_available(self, *, type_card: CardType | None = None, per_page: int = 100) -> AsyncIterator[AvailableCard]:
        """All unassigned cards, read page by page as they are asked for; each once, even if cards are linked meanwhile."""
        return pages(
            lambda page, size: self.available(type_card=type_card, page=page, per_page=size),
            per_page,
            lambda card: card.id_card,
        )

    async def link(
        self, id_employee: Id, custom_id_card: str, status: CardStatus, *, idempotency_key: str | None = None
    ) -> LinkedCard:
        """Links an unassigned card, named by its number on the bank's side, to an employee."""
        body = {"customIdCard": custom_id_card, "statusCard": status}
        answer = await self._core.call(operations.CARD_LINK, id=id_employee, body=body, key=idempotency_key)
        return decode(LinkedCard, answer)

    async def switch(
        self, id_employee: Id, id_card: Id, status: CardStatus, *, idempotency_key: str | None = None
    ) -> LinkedCard:
        """Changes what a card is to its employee."""
        body = {"idCard": id_card, "statusCard": status}
        answer = await self._core.call(operations.CARD_SWITCH, id=id_employee, body=body, key=idempotency_key)
        return decode(LinkedCard, answer)

    async def unlink(self, id_employee: Id, id_card: Id, *, idempotency_key: str | None = None) -> UnlinkedCard:
        """Unlinks a card from its employee.

        One that is closed or has expired, or that was never activated and holds no money, which is free again.
        """
        ids = (id_employee, id_card)
        return decode(UnlinkedCard, await self._core.call(operations.CARD_UNLINK, id=ids, key=idempotency_key))
