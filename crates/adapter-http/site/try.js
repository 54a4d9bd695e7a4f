// Calls from the page.

import { confirmed, isSandbox } from "./confirm.js";
import { code, h, pretty } from "./dom.js";
import { prefill } from "./prefill.js";
import { canSeal, isLoggedIn, logIn, onResponse, parsed, send } from "./session.js";

/** Shows a moment as the API does: DD.MM.YYYY HH:MM, in the zone of the reader. */
export function moment(date) {
  const two = number => String(number).padStart(2, "0");
  const day = `${two(date.getDate())}.${two(date.getMonth() + 1)}.${date.getFullYear()}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The form to log in with. */
export function loginForm() {
  const field = (name, label, type = "password", autocomplete = "off", required = true) => h("label", {}, label,
    h("input", { name, type, autocomplete, spellcheck: "false", required }));
  const told = h("output", { class: "told", id: "login-told" });
  const form = h("form", {
    id: "login", onsubmit: async event => {
      event.preventDefault();
      told.textContent = "…";
      told.textContent = await logIn(new FormData(form)).then(
        until => `Logged in until ${moment(until)}.`, error => error.message);
    },
  },
  field("apiKey", "API key"), field("login", "Login", "text", "username"),
  field("password", "Password", "password", "current-password"),
  field("sealingKey", "Sealing key (only needed to seal)", "password", "off", false),
  h("button", { type: "submit" }, "Log in"), told);
  return form;
}

/** The form of an operation. Values that were not edited are chosen anew for every request. */
export function tryIt({ method, path, operation, parameters, example, required }) {
  const inputs = parameters.filter(parameter => parameter.in !== "header");
  const keys = parameters.filter(parameter => parameter.in === "header" && parameter.name === "idempotency-key");
  const shown = h("div", { class: "answer", "aria-live": "polite" });
  const hint = h("p", { class: "hint", role: "status", hidden: true });
  const boxes = new Map([...inputs, ...keys].map(parameter => [`${parameter.in}:${parameter.name}`, h("input", {
    name: `${parameter.in}:${parameter.name}`, spellcheck: "false", autocomplete: "off", required: parameter.required,
  })]));
  const body = example === undefined ? null
    : h("textarea", { name: "body", rows: String(Math.min(16, pretty(example).split("\n").length + 1)), spellcheck: "false" });
  // What takes an idempotency key changes something.
  const byHand = keys.length > 0 && !isSandbox();
  const isReal = byHand && !operation["x-sandbox"];
  const files = fileTypes(operation);
  const format = files.length === 0 ? null : h("select", { name: "accept" },
    h("option", { value: "" }, "JSON"), files.map(type => h("option", { value: type }, FILES[type] ?? type)));
  const seals = ["Seal the request", "Ask for a sealed response"].map((label, index) => {
    const box = h("input", { type: "checkbox", name: ["seal", "sealAnswer"][index] });
    return [box, h("label", { class: "check" }, box, label)];
  });
  const call = async () => {
    await refill.upToDate();
    if (!form.reportValidity() || refill.misses()) throw new Error("A value is missing.");
    const request = read(new FormData(form), { method, path, operation, inputs });
    if (isReal && !(await confirmed(operation, request, shown))) throw new Error("Nothing was sent.");
    return send(request);
  };
  const form = h("form", {
    novalidate: true,
    onfocusin: () => refill.upToDate(),
    onsubmit: async event => {
      event.preventDefault();
      shown.replaceChildren("…");
      shown.replaceChildren(...await call().then(showAnswer, error => [h("p", { class: "fault" }, error.message)]));
      refill.upToDate();
    },
  },
  [...boxes].map(([name, box]) => h("label", {}, name.replace(/^\w+:/, ""), box)),
  body ? h("label", {}, "Body", body) : null, format ? h("label", {}, "Format", format) : null,
  seals.map(([, label]) => label),
  isReal ? h("p", { class: "hint" }, "Production: type yourself what is to change. No identifier is filled in.") : null, hint,
  h("button", { type: "submit" }, isReal ? "Send …" : "Send"));
  const refill = filler({
    operation, inputs, example, required, boxes, body, hint, byHand, seals: seals.map(([box]) => box),
  });
  return h("div", {}, form, shown);
}

/** Fills a form. What it is filled with is out of date after every response, also to another form. */
function filler({ operation, inputs, example, required, boxes, body, hint, byHand, seals }) {
  const filled = new Map();
  let missing = [];
  let latest = null;
  let turn = 0;
  const boxOf = name => boxes.get(`path:${name}`) ?? boxes.get(`query:${name}`) ?? body;
  const isUntouched = box => box.value === (filled.get(box) ?? "");
  const put = (box, value) => {
    if (!isUntouched(box)) return;
    box.value = value ?? "";
    filled.set(box, box.value);
  };
  const fill = async () => {
    const mine = turn += 1;
    for (const box of seals) {
      if (filled.get(box) !== canSeal()) box.checked = canSeal();
      filled.set(box, canSeal());
    }
    const values = await prefill({ operationId: operation.operationId, inputs, example, required, byHand });
    if (mine !== turn) return latest;
    for (const [name, value] of values.parameters) put(boxes.get(name), value);
    if (body) put(body, pretty(values.body));
    missing = values.missing.filter(({ name }) => isUntouched(boxOf(name)));
    hint.hidden = missing.length === 0;
    hint.replaceChildren(...missing.map(showMissing));
    return undefined;
  };
  const upToDate = () => {
    // What was not there may be there by now.
    if (missing.length > 0) latest = null;
    latest ??= fill().catch(error => {
      hint.hidden = false;
      hint.textContent = error.message;
    });
    return latest;
  };
  onResponse(() => {
    latest = null;
    if (missing.length > 0 && hint.closest("details").open) upToDate();
  });
  upToDate();
  return { upToDate, misses: () => missing.some(({ name }) => isUntouched(boxOf(name))) };
}

function showMissing({ name, needs }) {
  if (!isLoggedIn()) return h("span", {}, `${name}: log in, at the top of this page, to have it filled in. `);
  const section = document.querySelector(`section[data-operation="${needs}"]`);
  return h("span", {}, `${name}: nothing fits yet. Call `,
    h("a", { href: `#${section.id}` }, section.querySelector("h3 a").textContent),
    " first, and wait until what you asked for is done. ");
}

