/**
 * The wire format that encrypts bodies and parameters and binds them to their call; see docs/SEALING.md.
 *
 * The client does all of this by itself. Use the module alone to check an implementation or to look into a call.
 */

import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { bytesToHex, concatBytes, equalBytes } from "@noble/ciphers/utils.js";

import { type Bytes, compare, decodeBase64url, encodeBase64url, textOf, utf8 } from "./bytes.js";
import { ConfigError, SealingError } from "./errors.js";

/** By how many seconds the time of a sealed value may differ from the opener's clock. */
export const WINDOW_SECONDS = 300;

const PREFIX = "s1.";
const KEY_PREFIX = "sk_";
const DOMAIN = utf8("pcs1");
const SUITE = 1;
const BLOCK = 32;
const MARK = 0x80;
const HEADER = 33;
const TAG = 16;
const MAX_QUERY_CHARS = 2_048;
const MAX_PARAMETER_CHARS = 512;
const NONCE = /^[A-Za-z0-9._~+/=-]{16,64}$/;

/** A partner's sealing key. Its secret is given away to the platform at once, which does not tell it again. */
export class SealingKey {
  /** Names the key; 8 bytes, no secret. */
  readonly id: Bytes;
  readonly #secret: Promise<CryptoKey>;

  constructor(id: Bytes, secret: Bytes) {
    if (id.length !== 8 || secret.length !== 32) throw new ConfigError("a sealing key is an id of 8 bytes and a secret of 32");
    const subtle = globalThis.crypto?.subtle;
    if (!subtle) throw new ConfigError("there is no WebCrypto; browsers have it on https:// and localhost alone");
    this.id = id;
    this.#secret = subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  }

  /** The key from its text, `sk_…`. Throws {@link ConfigError} for any other text. */
  static parse(text: string): SealingKey {
    const raw = text.startsWith(KEY_PREFIX) ? decodeBase64url(text.slice(KEY_PREFIX.length)) : undefined;
    if (raw?.length !== 40) throw new ConfigError("a sealing key is 'sk_' and the base64url of 40 bytes");
    return new SealingKey(raw.slice(0, 8), raw.slice(8));
  }

  /** Key and IV for one value. */
  async derive(salt: Bytes, info: Bytes): Promise<[key: Bytes, iv: Bytes]> {
    const how = { name: "HKDF", hash: "SHA-256", salt, info };
    const bits = new Uint8Array(await crypto.subtle.deriveBits(how, await this.#secret, 44 * 8));
    return [bits.slice(0, 32), bits.slice(32)];
  }

  toString(): string {
    return `SealingKey(${bytesToHex(this.id)})`;
  }
}

/** What a sealed value of a call is bound to. */
export interface RequestContext {
  readonly method: string;
  /** As called, see {@link boundPath}. */
  readonly path: string;
  /** The `x-nonce` of the call. */
  readonly nonce: string;
  /** What is sealed: `body`, `query`, `path:idCard`, `query:page`, `field:/statusCard`. */
  readonly slot: string;
  /** Slot and value of every parameter that travels clear beside sealed ones, in any order. */
  readonly clear?: readonly (readonly [slot: string, value: string])[];
}

/** What the sealed body of an answer is bound to: the call, and the status it was answered with. */
export interface ResponseContext {
  readonly method: string;
  readonly path: string;
  readonly nonce: string;
  readonly status: number;
}

/** What the sealed `data` of an event is bound to; not to the URL of the webhook that receives it. */
export interface EventContext {
  readonly direction: "evt";
  /** The event's `id`, which the header `webhook-id` carries too. */
  readonly nonce: string;
}

export type Context = RequestContext | ResponseContext | EventContext;

/** Seals a text for one call or event, at a time in Unix seconds. Only tests give a salt. */
export async function seal(
  key: SealingKey,
  context: Context,
  nowUnix: number,
  plaintext: string,
  salt = crypto.getRandomValues(new Uint8Array(16)),
): Promise<string> {
  const time = new DataView(new ArrayBuffer(8));
  time.setBigUint64(0, BigInt(nowUnix));
  const header = concatBytes(Uint8Array.of(SUITE), key.id, new Uint8Array(time.buffer), salt);
  const [secret, iv] = await key.derive(salt, infoOf(context));
  const sealed = chacha20poly1305(secret, iv, associatedOf(context, header)).encrypt(pad(utf8(plaintext)));
  return PREFIX + encodeBase64url(concatBytes(header, sealed));
}

/** Opens a sealed text. Throws {@link SealingError} unless it was sealed under `key` for exactly this call or event. */
export async function open(key: SealingKey, context: Context, nowUnix: number, text: string): Promise<string> {
  if (text.length > longest(context)) throw new SealingError("it is too long");
  if (!NONCE.test(context.nonce)) throw new SealingError("the nonce is malformed");
  const raw = text.startsWith(PREFIX) ? decodeBase64url(text.slice(PREFIX.length)) : undefined;
  const padded = (raw?.length ?? 0) - HEADER - TAG;
  if (!raw || padded < BLOCK || padded % BLOCK !== 0) throw new SealingError("it is not of the sealed form");
  const header = raw.slice(0, HEADER);
  if (header[0] !== SUITE) throw new SealingError("it is of another suite");
  const [secret, iv] = await key.derive(header.slice(17), infoOf(context));
  const opened = decrypt(secret, iv, associatedOf(context, header), raw.subarray(HEADER));
  if (!equalBytes(header.slice(1, 9), key.id)) throw new SealingError("it was sealed under another key");
  const time = new DataView(header.buffer).getBigUint64(9);
  // As a number it is exact for 285 million years, and beyond them far enough off.
  if (Math.abs(Number(time) - nowUnix) > WINDOW_SECONDS) throw new SealingError("its time is more than five minutes off");
  return unpad(opened);
}

function decrypt(secret: Bytes, iv: Bytes, associated: Bytes, sealed: Bytes): Uint8Array {
  try {
    return chacha20poly1305(secret, iv, associated).decrypt(sealed);
  } catch {
    throw new SealingError("it was not sealed for this call");
  }
}

/** The id of the key that a text says it is sealed under; `undefined` if it is no sealed text. */
export function keyIdOf(text: string): Bytes | undefined {
  // 33 bytes are 44 characters exactly, so the head can be decoded without the rest.
  const raw = text.startsWith(PREFIX) ? decodeBase64url(text.slice(PREFIX.length, PREFIX.length + 44)) : undefined;
  return raw?.length === HEADER && raw[0] === SUITE ? raw.slice(1, 9) : undefined;
}

/** The one of the keys that a text says it is sealed under. Throws {@link SealingError}, which says what `holder` lacks. */
export function keyNamed(keys: readonly SealingKey[], text: string, holder: string): SealingKey {
  const id = keyIdOf(text);
  if (!id) throw new SealingError("it is not of the sealed form");
  const key = keys.find((one) => equalBytes(one.id, id));
  if (key) return key;
  const named = bytesToHex(id);
  throw new SealingError(`sealed under key ${named}, which this ${holder} does not have: was the sealing key rotated?`);
}

/** The path that sealed values are bound to: without query and final slash, `*` for each sealed segment. */
export function boundPath(called: string): string {
  const path = called.split("?", 1)[0]!.replace(/\/$/, "");
  return path
    .split("/")
    .map((segment) => (segment.startsWith(PREFIX) ? "*" : segment))
    .join("/");
}

function infoOf(context: Context): Bytes {
  const [direction, slot] =
    "direction" in context ? ["evt", "body"] : "slot" in context ? ["req", context.slot] : ["res", "body"];
  return pae(DOMAIN, utf8(direction), utf8(context.nonce), utf8(slot));
}

function associatedOf(context: Context, header: Bytes): Bytes {
  if ("direction" in context) return pae(DOMAIN, header, utf8("POST"), utf8("/"));
  const bound = [DOMAIN, header, utf8(context.method), utf8(context.path)];
  if (!("slot" in context)) return pae(...bound, utf8(String(context.status)));
  const neighbours = (context.clear ?? []).map(([slot, value]) => [utf8(slot), utf8(value)] as const);
  // By bytes, as every implementation has to sort alike.
  return pae(...bound, ...neighbours.sort(([a], [b]) => compare(a, b)).flat());
}

function longest(context: Context): number {
  if (!("slot" in context)) return Infinity;
  if (context.slot === "query") return MAX_QUERY_CHARS;
  return /^(path|query):/.test(context.slot) ? MAX_PARAMETER_CHARS : Infinity;
}

/** PASETO's pre-authentication encoding: no two lists of pieces are encoded alike. */
function pae(...pieces: readonly Uint8Array[]): Bytes {
  return concatBytes(le64(pieces.length), ...pieces.flatMap((piece) => [le64(piece.length), piece]));
}

function le64(count: number): Bytes {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(count), true);
  return new Uint8Array(view.buffer);
}

/** Fills whole blocks, so that values of similar length cannot be told apart. */
function pad(plaintext: Bytes): Bytes {
  const padded = new Uint8Array((Math.floor(plaintext.length / BLOCK) + 1) * BLOCK);
  padded.set(plaintext);
  padded[plaintext.length] = MARK;
  return padded;
}

function unpad(padded: Uint8Array): string {
  let mark = padded.length - 1;
  while (mark >= 0 && padded[mark] === 0) mark--;
  // A mark before the last block would be a second encoding of the same plaintext.
  if (padded[mark] !== MARK || padded.length - mark > BLOCK) throw new SealingError("its padding is malformed");
  const text = textOf(padded.subarray(0, mark));
  if (text === undefined) throw new SealingError("it is no text");
  return text;
}
