/** The first program of the README runs as it stands there, but for the address and its types. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { SealingKey } from "../dist/index.js";
import { boundPath, seal } from "../dist/sealing.js";
import { stub } from "./stub.js";

const KEY = "sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw";
const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";

test("the first program of the README runs", async (t) => {
  const bodies = {
    "/v1/get_access_token": { accessToken: "a", accessExpireAt: 4e9, refreshToken: "r", refreshExpireAt: 4.1e9 },
    "/v1/employee/add": { idEmployee: ID, customId: "T-0001" },
    "/v1/balance": { available: 7 },
  };
  const answer = async ({ method, target, path, headers }) => {
    const context = { method, path: boundPath(target), nonce: headers["x-nonce"], status: 200 };
    const text = JSON.stringify(bodies[path]);
    const sealed = await seal(SealingKey.parse(KEY), context, Math.floor(Date.now() / 1_000), text);
    return { body: { sealed }, headers: { "content-type": "application/sealed+json" } };
  };
  const { url } = await stub(t, answer, answer);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const program = /```ts\n(.*?)```/s.exec(readme)[1];
  const plain = program
    .replace("http://127.0.0.1:8080", url)
    .replace('"kopeck"', JSON.stringify(new URL("../dist/index.js", import.meta.url).href))
    .replaceAll("!,", ",");
  Object.assign(process.env, { KOPECK_API_KEY: "k", KOPECK_PASSWORD: "p", KOPECK_SEALING_KEY: KEY });
  const log = t.mock.method(console, "log", () => undefined);
  await import(`data:text/javascript,${encodeURIComponent(plain)}`);
  assert.deepEqual(log.mock.calls.map((call) => call.arguments), [[ID, 7]]);
});

test("the lock file is that of package.json, so that an installation does not change it", async () => {
  const read = async (name) => JSON.parse(await readFile(new URL(`../${name}`, import.meta.url), "utf8"));
  const { dependencies, devDependencies } = await read("package.json");
  const root = (await read("package-lock.json")).packages[""];
  assert.deepEqual([root.dependencies, root.devDependencies], [dependencies, devDependencies]);
});
