"""The Python client of the Kopeck API, for partners.

    with kopeck.Client(url, api_key=…, login=…, password=…, sealing_key=…) as client:
        employee = client.employees.add("T-0001")
        print(employee.id_employee, client.balance().available)

`AsyncClient` is the same for asyncio. Money is in kopecks, everywhere; dates and times are in the service's own zone,
which it does not name, so they have no `tzinfo`; identifiers are `uuid.UUID`, and calls take their text too.
"""

from kopeck import words
from kopeck.aio.api.cards import Cards as AsyncCards
from kopeck.aio.api.closings import Closings as AsyncClosings
from kopeck.aio.api.employees import Categories as AsyncCategories
from kopeck.aio.api.events import Events as AsyncEvents
from kopeck.aio.api.employees import Employees as AsyncEmployees
from kopeck.aio.api.limits import Limits as AsyncLimits
from kopeck.aio.api.orders import Orders as AsyncOrders
from kopeck.aio.api.replenishments import Replenishments as AsyncReplenishments
from kopeck.aio.api.programmes import Programmes as AsyncProgrammes
from kopeck.aio.api.runs import Runs as AsyncRuns
from kopeck.aio.api.sandbox import Sandbox as AsyncSandbox
from kopeck.aio.api.sessions import RequestLog as AsyncRequestLog
from kopeck.aio.api.sessions import Sessions as AsyncSessions
from kopeck.aio.api.settings import Settings as AsyncSettings
from kopeck.aio.api.statements import Statements as AsyncStatements
from kopeck.aio.api.webhooks import Webhooks as AsyncWebhooks
from kopeck.aio.api.withdrawals import Withdrawals as AsyncWithdrawals
from kopeck.aio.client import AsyncClient
from kopeck.call import new_key
from kopeck.errors import (
    ApiError,
    CallTimeoutError,
    CardFault,
    CardsError,
    ConfigError,
    DecodeError,
    FieldFault,
    InvalidError,
    KopeckError,
    SealingError,
    TlsError,
    TransportError,
    UnfinishedError,
)
from kopeck.models import generated
from kopeck.models.generated import *
from kopeck.models.page import Page, PageMeta
from kopeck.parameters import KEEP, FileFormat
from kopeck.retry import RetryPolicy
from kopeck.sealing import SealingKey
from kopeck.sync.api.cards import Cards
from kopeck.sync.api.closings import Closings
from kopeck.sync.api.employees import Categories, Employees
from kopeck.sync.api.events import Events
from kopeck.sync.api.limits import Limits
from kopeck.sync.api.orders import Orders
from kopeck.sync.api.replenishments import Replenishments
from kopeck.sync.api.programmes import Programmes
from kopeck.sync.api.runs import Runs
from kopeck.sync.api.sandbox import Sandbox
from kopeck.sync.api.sessions import RequestLog, Sessions
from kopeck.sync.api.settings import Settings
from kopeck.sync.api.statements import Statements
from kopeck.sync.api.webhooks import Webhooks
from kopeck.sync.api.withdrawals import Withdrawals
from kopeck.sync.client import Client
from kopeck.tokens import TokenPair
from kopeck.version import VERSION as __version__
from kopeck.webhooks import WebhookError, WebhookFault, WebhookVerifier
from kopeck.words import *

__all__ = [
    "KEEP",
    "ApiError",
    "AsyncCards",
    "AsyncCategories",
    "AsyncClient",
    "AsyncClosings",
    "AsyncEmployees",
    "AsyncEvents",
    "AsyncLimits",
    "AsyncOrders",
    "AsyncReplenishments",
    "AsyncRequestLog",
    "AsyncProgrammes",
    "AsyncRuns",
    "AsyncSandbox",
    "AsyncSessions",
    "AsyncSettings",
    "AsyncStatements",
    "AsyncWebhooks",
    "AsyncWithdrawals",
    "CallTimeoutError",
    "CardFault",
    "Cards",
    "CardsError",
    "Categories",
    "Client",
    "Closings",
    "ConfigError",
    "DecodeError",
    "Employees",
    "Events",
    "FieldFault",
    "FileFormat",
    "InvalidError",
    "KopeckError",
    "Limits",
    "Orders",
    "Page",
    "PageMeta",
    "Replenishments",
    "RequestLog",
    "RetryPolicy",
    "Programmes",
    "Runs",
    "Sandbox",
    "SealingError",
    "SealingKey",
    "Sessions",
    "Settings",
    "Statements",
    "TlsError",
    "TokenPair",
    "TransportError",
    "UnfinishedError",
    "WebhookError",
    "WebhookFault",
    "WebhookVerifier",
    "Webhooks",
    "Withdrawals",
    "new_key",
    "__version__",
]
__all__ += generated.__all__
__all__ += words.__all__
