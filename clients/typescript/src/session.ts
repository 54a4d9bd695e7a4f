/** The tokens of the client: login at first use, renewal in time, one renewal for all who need it. */

import { shared } from "./abort.js";
import { type Json, objectOf } from "./answer.js";
import type { Call } from "./call.js";
import { DecodeError, KopeckError, TransportError } from "./errors.js";
import type { TokenPair } from "./models/values.js";
import type { Operation } from "./operation.js";
import { TOKEN_ACCESS, TOKEN_REFRESH } from "./operations.js";
import { type RetryPolicy, retrying } from "./retry.js";
import { Secret } from "./secret.js";
import type { Credential, Transport } from "./transport.js";

/** An access token is renewed this many seconds before it expires, but not before nine tenths of its life. */
const RENEWAL_MARGIN = 30;

/** What the partner was issued. */
export interface Credentials {
  readonly apiKey: Secret;
  readonly login: string;
  readonly password: Secret;
}

/** A pair with the time to renew it. */
export interface Tokens {
  readonly pair: TokenPair;
  readonly renewAt: number;
}

/** The header that shows an access token. */
export function bearer({ pair }: Tokens): Credential {
  return ["authorization", `Bearer ${pair.accessToken.expose()}`];
}

/** The tokens in use. */
export class Session {
  #credentials: Credentials;
  readonly #transport: Transport;
  readonly #retry: RetryPolicy;
  #current: Tokens | undefined;
  /** Requests that need a token meanwhile wait for the same one. Aborting the request that began it does not abort it. */
  #renewal: Promise<Tokens> | undefined;

  constructor(credentials: Credentials, transport: Transport, retry: RetryPolicy) {
    this.#credentials = credentials;
    this.#transport = transport;
    this.#retry = retry;
  }

  /** Takes another password for further logins. */
  passwordIs(password: Secret): void {
    this.#credentials = { ...this.#credentials, password };
  }

  /** Tokens that are good as far as can be known here. */
  tokens(signal?: AbortSignal): Promise<Tokens> {
    const current = this.#current;
    const good = !this.#renewal && current && this.#transport.now() < current.renewAt;
    return good ? Promise.resolve(current) : shared(this.#renewed(), signal);
  }

  /** Other tokens than those that the service has just refused. */
  tokensAfter(refused: Tokens, signal?: AbortSignal): Promise<Tokens> {
    // Another call was refused too, and has renewed them meanwhile.
    const other = !this.#renewal && this.#current && this.#current !== refused;
    return other ? Promise.resolve(this.#current!) : shared(this.#renewed(), signal);
  }

  /** Logs in, whatever tokens there are. */
  async login(): Promise<TokenPair> {
    await this.#idle();
    return (await this.#begin(this.#byLogin())).pair;
  }

  /** Renews the tokens, whether it is time or not. */
  async refresh(): Promise<TokenPair> {
    await this.#idle();
    return (await this.#renewed()).pair;
  }

  #renewed(): Promise<Tokens> {
    if (this.#renewal) return this.#renewal;
    // Taken out, so that a refresh token whose fate is unknown is never shown again: the service takes that for theft.
    const old = this.#current;
    this.#current = undefined;
    return this.#begin(old ? this.#byRefresh(old.pair.refreshToken) : this.#byLogin());
  }

  #begin(fetching: Promise<TokenPair>): Promise<Tokens> {
    const renewal = fetching
      .then((pair) => (this.#current = withRenewal(pair, this.#transport.now())))
      .finally(() => (this.#renewal = undefined));
    this.#renewal = renewal;
    return renewal;
  }

  async #idle(): Promise<void> {
    // Another one may have begun a renewal when this one comes to know that the last has ended.
    while (this.#renewal) await this.#renewal.catch(() => undefined);
  }

  /** By refresh token, or by login if the token is not accepted any more. */
  async #byRefresh(token: Secret): Promise<TokenPair> {
    const call = tokenCall(TOKEN_REFRESH, { token: token.expose() });
    const withoutEffect = (error: KopeckError) => error.isTransient && !error.mayHaveHappened;
    const fetched = () => retrying(this.#retry, () => this.#fetch(call), withoutEffect);
    try {
      return await fetched().catch((error: unknown) => {
        if (!(error instanceof KopeckError && error.mayHaveHappened)) throw error;
        // The token may be spent and the answer lost. The service accepts such a token once more, and only once.
        return fetched();
      });
    } catch (error) {
      const neverSent = error instanceof TransportError && !error.sent;
      if (neverSent || !(error instanceof KopeckError)) throw error;
      return this.#byLogin();
    }
  }

  #byLogin(): Promise<TokenPair> {
    const { login, password } = this.#credentials;
    const call = tokenCall(TOKEN_ACCESS, { login, password: password.expose() });
    return retrying(this.#retry, () => this.#fetch(call), (error) => error.isTransient);
  }

  async #fetch(call: Call): Promise<TokenPair> {
    const { value } = await this.#transport.send(call, ["x-api-key", this.#credentials.apiKey.expose()]);
    return pairOf(objectOf(value));
  }
}

/** When to renew a pair that came just now. */
export function withRenewal(pair: TokenPair, now: number): Tokens {
  const life = pair.accessExpireAt - now;
  // A token that seems to be expired when it comes tells of a clock that is wrong here. It serves until the service
  // refuses it, else every call would renew.
  const renewAt = life <= 0 ? Infinity : now + life - Math.min(RENEWAL_MARGIN, Math.ceil(life / 10));
  return { pair, renewAt };
}

function tokenCall(operation: Operation, body: Json): Call {
  return { operation, values: [], query: {}, body: JSON.stringify(body), key: undefined };
}

function pairOf({ accessToken, accessExpireAt, refreshToken, refreshExpireAt }: Json): TokenPair {
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") throw new DecodeError("the answer has no tokens");
  if (typeof accessExpireAt !== "number" || typeof refreshExpireAt !== "number") {
    throw new DecodeError("the answer does not say when its tokens expire");
  }
  return {
    accessToken: new Secret(accessToken),
    accessExpireAt,
    refreshToken: new Secret(refreshToken),
    refreshExpireAt,
  };
}
