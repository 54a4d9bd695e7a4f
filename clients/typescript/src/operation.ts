/** An operation of the service. A call is made of one of them and of nothing else. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its `{placeholders}`. */
  readonly path: string;
  /** Whether it changes something. Its calls have an idempotency key then. */
  readonly changes: boolean;
}
