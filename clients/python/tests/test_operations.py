"""Every operation: what it sends, and that its answer is read."""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from pathlib import Path

import kopeck
from kopeck import BankStatus, CardClosing, CardLimit, CardRef, CardStatus, CardType, CardWithdrawal, Client, ClosingReason
from kopeck import EmployeeStatus, EntryType, LimitPeriod, MerchantCategories, PlasticItem, RequestState
from kopeck import TimeWindow, TopUp, TransactionType, VirtualItem
from tests.answers import ID, answer
from tests.stub import TOKEN_PATHS, OverAsyncio, Seen, Stub

API = Path(__file__).parents[3] / "docs/API.md"
NOON = datetime(2026, 2, 7, 12, 0)


def line(seen: Seen) -> str:
    """`METHOD path?query body`, with the identifier as `ID`."""
    condition = f" if-match: {seen.headers['if-match']}" if "if-match" in seen.headers else ""
    return f"{seen.method} {seen.target} {seen.body}{condition}".replace(str(ID), "ID").rstrip()


def sent_by(calls: Callable[[Client], object]) -> list[Seen]:
    with Stub(answer) as stub, stub.client() as client:
        calls(client)
        return stub.seen


class Operations(unittest.TestCase):
    maxDiff = None

    def check(self, calls: Callable[[Client], object], *lines: str) -> None:
        seen = [one for one in sent_by(calls) if one.path not in TOKEN_PATHS]
        self.assertEqual([line(one) for one in seen], list(lines))
        for one in seen:
            # Three calls ask by POST; what changes something has a key, and nothing else has.
            asked = ("/v1/limits/status", "/v1/programmes/forecast")
            asks = one.method == "GET" or one.path.endswith("/can-pay") or one.path in asked
            self.assertEqual("idempotency-key" not in one.headers, asks, one.target)

    def test_employees_and_categories(self) -> None:
        self.check(
            employees_and_categories,
            'POST /v1/employee/add {"customId":"T-1","phone":"9031234567"}',
            'PUT /v1/employee/ID {"email":null,"status":"WORK"}',
            'PUT /v1/employee/ID {"name":"N"} if-match: "1f"',
            "GET /v1/employee/ID",
            "GET /v1/employee/ID",
            "GET /v1/employees?status=WORK&idCategory=ID&customId=T-1&q=a+b&page=1&per_page=15",
            "GET /v1/employees?page=1&per_page=100",
            "DELETE /v1/employee/ID",
            'POST /v1/category {"nameCategory":"Ё"}',
            'PUT /v1/category/ID {"nameCategory":"N"}',
            "DELETE /v1/category/ID",
            "GET /v1/categories",
        )

    def test_cards_and_balance(self) -> None:
        self.check(
            cards_and_balance,
            "GET /v1/card/ID",
            "GET /v1/card/ID/balance",
            "GET /v1/card/ID/transactions?from=07.02.2026&type=PAYMENT",
            'POST /v1/card/ID/can-pay {"amount":500,"at":"07.02.2026 12:00","mcc":"5812"}',
            'POST /v1/card/ID/can-pay {"amount":500}',
            "GET /v1/cards/available?typeCard=MLZ",
            'POST /v1/employee/ID/link_card {"customIdCard":"4006381333931","statusCard":"MAIN"}',
            'POST /v1/employee/ID/card/switch {"idCard":"ID","statusCard":"ADDITIONAL"}',
            "DELETE /v1/employee/ID/card/ID",
            "GET /v1/cards?linked=false&statusCard=MAIN&bankStatus=CLOSED&typeCard=MLZ&orderId=ID&idEmployee=ID"
            "&expiresBefore=07.02.2026&customIdCard=8747859702",
            "GET /v1/cards?linked=true&page=1&per_page=100",
            "GET /v1/balance",
        )

    def test_statements(self) -> None:
        self.check(
            statements,
            "GET /v1/balance/entries?from=07.02.2026&to=07.02.2026&type=HOLD&page=1",
            "GET /v1/balance/entries?page=1&per_page=100",
            "GET /v1/statement/2026-01",
            "GET /v1/statement/2026-01",
            "GET /v1/report/employees/2026-02?idCategory=ID&idProgramme=ID",
            "GET /v1/report/employees/2026-02?lang=ru",
            'POST /v1/report/2026-02/close {}',
            "GET /v1/transactions?after=3&limit=10&type=PAYMENT&idCard=ID&idEmployee=ID",
            "GET /v1/transactions?after=0&limit=1000&from=07.02.2026&to=07.02.2026",
            "GET /v1/transactions?after=4&limit=1000&from=07.02.2026&to=07.02.2026",
        )

    def test_orders(self) -> None:
        self.check(
            orders,
            'POST /v1/order/plasticcards {"data":[{"numberCards":2,"typeCard":"KKL","deliveryAddress":"A",'
            '"recipient":"R","phone":"9031234567"}],"reference":"PO-7"}',
            'POST /v1/order/virtualcards {"data":[{"numberCards":2,"amount":5000,"typeCard":"MLZ"}],"reference":"PO-8"}',
            "GET /v1/order/status/ID",
            "GET /v1/order/result/ID",
            'POST /v1/order/confirm {"orderId":"ID"}',
            'POST /v1/order/cancel {"orderId":"ID"}',
            "GET /v1/order/status/ID",
            "GET /v1/orders?status=NEW&reference=PO-7&from=07.02.2026&to=07.02.2026&page=1",
        )

    def test_replenishments_and_limits(self) -> None:
        self.check(
            replenishments_and_limits,
            'POST /v1/replenishment {"cards":[{"idCard":"ID","amountReplenishment":100},'
            '{"amountReplenishment":200,"customId":"T-1"}],"reference":"PO-7"}',
            "GET /v1/replenishment/status?idReplenishment=ID",
            "GET /v1/replenishment/result?idReplenishment=ID",
            "DELETE /v1/replenishment/ID",
            "GET /v1/replenishments?reference=PO-7",
            'POST /v1/setlimitscards {"data":[{"idCard":"ID"},{"customIdCard":"8747859702"}],"limit":{"unlimited":false,"amount":100,'
            '"period":"CDAY","days":[1,7],"times":[{"from":"08:00","to":"24:00"}],"merchantCategories":{"except":["5812"]}},"reference":"PO-7"}',
            'POST /v1/limits/status {"setLimitsCardsId":"ID"}',
            'POST /v1/limits/cancel {"setLimitsCardsId":"ID"}',
            "GET /v1/limits/result/ID",
            "GET /v1/limits?status=DECLINE",
        )

    def test_closings_and_withdrawals(self) -> None:
        self.check(
            closings_and_withdrawals,
            'POST /v1/closings {"data":[{"idCard":"ID","reason":"STOLEN"}],"reference":"A-7"}',
            "GET /v1/closing/ID/status",
            "GET /v1/closing/ID/result",
            "DELETE /v1/closing/ID",
            "GET /v1/closings",
            'POST /v1/withdrawals {"data":[{"idCard":"ID","amount":300},{"idCard":"ID"}]}',
            "GET /v1/withdrawal/ID/status",
            "GET /v1/withdrawal/ID/result",
            "DELETE /v1/withdrawal/ID",
            "GET /v1/withdrawals?status=DECLINE",
        )

    def test_events(self) -> None:
        self.check(
            events,
            "GET /v1/events?after=3&limit=10&types=card.issued%2Cnewer&wait=5",
            "GET /v1/events?after=0&wait=20",
            "GET /v1/events?after=4&wait=20",
            "GET /v1/events?after=newest",
            "GET /v1/events?after=newest&types=ping&wait=20",
            "GET /v1/events?after=4&types=ping&wait=20",
        )

    def test_sessions_and_requests(self) -> None:
        self.check(
            sessions,
            "GET /v1/sessions",
            "DELETE /v1/session/ID",
            'PUT /v1/password {"current":"old","new":"new"}',
            "GET /v1/requests?after=3&limit=10&status=422&operation=employee.add&requestId=r-1",
            "GET /v1/requests?after=0",
        )

    def test_settings(self) -> None:
        self.check(
            settings,
            "GET /v1/settings",
            'PUT /v1/settings {"leavers":{"freeze":true,"close":false,"takeBackAfterDays":30}}',
            'PUT /v1/settings {"leavers":{"freeze":false,"close":false}}',
        )

    def test_programmes(self) -> None:
        terms = '{"name":"Meals","for":{"all":true},"amount":{"upTo":500},"every":"MONTH","day":5}'
        self.check(
            programmes,
            f"POST /v1/programmes {terms}",
            "GET /v1/programmes?page=1",
            "GET /v1/programme/ID",
            f"PUT /v1/programme/ID {terms}",
            "POST /v1/programme/ID/pause",
            "POST /v1/programme/ID/resume",
            "POST /v1/programme/ID/approve {}",
            "POST /v1/programme/ID/refuse {}",
            "GET /v1/programme/ID/runs",
            "GET /v1/programmes/forecast?until=07.02.2026",
            f"POST /v1/programmes/forecast {terms}",
            f'POST /v1/programmes/forecast {terms[:-1]},"idProgramme":"ID","forecastUntil":"07.02.2026"}}',
            "DELETE /v1/programme/ID",
        )

    def test_runs(self) -> None:
        self.check(
            runs,
            'POST /v1/runs {"kind":"TOP_UP","items":[{"customId":"T-1","amount":500}],"reference":"R-1","at":"07.02.2026 12:00"}',
            'POST /v1/runs {"kind":"TOP_UP","file":"Y3VzdG9tSWQ=","reference":"R-2"}',
            "GET /v1/run/ID",
            "GET /v1/run/ID/items?faulty=true",
            'POST /v1/run/ID/submit {"digest":"ab","skipFaulty":true}',
            'POST /v1/run/ID/approve {"digest":"ab"}',
            'POST /v1/run/ID/refuse {"reason":"no"}',
            "POST /v1/run/ID/cancel",
            "GET /v1/run/ID/result",
            "GET /v1/run/ID/result",
            "GET /v1/runs?status=DRAFT&from=07.02.2026",
        )

    def test_webhooks(self) -> None:
        self.check(
            webhooks,
            'POST /v1/webhooks {"url":"https://a.b/","types":["ping"],"sealed":true}',
            "GET /v1/webhooks",
            "GET /v1/webhook/ID",
            'PUT /v1/webhook/ID {"types":null,"enabled":false}',
            "DELETE /v1/webhook/ID",
            "POST /v1/webhook/ID/secret",
            "POST /v1/webhook/ID/ping",
            "GET /v1/webhook/ID/deliveries?status=FAILED",
            'POST /v1/webhook/ID/redeliver {"after":0}',
            'POST /v1/webhook/ID/redeliver {"eventId":"ID"}',
        )

    def test_sandbox(self) -> None:
        self.check(
            sandbox,
            'POST /sandbox/v1/balance/deposit {"amount":100}',
            'POST /sandbox/v1/card/ID/purchase {"amount":5,"place":"P","mcc":"5812","merchantId":"M",'
            '"at":"07.02.2026 12:00"}',
            'POST /sandbox/v1/card/ID/refund {"transactionId":9,"amount":5}',
            'POST /sandbox/v1/card/ID/activate {"activationCode":"code"}',
            "POST /sandbox/v1/card/ID/activate {}",
            "POST /sandbox/v1/card/ID/block {}",
            "POST /sandbox/v1/card/ID/unblock {}",
            "POST /sandbox/v1/card/ID/expire {}",
            'POST /sandbox/v1/bank {"latencyMs":0,"errorRate":0.5,"loseRequestRate":0,"loseAnswerRate":0,"duplicateRate":0,"silentFeed":false,"down":false}',
            'POST /sandbox/v1/clock/advance {"seconds":60}',
        )

    def test_every_operation_of_the_reference_has_a_method(self) -> None:
        named = set(re.findall(r"(?m)^`((?:GET|POST|PUT|PATCH|DELETE) /\S+)`$", API.read_text()))
        # What another operation asks, in another spelling.
        named -= {f"GET /v1/replenishment/{{replenishmentId}}/{what}" for what in ("status", "result")}
        self.assertGreater(len(named), 40)
        groups = (
            employees_and_categories,
            cards_and_balance,
            orders,
            replenishments_and_limits,
            closings_and_withdrawals,
            statements,
            events,
            webhooks,
            programmes,
            runs,
            sandbox,
            sessions,
            settings,
            tokens,
        )
        lines = (f"{one.method} {one.path}" for calls in groups for one in sent_by(calls))
        sent = {re.sub(rf"{ID}|2026-0\d", "{}", line) for line in lines}
        self.assertEqual(sent, {re.sub(r"\{\w+\}", "{}", operation) for operation in named})


