import { eq } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { type Repository, repositories } from "../../../db/schema/index.ts";
import { repositoryOfWiki } from "../../../storage/object-names.ts";

/** The repository to which git data belongs: that of its code, or of its wiki. */
export interface StorageOwner extends Pick<Repository, "id" | "ownerId"> {
  readonly isWiki: boolean;
}

/**
 * Finds the repository of a Durable Object by the object's name; undefined if it is deleted.
 *
 * Cost: one query.
 */
export async function findByObject(
  db: Database,
  objectName: string,
): Promise<StorageOwner | undefined> {
  const ofWiki = repositoryOfWiki(objectName);
  const [repo] = await db
    .select({ id: repositories.id, ownerId: repositories.ownerId })
    .from(repositories)
    .where(eq(repositories.objectName, ofWiki ?? objectName));
  return repo && { ...repo, isWiki: ofWiki !== undefined };
}

/** The column with the size of all packs of a repository's code, or of its wiki. */
export const toSize = (
  isWiki: boolean,
  packBytes: number,
): Partial<Pick<Repository, "sizeBytes" | "wikiSizeBytes">> =>
  isWiki ? { wikiSizeBytes: packBytes } : { sizeBytes: packBytes };
