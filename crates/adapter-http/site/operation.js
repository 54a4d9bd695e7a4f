// One operation: what it is for, what it takes, what it returns, why it may refuse, how it is called.

import { code, h, pretty, tabs } from "./dom.js";
import { inline, markdown } from "./markdown.js";
import { LANGUAGES, sampleOf } from "./samples.js";
import { fields, resolve, rules, table, typeOf } from "./schema.js";
import { tryIt } from "./try.js";

/** The section of an operation: text, and beside it on a wide screen the samples. `aliases` are methods that do the same. */
export function operationSection(api, { id, method, path, operation, aliases }) {
  const parameters = operation.parameters.map(parameter => resolve(api, parameter));
  return h("section", { class: "operation", id, "data-operation": operation.operationId },
    h("h3", {}, h("a", { href: `#${id}` }, operation.summary),
      operation["x-sandbox"] ? h("small", { class: "mark" }, "sandbox") : null),
    h("p", { class: "signature" }, badge(method), " ", h("code", {}, path),
      aliases.map(alias => h("small", { "data-operation": alias.operationId }, ` or ${alias.method.toUpperCase()}`))),
    h("div", { class: "panes" },
      h("div", { class: "text" },
        h("div", { class: "about" }, markdown(operation.description)),
        parameterTable(api, "Parameters", parameters.filter(parameter => parameter.in !== "header")),
        bodyPart(api, operation),
        responsePart(api, operation),
        refusalPart(api, operation),
        h("details", { class: "headers" }, h("summary", {}, "Headers"),
          parameterTable(api, "Headers", parameters.filter(parameter => parameter.in === "header"))),
        tryPart(api, { method, path, operation, parameters })),
      samplePart(method, path, operation, parameters)));
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
  return [h("h4", {}, title), table(title, ["name", "type", "what"], rows)];
}

function bodyPart(api, operation) {
  if (!operation.requestBody) return null;
  const media = operation.requestBody.content["application/json"];
  const optional = operation.requestBody.required ? null : h("small", { class: "optional" }, " optional");
  // A list takes its parameters in a body too; they are in the table above already.
  const byQuery = operation.parameters.some(parameter => parameter.in === "query");
  return [h("h4", {}, "Body", optional), h("p", {}, inline(operation.requestBody.description)),
    byQuery ? null : fields(api, media.schema, "fields of the body")];
}

/** The status and the content of the response if all goes well. */
function success(operation) {
  const [status, response] = Object.entries(operation.responses).find(([code]) => code < "300");
  return [status, response.content["application/json"]];
}

function responsePart(api, operation) {
  const [status, media] = success(operation);
  return [h("h4", {}, `Response: ${status}`), fields(api, media.schema, "fields of the response")];
}

/** Each code with its meaning, in the words of the document, and an example of each status that has one. */
function refusalPart(api, operation) {
  const rows = Object.entries(operation.responses).filter(([status]) => status >= "300").flatMap(([status, reference]) => {
    const response = resolve(api, reference);
    const [example] = examplesOf(response.content["application/json"]);
    const meanings = response.description.split(/ (?=`[a-z_]+`: )/).map(text => /^(?:`([a-z_]+)`: )?(.*)$/.exec(text));
    return meanings.map(([, word, meaning], index) => h("tr", {},
      h("td", {}, status), h("td", {}, word ? h("code", {}, word) : null),
      h("td", {}, inline(meaning), example && index === meanings.length - 1 ? code(pretty(example), "example") : null)));
  });
  return h("details", { class: "refusals" }, h("summary", {}, "Errors"), table("Errors", ["status", "code", "meaning"], rows));
}

/** The codes that a schema allows. */
export function codesIn(schema) {
  const own = schema.properties?.code?.enum ?? [];
  return [...own, ...(schema.anyOf ?? []).flatMap(codesIn), ...(schema.items ? codesIn(schema.items) : [])];
}

function samplePart(method, path, operation, parameters) {
  const required = parameters.filter(parameter => parameter.in === "query" && parameter.required);
  const query = required.map(parameter => `${parameter.name}={${parameter.name}}`).join("&");
  const sample = sampleOf(method, query ? `${path}?${query}` : path, operation, bodyExample(operation, method));
  const [status, media] = success(operation);
  return h("div", { class: "samples" },
    tabs("languages", LANGUAGES.map(([name, write]) => [name, () => code(write(sample), `request in ${name}`)])),
    examplesOf(media).slice(0, 1).map(example => code(pretty(example), `response ${status}`)));
}

function tryPart(api, { method, path, operation, parameters }) {
  const example = bodyExample(operation, method);
  const schema = example === undefined ? {} : resolve(api, operation.requestBody.content["application/json"].schema);
  const details = h("details", {
    class: "try",
    ontoggle: () => {
      if (details.open && details.children.length === 1) {
        details.append(tryIt({ method, path, operation, parameters, example, required: schema.required ?? [] }));
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
