// The same call in several languages, as a partner of the policy `optional` may send it; the clients of this project seal
// by themselves.

import { pretty } from "./dom.js";

/** Pairs of a language and a function that writes the call in it. */
export const LANGUAGES = [["curl", curl], ["Rust", rust], ["Python", python], ["TypeScript", typescript]];

/** What an example of a call is made of. */
export function sampleOf(method, path, operation, example) {
  const token = operation.security[0].apiKey !== undefined;
  return {
    method: method.toUpperCase(),
    path,
    header: token ? ["x-api-key", "KOPECK_API_KEY", ""] : ["authorization", "KOPECK_TOKEN", "Bearer "],
    body: example,
  };
}

function curl({ method, path, header: [name, variable, scheme], body }) {
  const lines = [
    `curl -X ${method} "$KOPECK_URL${path}"`,
    `  -H "${name}: ${scheme}$${variable}"`,
    `  -H "x-nonce: $(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n')"`,
  ];
  if (body !== undefined) {
    lines.push("  -H 'content-type: application/json'", `  -d '${pretty(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n");
}

function rust({ method, path, header: [name, variable, scheme], body }) {
  const value = scheme ? `format!("${scheme}{}", std::env::var("${variable}")?)` : `std::env::var("${variable}")?`;
  const send = body === undefined ? "" : `\n    .json(&serde_json::json!(${indent(pretty(body), 4)}))`;
  return `let answer = reqwest::Client::new()
    .request(reqwest::Method::${method}, format!("{}${path}", std::env::var("KOPECK_URL")?))
    .header("${name}", ${value})
    .header("x-nonce", uuid::Uuid::new_v4().simple().to_string())${send}
    .send()
    .await?;
println!("{} {}", answer.status(), answer.text().await?);`;
}

function python({ method, path, header: [name, variable, scheme], body }) {
  const value = scheme ? `"${scheme}" + os.environ["${variable}"]` : `os.environ["${variable}"]`;
  const send = body === undefined ? "" : `\n    json=${indent(pythonic(pretty(body)), 4)},`;
  return `import os, secrets, requests

answer = requests.request(
    "${method}",
    os.environ["KOPECK_URL"] + "${path}",
    headers={"${name}": ${value}, "x-nonce": secrets.token_hex(16)},${send}
)
print(answer.status_code, answer.json())`;
}

function typescript({ method, path, header: [name, variable, scheme], body }) {
  const value = scheme ? `\`${scheme}\${process.env.${variable}}\`` : `process.env.${variable}!`;
  const type = body === undefined ? "" : `\n    "content-type": "application/json",`;
  const send = body === undefined ? "" : `\n  body: JSON.stringify(${indent(pretty(body), 2)}),`;
  return `const answer = await fetch(\`\${process.env.KOPECK_URL}${path}\`, {
  method: "${method}",
  headers: {
    "${name}": ${value},
    "x-nonce": crypto.randomUUID().replaceAll("-", ""),${type}
  },${send}
});
console.log(answer.status, await answer.json());`;
}

function indent(text, blanks) {
  return text.replaceAll("\n", `\n${" ".repeat(blanks)}`);
}

/** Words of JSON that Python spells otherwise; texts are left alone. */
function pythonic(json) {
  const words = { true: "True", false: "False", null: "None" };
  return json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, part => words[part] ?? part);
}
