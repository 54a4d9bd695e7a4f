// Schemas as tables of fields.

import { h } from "./dom.js";
import { inline } from "./markdown.js";

/** What a reference of the document leads to. */
export function resolve(api, node) {
  if (!node || !node.$ref) return node ?? {};
  const { $ref, ...own } = node;
  const found = $ref.slice(2).split("/").reduce((place, name) => place[name], api);
  return { ...resolve(api, found), ...own };
}

/** The schema of what can be opened: without `null`, of a list its items. */
function inside(api, schema) {
  const plain = resolve(api, schema);
  if (plain.anyOf) return inside(api, plain.anyOf.find(one => one.type !== "null"));
  if (plain.items) return inside(api, plain.items);
  return plain;
}

/** The type in a few words. */
export function typeOf(api, schema) {
  const plain = resolve(api, schema);
  if (plain.anyOf) return plain.anyOf.map(one => typeOf(api, one)).join(" or ");
  if (plain.const !== undefined) return JSON.stringify(plain.const);
  const format = plain.format && plain.format !== "int64" ? plain.format : null;
  const types = [plain.type ?? "any"].flat().map(type => {
    if (type === "array") return `list of ${typeOf(api, plain.items)}`;
    return type === "string" && format ? format : type;
  });
  return types.join(" or ");
}

/** The bounds in a few words. */
export function rules(api, schema) {
  const plain = resolve(api, schema);
  const one = plain.anyOf ? resolve(api, plain.anyOf.find(other => other.type !== "null")) : plain;
  const said = [];
  if (one.enum) said.push(`one of ${one.enum.join(", ")}`);
  if (one.minimum !== undefined && one.maximum !== undefined) said.push(`${one.minimum} to ${one.maximum}`);
  else if (one.minimum !== undefined) said.push(`at least ${one.minimum}`);
  if (one.maxLength !== undefined) said.push(`${bounds(one.minLength, one.maxLength)} characters`);
  if (one["x-form"]) said.push(one["x-form"]);
  if (one.maxItems !== undefined) said.push(`${bounds(one.minItems, one.maxItems)} items`);
  if (one.uniqueItems) said.push("none twice");
  if (one.default !== undefined) said.push(`default ${JSON.stringify(one.default)}`);
  return said.join("; ");
}

function bounds(least, most) {
  return least ? `${least} to ${most}` : `up to ${most}`;
}

/** A table with these heads; on a narrow screen each row becomes a block. */
export function table(label, heads, rows) {
  return h("div", { class: "scroll" }, h("table", { class: "fields", "aria-label": label },
    h("thead", {}, h("tr", {}, heads.map(head => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}

/** A table of the fields of an object, with those of the objects in it. */
export function fields(api, schema, label) {
  const rows = rowsOf(api, schema, "");
  if (rows.length === 0) return h("p", {}, typeOf(api, schema), " ", h("small", {}, rules(api, schema)));
  return table(label, ["field", "type", "what"], rows);
}

function rowsOf(api, schema, before) {
  const list = [resolve(api, schema).type].flat().includes("array");
  const object = inside(api, schema);
  const prefix = list ? `${before}[]` : before;
  return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
    const full = prefix ? `${prefix}.${name}` : name;
    const required = (object.required ?? []).includes(name);
    const about = resolve(api, property).description ?? "";
    const row = h("tr", {},
      h("td", {}, h("code", {}, full.split(/(?<=[.])/).flatMap(part => [h("wbr"), part])), required ? null : h("small", { class: "optional" }, " optional")),
      h("td", {}, typeOf(api, property)),
      h("td", {}, inline(about), " ", h("small", { class: "rules" }, rules(api, property))));
    return [row, ...rowsOf(api, property, full)];
  });
}
