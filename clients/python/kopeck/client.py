"""The client itself."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from kopeck import operations
from kopeck.api.cards import Cards
from kopeck.api.employees import Categories, Employees
from kopeck.api.limits import Limits
from kopeck.api.orders import Orders
from kopeck.api.replenishments import Replenishments
from kopeck.api.sandbox import Sandbox
from kopeck.call import Sealing
from kopeck.connections import Connections
from kopeck.core import Core
from kopeck.errors import ConfigError
from kopeck.models.money import Balance
from kopeck.retry import RetryPolicy
from kopeck.sealing import SealingKey
from kopeck.session import Credentials, Session, TokenPair
from kopeck.transport import Transport
from kopeck.wire import decode


class Client:
    """A client of the service, for one partner. Any number of threads may share it.

    It logs in with the first call, and renews its tokens by itself. With a sealing key every body is sealed, and
    answers are asked for sealed. `close` it, or use it in a `with` statement.
    """

    employees: Employees
    categories: Categories
    cards: Cards
    orders: Orders
    replenishments: Replenishments
    limits: Limits
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
        seal_parameters: bool = False,
        seal_answers: bool | None = None,
        timeout: float = 30.0,
        connect_timeout: float = 5.0,
        retry: RetryPolicy | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Sets up a client of the service at `base_url`. Nothing is sent yet. Raises `ConfigError`.

        `sealing_key` seals every call; `also_open_with` are further keys that open answers, while keys are rotated.
        `seal_parameters` seals identifiers in paths and query parameters too. `seal_answers`, by default so with a
        sealing key, asks for sealed answers and refuses a success in clear. `timeout` is for one try of a call, from
        connecting to the last byte, in seconds. `clock` tells Unix seconds; what is sealed carries its time, and the
        service refuses what is more than five minutes off.
        """
        _printable("API key", api_key)
        key = SealingKey.parse(sealing_key) if isinstance(sealing_key, str) else sealing_key
        if key is None and (seal_parameters or seal_answers or also_open_with):
            raise ConfigError("the sealing key is missing")
        others = tuple(SealingKey.parse(other) if isinstance(other, str) else other for other in also_open_with)
        sealing = None if key is None else Sealing(key, others, seal_parameters, seal_answers is not False)
        self._base_url = base_url
        self._connections = Connections(
            base_url, timeout=timeout, connect_timeout=connect_timeout, ssl_context=ssl_context
        )
        transport = Transport(self._connections, sealing, clock)
        policy = RetryPolicy() if retry is None else retry
        session = Session(Credentials(api_key, login, password), transport, policy)
        self._core = Core(transport, session, policy)
        self.employees = Employees(self._core)
        self.categories = Categories(self._core)
        self.cards = Cards(self._core)
        self.orders = Orders(self._core)
        self.replenishments = Replenishments(self._core)
        self.limits = Limits(self._core)
        self.sandbox = Sandbox(self._core)

    def login(self) -> TokenPair:
        """Logs in now and returns the tokens. Calls log in by themselves; this tells whether the credentials work."""
        return self._core.session.login()

    def refresh(self) -> TokenPair:
        """Renews the tokens now and returns them, by login if there are none or they are refused."""
        return self._core.session.refresh()

    def balance(self) -> Balance:
        """Reads the partner's own balance."""
        return decode(Balance, self._core.call(operations.BALANCE))

    def close(self) -> None:
        """Closes the connections. The client may be used again all the same."""
        self._connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._base_url!r})"


def _printable(what: str, text: str) -> None:
    # Else the library underneath would refuse the header, and show it.
    if not text or not text.isascii() or not text.isprintable():
        raise ConfigError(f"the {what} is missing, or holds characters that no header can carry")
