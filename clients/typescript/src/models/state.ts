/** Whether a request is processed. */

import type { RequestState } from "./generated.js";

const FINAL_STATES = new Set<RequestState>(["SUCCESS", "PART_SUCCESS", "DECLINE", "REJECTED", "CONFIRMED"]);

/** Whether the service is done with the request. A state that the client does not know is not final. */
export function isFinal(state: RequestState): boolean {
  return FINAL_STATES.has(state);
}
