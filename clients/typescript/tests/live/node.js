/** Plays the shared scenario in Node. */

import { play } from "./scenario.js";

const { KOPECK_TEST_URL: url, KOPECK_TEST_REQUIRED, KOPECK_TEST_OPTIONAL, KOPECK_TEST_ACCESS_TTL } = process.env;
await play({
  url,
  required: JSON.parse(KOPECK_TEST_REQUIRED),
  optional: JSON.parse(KOPECK_TEST_OPTIONAL),
  accessTtl: Number(KOPECK_TEST_ACCESS_TTL),
});
console.log("TypeScript in Node: the scenario has passed, sealed and in clear");
