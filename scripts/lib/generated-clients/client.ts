/** A first call with the types that openapi-typescript generates, and openapi-fetch. */

import createClient from "openapi-fetch";

import type { paths } from "./schema.js";

const { KOPECK_URL: baseUrl, KOPECK_API_KEY, KOPECK_LOGIN, KOPECK_PASSWORD } = process.env as Record<string, string>;
const nonce = () => ({ "x-nonce": crypto.randomUUID() });

const byKey = createClient<paths>({ baseUrl, headers: { "x-api-key": KOPECK_API_KEY } });
const login = await byKey.POST("/v1/get_access_token", {
  params: { header: nonce() },
  body: { login: KOPECK_LOGIN, password: KOPECK_PASSWORD },
});
if (!login.data || !("accessToken" in login.data)) throw new Error(JSON.stringify(login.error));
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${login.data.accessToken}` } });

const employee = { params: { header: nonce() }, body: { customId: "T-1" } };
const added = await client.POST("/v1/employee/add", employee);
if (!added.data) throw new Error(JSON.stringify(added.error));
employee.params.header = nonce();
const refused = await client.POST("/v1/employee/add", employee);
if (refused.response.status !== 422) throw new Error(JSON.stringify(refused));

const funds = await client.GET("/v1/balance", { params: { header: nonce() } });
if (!funds.data || !("available" in funds.data)) throw new Error(JSON.stringify(funds.error));
console.log(`available=${funds.data.available}`);
