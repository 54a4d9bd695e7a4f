/** Adds an employee and shows what is left to spend. */

import { Client, InvalidError } from "kopeck";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const client = new Client({
  baseUrl: setting("KOPECK_URL"),
  apiKey: setting("KOPECK_API_KEY"),
  login: setting("KOPECK_LOGIN"),
  password: setting("KOPECK_PASSWORD"),
  sealingKey: setting("KOPECK_SEALING_KEY"),
});

try {
  const [customId = "T-0001"] = process.argv.slice(2);
  const employee = await client.employees.add({ customId, surname: "Petrova", phone: "9031234567" });
  const { available } = await client.balance();
  console.log(`${employee.customId} is added, ${available} kopecks are left to spend`);
} catch (error) {
  if (!(error instanceof InvalidError)) throw error;
  for (const { field, detail } of error.faults) console.error(`${field}: ${detail}`);
}
