/**
 * What users import, with its members, is in public-api.txt: a name that goes breaks them. What is new may wait for the release.
 *
 *     UPDATE=1 node --test tests/public-api.test.js
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

function publicApi(index) {
  const program = ts.createProgram([index], { strict: true, module: ts.ModuleKind.NodeNext, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const isOurs = (symbol) => symbol.declarations?.some((one) => !program.isSourceFileDefaultLibrary(one.getSourceFile()));
  const isPublic = (symbol) =>
    !/^(__)?#/.test(symbol.name) && !(ts.getCombinedModifierFlags(symbol.declarations[0]) & ts.ModifierFlags.Protected);
  const exports = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(index))).map((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties().filter(isOurs).filter(isPublic);
    return [exported.name, members.map(({ name }) => name).sort()];
  });
  return exports.sort();
}

test("what users import stays", () => {
  const snapshot = new URL("./public-api.txt", import.meta.url);
  const found = publicApi(fileURLToPath(new URL("../dist/index.d.ts", import.meta.url)));
  if (process.env.UPDATE) writeFileSync(snapshot, found.map(([name, members]) => `${[name, ...members].join(" ")}\n`).join(""));
  const present = new Map(found.map(([name, members]) => [name, new Set(members)]));
  for (const [name, ...members] of readFileSync(snapshot, "utf8").trim().split("\n").map((line) => line.split(" "))) {
    assert.ok(present.has(name), name);
    for (const member of members) assert.ok(present.get(name).has(member), `${name}.${member}`);
  }
});
