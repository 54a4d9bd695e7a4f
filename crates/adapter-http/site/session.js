// Who calls, and the calls: the credentials stay in this tab's memory, bodies are sealed and responses opened here.

import { freshNonce, openResponse, parseKey, sealRequest } from "./seal.js";

const SEALED = "application/sealed+json";

/** What is written into a form in place of a secret; the call has the secret itself. */
export const PASSWORD = "<password>";
export const REFRESH_TOKEN = "<refresh token>";

/** Kept nowhere else; gone with the tab. */
const session = { apiKey: "", login: "", password: "", key: null, token: "", refreshToken: "" };

/** Told after every response, as what a form would be filled with may be something else then. */
const listeners = [];

export function onResponse(listener) {
  listeners.push(listener);
}

export const isLoggedIn = () => session.token !== "";
export const canSeal = () => session.key !== null;
export const loginName = () => session.login;

/** Logs in with what was typed in, sealed if there is a sealing key; answers when the access token expires. */
export async function logIn(data) {
  const text = data.get("sealingKey").trim();
  session.key = text === "" ? null : parseKey(text);
  session.apiKey = data.get("apiKey").trim();
  session.login = data.get("login");
  session.password = data.get("password");
  session.token = "";
  const body = { login: session.login, password: PASSWORD };
  const seal = session.key !== null;
  const call = { method: "POST", path: "/v1/get_access_token", query: {}, body, byApiKey: true, seal, sealAnswer: seal };
  const answer = await send(call);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.opened ?? answer.text}`);
  return new Date(1000 * parsed(answer.opened ?? answer.text).accessExpireAt);
}

/** Sends a call; answers what was sent, and what came, sealed and opened. */
export async function send({ method, path, query, body, key, byApiKey, seal, sealAnswer, accept }) {
  if (!session.apiKey) throw new Error("Log in first, at the top of this page.");
  if ((seal || sealAnswer) && !session.key) throw new Error("Sealing needs your sealing key: log in with it.");
  const nonce = freshNonce();
  const bound = { method, path, nonce };
  const headers = { "x-nonce": nonce };
  if (byApiKey) headers["x-api-key"] = session.apiKey;
  else headers.authorization = `Bearer ${session.token}`;
  if (key) headers["idempotency-key"] = key;
  if (accept ?? sealAnswer) headers.accept = accept ?? SEALED;
  const sealed = async (slot, value) => sealRequest(session.key, { ...bound, slot }, withSecrets(JSON.stringify(value)));
  let text;
  // A change without a body has to be sealed all the same: an empty object says that the call is the partner's.
  if (seal && body === undefined && method !== "GET") body = {};
  if (body !== undefined) {
    headers["content-type"] = seal ? SEALED : "application/json";
    text = seal ? JSON.stringify({ sealed: await sealed("body", body) }) : JSON.stringify(body);
  }
  const asked = Object.keys(query).length === 0 ? {} : seal ? { sealed: await sealed("query", query) } : query;
  const search = new URLSearchParams(asked).toString();
  const target = search ? `${path}?${search}` : path;
  const payload = text === undefined || seal ? text : withSecrets(text);
  const answer = await fetch(target, { method, headers, body: payload, cache: "no-store" });
  const got = await opened(answer, bound);
  keepTokens(parsed(got.opened ?? got.text));
  listeners.forEach(listener => listener());
  return { ...got, sent: { method, target, headers, text } };
}

/** What a `GET` returns, or `null` where nothing is to be had. It reads in the clear, which every policy allows. */
export async function lookUp(path) {
  if (!isLoggedIn()) return null;
  const headers = { "x-nonce": freshNonce(), authorization: `Bearer ${session.token}` };
  const answer = await fetch(path, { headers, cache: "no-store" });
  return answer.ok ? answer.json() : null;
}

async function opened(answer, bound) {
  const type = answer.headers.get("content-type") ?? "";
  const got = { status: answer.status, headers: [...answer.headers], text: "", opened: null, file: null };
  if (type !== "" && !/^[^;]*[/+]json\b/.test(type)) return { ...got, file: await answer.blob() };
  const text = await answer.text();
  got.text = text;
  if (type.startsWith(SEALED)) {
    if (!session.key) throw new Error("The response is sealed: log in with your sealing key to open it.");
    got.opened = await openResponse(session.key, bound, answer.status, JSON.parse(text).sealed);
  }
  return got;
}

function keepTokens(values) {
  if (!values?.accessToken) return;
  session.token = values.accessToken;
  session.refreshToken = values.refreshToken;
}

/** The text of a body with the secrets that it only names. */
function withSecrets(json) {
  const secrets = [[PASSWORD, session.password], [REFRESH_TOKEN, session.refreshToken]];
  return secrets.reduce((text, [name, secret]) => text.replaceAll(JSON.stringify(name), () => JSON.stringify(secret)), json);
}

/** The JSON of a text, `null` if it is none. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
