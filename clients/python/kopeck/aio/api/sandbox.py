"""Calls that only a sandbox has, where a simulator stands for the bank. Elsewhere they fail with 404."""

from __future__ import annotations

from datetime import datetime

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.call import Id
from kopeck.models.generated import Balance, Purchase, Refund
from kopeck.operation import Operation
from kopeck.wire import decode


class Sandbox:
    """Calls that only a sandbox has."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def deposit(self, amount: int, *, idempotency_key: str | None = None) -> Balance:
        """Lets `amount` kopecks arrive on the partner's balance, and returns it."""
        answer = await self._core.call(operations.SANDBOX_DEPOSIT, body={"amount": amount}, key=idempotency_key)
        return decode(Balance, answer)

    async def purchase(
        self,
        id_card: Id,
        amount: int,
        *,
        place: str | None = None,
        mcc: str | None = None,
        merchant_id: str | None = None,
        at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Purchase:
        """Buys something for `amount` kopecks, as far as the card's limit, balance, expiry and block allow.

        `at` is in the service's time zone, in the past or in the future; now, if absent.
        """
        given = {"amount": amount, "place": place, "mcc": mcc, "merchantId": merchant_id, "at": at}
        body = {name: value for name, value in given.items() if value is not None}
        return decode(Purchase, await self._core.call(operations.SANDBOX_PURCHASE, id=id_card, body=body, key=idempotency_key))

    async def refund(
        self, id_card: Id, transaction_id: int, amount: int, *, idempotency_key: str | None = None
    ) -> Refund:
        """Gives `amount` kopecks of a purchase back, up to what earlier refunds have left of it."""
        body = {"transactionId": transaction_id, "amount": amount}
        return decode(Refund, await self._core.call(operations.SANDBOX_REFUND, id=id_card, body=body, key=idempotency_key))

    async def activate(self, id_card: Id, code: str | None = None, *, idempotency_key: str | None = None) -> None:
        """Activates a card by its code; without one the bank does it of its own accord."""
        await self._on_card(
            operations.SANDBOX_ACTIVATE, id_card, idempotency_key, {"activationCode": code} if code else {}
        )

    async def block(self, id_card: Id, *, idempotency_key: str | None = None) -> None:
        """Blocks a card at the bank."""
        await self._on_card(operations.SANDBOX_BLOCK, id_card, idempotency_key)

    async def unblock(self, id_card: Id, *, idempotency_key: str | None = None) -> None:
        """Ends the block of a card at the bank."""
        await self._on_card(operations.SANDBOX_UNBLOCK, id_card, idempotency_key)

    async def expire(self, id_card: Id, *, idempotency_key: str | None = None) -> None:
        """Lets a card expire."""
        await self._on_card(operations.SANDBOX_EXPIRE, id_card, idempotency_key)

    async def bank(
        self,
        *,
        latency_ms: int = 0,
        error_rate: float = 0,
        lose_request_rate: float = 0,
        lose_answer_rate: float = 0,
        duplicate_rate: float = 0,
        silent_feed: bool = False,
        down: bool = False,
        idempotency_key: str | None = None,
    ) -> None:
        """Sets the bank faults from now on, for all partners of the sandbox; none by default.

        The rates are shares from 0 to 1 of the requests to the bank.
        """
        body = {
            "latencyMs": latency_ms,
            "errorRate": error_rate,
            "loseRequestRate": lose_request_rate,
            "loseAnswerRate": lose_answer_rate,
            "duplicateRate": duplicate_rate,
            "silentFeed": silent_feed,
            "down": down,
        }
        await self._core.call(operations.SANDBOX_BANK, body=body, key=idempotency_key)

    async def advance_clock(self, seconds: int, *, idempotency_key: str | None = None) -> None:
        """Moves the service's clock forward, for all partners of the sandbox. It never goes back.

        What is sealed goes by the machine's own time, before and after.
        """
        await self._core.call(operations.SANDBOX_CLOCK, body={"seconds": seconds}, key=idempotency_key)

    async def _on_card(
        self, operation: Operation, id_card: Id, key: str | None, body: dict[str, str] | None = None
    ) -> None:
        # The service takes a POST with a JSON object only, also where nothing is to be said.
        await self._core.call(operation, id=id_card, body=body or {}, key=key)
