import { JOB_PERMISSIONS, type JobPermissions } from "../../../db/schema/actions.ts";
import { readScalar, type SourceNode } from "./source-node.ts";

/** What a token may do in the repository if the file does not say. */
export const ALL_PERMISSIONS = toAll("write");

/**
 * Reads `permissions`: `read-all`, `write-all`, or a map, which grants only what it names. Unknown
 * names and words grant nothing.
 *
 * @returns undefined if there is no such key.
 */
export function readPermissions(node: SourceNode | undefined): JobPermissions | undefined {
  if (!node) return undefined;
  const word = readScalar(node);
  if (word === "write-all") return ALL_PERMISSIONS;
  if (word === "read-all") return toAll("read");
  if (node.kind !== "map") return {};
  const granted = JOB_PERMISSIONS.flatMap((name) => {
    const level = readScalar(node.entries.get(name)?.value);
    return level === "read" || level === "write" ? [[name, level] as const] : [];
  });
  return Object.fromEntries(granted);
}

function toAll(level: "read" | "write"): JobPermissions {
  return Object.fromEntries(JOB_PERMISSIONS.map((name) => [name, level] as const));
}
