/** The operations that the client calls. A call is made of one of them and of nothing else. */

/** An operation of the service. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its `{placeholders}`. */
  readonly path: string;
  /** Whether it changes something. Its calls have an idempotency key then. */
  readonly changes: boolean;
}

type Method = Operation["method"];

const reads = (method: Method, path: string): Operation => ({ method, path, changes: false });
const changes = (method: Method, path: string): Operation => ({ method, path, changes: true });

export const LOGIN = reads("POST", "/v1/get_access_token");
export const REFRESH = reads("POST", "/v1/get_refresh_token");

export const ADD_EMPLOYEE = changes("POST", "/v1/employee/add");
export const UPDATE_EMPLOYEE = changes("PUT", "/v1/employee/{idEmployee}");
export const ERASE_EMPLOYEE = changes("DELETE", "/v1/employee/{idEmployee}");
export const GET_EMPLOYEE = reads("GET", "/v1/employee/{idEmployee}");
export const LIST_EMPLOYEES = reads("GET", "/v1/employees");

export const CREATE_CATEGORY = changes("POST", "/v1/category");
export const RENAME_CATEGORY = changes("PUT", "/v1/category/{idCategory}");
export const DELETE_CATEGORY = changes("DELETE", "/v1/category/{idCategory}");
export const LIST_CATEGORIES = reads("GET", "/v1/categories");

export const CARD_INFO = reads("GET", "/v1/card/{idCard}");
export const CARD_BALANCE = reads("GET", "/v1/card/{idCard}/balance");
export const CARD_TRANSACTIONS = reads("GET", "/v1/card/{idCard}/transactions");
export const CAN_PAY = reads("POST", "/v1/card/{idCard}/can-pay");
export const LIST_CARDS = reads("GET", "/v1/cards");
export const AVAILABLE_CARDS = reads("GET", "/v1/cards/available");
export const LINK_CARD = changes("POST", "/v1/employee/{idEmployee}/link_card");
export const SWITCH_CARD = changes("POST", "/v1/employee/{idEmployee}/card/switch");
export const UNLINK_CARD = changes("DELETE", "/v1/employee/{idEmployee}/card/{idCard}");

export const ORDER_PLASTIC = changes("POST", "/v1/order/plasticcards");
export const ORDER_VIRTUAL = changes("POST", "/v1/order/virtualcards");
export const ORDER_STATUS = reads("GET", "/v1/order/status/{order_id}");
export const ORDER_RESULT = reads("GET", "/v1/order/result/{order_id}");
export const CONFIRM_ORDER = changes("POST", "/v1/order/confirm");
export const CANCEL_ORDER = changes("POST", "/v1/order/cancel");
export const LIST_ORDERS = reads("GET", "/v1/orders");

export const REPLENISH = changes("POST", "/v1/replenishment");
export const REPLENISHMENT_STATUS = reads("GET", "/v1/replenishment/status");
export const REPLENISHMENT_RESULT = reads("GET", "/v1/replenishment/result");
export const CANCEL_REPLENISHMENT = changes("DELETE", "/v1/replenishment/{replenishmentId}");
export const LIST_REPLENISHMENTS = reads("GET", "/v1/replenishments");

export const SET_LIMITS = changes("POST", "/v1/setlimitscards");
export const LIMITS_STATUS = reads("POST", "/v1/limits/status");
export const LIMITS_RESULT = reads("GET", "/v1/limits/result/{setLimitsCardsId}");
export const CANCEL_LIMITS = changes("POST", "/v1/limits/cancel");
export const LIST_LIMITS = reads("GET", "/v1/limits");

export const CREATE_CLOSING = changes("POST", "/v1/closings");
export const CLOSING_STATUS = reads("GET", "/v1/closing/{closingId}/status");
export const CLOSING_RESULT = reads("GET", "/v1/closing/{closingId}/result");
export const CANCEL_CLOSING = changes("DELETE", "/v1/closing/{closingId}");
export const LIST_CLOSINGS = reads("GET", "/v1/closings");

export const CREATE_WITHDRAWAL = changes("POST", "/v1/withdrawals");
export const WITHDRAWAL_STATUS = reads("GET", "/v1/withdrawal/{withdrawalId}/status");
export const WITHDRAWAL_RESULT = reads("GET", "/v1/withdrawal/{withdrawalId}/result");
export const CANCEL_WITHDRAWAL = changes("DELETE", "/v1/withdrawal/{withdrawalId}");
export const LIST_WITHDRAWALS = reads("GET", "/v1/withdrawals");

export const EVENT_FEED = reads("GET", "/v1/events");

export const CREATE_WEBHOOK = changes("POST", "/v1/webhooks");
export const LIST_WEBHOOKS = reads("GET", "/v1/webhooks");
export const GET_WEBHOOK = reads("GET", "/v1/webhook/{idWebhook}");
export const UPDATE_WEBHOOK = changes("PUT", "/v1/webhook/{idWebhook}");
export const DELETE_WEBHOOK = changes("DELETE", "/v1/webhook/{idWebhook}");
export const ROTATE_WEBHOOK_SECRET = changes("POST", "/v1/webhook/{idWebhook}/secret");
export const PING_WEBHOOK = changes("POST", "/v1/webhook/{idWebhook}/ping");
export const LIST_DELIVERIES = reads("GET", "/v1/webhook/{idWebhook}/deliveries");
export const REDELIVER = changes("POST", "/v1/webhook/{idWebhook}/redeliver");

export const BALANCE = reads("GET", "/v1/balance");
export const BALANCE_ENTRIES = reads("GET", "/v1/balance/entries");
export const STATEMENT = reads("GET", "/v1/statement/{month}");
export const TRANSACTION_FEED = reads("GET", "/v1/transactions");

export const DEPOSIT = changes("POST", "/sandbox/v1/balance/deposit");
export const PURCHASE = changes("POST", "/sandbox/v1/card/{idCard}/purchase");
export const REFUND = changes("POST", "/sandbox/v1/card/{idCard}/refund");
export const ACTIVATE_CARD = changes("POST", "/sandbox/v1/card/{idCard}/activate");
export const BLOCK_CARD = changes("POST", "/sandbox/v1/card/{idCard}/block");
export const UNBLOCK_CARD = changes("POST", "/sandbox/v1/card/{idCard}/unblock");
export const EXPIRE_CARD = changes("POST", "/sandbox/v1/card/{idCard}/expire");
export const SET_BANK = changes("POST", "/sandbox/v1/bank");
export const ADVANCE_CLOCK = changes("POST", "/sandbox/v1/clock/advance");
