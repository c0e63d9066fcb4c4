import type { Answer } from "./call.ts";

/**
 * The statuses of concurrent requests, sorted, because the order in which they finish is undefined.
 */
export const statusesOf = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