def tokens(client: Client) -> None:
    client.login()
    client.refresh()


def employees_and_categories(client: Client) -> None:
    assert client.employees.add("T-1", phone="9031234567").phone == "0031234567"
    client.employees.update(ID, email=None, status=EmployeeStatus.WORK)
    client.employees.update(ID, name="N", if_match='"1f"')
    assert client.employees.get(str(ID)).id_employee == ID
    assert client.employees.get_tagged(ID)[0].id_employee == ID
    page = client.employees.list(
        status=EmployeeStatus.WORK, id_category=ID, custom_id="T-1", q="a b", page=1, per_page=15
    )
    assert (page.next, page.meta.first, page.data[0].created_at) == (None, 1, date(2026, 2, 1))
    assert len(list(client.employees.all())) == 1
    assert client.employees.erase(ID).id_employee == ID
    client.categories.create("Ё")
    client.categories.rename(ID, "N")
    assert client.categories.delete(ID).name_category == "N"
    assert client.categories.list().data[0].id_category == ID


def cards_and_balance(client: Client) -> None:
    card = client.cards.info(ID)
    assert card.limit == CardLimit(unlimited=True) and card.card_type is CardType.MP4
    assert client.cards.balance(ID).balance_account.value == 4
    page = client.cards.transactions(ID, from_date=NOON.date(), transaction_type=TransactionType.PAYMENT)
    assert page.data[0].time_execution_at == time(9, 5)
    assert client.cards.can_pay(ID, 500, at=NOON, mcc="5812").resets_at == datetime(2026, 3, 1)
    assert not client.cards.can_pay(ID, 500).allowed
    assert client.cards.available(type_card=CardType.MLZ).data[0].custom_id_card == "4006381333931"
    assert client.cards.link(ID, "4006381333931", CardStatus.MAIN).id_card == ID
    assert client.cards.switch(ID, ID, CardStatus.ADDITIONAL).status_card is CardStatus.MAIN
    assert client.cards.unlink(ID, ID).id_card == ID
    listed = client.cards.list(
        linked=False,
        status_card=CardStatus.MAIN,
        bank_status=BankStatus.CLOSED,
        type_card=CardType.MLZ,
        order_id=ID,
        id_employee=ID,
        expires_before=NOON.date(),
        custom_id_card="8747859702",
    )
    assert listed.data[0] == card
    assert len(list(client.cards.all(linked=True))) == 1
    assert client.balance().hold == 1


