/** The client itself. */

import { Cards } from "./api/cards.js";
import { Closings } from "./api/closings.js";
import { Categories, Employees } from "./api/employees.js";
import { Events } from "./api/events.js";
import { Webhooks } from "./api/webhooks.js";
import { Withdrawals } from "./api/withdrawals.js";
import { Limits } from "./api/limits.js";
import { Orders } from "./api/orders.js";
import { Replenishments } from "./api/replenishments.js";
import { Programmes } from "./api/programmes.js";
import { Runs } from "./api/runs.js";
import { Sandbox } from "./api/sandbox.js";
import { RequestLog, Sessions } from "./api/sessions.js";
import { Settings } from "./api/settings.js";
import { Statements } from "./api/statements.js";
import type { Sealing } from "./call.js";
import { type CallOptions, type ChangeOptions, Core } from "./core.js";
import { ConfigError } from "./errors.js";
import type { Balance, PasswordChanged } from "./models/generated.js";
import type { TokenPair } from "./models/values.js";
import { BALANCE, PASSWORD_CHANGE } from "./operations.js";
import { as } from "./read.js";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
import { SealingKey } from "./sealing.js";
import { Secret } from "./secret.js";
import { Session } from "./session.js";
import { Transport } from "./transport.js";

export interface ClientOptions {
  /** The address of the service, such as `https://api.example.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly login: string;
  readonly password: string;
  /** Seals every body, and asks for sealed answers. Without one everything travels in clear. */
  readonly sealingKey?: SealingKey | string | undefined;
  /** Further keys that open answers, while keys are rotated. */
  readonly alsoOpenWith?: readonly (SealingKey | string)[] | undefined;
  /** Whether identifiers in paths and query parameters are sealed too. By default so with a sealing key. */
  readonly sealParameters?: boolean | undefined;
  /** Whether answers are asked for sealed, and a success in clear is refused. By default so with a sealing key. */
  readonly sealAnswers?: boolean | undefined;
  /** How long one try of a call may take, from connecting to the last byte. Default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** When a call is tried again. What is absent is as in the default. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /**
   * Tells Unix milliseconds. What is sealed carries its time, and the service refuses what is more than five minutes off.
   * Default: the machine's.
   */
  readonly clock?: (() => number) | undefined;
  /** Sends calls. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * A client of the service, for one partner.
 *
 * It logs in with the first call, and renews its tokens by itself. Nothing of what it is given can be seen on it.
 */
export class Client {
  readonly employees: Employees;
  readonly categories: Categories;
  readonly cards: Cards;
  readonly orders: Orders;
  readonly replenishments: Replenishments;
  readonly limits: Limits;
  readonly closings: Closings;
  readonly withdrawals: Withdrawals;
  readonly programmes: Programmes;
  readonly runs: Runs;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly statements: Statements;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly requestLog: RequestLog;
  readonly sandbox: Sandbox;
  readonly #core: Core;

  /** Sets up a client. Nothing is sent yet. Throws `ConfigError`. */
  constructor(options: ClientOptions) {
    if (!/^[!-~]+$/.test(options.apiKey)) {
      throw new ConfigError("the API key is missing, or holds characters that no header can carry");
    }
    checkTyped("login", options.login);
    checkTyped("password", options.password);
    const transport = new Transport({
      baseUrl: options.baseUrl,
      sealing: sealingOf(options),
      timeoutMs: options.timeoutMs ?? 30_000,
      clock: options.clock ?? Date.now,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    });
    const retry = { ...DEFAULT_RETRY, ...options.retry };
    const credentials = {
      apiKey: new Secret(options.apiKey),
      login: options.login,
      password: new Secret(options.password),
    };
    const core = new Core(transport, new Session(credentials, transport, retry), retry);
    this.#core = core;
    this.employees = new Employees(core);
    this.categories = new Categories(core);
    this.cards = new Cards(core);
    this.orders = new Orders(core);
    this.replenishments = new Replenishments(core);
    this.limits = new Limits(core);
    this.closings = new Closings(core);
    this.withdrawals = new Withdrawals(core);
    this.programmes = new Programmes(core);
    this.runs = new Runs(core);
    this.events = new Events(core);
    this.webhooks = new Webhooks(core);
    this.statements = new Statements(core);
    this.settings = new Settings(core);
    this.sessions = new Sessions(core);
    this.requestLog = new RequestLog(core);
    this.sandbox = new Sandbox(core);
  }

  /** Logs in now and gives the tokens. Calls log in by themselves; this tells whether the credentials work. */
  login(): Promise<TokenPair> {
    return this.#core.session.login();
  }

  /** Renews the tokens now and gives them, by login if there are none or they are refused. */
  refresh(): Promise<TokenPair> {
    return this.#core.session.refresh();
  }

  /**
   * Changes the password of the client's login, and ends all other sessions. This client goes on with its session, and logs
   * in with the new password from then on. Rejects with `InvalidError`, field `current`, if that is not the present password,
   * which counts as a failed login, and field `new` for one that is not accepted.
   */
  async changePassword(current: string, password: string, options?: ChangeOptions): Promise<PasswordChanged> {
    const body = { current, new: password };
    const changed = as<PasswordChanged>(await this.#core.call(PASSWORD_CHANGE, { ...options, body }));
    this.#core.session.passwordIs(new Secret(password));
    return changed;
  }

  /** Reads the partner's own balance. */
  async balance(options?: CallOptions): Promise<Balance> {
    return as(await this.#core.call(BALANCE, options));
  }
}

/** What is pasted or read from a file of Windows ends so. It would count as a wrong one, and lock the login. */
function checkTyped(what: string, text: string): void {
  if (text.startsWith("\uFEFF")) throw new ConfigError(`the ${what} begins with a byte-order mark`);
  if (/^\p{Cc}|\p{Cc}$/u.test(text)) {
    throw new ConfigError(`the ${what} begins or ends with a control character, such as the end of a line`);
  }
}

function sealingOf(options: ClientOptions): Sealing | undefined {
  const parsed = (key: SealingKey | string) => (typeof key === "string" ? SealingKey.parse(key) : key);
  const { sealingKey, alsoOpenWith = [], sealParameters, sealAnswers } = options;
  if (sealingKey === undefined) {
    if (sealParameters || sealAnswers || alsoOpenWith.length > 0) throw new ConfigError("the sealing key is missing");
    return undefined;
  }
  return {
    key: parsed(sealingKey),
    otherKeys: alsoOpenWith.map(parsed),
    parameters: sealParameters ?? true,
    answers: sealAnswers ?? true,
  };
}
