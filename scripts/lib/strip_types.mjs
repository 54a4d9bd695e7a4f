// Lets a Node before 22.18 run TypeScript as the later ones do: `node --import …/strip_types.mjs FILE.ts`.

import { readFile } from "node:fs/promises";
import { createRequire, register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

const typescript = createRequire(new URL("../../clients/typescript/package.json", import.meta.url))("typescript");

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { ModuleKind, ScriptTarget, transpileModule } = typescript;
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  const { outputText } = transpileModule(await readFile(fileURLToPath(url), "utf8"), { compilerOptions });
  return { format: "module", shortCircuit: true, source: outputText };
}