def statements(client: Client) -> None:
    day = NOON.date()
    page = client.statements.entries(from_date=day, to_date=day, entry_type=EntryType.HOLD, page=1)
    (entry,) = page.data
    assert (page.opening, page.closing, page.next, entry.seq, entry.at) == (1, 2, None, 3, NOON)
    assert (entry.amount, entry.balance, entry.hold, entry.of.kind.value, entry.of.id) == (-5, 7, 8, "order", ID)
    assert [one.entry_type for one in client.statements.all_entries()] == [EntryType.HOLD]
    statement = client.statements.month("2026-01")
    assert (statement.complete, statement.totals[0].number, statement.days[0].date) == (True, 2, date(2026, 1, 31))
    assert client.statements.file("2026-01", kopeck.FileFormat.XLSX) == b"PK\xff"
    report = client.statements.report("2026-02", id_category=ID, id_programme=ID)
    assert (report.data[0].custom_id, report.totals.closing, report.sha256) == ("T-1", 5, None)
    assert client.statements.report_file("2026-02", kopeck.FileFormat.XLSX, lang="ru") == b"PK\xff"
    assert client.statements.close_report("2026-02").month == "2026-02"
    kind = TransactionType.PAYMENT
    feed = client.statements.transactions(after=3, limit=10, transaction_type=kind, id_card=ID, id_employee=str(ID))
    assert (feed.next, feed.data[0].seq, feed.data[0].custom_id, feed.data[0].id) == (4, 4, "T-1", 3)
    all_of_day = client.statements.all_transactions(from_date=day, to_date=day)
    assert [one.seq for one in all_of_day] == [4]


