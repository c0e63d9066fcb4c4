import { createHash } from "node:crypto";

import type { WorkflowTask } from "../../../db/schema/index.ts";

const MASK = "***";

/** What may be the token of a job, or a runtime token. */
const TOKEN = /\b[0-9a-f]{40}\b/g;
const RUNTIME_TOKEN = /\beyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g;

/** Replaces secrets in texts. */
export type Mask = (text: string) => string;

/**
 * Masks the values of secrets, and the tokens of a task, which the service does not know but by
 * their hashes. Of a value of several lines each line is masked.
 *
 * Runners mask the same; an action that writes past its runner does not.
 */
export function maskOf(
  { id, tokenHash }: Pick<WorkflowTask, "id" | "tokenHash">,
  secrets: Readonly<Record<string, string>>,
): Mask {
  const lines = Object.values(secrets).flatMap((value) => [value, ...value.split(/\r?\n/)]);
  const values = [...new Set(lines.map((line) => line.trim()))].filter((line) => line !== "");
  // A value that contains another one goes first.
  values.sort((one, other) => other.length - one.length);
  return (text) => {
    let masked = text;
    for (const value of values) masked = masked.replaceAll(value, MASK);
    masked = masked.replaceAll(TOKEN, (found) => (hashOf(found) === tokenHash ? MASK : found));
    return masked.replaceAll(RUNTIME_TOKEN, (found: string, claims: string) =>
      isOfTask(claims, id) ? MASK : found,
    );
  };
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Whether the claims of a token, in base64url, name a task. */
function isOfTask(claims: string, id: number): boolean {
  try {
    const { TaskID: taskId } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
    return taskId === id;
  } catch {
    // No token of ours is anything but base64 and JSON.
    return false;
  }
}
