/** One try of a call: seal, send, open. */

import { concatBytes } from "@noble/ciphers/utils.js";

import { errorOf, valueOf } from "./answer.js";
import { type Call, JSON_TYPE, openAnswer, type Rendered, renderClear, renderSealed, SEALED_TYPE, type Sealing } from "./call.js";
import { randomHex, textOf } from "./bytes.js";
import { ApiError, CallTimeoutError, ConfigError, DecodeError, SealingError, TlsError, TransportError } from "./errors.js";

/** The largest answer that is read; a result of 100,000 cards, sealed, stays well below it. */
const MAX_ANSWER = 64 << 20;

/**
 * From how many seconds on a clock's offset is named beside a refusal. The service refuses sealed values from 300 s on.
 */
const NOTABLE_OFFSET = 240;

/** What Node's errors are called when no connection came about. */
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The header that says who calls. */
export type Credential = readonly [name: string, value: string];

export interface TransportSettings {
  readonly baseUrl: string;
  readonly sealing: Sealing | undefined;
  /** How long one try may take, from connecting to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Tells Unix milliseconds. */
  readonly clock: () => number;
  readonly fetch: typeof fetch;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** What an answer says. */
export interface TaggedAnswer {
  /** Its JSON, or the bytes of a file. */
  readonly value: unknown;
  readonly etag: string | undefined;
}

/** Sends calls, each try with a nonce of its own. */
export class Transport {
  readonly #settings: TransportSettings;
  readonly #base: string;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
    this.#base = checkedBase(settings.baseUrl);
  }

  /** The time in Unix seconds. */
  now(): number {
    return Math.floor(this.#settings.clock() / 1_000);
  }

  /** The JSON of the answer, or the bytes of a file, with its entity tag. Rejects with the error that it stands for. */
  async send(call: Call, credential: Credential, signal?: AbortSignal): Promise<TaggedAnswer> {
    const { sealing } = this.#settings;
    const nonce = randomHex(16);
    const rendered = sealing ? await renderSealed(call, sealing, nonce, this.now()) : renderClear(call);
    const headers = new Headers([
      ["accept", call.accept ?? (sealing?.answers ? SEALED_TYPE : JSON_TYPE)],
      ["x-nonce", nonce],
      credential as [string, string],
    ]);
    if (call.key !== undefined) headers.set("idempotency-key", call.key);
    if (call.ifMatch !== undefined) headers.set("if-match", call.ifMatch);
    if (rendered.contentType !== undefined) headers.set("content-type", rendered.contentType);
    const answer = await this.#exchange(call, rendered, headers, signal);
    const etag = answer.headers.get("etag") ?? undefined;
    if (call.accept !== undefined && succeeded(answer)) return { value: answer.body, etag };
    const text = await this.#open(call, nonce, answer).catch((error: unknown) => {
      const note = error instanceof SealingError ? this.#clockNote(answer) : undefined;
      throw note ? new SealingError(`${(error as SealingError).message}; ${note}`) : error;
    });
    if (!succeeded(answer)) throw errorOf(answer.status, answer.headers, text, this.#clockNote(answer));
    return { value: valueOf(text), etag };
  }