def orders(client: Client) -> None:
    plastic = PlasticItem(2, CardType.KKL, "A", "R", "9031234567")
    assert client.orders.plastic([plastic], reference="PO-7").order_id == ID
    client.orders.virtual([VirtualItem(2, 5_000)], reference="PO-8")
    assert client.orders.status(ID).state is RequestState.SUCCESS
    assert client.orders.result(ID).data[0].custom_id_card == "4006381333931"
    assert client.orders.confirm(ID).id == ID
    client.orders.cancel(ID)
    assert client.orders.status(ID).reference is None
    day = NOON.date()
    listed = client.orders.list(status=RequestState.NEW, reference="PO-7", from_date=day, to_date=day, page=1)
    assert (listed.data[0].kind, listed.data[0].reference) == (kopeck.OrderKind.VIRTUAL, None)


def replenishments_and_limits(client: Client) -> None:
    assert client.replenishments.create([TopUp(ID, 100), TopUp(None, 200, custom_id="T-1")], reference="PO-7").replenishment_id == ID
    client.replenishments.status(ID)
    assert client.replenishments.result(ID)[0].error == "expired"
    client.replenishments.cancel(ID)
    assert client.replenishments.list(reference="PO-7").data[0].created_at == datetime(2026, 2, 7, 9, 5)
    limit = CardLimit(
        amount=100,
        period=LimitPeriod.DAY,
        days=(1, 7),
        times=(TimeWindow("08:00", "24:00"),),
        merchant_categories=MerchantCategories(except_=("5812",)),
    )
    assert client.limits.set([ID, CardRef(custom_id_card="8747859702")], limit, reference="PO-7").set_limits_cards_id == ID
    client.limits.status(ID)
    client.limits.cancel(ID)
    assert client.limits.result(ID)[0].succeeded
    client.limits.list(status=RequestState.DECLINE)


