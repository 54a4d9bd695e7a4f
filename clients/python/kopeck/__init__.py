"""The Python client of the Kopeck API, for partners.

    with kopeck.Client(url, api_key=…, login=…, password=…, sealing_key=…) as client:
        employee = client.employees.add("T-0001")
        print(employee.id_employee, client.balance().available)

Money is in kopecks, everywhere; dates and times are in the service's own zone; identifiers are `uuid.UUID`, and calls
take their text too.
"""

from kopeck.api.cards import Cards
from kopeck.api.employees import KEEP, Categories, Employees
from kopeck.api.limits import Limits
from kopeck.api.orders import Orders
from kopeck.api.replenishments import Replenishments
from kopeck.api.sandbox import Sandbox
from kopeck.client import Client
from kopeck.core import new_key
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
    TransportError,
    UnfinishedError,
)
from kopeck.models.card import (
    AccountBalance,
    AvailableCard,
    Card,
    CardBalance,
    CardLimit,
    LinkedCard,
    PaymentAnswer,
    TimeWindow,
    Transaction,
)
from kopeck.models.money import Balance, Purchase, Refund
from kopeck.models.page import Page, PageMeta
from kopeck.models.people import Category, CategoryWithCount, Employee, EmployeeCard, EmployeeWithCards
from kopeck.models.requests import (
    IssuedCard,
    LimitChange,
    LimitChangeCreated,
    LimitResult,
    Order,
    OrderCreated,
    OrderResult,
    PlasticItem,
    Replenishment,
    ReplenishmentCreated,
    ReplenishmentResult,
    RequestStatus,
    TopUp,
    VirtualItem,
)
from kopeck.retry import RetryPolicy
from kopeck.sealing import SealingKey
from kopeck.session import TokenPair
from kopeck.version import VERSION as __version__
from kopeck.words import (
    CardStatus,
    CardType,
    EmployeeStatus,
    ErrorCode,
    LimitPeriod,
    OrderKind,
    RequestState,
    TransactionType,
)

__all__ = [
    "KEEP",
    "AccountBalance",
    "ApiError",
    "AvailableCard",
    "Balance",
    "CallTimeoutError",
    "Card",
    "CardBalance",
    "CardFault",
    "CardLimit",
    "CardStatus",
    "CardType",
    "Cards",
    "CardsError",
    "Categories",
    "Category",
    "CategoryWithCount",
    "Client",
    "ConfigError",
    "DecodeError",
    "Employee",
    "EmployeeCard",
    "EmployeeStatus",
    "EmployeeWithCards",
    "Employees",
    "ErrorCode",
    "FieldFault",
    "InvalidError",
    "IssuedCard",
    "KopeckError",
    "LimitChange",
    "LimitChangeCreated",
    "LimitPeriod",
    "LimitResult",
    "Limits",
    "LinkedCard",
    "Order",
    "OrderCreated",
    "OrderKind",
    "OrderResult",
    "Orders",
    "Page",
    "PageMeta",
    "PaymentAnswer",
    "PlasticItem",
    "Purchase",
    "Refund",
    "Replenishment",
    "ReplenishmentCreated",
    "ReplenishmentResult",
    "Replenishments",
    "RequestState",
    "RequestStatus",
    "RetryPolicy",
    "Sandbox",
    "SealingError",
    "SealingKey",
    "TimeWindow",
    "TokenPair",
    "TopUp",
    "Transaction",
    "TransactionType",
    "TransportError",
    "UnfinishedError",
    "VirtualItem",
    "__version__",
    "new_key",
]
