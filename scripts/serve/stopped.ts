import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileIn = (data: string): string => join(data, "stopped");

/**
 * Notes that the service has stopped with all of its work done.
 *
 * @param schema The migrations that its database has.
 */
export function markStopped(data: string, schema: string): void {
  writeFileSync(fileIn(data), schema, { mode: 0o600 });
}

/**
 * @returns Whether the last service on the state stopped so, with this schema. Whether this one
 * does, is open then.
 */
export function takeStopped(data: string, schema: string): boolean {
  try {
    return readFileSync(fileIn(data), "utf8") === schema;
  } catch {
    return false; // a first start, or one after a crash
  } finally {
    rmSync(fileIn(data), { force: true });
  }
}
