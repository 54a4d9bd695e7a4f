// The reference page: fetches the document and shows it.

import { h, slug } from "./dom.js";
import { markdown } from "./markdown.js";
import { badge, operationSection } from "./operation.js";
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
    h("article", { id: "guide" }, h("p", { class: "summary" }, api.info.summary), markdown(api.info.description)),
    ...api.tags.map(tag => h("article", {},
      h("h2", { id: slug(tag.name) }, tag.name),
      markdown(tag.description ?? ""),
      operations.filter(one => one.operation.tags[0] === tag.name).map(one => operationSection(api, one)))));
  nav.replaceChildren(...navigation(api, operations));
  search(operations);
  theme();
  document.body.dataset.ready = "true";
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

/** Every operation with a place of its own; the same one under another method is its alias. */
function operationsOf(api) {
  const all = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
  const taken = new Set();
  return all.filter(({ operation }) => !operation["x-alias-of"]).map(one => {
    const title = slug(one.operation.summary);
    const id = taken.has(title) ? one.operation.operationId : title;
    taken.add(id);
    const aliases = all.filter(other => other.operation["x-alias-of"] === one.operation.operationId)
      .map(({ method, operation }) => ({ method, operationId: operation.operationId }));
    return { ...one, id, aliases };
  });
}

function navigation(api, operations) {
  const guide = [...main.querySelectorAll("#guide h3")].map(heading => [heading.id, heading.textContent]);
  const group = (title, target, items) => h("details", { open: true },
    h("summary", {}, h("a", { href: `#${target}` }, title)), h("ul", {}, items));
  return [
    h("ul", { id: "guides" }, guide.map(([id, title]) => h("li", {}, h("a", { href: `#${id}` }, title)))),
    ...api.tags.map(tag => group(tag.name, slug(tag.name), operations
      .filter(one => one.operation.tags[0] === tag.name)
      .map(one => h("li", { "data-for": one.id },
        h("a", { href: `#${one.id}` }, badge(one.method), " ", one.operation.summary))))),
  ];
}

/** Shows the operations alone in which every word of the search is found. */
function search(operations) {
  const field = document.querySelector("#search");
  const texts = new Map(operations.map(({ id, path, method, operation }) => [id,
    `${method} ${path} ${operation.operationId} ${operation.summary} ${operation.description}`.toLowerCase()]));
  const find = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    for (const [id, text] of texts) {
      const hidden = !words.every(word => text.includes(word));
      document.getElementById(id).hidden = hidden;
      nav.querySelector(`[data-for="${CSS.escape(id)}"]`).hidden = hidden;
    }
    for (const group of nav.querySelectorAll("details")) {
      group.hidden = words.length > 0 && group.querySelectorAll("li:not([hidden])").length === 0;
    }
    for (const article of main.querySelectorAll("article")) {
      article.hidden = words.length > 0 && !article.querySelector(".operation:not([hidden])");
    }
  };
  field.addEventListener("input", find);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
}

/** Light or dark, as the system has it until it is switched. */
function theme() {
  const dark = () => document.documentElement.dataset.theme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.querySelector("#theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
  });
}