/** The call of a filled-in form. */
function read(data, { method, path, operation, inputs }) {
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
    accept: data.get("accept") || null,
  };
}

/** What a response can be beside JSON, by media type. */
const FILES = {
  "text/csv": "CSV",
  "text/csv; profile=excel": "CSV for a spreadsheet program",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "spreadsheet (XLSX)",
  "text/plain; profile=1c; charset=windows-1251": "1CClientBankExchange",
  "application/xml; profile=camt.053": "camt.053",
};

function fileTypes(operation) {
  return Object.keys(operation.responses["200"]?.content ?? {}).filter(type => !/[/+]json$/.test(type));
}

/** A link that saves what came, under the name that the service gave it. */
function saveLink({ headers, file }) {
  const given = headers.find(([name]) => name === "content-disposition")?.[1] ?? "";
  const name = /filename="([^"]+)"/.exec(given)?.[1] ?? "response";
  return h("p", {}, h("a", { class: "file", href: URL.createObjectURL(file), download: name }, `Save ${name}`),
    ` (${file.size} bytes)`);
}

/** What was sent and what came; secrets that were typed in are not shown again. */
function showAnswer({ sent, status, headers, text, file, opened: plain }) {
  const hidden = ([name, value]) => `${name}: ${["authorization", "x-api-key"].includes(name) ? "…" : value}`;
  const head = [`${sent.method} ${sent.target}`, ...Object.entries(sent.headers).map(hidden)].join("\n");
  const json = parsed(text);
  const received = [`HTTP ${status}`, ...headers.map(([name, value]) => `${name}: ${value}`), "",
    plain === null && json !== null ? pretty(json) : text].join("\n");
  return [
    h("h5", {}, "Sent"), code(sent.text ? `${head}\n\n${sent.text}` : head, "request as sent"),
    h("h5", {}, plain === null ? "Received" : "Received, sealed"),
    h("div", { class: "received", "data-status": String(status) }, code(received, "response as received"),
      file ? saveLink({ headers, file }) : null),
    plain === null ? null : [h("h5", {}, "Opened"), h("div", { class: "opened", "data-status": String(status) },
      code(pretty(parsed(plain)), "response, opened"))],
  ].flat().filter(part => part !== null);
}