def closings_and_withdrawals(client: Client) -> None:
    assert client.closings.create([CardClosing(ID, ClosingReason.STOLEN)], reference="A-7").closing_id == ID
    assert client.closings.status(ID).id == ID
    result = client.closings.result(ID)[0]
    assert (result.succeeded, result.amount) == (True, 6)
    client.closings.cancel(ID)
    assert client.closings.list().data[0].amount_moved == 7
    cards = [CardWithdrawal(ID, 300), CardWithdrawal(ID)]
    assert client.withdrawals.create(cards).withdrawal_id == ID
    client.withdrawals.status(ID)
    assert client.withdrawals.result(ID)[0].error == "the card is closed"
    client.withdrawals.cancel(ID)
    client.withdrawals.list(status=RequestState.DECLINE)


def events(client: Client) -> None:
    feed = client.events.list(after=3, limit=10, types=["card.issued", "newer"], wait=5)
    assert (feed.next, feed.oldest, feed.newest, feed.data[0].id, feed.data[0].type) == (4, 2, 9, ID, "newer")
    assert feed.data[0].created_at == datetime(2026, 2, 7, 9, 5, tzinfo=timezone.utc)
    assert feed.data[0].data == {"idCard": str(ID)}
    following = client.events.follow()
    assert [next(following).seq for _ in range(2)] == [4, 4]
    client.events.list(after=7, from_now=True)
    following = client.events.follow(from_now=True, types=["ping"])
    assert [next(following).seq for _ in range(2)] == [4, 4]


def settings(client: Client) -> None:
    leavers = client.settings.get().leavers
    assert (leavers.freeze, leavers.take_back_after_days, leavers.close) == (True, 30, False)
    assert client.settings.update(leavers).leavers == leavers
    client.settings.update(kopeck.LeaverSettings(freeze=False, close=False))


