// As much of Markdown as the pages of this project use, made into elements.

import { code, h, slug } from "./dom.js";

/** The elements of a text. */
export function markdown(text) {
  const lines = text.split("\n");
  const blocks = [];
  while (lines.length > 0) {
    const line = lines[0];
    if (line.trim() === "") lines.shift();
    else if (line.startsWith("```")) blocks.push(fence(lines));
    else if (/^#{2,4} /.test(line)) blocks.push(heading(lines.shift()));
    else if (line.startsWith("|")) blocks.push(table(take(lines, next => next.startsWith("|"))));
    else if (/^(- |\d+\. )/.test(line)) blocks.push(list(lines));
    else blocks.push(h("p", {}, inline(take(lines, isProse).join(" "))));
  }
  return blocks;
}

/** The elements of a text, each heading with what is under it in a section that is linked by its name. */
export function sections(text) {
  const all = [];
  for (const block of markdown(text)) {
    if (/^H[23]$/.test(block.tagName)) {
      const { id, textContent } = block;
      block.removeAttribute("id");
      all.push(h("section", { id, "data-title": textContent, "data-level": block.tagName.slice(1) }));
    }
    (all.at(-1) ?? all[all.push(h("div")) - 1]).append(block);
  }
  return all;
}

/** The elements of a text without blocks. */
export function inline(text) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\([^)]+\))/);
  return parts.filter(part => part !== "").map(part => {
    if (/^`.+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("strong", {}, inline(part.slice(2, -2)));
    if (/^\*.+\*$/.test(part)) return h("em", {}, inline(part.slice(1, -1)));
    const link = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part);
    return link ? anchor(link[1], link[2]) : part;
  });
}

/** A link; one to this page does not leave it. */
function anchor(text, target) {
  return h("a", { href: target.replace(/^\/docs#/, "#") }, inline(text));
}

function isProse(line) {
  return line.trim() !== "" && !/^(```|#{2,4} |\||- |\d+\. )/.test(line);
}

function take(lines, fits) {
  const taken = [];
  while (lines.length > 0 && fits(lines[0])) taken.push(lines.shift());
  return taken;
}

function fence(lines) {
  const language = lines.shift().slice(3).trim();
  const text = take(lines, line => !line.startsWith("```")).join("\n");
  lines.shift();
  const label = { http: text.startsWith("HTTP/") ? "response" : "request", text: "" }[language] ?? language;
  return code(text, label, language === "text");
}

function heading(line) {
  const [, signs, title] = /^(#+) (.*)$/.exec(line);
  return h(`h${signs.length}`, { id: slug(title) }, inline(title));
}

function table(lines) {
  const cells = line => line.slice(1, -1).split(/(?<!\\)\|/).map(cell => inline(cell.trim().replaceAll("\\|", "|")));
  const [head, , ...rows] = lines;
  return h("div", { class: "scroll" }, h("table", { class: "fields" },
    h("thead", {}, h("tr", {}, cells(head).map(cell => h("th", { scope: "col" }, cell)))),
    h("tbody", {}, rows.map(row => h("tr", {}, cells(row).map(cell => h("td", {}, cell)))))));
}

function list(lines) {
  const ordered = /^\d/.test(lines[0]);
  const items = [];
  while (lines.length > 0 && /^(- |\d+\. |\s+\S)/.test(lines[0])) {
    const line = lines.shift();
    if (/^(- |\d+\. )/.test(line)) items.push(line.replace(/^(- |\d+\. )/, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return h(ordered ? "ol" : "ul", {}, items.map(item => h("li", {}, inline(item))));
}
