// Outside of a sandbox a change is sent only after a second look at what it changes.

import { h } from "./dom.js";
import { lookUp } from "./session.js";

/** Whether the service behind this page is a sandbox. */
export const isSandbox = () => document.body.dataset.mode === "sandbox";

/** Operations that cannot be undone, with what they do. */
const FINAL = {
  "employee.erase": "erases this person for good",
  "closing.create": "closes these cards for good",
  "withdrawal.create": "takes money from these cards",
};

/** The most objects that are shown by their names. */
const SHOWN = 20;

/** Asks in `place` whether to send a call; answers whether. What cannot be undone is typed by its name first. */
export async function confirmed(operation, call, place) {
  const what = FINAL[operation.operationId];
  const names = await namesOf(call);
  const name = names.length === 1 ? names[0].name : `${names.length} cards`;
  return new Promise(resolve => {
    const typed = h("input", { name: "confirm", autocomplete: "off", spellcheck: "false", oninput: () => check() });
    const go = h("button", { type: "button", class: "go", onclick: () => resolve(true) }, "Send to production");
    const check = () => { go.disabled = what !== undefined && typed.value.trim() !== name; };
    check();
    place.replaceChildren(h("div", { class: "confirm", role: "alertdialog", "aria-label": "Confirm" },
      h("p", {}, h("strong", {}, "Production: "), what ? `this ${what}.` : "this changes real data.", " ",
        h("code", {}, `${call.method} ${call.path}`)),
      names.length === 0 ? null : h("ul", {}, names.slice(0, SHOWN).map(one => h("li", {}, one.text)),
        names.length > SHOWN ? h("li", {}, `and ${names.length - SHOWN} more`) : null),
      what ? h("label", {}, h("span", {}, "Type ", h("code", { class: "wanted" }, name), " to confirm"), typed) : null,
      h("p", {}, go, " ", h("button", { type: "button", onclick: () => resolve(false) }, "Do not send"))));
    (what ? typed : go).focus();
  });
}

/** The employee or the cards that a call names, as people know them: by `customId`, or by the card's number. */
async function namesOf({ path, body }) {
  const inPath = kind => new RegExp(`/${kind}/([^/]+)`).exec(path)?.[1];
  const employee = inPath("employee");
  const cards = [...new Set([inPath("card"), ...cardsIn(body)].filter(Boolean))];
  const employees = employee ? [await nameOf("employee", employee, ({ customId, surname, name }) =>
    [customId, [surname, name].filter(Boolean).join(" ")])] : [];
  // The others are counted.
  const looked = await Promise.all(cards.slice(0, SHOWN).map(id =>
    nameOf("card", id, ({ customCardId, balance }) => [String(customCardId), `card, ${(balance / 100).toFixed(2)} on it`])));
  return [...employees, ...looked, ...cards.slice(SHOWN).map(id => ({ name: id, text: id }))];
}

async function nameOf(kind, id, read) {
  const found = await lookUp(`/v1/${kind}/${encodeURIComponent(id)}`).catch(() => null);
  if (!found?.data) return { name: id, text: `${kind} ${id}` };
  const [name, about] = read(found.data);
  return { name, text: about ? `${name} (${about})` : name };
}

/** Each `idCard` of a body, however deep. */
function cardsIn(value) {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === "idCard" ? [inner] : cardsIn(inner)));
}
