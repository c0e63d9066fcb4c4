import { eq } from "drizzle-orm";

import { repositories, type Repository } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/**
 * Disables the code unit of a repository and makes it public, so that a reader's 404 has no other
 * cause.
 */
export async function disableCode({ id }: Pick<Repository, "id">): Promise<void> {
  await db
    .update(repositories)
    .set({ hasCode: false, isPrivate: false })
    .where(eq(repositories.id, id));
}
