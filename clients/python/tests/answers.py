"""The answers of the stub: one object for all operations, each of which reads the fields that it knows."""

from __future__ import annotations

import re
from uuid import UUID

import kopeck
from tests.stub import Reply, Seen

ID = UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
OBJECT = {
    **dict.fromkeys(("idEmployee", "idCard", "idCategory", "orderId"), str(ID)),
    **dict.fromkeys(("replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId"), str(ID)),
    **{"customId": "T-1", "phone": 31234567, "status": "NEW", "createdAt": "01.02.2026"},
    **{"statusUpdatedAt": "01.02.2026", "nameCategory": "N", "statusCard": "MAIN", "customCardId": 4006381333931},
    **{"type": "MP4", "dateUntil": "31.01.2029", "bankStatus": "OPEN", "balance": 5, "canToUp": 6, "hold": 1, "available": 4},
    **{"balanceAccount": {"updateAt": "07.02.2026 03:00", "value": 4}, "updatedAt": "07.02.2026 09:05"},
    **{"limit": {"unlimited": True, "amount": None, "days": None}, "activated": True, "message": "SUCCESS"},
    **{"allowed": False, "reason": "limit", "remaining": 7, "resetsAt": "01.03.2026 00:00", "approved": True},
    **{"transactionId": 9, "typeCard": "MLZ", "customIdCard": "4006381333931", "kind": "VIRTUAL", "id": 3},
    **{"numberCards": 2, "amount": 10, "dateExecutionAt": "07.02.2026", "timeExecutionAt": "09:05"},
    **{"resultReplenishment": False, "amountReplenishment": 5, "errorReplenishment": "expired"},
    **{"resultLimit": True, "errorLimit": None, "newer": [1]},
    **{"resultClosing": True, "amountReturned": 6, "errorClosing": None, "amountMoved": 7},
    **{"resultWithdrawal": False, "amountWithdrawn": 0, "errorWithdrawal": "the card is closed"},
}
META = {"current_page": 1, "from": 1, "to": 1, "total": 1, "last_page": 1, "per_page": 15, "path": "/v1/x"}
LISTS = ("/v1/orders", "/v1/replenishments", "/v1/limits", "/v1/closings", "/v1/withdrawals")
EVENT = {"id": str(ID), "seq": 4, "type": "newer", "createdAt": "2026-02-07T09:05:00Z", "data": {"idCard": str(ID)}}
WEBHOOK = {
    **{"idWebhook": str(ID), "url": "https://a.b/", "types": ["ping"], "description": "", "sealed": True, "enabled": True},
    **{"createdAt": "2026-02-07T09:05:00Z", "lastSuccessAt": None, "pending": 0, "secret": "whsec_s", "eventId": str(ID)},
    **{"idDelivery": str(ID), "seq": 4, "type": "ping", "status": "FAILED", "attempts": 1, "lastStatusCode": 500},
    **{"lastAttemptAt": "2026-02-07T09:05:00Z", "lastError": "e", "nextAttemptAt": None, "deliveries": 2},
}
ENTRY = {
    **{"seq": 3, "at": "07.02.2026 12:00", "type": "HOLD", "amount": -5, "balance": 7, "hold": 8},
    **{"of": {"kind": "order", "id": str(ID), "reference": None}},
}
RUN = {
    **{"idRun": str(ID), "kind": "TOP_UP", "status": "DRAFT", "reference": None, "at": None, "number": 1, "amount": 500},
    **{"faulty": 0, "digest": "ab", "available": 9, "availableAfter": 4, "createdAt": "07.02.2026 09:05"},
    **{"createdBy": "login", "submittedBy": None, "approvedBy": None, "reason": None, "idProgramme": None},
    **{"period": None, "requests": [{"kind": "replenishment", "id": str(ID)}]},
}
PROGRAMME = {
    **{"idProgramme": str(ID), "status": "ACTIVE", "createdAt": "07.02.2026 09:05", "createdBy": "login"},
    **{"nextAt": "05.03.2026 09:00", "name": "Meals", "for": {"all": True}, "statuses": ["WORK"]},
    **{"amount": {"upTo": 500}, "every": "MONTH", "day": 5, "month": None, "time": "09:00", "shift": "BEFORE"},
    **{"proRata": False, "onShortage": "PART", "from": None, "until": "31.12.2026", "reference": None},
    **{"proposed": None, "proposedBy": None},
}
FORECAST = {
    **{"date": "05.03.2026", "idProgramme": str(ID), "period": "2026-03", "people": 2, "needed": 500},
    **{"availableAfter": 4, "short": 0},
}
RUN_ITEM = {
    **{"line": 1, "customId": "T-1", "idEmployee": str(ID), "idCard": str(ID), "amount": 500, "outcome": "DONE"},
    **{"fault": {"field": "amount", "code": "missing", "detail": "must be given"}, "reason": None},
}
STATEMENT = {
    **{"month": "2026-01", "complete": True, "opening": 1, "closing": 2},
    **{"totals": [{"type": "HOLD", "number": 2, "amount": -5}]},
    **{"days": [{"date": "31.01.2026", "opening": 1, "closing": 2, "amount": -5}]},
}
AMOUNTS = {
    **{"opening": 0, "given": 5, "spent": 0, "refunded": 0, "returned": 0, "correction": 0, "late": 0, "closing": 5},
    "payments": 0,
}
PERSON = {"idEmployee": str(ID), "customId": "T-1", "surname": None, "name": None, "patronymic": None, "category": None}
REPORT = {
    **{"month": "2026-02", "complete": True, "sha256": None, "changedByErasure": False},
    **{"data": [{**PERSON, **AMOUNTS}], "totals": AMOUNTS},
}


