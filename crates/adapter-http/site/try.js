// Calls from the page: the credentials stay in this tab's memory, bodies are sealed and answers opened here.

import { code, h, pretty } from "./dom.js";
import { freshNonce, openResponse, parseKey, sealRequest } from "./seal.js";

const SEALED = "application/sealed+json";

/** Who calls. Kept nowhere else; gone with the tab. */
const session = { apiKey: "", key: null, token: "" };

/** Identifiers of the last answers by the names of the placeholders that take them. */
const seen = new Map();

/** The form to log in with. */
export function loginForm() {
  const field = (name, label, type = "password", autocomplete = "off") => h("label", {}, label,
    h("input", { name, type, autocomplete, spellcheck: "false", required: true }));
  const told = h("output", { class: "told", id: "login-told" });
  const form = h("form", {
    id: "login", onsubmit: async event => {
      event.preventDefault();
      told.textContent = "…";
      told.textContent = await logIn(new FormData(form)).catch(error => error.message);
    },
  },
  field("apiKey", "API key"), field("login", "Login", "text", "username"),
  field("password", "Password", "password", "current-password"), field("sealingKey", "Sealing key"),
  h("button", { type: "submit" }, "Log in"), told);
  return form;
}

async function logIn(data) {
  session.apiKey = data.get("apiKey");
  session.key = parseKey(data.get("sealingKey"));
  session.token = "";
  const body = { login: data.get("login"), password: data.get("password") };
  const call = { method: "POST", path: "/v1/get_access_token", query: {}, body, byApiKey: true, seal: true, sealAnswer: true };
  const answer = await send(call);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.opened ?? answer.text}`);
  const until = new Date(1000 * JSON.parse(answer.opened ?? answer.text).accessExpireAt);
  return `Logged in until ${until.toLocaleTimeString()}.`;
}

/** The form of an operation. */
export function tryIt({ method, path, operation, parameters, example }) {
  const inputs = parameters.filter(parameter => parameter.in !== "header");
  const headers = parameters.filter(parameter => parameter.in === "header" && parameter.name === "idempotency-key");
  const shown = h("div", { class: "answer", "aria-live": "polite" });
  const form = h("form", {
    onsubmit: async event => {
      event.preventDefault();
      shown.replaceChildren("…");
      const call = read(new FormData(form), { method, path, operation, inputs });
      const show = call.then(send).then(showAnswer);
      shown.replaceChildren(...await show.catch(error => [h("p", { class: "fault" }, error.message)]));
    },
  },
  [...inputs, ...headers].map(parameter => h("label", {}, parameter.name, h("input", {
    name: `${parameter.in}:${parameter.name}`, spellcheck: "false", autocomplete: "off",
    required: parameter.required, value: parameter.in === "path" ? seen.get(parameter.name) : null,
  }))),
  example === undefined ? null : h("label", {}, "Body",
    h("textarea", { name: "body", rows: "8", spellcheck: "false" }, pretty(example))),
  h("label", { class: "check" }, h("input", { type: "checkbox", name: "seal", checked: true }), "Seal the call"),
  h("label", { class: "check" }, h("input", { type: "checkbox", name: "sealAnswer", checked: true }), "Ask for a sealed answer"),
  h("button", { type: "submit" }, "Send"));
  return h("div", {}, form, shown);
}

/** The call of a filled-in form. */
async function read(data, { method, path, operation, inputs }) {
  const query = {};
  let filled = path;
  for (const { in: place, name } of inputs) {
    const value = data.get(`${place}:${name}`).trim();
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "") query[name] = value;
  }
  const text = data.get("body");
  return {
    method: method.toUpperCase(),
    path: filled,
    query,
    body: text === null ? undefined : JSON.parse(text),
    key: data.get("header:idempotency-key") || null,
    byApiKey: operation.security[0].apiKey !== undefined,
    seal: data.get("seal") !== null,
    sealAnswer: data.get("sealAnswer") !== null,
  };
}

/** Sends a call; answers what was sent, and what came, sealed and opened. */
async function send({ method, path, query, body, key, byApiKey, seal, sealAnswer }) {
  if (!session.key) throw new Error("Log in first, at the top of this page.");
  const nonce = freshNonce();
  const bound = { method, path, nonce };
  const headers = { "x-nonce": nonce };
  if (byApiKey) headers["x-api-key"] = session.apiKey;
  else headers.authorization = `Bearer ${session.token}`;
  if (key) headers["idempotency-key"] = key;
  if (sealAnswer) headers.accept = SEALED;
  const sealed = async (slot, value) => sealRequest(session.key, { ...bound, slot }, JSON.stringify(value));
  let text;
  if (body !== undefined) {
    headers["content-type"] = seal ? SEALED : "application/json";
    text = seal ? JSON.stringify({ sealed: await sealed("body", body) }) : JSON.stringify(body);
  }
  const asked = Object.keys(query).length === 0 ? {} : seal ? { sealed: await sealed("query", query) } : query;
  const search = new URLSearchParams(asked).toString();
  const target = search ? `${path}?${search}` : path;
  const answer = await fetch(target, { method, headers, body: text, cache: "no-store" });
  const got = await opened(answer, bound);
  remember(got);
  return { ...got, sent: { method, target, headers, text } };
}

async function opened(answer, bound) {
  const text = await answer.text();
  const got = { status: answer.status, headers: [...answer.headers], text, opened: null };
  if ((answer.headers.get("content-type") ?? "").startsWith(SEALED)) {
    got.opened = await openResponse(session.key, bound, answer.status, JSON.parse(text).sealed);
  }
  return got;
}

/** Keeps tokens and identifiers for the next calls. */
function remember(got) {
  const values = parsed(got.opened ?? got.text);
  if (values?.accessToken) session.token = values.accessToken;
  const names = { orderId: "order_id" };
  for (const [name, value] of Object.entries(values?.data?.[0] ?? values?.data ?? values ?? {})) {
    if (typeof value === "string" && /^(id[A-Z]|.*Id$)/.test(name)) seen.set(names[name] ?? name, value);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What was sent and what came; secrets that were typed in are not shown again. */
function showAnswer({ sent, status, headers, text, opened: plain }) {
  const hidden = ([name, value]) => `${name}: ${["authorization", "x-api-key"].includes(name) ? "…" : value}`;
  const head = [`${sent.method} ${sent.target}`, ...Object.entries(sent.headers).map(hidden)].join("\n");
  const received = [`HTTP ${status}`, ...headers.map(([name, value]) => `${name}: ${value}`), "", text].join("\n");
  return [
    h("h5", {}, "Sent"), code(sent.text ? `${head}\n\n${sent.text}` : head, "the call as sent"),
    h("h5", {}, plain === null ? "Received" : "Received, sealed"), code(received, "the answer as received"),
    plain === null ? null : [h("h5", {}, "Opened"), h("div", { class: "opened", "data-status": String(status) },
      code(pretty(parsed(plain)), "the answer, opened"))],
  ].flat().filter(part => part !== null);
}
