/** A service that answers as a test says, and notes what it was asked. */

import { createServer } from "node:http";

import { Client } from "../dist/index.js";

export const TOKEN_PATHS = ["/v1/get_access_token", "/v1/get_refresh_token"];

/** Cuts the connection instead of an answer. */
export const CUT = { cut: true };

/** Token pair `number`, which expires at `expires`. */
export function pair(number, expires = 4_000_000_000) {
  return {
    body: {
      tokenType: "bearer",
      accessToken: `access-${number}`,
      accessExpireAt: expires,
      refreshToken: `refresh-${number}`,
      refreshExpireAt: expires + 1_000_000,
    },
  };
}

/** Answers the first calls as given, all later ones with `then`. */
export function inTurn(replies, then) {
  const rest = [...replies];
  return () => rest.shift() ?? then;
}

/**
 * Starts a service for a test, which ends with it. Token calls get a pair that is good for ever, unless `tokens` says
 * otherwise.
 */
export async function stub(t, handler, tokens = () => pair(1)) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url: target, headers } = request;
    const one = { method, target, path: target.split("?")[0], headers, body: Buffer.concat(chunks).toString() };
    seen.push(one);
    const reply = await (TOKEN_PATHS.includes(one.path) ? tokens(one) : handler(one));
    if (reply.cut) return request.socket.destroy();
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers }).end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    seen,
    /** What arrived, but for logins and renewals. */
    calls: () => seen.filter(({ path }) => !TOKEN_PATHS.includes(path)),
    count: (path) => seen.filter((one) => one.path === path).length,
    /** A client whose retries do not wait. */
    client: (options) =>
      new Client({
        baseUrl: url,
        apiKey: "ak_test",
        login: "partner-1",
        password: "hunter2",
        ...options,
        retry: { minDelayMs: 0, maxDelayMs: 0, ...options?.retry },
      }),
  };
}
