// The reference page: fetches the document and shows it.

import { h, slug } from "./dom.js";
import { markdown, sections } from "./markdown.js";
import { badge, operationSection } from "./operation.js";
import { search } from "./search.js";
import { loginForm } from "./try.js";

const main = document.querySelector("main");
const nav = document.querySelector("nav");

start().catch(error => {
  main.replaceChildren(h("p", { class: "fault", role: "alert" }, `The document could not be shown: ${error.message}`));
});

async function start() {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`/openapi.json: ${answer.status}`);
  const api = await answer.json();
  const operations = operationsOf(api);
  document.querySelector("#version").textContent = api.info.version;
  document.querySelector("#session").append(loginForm());
  main.replaceChildren(
    h("h1", {}, "Kopeck API"),
    h("p", { id: "found", role: "status", hidden: true }),
    h("article", { id: "guide" }, h("p", { class: "summary" }, api.info.summary), sections(api.info.description)),
    ...api.tags.map(tag => h("article", {},
      h("h2", { id: slug(tag.name) }, tag.name),
      h("div", { class: "about" }, markdown(tag.description)),
      operations.filter(one => one.operation.tags[0] === tag.name).map(one => operationSection(api, one)))));
  nav.replaceChildren(...navigation(api, operations));
  await bank();
  search(api, operations);
  menu();
  theme();
  document.body.dataset.ready = "true";
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

/** Every operation with a place of its own; the same one under another method is its alias. */
function operationsOf(api) {
  const all = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
  return all.filter(({ operation }) => !operation["x-alias-of"]).map(one => {
    const aliases = all.filter(other => other.operation["x-alias-of"] === one.operation.operationId)
      .map(({ method, operation }) => ({ method, operationId: operation.operationId }));
    return { ...one, id: slug(one.operation.summary), aliases };
  });
}

function navigation(api, operations) {
  const entry = (id, ...children) => h("li", { "data-for": id }, h("a", { href: `#${id}` }, children));
  const guide = [...main.querySelectorAll("#guide section")].map(section =>
    entry(section.id, h("span", { class: section.dataset.level === "3" ? "sub" : null }, section.dataset.title)));
  const group = (title, items) => h("details", { open: true }, h("summary", {}, title), h("ul", {}, items));
  return [
    group("Guide", guide),
    ...api.tags.map(tag => group(tag.name, [
      h("li", {}, h("a", { href: `#${slug(tag.name)}` }, "Overview")),
      ...operations.filter(one => one.operation.tags[0] === tag.name)
        .map(one => entry(one.id, badge(one.method), " ", one.operation.summary)),
    ])),
  ];
}

/** Says what the bank behind this service does not support, so that nobody integrates it in vain. */
async function bank() {
  const answer = await fetch("/docs/bank.json");
  const { without } = answer.ok ? await answer.json() : { without: [] };
  if (without.length === 0) return;
  const note = document.querySelector(".mode.bank");
  note.textContent = `The bank of this service does not support: ${without.join(", ")}. Such requests get 409 not_supported.`;
  note.hidden = false;
}

/** On a narrow screen the menu and the tools are folded away until they are asked for. */
function menu() {
  const button = document.querySelector("#menu");
  const show = open => {
    document.body.classList.toggle("menu-open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") === "false"));
  nav.addEventListener("click", event => { if (event.target.closest("a")) show(false); });
}

/** Light or dark, as the system has it until it is switched. */
function theme() {
  const dark = () => document.documentElement.dataset.theme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.querySelector("#theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
  });
}
