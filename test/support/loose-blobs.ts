import { packageLooseFiles } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/**
 * The bytes that no package refers to, by their uuids. All tests share one database, and leave
 * some.
 */
export async function listLooseBlobs(): Promise<ReadonlySet<string>> {
  const rows = await db.select().from(packageLooseFiles);
  return new Set(rows.map(({ uuid }) => uuid));
}

/** Those that were not there before. */
export async function looseBlobsSince(before: ReadonlySet<string>): Promise<string[]> {
  return [...(await listLooseBlobs())].filter((uuid) => !before.has(uuid));
}
