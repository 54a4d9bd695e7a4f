"""The operations that the client calls. A call is made of one of them and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the service."""

    method: str
    path: str
    """With its `{placeholders}`."""
    changes: bool = False
    """Whether it changes something. Its calls have an idempotency key then."""


def _get(path: str) -> Operation:
    return Operation("GET", path)


def _ask(path: str) -> Operation:
    """A `POST` that only asks."""
    return Operation("POST", path)


def _post(path: str) -> Operation:
    return Operation("POST", path, changes=True)


LOGIN = _ask("/v1/get_access_token")
REFRESH = _ask("/v1/get_refresh_token")

ADD_EMPLOYEE = _post("/v1/employee/add")
UPDATE_EMPLOYEE = Operation("PUT", "/v1/employee/{idEmployee}", changes=True)
ERASE_EMPLOYEE = Operation("DELETE", "/v1/employee/{idEmployee}", changes=True)
GET_EMPLOYEE = _get("/v1/employee/{idEmployee}")
LIST_EMPLOYEES = _get("/v1/employees")

CREATE_CATEGORY = _post("/v1/category")
RENAME_CATEGORY = Operation("PUT", "/v1/category/{idCategory}", changes=True)
DELETE_CATEGORY = Operation("DELETE", "/v1/category/{idCategory}", changes=True)
LIST_CATEGORIES = _get("/v1/categories")

CARD_INFO = _get("/v1/card/{idCard}")
CARD_BALANCE = _get("/v1/card/{idCard}/balance")
CARD_TRANSACTIONS = _get("/v1/card/{idCard}/transactions")
CAN_PAY = _ask("/v1/card/{idCard}/can-pay")
LIST_CARDS = _get("/v1/cards")
AVAILABLE_CARDS = _get("/v1/cards/available")
LINK_CARD = _post("/v1/employee/{idEmployee}/link_card")
SWITCH_CARD = _post("/v1/employee/{idEmployee}/card/switch")
UNLINK_CARD = Operation("DELETE", "/v1/employee/{idEmployee}/card/{idCard}", changes=True)

ORDER_PLASTIC = _post("/v1/order/plasticcards")
ORDER_VIRTUAL = _post("/v1/order/virtualcards")
ORDER_STATUS = _get("/v1/order/status/{order_id}")
ORDER_RESULT = _get("/v1/order/result/{order_id}")
CONFIRM_ORDER = _post("/v1/order/confirm")
CANCEL_ORDER = _post("/v1/order/cancel")
LIST_ORDERS = _get("/v1/orders")

REPLENISH = _post("/v1/replenishment")
REPLENISHMENT_STATUS = _get("/v1/replenishment/status")
REPLENISHMENT_RESULT = _get("/v1/replenishment/result")
CANCEL_REPLENISHMENT = Operation("DELETE", "/v1/replenishment/{replenishmentId}", changes=True)
LIST_REPLENISHMENTS = _get("/v1/replenishments")

SET_LIMITS = _post("/v1/setlimitscards")
LIMITS_STATUS = _ask("/v1/limits/status")
LIMITS_RESULT = _get("/v1/limits/result/{setLimitsCardsId}")
CANCEL_LIMITS = _post("/v1/limits/cancel")
LIST_LIMITS = _get("/v1/limits")

CREATE_CLOSING = _post("/v1/closings")
CLOSING_STATUS = _get("/v1/closing/{closingId}/status")
CLOSING_RESULT = _get("/v1/closing/{closingId}/result")
CANCEL_CLOSING = Operation("DELETE", "/v1/closing/{closingId}", changes=True)
LIST_CLOSINGS = _get("/v1/closings")

CREATE_WITHDRAWAL = _post("/v1/withdrawals")
WITHDRAWAL_STATUS = _get("/v1/withdrawal/{withdrawalId}/status")
WITHDRAWAL_RESULT = _get("/v1/withdrawal/{withdrawalId}/result")
CANCEL_WITHDRAWAL = Operation("DELETE", "/v1/withdrawal/{withdrawalId}", changes=True)
LIST_WITHDRAWALS = _get("/v1/withdrawals")

BALANCE = _get("/v1/balance")
BALANCE_ENTRIES = _get("/v1/balance/entries")
STATEMENT = _get("/v1/statement/{month}")
TRANSACTION_FEED = _get("/v1/transactions")
EVENT_FEED = _get("/v1/events")

CREATE_WEBHOOK = _post("/v1/webhooks")
LIST_WEBHOOKS = _get("/v1/webhooks")
GET_WEBHOOK = _get("/v1/webhook/{idWebhook}")
UPDATE_WEBHOOK = Operation("PUT", "/v1/webhook/{idWebhook}", changes=True)
DELETE_WEBHOOK = Operation("DELETE", "/v1/webhook/{idWebhook}", changes=True)
ROTATE_WEBHOOK_SECRET = _post("/v1/webhook/{idWebhook}/secret")
PING_WEBHOOK = _post("/v1/webhook/{idWebhook}/ping")
LIST_DELIVERIES = _get("/v1/webhook/{idWebhook}/deliveries")
REDELIVER = _post("/v1/webhook/{idWebhook}/redeliver")

DEPOSIT = _post("/sandbox/v1/balance/deposit")
PURCHASE = _post("/sandbox/v1/card/{idCard}/purchase")
REFUND = _post("/sandbox/v1/card/{idCard}/refund")
ACTIVATE_CARD = _post("/sandbox/v1/card/{idCard}/activate")
BLOCK_CARD = _post("/sandbox/v1/card/{idCard}/block")
UNBLOCK_CARD = _post("/sandbox/v1/card/{idCard}/unblock")
EXPIRE_CARD = _post("/sandbox/v1/card/{idCard}/expire")
SET_BANK = _post("/sandbox/v1/bank")
ADVANCE_CLOCK = _post("/sandbox/v1/clock/advance")