  async #exchange(call: Call, rendered: Rendered, headers: Headers, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal?.addEventListener("abort", abort, { once: true });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort();
    }, this.#settings.timeoutMs);
    try {
      const response = await this.#settings.fetch(this.#base + rendered.target, {
        method: call.operation.method,
        headers,
        body: rendered.body ?? null,
        signal: controller.signal,
        // The service never redirects, and credentials must not follow anyone who does.
        redirect: "manual",
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
      });
      if (response.type === "opaqueredirect") throw new ApiError(0, undefined, "the response is a redirect, which the client does not follow");
      return { status: response.status, headers: response.headers, body: await bodyOf(response) };
    } catch (error) {
      if (error instanceof ApiError || error instanceof DecodeError) throw error;
      if (late) throw new CallTimeoutError("the service did not answer in time");
      signal?.throwIfAborted();
      throw broken(error, this.#base);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** That the clocks differ, if values are sealed and that may be the reason why one was refused. */
  #clockNote({ headers }: Answer): string | undefined {
    const service = Date.parse(headers.get("date") ?? "");
    const offset = Math.round((this.#settings.clock() - service) / 1_000);
    if (!this.#settings.sealing || !(Math.abs(offset) >= NOTABLE_OFFSET)) return undefined;
    return `your clock is ${Math.abs(offset)} s ${offset > 0 ? "ahead of" : "behind"} the service's`;
  }

  async #open(call: Call, nonce: string, answer: Answer): Promise<string> {
    const { sealing } = this.#settings;
    const text = textOf(answer.body);
    if (text === undefined) {
      if (succeeded(answer)) throw new DecodeError("the answer is no text");
      // The error page of a proxy may be in any encoding; its status still counts.
      return new TextDecoder().decode(answer.body);
    }
    if (sealing && answer.headers.get("content-type")?.startsWith(SEALED_TYPE)) {
      return openAnswer(call, sealing, nonce, answer.status, this.now(), text);
    }
    // What the service refuses before it knows the caller comes in clear. A success in clear was made by someone who
    // cannot seal.
    if (succeeded(answer) && sealing?.answers && text) throw new SealingError("the answer came in clear");
    return text;
  }
}

/** Blanks and line ends around it are cut off, and so is the `/v1` with which every path begins. */
function checkedBase(text: string): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new ConfigError("base URL: it has to start with http:// or https://");
  }
  if (!["http:", "https:"].includes(url.protocol)) throw new ConfigError("base URL: it has to start with http:// or https://");
  if (url.search || url.hash || url.username || url.password) {
    throw new ConfigError("base URL: it must have neither query nor fragment nor credentials");
  }
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/+v1$/, "");
}

function succeeded({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

async function bodyOf(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
    length += piece.value.length;
    if (length > MAX_ANSWER) {
      await reader?.cancel();
      throw new DecodeError(`the answer is larger than ${MAX_ANSWER} bytes`);
    }
    pieces.push(piece.value);
  }
  return concatBytes(...pieces);
}

/** What Node's errors are called when a certificate is not accepted; those of OpenSSL's verification. */
const CERTIFICATE =
  /^(CERT_|CRL_|ERR_TLS_CERT_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)_|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_)/;

const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|.*RECORD_LAYER_FAILURE)$/;
const NO_COMMON_TLS = /^ERR_SSL_.*(HANDSHAKE_FAILURE|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_CIPHERS|NO_SHARED_CIPHER)/;

function broken(error: unknown, base: string): TransportError {
  const cause = (error as Error | undefined)?.cause as { code?: string; message?: string } | undefined;
  const code = cause?.code;
  if (code && CERTIFICATE.test(code)) {
    return new TlsError(`the service's certificate is not accepted: ${cause.message ?? code}`, { cause: error });
  }
  if (code && NO_TLS.test(code)) {
    const message = "the service does not speak TLS at this address; its URL may have to start with http://";
    return new TlsError(message, { cause: error });
  }
  if (code?.startsWith("HPE_") && base.startsWith("http:")) {
    // The response is not HTTP, so the service has not received the request.
    const message = "this port does not answer in HTTP; if it speaks TLS, the base URL has to start with https://";
    return new TlsError(message, { cause: error });
  }
  if (code && NO_COMMON_TLS.test(code)) {
    return new TlsError(`the service and this client find no common TLS: ${code}`, { cause: error });
  }
  const sent = code === undefined || !NEVER_CONNECTED.has(code);
  if (sent) return new TransportError(`the connection broke${code ? `: ${code}` : ""}`, sent, { cause: error });
  // Node's message has the address that was tried, which is that of a proxy if there is one.
  return new TransportError(`the service could not be reached at ${base}: ${cause?.message || code}`, sent, { cause: error });
}
