/**
 * Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows.
 *
 *     KOPECK_URL=… KOPECK_API_KEY=… KOPECK_LOGIN=… KOPECK_PASSWORD=… KOPECK_SEALING_KEY=… \
 *         node examples/import-employees.ts ../../docs/examples/employees.csv
 */

import { readFile } from "node:fs/promises";

import { Client, type EmployeeStatus, InvalidError } from "kopeck";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/** The rows of a CSV file by the names in its first one. Its values must not be quoted; real files need a CSV library. */
async function rowsOf(path: string): Promise<Record<string, string>[]> {
  const lines = (await readFile(path, "utf8")).replace(/^\uFEFF/, "").split(/\r?\n/).filter(Boolean);
  const [names = [], ...rows] = lines.map((line) => line.split(","));
  return rows.map((values) => Object.fromEntries(names.map((name, place) => [name, values[place] ?? ""])));
}

const client = new Client({
  baseUrl: setting("KOPECK_URL"),
  apiKey: setting("KOPECK_API_KEY"),
  login: setting("KOPECK_LOGIN"),
  password: setting("KOPECK_PASSWORD"),
  sealingKey: setting("KOPECK_SEALING_KEY"),
});

const [path = "../../docs/examples/employees.csv"] = process.argv.slice(2);
const present = new Set<string>();
for await (const { customId } of client.employees.all({ perPage: 500 })) present.add(customId);
const categories = new Map<string, string>();
for await (const { nameCategory, idCategory } of client.categories.all()) categories.set(nameCategory, idCategory);

for (const [place, row] of (await rowsOf(path)).entries()) {
  const { customId = "", category, status, ...person } = row;
  if (present.has(customId)) continue;
  if (category && !categories.has(category)) {
    categories.set(category, (await client.categories.create(category)).idCategory);
  }
  // What is empty is left out.
  const given = Object.fromEntries(Object.entries(person).filter(([, value]) => value));
  const idCategory = category ? categories.get(category) : undefined;
  try {
    await client.employees.add({ customId, ...given, idCategory, status: (status || undefined) as EmployeeStatus | undefined });
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    process.exitCode = 1;
    for (const { field, detail, message } of error.faults) console.error(`line ${place + 2}: ${field}: ${detail ?? message}`);
  }
}
