// One operation: what it takes, what it answers, why it may refuse, how it is called.

import { code, h, pretty, tabs } from "./dom.js";
import { inline, markdown } from "./markdown.js";
import { LANGUAGES, sampleOf } from "./samples.js";
import { fields, resolve, rules, typeOf } from "./schema.js";
import { tryIt } from "./try.js";

/** The section of an operation. `aliases` are other methods that do the same. */
export function operationSection(api, { id, method, path, operation, aliases }) {
  const parameters = operation.parameters.map(parameter => resolve(api, parameter));
  return h("section", { class: "operation", id, "data-operation": operation.operationId },
    h("h3", {}, h("a", { href: `#${id}` }, operation.summary),
      operation["x-sandbox"] ? h("small", { class: "mark" }, "sandbox") : null),
    h("p", { class: "signature" }, badge(method), " ", h("code", {}, path),
      aliases.map(alias => h("small", { "data-operation": alias.operationId }, ` or ${alias.method.toUpperCase()}`))),
    markdown(operation.description),
    parameterTable(api, "Parameters", parameters.filter(parameter => parameter.in !== "header")),
    bodyPart(api, operation),
    responsePart(api, operation),
    refusalTable(api, operation),
    samplePart(api, method, path, operation, parameters),
    h("details", { class: "headers" }, h("summary", {}, "Headers"),
      parameterTable(api, "Headers", parameters.filter(parameter => parameter.in === "header"))),
    tryPart(api, method, path, operation, parameters));
}

export function badge(method) {
  return h("span", { class: `method ${method}` }, method.toUpperCase());
}

function parameterTable(api, title, parameters) {
  if (parameters.length === 0) return null;
  const rows = parameters.map(parameter => h("tr", {},
    h("td", {}, h("code", {}, parameter.name), parameter.required ? null : h("small", { class: "optional" }, " optional")),
    h("td", {}, typeOf(api, parameter.schema)),
    h("td", {}, inline(parameter.description ?? (parameter.in === "path" ? "in the path" : "")), " ",
      h("small", { class: "rules" }, rules(api, parameter.schema)))));
  const head = ["name", "type", "what"].map(cell => h("th", { scope: "col" }, cell));
  return [h("h4", {}, title), h("div", { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)))];
}

function bodyPart(api, operation) {
  if (!operation.requestBody) return null;
  const media = operation.requestBody.content["application/json"];
  const optional = operation.requestBody.required ? null : h("small", { class: "optional" }, " optional");
  // A list takes its parameters in a body too; they are in the table above already.
  const table = operation.requestBody.required ? fields(api, media.schema, "fields of the body") : null;
  return [h("h4", {}, "Body", optional), h("p", {}, inline(operation.requestBody.description)), table];
}

/** The answer if all goes well: its fields and its examples. */
function responsePart(api, operation) {
  const [status, response] = Object.entries(operation.responses).find(([code]) => code < "300");
  const media = response.content["application/json"];
  return [h("h4", {}, `Answer: ${status}`), fields(api, media.schema, "fields of the answer"),
    ...examplesOf(media).slice(0, 1).map(example => code(pretty(example), "example of the answer"))];
}

function refusalTable(api, operation) {
  const refusals = Object.entries(operation.responses).filter(([status]) => status >= "300");
  const rows = refusals.map(([status, reference]) => {
    const response = resolve(api, reference);
    const [example] = examplesOf(response.content["application/json"]);
    return h("tr", {}, h("td", {}, status),
      h("td", {}, codesIn(response.content["application/json"].schema).map(word => [h("code", {}, word), " "])),
      h("td", {}, inline(response.description), example ? code(JSON.stringify(example), "example") : null));
  });
  const head = ["status", "code", "meaning"].map(cell => h("th", { scope: "col" }, cell));
  return h("details", { class: "refusals" }, h("summary", {}, "Errors"), h("div", { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows))));
}

/** The codes that a schema allows. */
function codesIn(schema) {
  if (Array.isArray(schema)) return schema.flatMap(codesIn);
  if (schema === null || typeof schema !== "object") return [];
  const own = schema.properties?.code?.enum ?? [];
  return [...own, ...["anyOf", "allOf", "items"].flatMap(name => codesIn(schema[name] ?? []))];
}

function samplePart(api, method, path, operation, parameters) {
  const required = parameters.filter(parameter => parameter.in === "query" && parameter.required);
  const query = required.map(parameter => `${parameter.name}={${parameter.name}}`).join("&");
  const sample = sampleOf(method, query ? `${path}?${query}` : path, operation, bodyExample(operation, method));
  return [h("h4", {}, "In code"), tabs("languages", LANGUAGES.map(([name, write]) =>
    [name, () => code(write(sample), `the call in ${name}`)]))];
}

function tryPart(api, method, path, operation, parameters) {
  const details = h("details", {
    class: "try",
    ontoggle: () => {
      if (details.open && details.children.length === 1) {
        details.append(tryIt({ method, path, operation, parameters, example: bodyExample(operation, method) }));
      }
    },
  }, h("summary", {}, "Try it"));
  return details;
}

function bodyExample(operation, method) {
  if (!operation.requestBody || method === "get") return undefined;
  return examplesOf(operation.requestBody.content["application/json"])[0] ?? {};
}

function examplesOf(media) {
  return Object.values(media.examples ?? {}).map(example => example.value);
}