SESSION = {
    **{"idSession": str(ID), "createdAt": "2026-02-07T09:05:00Z", "lastUsedAt": "2026-02-07T09:05:00Z"},
    **{"address": "10.0.0.1", "current": True},
}
LOGGED = {
    **{"seq": 4, "at": "2026-02-07T09:05:00Z", "requestId": "r-1", "operation": "employee.add", "status": 422, "code": None},
    **{"fields": ["phone"], "durationMs": 7, "credential": None, "address": None, "replayed": False},
}


SETTINGS = {"leavers": {"freeze": True, "takeBackAfterDays": 30, "close": False}}


def answer(seen: Seen) -> Reply:
    if seen.path == "/v1/settings":
        return Reply(200, SETTINGS)
    if seen.path == "/v1/sessions":
        return Reply(200, [SESSION])
    if seen.path.startswith("/v1/session/"):
        return Reply(200, {"idSession": str(ID)})
    if seen.path == "/v1/password":
        return Reply(200, {"success": True, "endedSessions": 2})
    if seen.path == "/v1/requests":
        return Reply(200, {"data": [LOGGED], "next": 4})
    if seen.path == "/v1/events":
        return Reply(200, {"data": [EVENT], "next": 4, "oldest": 2, "newest": 9})
    if seen.path == "/v1/balance/entries":
        return Reply(200, {"opening": 1, "closing": 2, "data": [ENTRY], "meta": META})
    if seen.path == "/v1/statement/2026-01":
        if seen.headers["accept"] == kopeck.FileFormat.XLSX.value:
            return Reply(200, b"PK\xff")
        return Reply(200, STATEMENT)
    if seen.path == "/v1/report/employees/2026-02":
        return Reply(200, b"PK\xff" if seen.headers["accept"] == kopeck.FileFormat.XLSX.value else REPORT)
    if seen.path == "/v1/report/2026-02/close":
        return Reply(200, {"month": "2026-02", "sha256": "0f" * 32})
    if seen.path == "/v1/transactions":
        read = [] if "after=4" in seen.target else [{**OBJECT, "seq": 4, "type": "PAYMENT"}]
        return Reply(200, {"data": read, "next": 4})
    if seen.path.endswith("/result") and seen.headers["accept"] == kopeck.FileFormat.CSV.value:
        return Reply(200, b"customId,outcome,reason\r\n")
    if seen.path.startswith("/v1/programme"):
        listed = FORECAST if "/forecast" in seen.path else RUN if seen.path.endswith("/runs") else PROGRAMME
        return Reply(200, {**PROGRAMME, "data": [listed], "meta": META})
    if seen.path.startswith("/v1/run"):
        return Reply(200, {**RUN, "data": [RUN_ITEM if re.search("/(items|result)$", seen.path) else RUN], "meta": META})
    if seen.path.startswith("/v1/webhook"):
        return Reply(200, {**WEBHOOK, "data": [WEBHOOK], "meta": META})
    item = dict(OBJECT)
    if seen.path in LISTS:
        item |= {"createdAt": "07.02.2026 09:05", "statusUpdatedAt": "07.02.2026 09:06"}
    data: object = [item]
    if re.fullmatch(r"/v1/(employee|card)/[^/]+", seen.path):
        data = item
    return Reply(200, {**item, "data": data, "meta": META})
