/** Checks what a webhook delivers, by the Standard Webhooks specification. */

import { objectOf } from "./answer.js";
import { type Bytes, textOf, utf8 } from "./bytes.js";
import { ConfigError, KopeckError, SealingError } from "./errors.js";
import type { Event } from "./models/events.js";
import { keyNamed, open, SealingKey, WINDOW_SECONDS } from "./sealing.js";

/**
 * What is wrong with a delivery: a header is missing or malformed; the timestamp is more than five minutes away (old, or your
 * clock is wrong); no signature matches; the event cannot be opened, or is in clear and should not be; the body
 * is no event.
 */
export type WebhookFault = "header" | "timestamp" | "signature" | "sealed" | "body";

/** A delivery that did not come from the service, or not now. Answer 400. */
export class WebhookError extends KopeckError {
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The headers of a request: those of `fetch`, or an object as Node has it. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a verifier may need beside the secrets. */
export interface WebhookVerifierOptions {
  /** Opens the data of sealed events. */
  readonly sealingKey?: SealingKey | string | undefined;
  /** Further keys that open events, while keys are rotated. */
  readonly alsoOpenWith?: readonly (SealingKey | string)[] | undefined;
  /**
   * Whether an event in plaintext is refused, so that the secret alone is not enough to forge one. By default so with a sealing
   * key.
   */
  readonly requireSealed?: boolean | undefined;
  /** The time in milliseconds. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Checks deliveries under the webhook's secrets; during a rotation there are two. */
export class WebhookVerifier {
  readonly #keys: Promise<CryptoKey[]>;
  readonly #sealingKeys: readonly SealingKey[];
  readonly #requiresSealed: boolean;
  readonly #clock: () => number;

  /** Throws `ConfigError` if a secret is not `whsec_` and base64 of 32 bytes. */
  constructor(secrets: string | readonly string[], options: WebhookVerifierOptions = {}) {
    const list = typeof secrets === "string" ? [secrets] : secrets;
    if (list.length === 0) throw new ConfigError("a secret of the webhook is needed");
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const bytes = list.map((secret) => {
      const decoded = secret.startsWith("whsec_") ? base64(secret.slice("whsec_".length)) : undefined;
      // An empty or short secret would let anyone sign.
      if (decoded?.length !== 32) throw new ConfigError("a secret of a webhook is whsec_ and base64 of 32 bytes");
      return decoded;
    });
    this.#keys = Promise.all(bytes.map((one) => crypto.subtle.importKey("raw", one, algorithm, false, ["verify"])));
    const { sealingKey, alsoOpenWith = [], requireSealed = true, clock = Date.now } = options;
    const given = sealingKey === undefined ? alsoOpenWith : [sealingKey, ...alsoOpenWith];
    this.#sealingKeys = given.map((key) => (typeof key === "string" ? SealingKey.parse(key) : key));
    this.#requiresSealed = requireSealed && given.length > 0;
    this.#clock = clock;
  }

  /**
   * The event of a delivery. `body` is the body as it came, unread and unparsed. Rejects with `WebhookError`.
   *
   * The same event may come more than once: its `id` tells.
   */
  async verify(headers: WebhookHeaders, body: string | Uint8Array): Promise<Event> {
    const [id, sent, signatures] = ["id", "timestamp", "signature"].map((name) => header(headers, `webhook-${name}`));
    if (!id || !sent || signatures === undefined) throw new WebhookError("header", "a header of webhooks is missing");
    if (!/^[ -~]*$/.test(id + signatures)) throw new WebhookError("header", "a header of webhooks is not ASCII");
    if (!/^\d{1,15}$/.test(sent)) throw new WebhookError("header", "the timestamp is no number");
    const now = this.#clock() / 1_000;
    if (Math.abs(now - Number(sent)) > WINDOW_SECONDS) {
      throw new WebhookError("timestamp", "the timestamp is more than five minutes away");
    }
    // A framework that has parsed the body, or did not read it since its type is another one, has left an object or nothing.
    if (typeof body !== "string" && !((body as unknown) instanceof Uint8Array)) {
      throw new WebhookError("body", "the body is not given as it came, as text or bytes");
    }
    const text = typeof body === "string" ? body : textOf(body);
    if (text === undefined) throw new WebhookError("body", "the body is not UTF-8");
    const signed = utf8(`${id}.${sent}.${text}`);
    const given = signatures.split(" ").filter((one) => one.startsWith("v1,")).map((one) => base64(one.slice(3)));
    const keys = await this.#keys;
    const pairs = keys.flatMap((key) => given.map((one) => [key, one] as const));
    // WebCrypto compares in constant time.
    const checks = pairs.map(([key, one]) => (one ? crypto.subtle.verify("HMAC", key, one, signed) : false));
    if (!(await Promise.all(checks)).includes(true)) throw new WebhookError("signature", "no signature matches");
    return this.#event(id, text, Math.floor(now));
  }

  async #event(id: string, text: string, now: number): Promise<Event> {
    try {
      const { sealed, ...others } = objectOf(JSON.parse(text));
      const fields: Record<string, unknown> = others;
      if (sealed !== undefined) {
        fields.data = JSON.parse(await opened(this.#sealingKeys, id, now, String(sealed)));
      } else if (this.#requiresSealed) {
        const reason = "the event is not sealed, and this verifier has a sealing key: it takes sealed events only";
        throw new WebhookError("sealed", reason);
      }
      const { id: named, seq, type, createdAt, data } = fields;
      const isEvent = typeof named === "string" && typeof type === "string" && typeof createdAt === "string";
      if (!isEvent || typeof seq !== "number" || data === undefined) throw new WebhookError("body", "the body is not an event");
      return fields as unknown as Event;
    } catch (cause) {
      if (cause instanceof WebhookError) throw cause;
      throw new WebhookError("body", "the event cannot be read", { cause });
    }
  }
}

async function opened(keys: readonly SealingKey[], id: string, now: number, sealed: string): Promise<string> {
  if (keys.length === 0) throw new WebhookError("sealed", "the event is sealed, and this verifier has no sealing key");
  try {
    return await open(keyNamed(keys, sealed, "verifier"), { direction: "evt", nonce: id }, now, sealed);
  } catch (cause) {
    const reason = cause instanceof SealingError ? `: ${cause.message}` : "";
    throw new WebhookError("sealed", `the event cannot be opened${reason}`, { cause });
  }
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : undefined;
}

function base64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
