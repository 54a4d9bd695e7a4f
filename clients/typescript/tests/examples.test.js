/** The import of the examples compares texts as the service does. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import typescript from "typescript";

import { stub } from "./stub.js";

const FILE = [
  "customId,surname,category,status",
  "И\u0306-1,Е\u0308лкина, dRIVERS ,",
  "E-2,Mu\u0308ller,Музеи\u0306,",
  "E-3,Orlov,МУЗЕЙ,",
  "Й-1,Again,,",
  "E-4,Popov,Taken,",
  "E-5,Ivanov,,",
].join("\n");

const idOf = (number) => `00000000-0000-0000-0000-${String(number).padStart(12, "0")}`;

/** Has the category `Drivers`, and refuses one that another has created meanwhile. */
function service() {
  const staff = [];
  const categories = [{ idCategory: idOf(1), nameCategory: "Drivers", employees: 0 }];
  const list = (data) => ({
    body: { data, meta: { current_page: 1, from: 1, to: 1, total: data.length, last_page: 1, per_page: 500, path: "" } },
  });
  const handler = ({ path, body }) => {
    if (path === "/v1/employees") return list(staff);
    if (path === "/v1/categories") return list(categories);
    const given = JSON.parse(body);
    if (path === "/v1/employee/add") {
      const day = { createdAt: "07.02.2026", statusUpdatedAt: "07.02.2026" };
      staff.push({ idEmployee: idOf(staff.length), status: "WORK", ...day, ...given });
      return { body: staff.at(-1) };
    }
    if (given.nameCategory === "Taken") {
      return { status: 409, body: { code: "category_exists", message: "another category has this name" } };
    }
    categories.push({ idCategory: idOf(categories.length + 1), nameCategory: given.nameCategory, employees: 0 });
    return { status: 201, body: categories.at(-1) };
  };
  return { staff, handler };
}

/** The example as Node runs it, but for the place of the client and for the sealing, which the stub does not know. */
async function program() {
  const source = await readFile(new URL("../examples/import-employees.ts", import.meta.url), "utf8");
  const { ModuleKind, ScriptTarget, transpileModule } = typescript;
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  return transpileModule(source, { compilerOptions })
    .outputText.replace('"kopeck"', JSON.stringify(new URL("../dist/index.js", import.meta.url).href))
    .replace(/^ *sealingKey:.*$/m, "");
}

function run(source, path, url) {
  const settings = { KOPECK_URL: url, KOPECK_API_KEY: "k", KOPECK_LOGIN: "l", KOPECK_PASSWORD: "p" };
  const child = spawn(process.execPath, ["--input-type=module", "-", path], { env: { ...process.env, ...settings } });
  child.stdin.end(source);
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return new Promise((done) => child.on("close", (code) => done([code, said])));
}

test("a second run of the import changes nothing however letters were typed", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "kopeck-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "staff.csv");
  await writeFile(path, FILE);
  const { staff, handler } = service();
  const { url, count } = await stub(t, handler);
  const source = await program();
  const faults = "line 5: customId: stands in line 2 already\nline 6: another category has this name\n";
  for (const tried of [2, 3]) {
    assert.deepEqual(await run(source, path, url), [1, faults]);
    // The second time only the category that is refused.
    assert.deepEqual([count("/v1/employee/add"), count("/v1/category")], [4, tried]);
  }
  assert.deepEqual(staff.map(({ idCategory }) => idCategory), [idOf(1), idOf(2), idOf(2), undefined]);
});
