/** Adds an employee and shows what is left to spend. */

import { Client, InvalidError } from "kopeck";

declare const process: { env: Record<string, string | undefined> };

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
  const employee = await client.employees.add({ customId: "T-0001", surname: "Petrova", phone: "9031234567" });
  console.log(employee.idEmployee, (await client.balance()).available);
} catch (error) {
  if (!(error instanceof InvalidError)) throw error;
  for (const { field, detail } of error.faults) console.error(`${field}: ${detail}`);
}
