/**
 * Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows. A second run changes nothing.
 *
 *     KOPECK_URL=… KOPECK_API_KEY=… KOPECK_LOGIN=… KOPECK_PASSWORD=… KOPECK_SEALING_KEY=… \
 *         node examples/import-employees.ts ../../docs/examples/employees.csv
 */

import { readFile } from "node:fs/promises";

import { ApiError, Client, type EmployeeStatus, InvalidError } from "kopeck";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/** A text as the service stores and compares it: `й` is one character, however it was typed. */
const composed = (text: string) => text.normalize("NFC");
/** The name of a category as the service compares it: without letter case and the blanks around it. */
const folded = (name: string) => composed(composed(name.trim()).toLowerCase());

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
for await (const { nameCategory, idCategory } of client.categories.all()) categories.set(folded(nameCategory), idCategory);

/** The category of this name, which is created if there is none. */
async function categoryOf(name: string | undefined): Promise<string | undefined> {
  if (!name) return undefined;
  const known = categories.get(folded(name));
  if (known !== undefined) return known;
  const { idCategory } = await client.categories.create(name);
  categories.set(folded(name), idCategory);
  return idCategory;
}

function faulty(line: number, reason: string): void {
  process.exitCode = 1;
  console.error(`line ${line}: ${reason}`);
}

const lines = new Map<string, number>();
for (const [place, row] of (await rowsOf(path)).entries()) {
  const { category, status, ...person } = row;
  const line = place + 2;
  const customId = composed(person.customId ?? "");
  const earlier = lines.get(customId);
  if (earlier !== undefined) {
    faulty(line, `customId: stands in line ${earlier} already`);
    continue;
  }
  lines.set(customId, line);
  if (present.has(customId)) continue;
  // What is empty is left out.
  const given = Object.fromEntries(Object.entries(person).filter(([, value]) => value));
  try {
    const idCategory = await categoryOf(category);
    await client.employees.add({ ...given, customId, idCategory, status: (status || undefined) as EmployeeStatus | undefined });
  } catch (error) {
    if (error instanceof InvalidError) {
      for (const { field, detail, message } of error.faults) faulty(line, `${field}: ${detail ?? message}`);
    } else if (error instanceof ApiError && error.status === 409) {
      // Such as a category that another program has created meanwhile.
      faulty(line, error.reason);
    } else throw error;
  }
}
