/** Opens the page of the browser test in a headless Chromium, and tells what it reports: `node chromium.js PROGRAM FOLDER`. */

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 180_000;
const { KOPECK_TEST_URL: url } = process.env;
const [program, folder] = process.argv.slice(2);

const flags = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", `--user-data-dir=${folder}`];
// Chromium's own sandbox does not work for root.
if (process.getuid?.() === 0) flags.push("--no-sandbox");
const page = `${url}/page/clients/typescript/tests/live/browser.html`;
const browser = spawn(program, [...flags, page], { stdio: "ignore" });
let gone = false;
browser.on("exit", () => (gone = true));
browser.on("error", () => (gone = true));

const report = await reported().finally(() => browser.kill());
if (report === undefined) throw new Error(gone ? `${program} ended by itself` : `${program} did not report in time`);
if (report.failure !== null) throw new Error(`in the browser: ${report.failure}`);
console.log(`TypeScript in ${report.agent.match(/Chrome\/\d+/)?.[0] ?? report.agent}: vectors and scenario have passed`);

async function reported() {
  for (const end = Date.now() + PATIENCE_MS; !gone && Date.now() < end; await sleep(200)) {
    const answer = await fetch(`${url}/control/report`);
    if (answer.ok) return answer.json();
  }
  return undefined;
}
