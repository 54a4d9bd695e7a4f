"""The client itself."""

from __future__ import annotations

import ssl
import time
import unicodedata
from collections.abc import Callable, Sequence
from types import TracebackType

from kopeck import operations
from kopeck.aio.api.cards import Cards
from kopeck.aio.api.closings import Closings
from kopeck.aio.api.employees import Categories, Employees
from kopeck.aio.api.events import Events
from kopeck.aio.api.webhooks import Webhooks
from kopeck.aio.api.withdrawals import Withdrawals
from kopeck.aio.api.limits import Limits
from kopeck.aio.api.orders import Orders
from kopeck.aio.api.replenishments import Replenishments
from kopeck.aio.api.programmes import Programmes
from kopeck.aio.api.runs import Runs
from kopeck.aio.api.sandbox import Sandbox
from kopeck.aio.api.sessions import RequestLog, Sessions
from kopeck.aio.api.settings import Settings
from kopeck.aio.api.statements import Statements
from kopeck.aio.connections import Connections
from kopeck.aio.core import Core
from kopeck.aio.session import Session
from kopeck.aio.transport import Transport
from kopeck.call import Sealing
from kopeck.codec import Codec
from kopeck.endpoint import Endpoint
from kopeck.errors import ConfigError
from kopeck.models.generated import Balance, PasswordChanged
from kopeck.retry import RetryPolicy
from kopeck.sealing import SealingKey
from kopeck.tokens import Credentials, TokenPair
from kopeck.wire import decode


class AsyncClient:
    """A client of the service, for one partner. Any number of tasks of one event loop may share it.

    It logs in with the first call, and renews its tokens by itself. With a sealing key every body is sealed, and
    answers are asked for sealed. `aclose` it, or use it in an `async with` statement.
    """

    employees: Employees
    categories: Categories
    cards: Cards
    orders: Orders
    replenishments: Replenishments
    limits: Limits
    closings: Closings
    withdrawals: Withdrawals
    programmes: Programmes
    runs: Runs
    events: Events
    webhooks: Webhooks
    statements: Statements
    settings: Settings
    sessions: Sessions
    request_log: RequestLog
    sandbox: Sandbox

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        login: str,
        password: str,
        sealing_key: SealingKey | str | None = None,
        also_open_with: Sequence[SealingKey | str] = (),
        seal_parameters: bool | None = None,
        seal_answers: bool | None = None,
        timeout: float = 30.0,
        connect_timeout: float = 5.0,
        retry: RetryPolicy | None = None,
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Sets up a client of the service at `base_url`. Nothing is sent yet. Raises `ConfigError`.

        `sealing_key` seals every call; `also_open_with` are further keys that open answers, while keys are rotated.
        `seal_parameters`, by default so with a sealing key, seals identifiers in paths and query parameters too.
        `seal_answers`, by default so too, asks for sealed answers and refuses a success in clear. `timeout` is for one try of a call, from
        connecting to the last byte, in seconds. `proxy` is the URL of an HTTP proxy, `http://…`; by default that of the
        environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), and none if it is empty. `clock` tells Unix
        seconds; what is sealed carries its time, and the service refuses what is more than five minutes off.
        """
        _printable("API key", api_key)
        _typed("login", login)
        _typed("password", password)
        key = SealingKey.parse(sealing_key) if isinstance(sealing_key, str) else sealing_key
        if key is None and (seal_parameters or seal_answers or also_open_with):
            raise ConfigError("the sealing key is missing")
        others = tuple(SealingKey.parse(other) if isinstance(other, str) else other for other in also_open_with)
        sealing = None if key is None else Sealing(key, others, seal_parameters is not False, seal_answers is not False)
        if timeout <= 0 or connect_timeout <= 0:
            raise ConfigError("a timeout must be more than 0 seconds")
        endpoint = Endpoint.parse(base_url, proxy, ssl_context)
        self._base_url = base_url
        self._connections = Connections(endpoint, timeout=timeout, connect_timeout=connect_timeout)
        transport = Transport(self._connections, Codec(sealing, clock))
        policy = RetryPolicy() if retry is None else retry
        session = Session(Credentials(api_key, login, password), transport, policy)
        self._core = Core(transport, session, policy)
        self.employees = Employees(self._core)
        self.categories = Categories(self._core)
        self.cards = Cards(self._core)
        self.orders = Orders(self._core)
        self.replenishments = Replenishments(self._core)
        self.limits = Limits(self._core)
        self.closings = Closings(self._core)
        self.withdrawals = Withdrawals(self._core)
        self.programmes = Programmes(self._core)
        self.runs = Runs(self._core)
        self.events = Events(self._core)
        self.webhooks = Webhooks(self._core)
        self.statements = Statements(self._core)
        self.settings = Settings(self._core)
        self.sessions = Sessions(self._core)
        self.request_log = RequestLog(self._core)
        self.sandbox = Sandbox(self._core)

    async def login(self) -> TokenPair:
        """Logs in now and returns the tokens. Calls log in by themselves; this tells whether the credentials work."""
        return await self._core.session.login()

    async def refresh(self) -> TokenPair:
        """Renews the tokens now and returns them, by login if there are none or they are refused."""
        return await self._core.session.refresh()

    async def change_password(
        self, current: str, new: str, *, idempotency_key: str | None = None
    ) -> PasswordChanged:
        """Changes the password of the client's login, and ends all other sessions.

        This client goes on with its session, and logs in with the new password from then on. Raises `InvalidError` with the
        field `current` if that is not the present password, which counts as a failed login, and with `new` for one that is
        not accepted.
        """
        body = {"current": current, "new": new}
        answer = await self._core.call(operations.PASSWORD_CHANGE, body=body, key=idempotency_key)
        self._core.session.password_is(new)
        return decode(PasswordChanged, answer)

    async def balance(self) -> Balance:
        """Reads the partner's own balance."""
        return decode(Balance, await self._core.call(operations.BALANCE))

    async def aclose(self) -> None:
        """Closes the connections. The client may be used again all the same."""
        await self._connections.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncClient({self._base_url!r})"


def _typed(what: str, text: str) -> None:
    # What is pasted or read from a file of Windows ends so. It would count as a wrong one, and lock the login.
    if text.startswith("\ufeff"):
        raise ConfigError(f"the {what} begins with a byte-order mark")
    if any(unicodedata.category(letter) == "Cc" for letter in text[:1] + text[-1:]):
        raise ConfigError(f"the {what} begins or ends with a control character, such as the end of a line")


def _printable(what: str, text: str) -> None:
    # Else the library underneath would refuse the header, and show it.
    if not text or not text.isascii() or not text.isprintable():
        raise ConfigError(f"the {what} is missing, or holds characters that no header can carry")