def sessions(client: Client) -> None:
    (session,) = client.sessions.list()
    assert (session.id_session, session.address, session.current) == (ID, "10.0.0.1", True)
    assert session.last_used_at == datetime(2026, 2, 7, 9, 5, tzinfo=timezone.utc)
    assert client.sessions.end(ID).id_session == ID
    assert client.change_password("old", "new").ended_sessions == 2
    page = client.request_log.list(after=3, limit=10, status=422, operation="employee.add", request_id="r-1")
    (request,) = page.data
    assert (page.next, request.seq, request.fields, request.code, request.duration_ms) == (4, 4, ("phone",), None, 7)
    assert next(client.request_log.follow()).request_id == "r-1"


def programmes(client: Client) -> None:
    terms = {"name": "Meals", "for": {"all": True}, "amount": {"upTo": 500}, "every": "MONTH", "day": 5}
    created = client.programmes.create(terms)
    assert (created.id_programme, created.amount.up_to) == (ID, 500)
    assert client.programmes.list(page=1).data[0].status is kopeck.ProgrammeState.ACTIVE
    assert client.programmes.get(ID).next_at == datetime(2026, 3, 5, 9, 0)
    client.programmes.change(ID, terms)
    client.programmes.pause(ID)
    client.programmes.resume(ID)
    client.programmes.approve(ID)
    client.programmes.refuse(ID)
    assert client.programmes.runs(ID).data[0].id_run == ID
    assert client.programmes.forecast(NOON.date())[0].needed == 500
    assert client.programmes.preview(terms)[0].needed == 500
    client.programmes.preview(terms, id_programme=ID, until=NOON.date())
    client.programmes.delete(ID)


def runs(client: Client) -> None:
    items = [{"customId": "T-1", "amount": 500}]
    created = client.runs.create(kopeck.RunKind.TOP_UP, items, reference="R-1", at=NOON)
    assert (created.id_run, created.requests[0].id) == (ID, ID)
    assert client.runs.create_from_file(kopeck.RunKind.TOP_UP, b"customId", reference="R-2").id_run == ID
    assert client.runs.get(ID).available_after == 4
    (item,) = client.runs.items(ID, faulty=True).data
    assert item.fault is not None and item.fault.code == "missing"
    client.runs.submit(ID, "ab", skip_faulty=True)
    client.runs.approve(ID, "ab")
    client.runs.refuse(ID, reason="no")
    client.runs.cancel(ID)
    assert client.runs.result(ID)[0].outcome is kopeck.RunOutcome.DONE
    assert client.runs.result_file(ID, kopeck.FileFormat.CSV).startswith(b"customId")
    assert client.runs.list(status=kopeck.RunState.DRAFT, from_date=NOON.date()).data[0].kind is kopeck.RunKind.TOP_UP


def webhooks(client: Client) -> None:
    created = client.webhooks.create("https://a.b/", types=["ping"], sealed=True)
    assert (created.secret, created.types) == ("whsec_s", ("ping",)) and "whsec" not in repr(created)
    assert client.webhooks.list().data[0].id_webhook == ID
    assert client.webhooks.get(ID).created_at == datetime(2026, 2, 7, 9, 5, tzinfo=timezone.utc)
    client.webhooks.update(ID, types=None, enabled=False)
    client.webhooks.delete(ID)
    assert client.webhooks.rotate_secret(ID) == "whsec_s"
    assert client.webhooks.ping(ID) == ID
    assert client.webhooks.deliveries(ID, status=kopeck.DeliveryStatus.FAILED).data[0].last_status_code == 500
    assert client.webhooks.redeliver(ID, after=0) == 2
    client.webhooks.redeliver(ID, event_id=ID)


def sandbox(client: Client) -> None:
    assert client.sandbox.deposit(100).available == 4
    bought = client.sandbox.purchase(ID, 5, place="P", mcc="5812", merchant_id="M", at=NOON)
    assert bought.transaction_id == 9
    assert client.sandbox.refund(ID, 9, 5).transaction_id == 9
    client.sandbox.activate(ID, "code")
    client.sandbox.activate(ID)
    client.sandbox.block(ID)
    client.sandbox.unblock(ID)
    client.sandbox.expire(ID)
    client.sandbox.bank(error_rate=0.5)
    client.sandbox.advance_clock(60)


class AsyncOperations(OverAsyncio, Operations):
    pass


if __name__ == "__main__":
    unittest.main()
