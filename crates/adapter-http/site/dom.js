// Elements without strings of HTML: nothing of the document is ever taken for markup.

import { tokens } from "./highlight.js";

/** A longer code is cut off, and says so. */
const LINES = 22;

/** An element; `on…` properties are listeners, `null` and `false` are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** What a heading is linked by. */
export function slug(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, "").trim().replaceAll(" ", "-");
}

/** JSON with two blanks for each level. */
export function pretty(value) {
  return JSON.stringify(value, null, 2);
}

/** A block of code under a bar with its label and a button that copies it; `plain` leaves it without colours. */
export function code(text, label, plain = false) {
  const copy = h("button", {
    class: "copy", type: "button",
    onclick: async () => {
      await navigator.clipboard.writeText(text);
      copy.textContent = "copied";
      setTimeout(() => { copy.textContent = "copy"; }, 1500);
    },
  }, "copy");
  const parts = plain ? text : tokens(text).map(part =>
    (typeof part === "string" ? part : h("span", { class: `hl-${part[0]}` }, part[1])));
  const pre = h("pre", { tabindex: "0", "aria-label": label }, h("code", {}, parts));
  const lines = text.split("\n").length;
  const more = lines <= LINES ? null : h("button", {
    class: "more", type: "button", "aria-expanded": "false",
    onclick: () => {
      const clipped = pre.classList.toggle("clipped");
      more.setAttribute("aria-expanded", String(!clipped));
      more.textContent = clipped ? `Show all ${lines} lines` : "Show less";
    },
  }, `Show all ${lines} lines`);
  if (more) pre.classList.add("clipped");
  return h("div", { class: "code" }, h("div", { class: "bar" }, h("span", {}, label), copy), pre, more);
}

/** Some views of which one is shown, chosen by tabs. `views` are pairs of a title and what makes its content. */
export function tabs(label, views) {
  const panel = h("div", { role: "tabpanel", class: "panel" });
  const buttons = views.map(([title, make]) => h("button", {
    type: "button", role: "tab", "aria-selected": "false", tabindex: "-1",
    onclick: event => show(event.currentTarget, make),
  }, title));
  const show = (button, make) => {
    for (const other of buttons) {
      other.setAttribute("aria-selected", String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    panel.replaceChildren(make());
  };
  const list = h("div", {
    role: "tablist", "aria-label": label,
    onkeydown: event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
      next.focus();
      next.click();
    },
  }, buttons);
  if (views.length > 0) show(buttons[0], views[0][1]);
  return h("div", { class: "tabs" }, list, panel);
}
