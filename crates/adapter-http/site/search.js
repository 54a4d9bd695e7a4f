// Search over operations, their fields, values and error codes, over the guide, and over what others call these things.

import { codesIn } from "./operation.js";
import { resolve } from "./schema.js";

/** Other words for what an operation is about, by the beginning of its name. */
const SYNONYMS = {
  "token": "auth authentication authorization authorize login sign in session jwt bearer credentials",
  "employee": "staff worker person people user member holder cardholder",
  "employee.add": "create register new",
  "employee.update": "edit change patch modify",
  "category": "group department team tag label",
  "order": "issue issuing issuance card creation buy cards",
  "card": "pan ean account",
  "card.available": "free unassigned unused",
  "card.link": "assign attach",
  "card.switch": "block freeze pause suspend lost stolen",
  "card.transactions": "statement history payments purchases operations",
  "card.can_pay": "authorization authorize check simulate decline declined approve",
  "replenishment": "topup top-up top-ups topups top up load credit fund funding recharge refill",
  "limits": "limit spending control restriction cap rule budget",
  "withdrawal": "withdraw return take back unload money",
  "closing": "close cancel terminate lost stolen block return",
  "balance": "money account funds available",
  "sandbox": "test testing simulator simulate",
  "sandbox.deposit": "topup top-up fund money credit",
  "sandbox.block": "freeze suspend lost stolen",
  "sandbox.bank": "fault injection chaos outage latency",
  "sandbox.clock": "time travel",
  "sandbox.purchase": "payment pay buy transaction decline",
  "sandbox.refund": "return chargeback reversal",
};

/** Shows what every word of the search is found in, and says how much that is. */
export function search(api, operations) {
  const field = document.querySelector("#search");
  const found = document.querySelector("#found");
  const main = document.querySelector("main");
  const nav = document.querySelector("nav");
  const texts = new Map(operations.map(one => [one.id, textOf(api, one)]));
  for (const section of main.querySelectorAll("#guide section")) {
    texts.set(section.id, section.textContent.toLowerCase());
  }
  const find = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    let hits = 0;
    for (const [id, text] of texts) {
      const hidden = !words.every(word => text.includes(word));
      if (!hidden) hits += 1;
      document.getElementById(id).hidden = hidden;
      nav.querySelector(`[data-for="${CSS.escape(id)}"]`).hidden = hidden;
    }
    const searching = words.length > 0;
    for (const group of nav.querySelectorAll("details")) {
      group.hidden = searching && group.querySelectorAll("[data-for]:not([hidden])").length === 0;
    }
    for (const article of main.querySelectorAll("article")) {
      article.hidden = searching && !article.querySelector("section:not([hidden])");
    }
    found.hidden = !searching;
    found.textContent = hits === 0
      ? `No results for “${field.value.trim()}”. Try the name of an operation, a field or an error code.`
      : `${hits} ${hits === 1 ? "result" : "results"} for “${field.value.trim()}”.`;
  };
  field.addEventListener("input", find);
  field.addEventListener("keydown", event => {
    if (event.key === "Enter") {
      event.preventDefault();
      main.querySelector("section:not([hidden])")?.scrollIntoView();
    }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
}

/** All words by which an operation is found. */
function textOf(api, { path, method, operation }) {
  const words = [method, path, operation.operationId, operation.summary, operation.description, operation.tags[0]];
  const parameters = operation.parameters.map(parameter => resolve(api, parameter));
  for (const parameter of parameters) {
    if (parameter.in !== "header") words.push(parameter.name);
    collect(api, parameter.schema, words);
  }
  const bodies = [operation.requestBody];
  for (const [status, reference] of Object.entries(operation.responses)) {
    const response = resolve(api, reference);
    if (status < "300") bodies.push(response);
    else words.push(status, ...codesIn(response.content["application/json"].schema));
  }
  bodies.filter(Boolean).forEach(body => collect(api, body.content["application/json"].schema, words));
  for (const [name, synonyms] of Object.entries(SYNONYMS)) {
    if (operation.operationId === name || operation.operationId.startsWith(`${name}.`)) words.push(synonyms);
  }
  return words.join(" ").toLowerCase();
}

/** The names of fields and the values that stand in a schema. */
function collect(api, node, words) {
  const schema = resolve(api, node);
  words.push(...Object.keys(schema.properties ?? {}), ...(schema.enum ?? []));
  const parts = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? []), schema.items];
  parts.filter(Boolean).forEach(part => collect(api, part, words));
}
