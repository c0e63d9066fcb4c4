import type { Answer } from "./call.ts";

/** The statuses of requests that raced, in numeric order: which one won is nobody's to say. */
export const statusesOf = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
