/** Values as the service writes them, and as the client gives them. Fields that a newer service adds are passed on. */

import { type Json, objectOf } from "./answer.js";
import { DecodeError } from "./errors.js";
import type { Card, CardBalance, Employee, IssuedCard, RequestStatus } from "./models/generated.js";
import { Secret } from "./secret.js";

/** What needs no change. The service is trusted to send what it documents. */
export function as<T>(value: unknown): T {
  return objectOf(value) as T;
}

/** What an answer says under `data`. */
export function underData(value: unknown): Json {
  return objectOf(objectOf(value).data);
}

/** The identifier of what was accepted. */
export function text(value: unknown, name: string): string {
  const found = objectOf(value)[name];
  if (typeof found !== "string") throw new DecodeError(`the answer has no ${name}`);
  return found;
}

/** The telephone number is a string here and an integer there, without its leading zeros. */
export function employee<T extends Employee>(value: unknown): T {
  const { phone, ...others } = objectOf(value);
  return { ...others, phone: typeof phone === "number" ? String(phone).padStart(10, "0") : (phone ?? null) } as T;
}

/** The moment of the account's refresh is called otherwise. */
export function cardBalance<T extends CardBalance | Card>(value: unknown): T {
  const { balanceAccount, ...others } = objectOf(value);
  const { updateAt, updatedAt = updateAt, value: money } = objectOf(balanceAccount);
  return { ...others, balanceAccount: { updatedAt, value: money } } as unknown as T;
}

export function requestStatus(value: unknown): RequestStatus {
  const answer = objectOf(value);
  const name = ["orderId", "replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId"].find(
    (name) => typeof answer[name] === "string",
  );
  const reference = typeof answer.reference === "string" ? { reference: answer.reference } : {};
  return { id: text(answer, name ?? "orderId"), state: text(answer, "message"), ...reference };
}

export function issuedCard(value: Json): IssuedCard {
  const { activationCode, ...others } = value;
  const secret = typeof activationCode === "string" ? { activationCode: new Secret(activationCode) } : {};
  return { ...others, ...secret } as IssuedCard;
}

/** What became of one card of a batch: its fields are called after the kind of the batch. */
export function cardResult(item: Json, kind: string, amount?: string): object {
  const error = item[`error${kind}`];
  return {
    idCard: text(item, "idCard"),
    succeeded: item[`result${kind}`] === true,
    ...(amount === undefined ? {} : { amount: Number(item[amount]) }),
    error: typeof error === "string" ? error : null,
  };
}
