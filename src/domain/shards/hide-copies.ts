import { eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { copiedTable } from "../../db/copies/copied-tables.ts";
import { insertChanges } from "../../db/copies/copy-sql.ts";
import type { Database } from "../../db/db.ts";
import { repositories, shardCopies, shardRepositories } from "../../db/schema/index.ts";
import { settled } from "../../lib/settled.ts";
import { copyNow } from "./copy-now.ts";

interface Hiding {
  readonly repoId: number;
  /** Makes the repository private in the first database, by one batch that ends with the given statements; returns its results. */
  readonly change: (...last: BatchItem<"sqlite">[]) => Promise<unknown[]>;
}

/**
 * Makes the copies of a repository private, and then lets `change` make it private in the first database. If that fails, the copies
 * become again what the first database has.
 *
 * SECURITY: in the other order, a shard that does not answer would show the repository for as long. A shard that got a copy meanwhile, which may be
 * public, is asked after it; one that gets it after the change finds the repository private.
 *
 * Cost: nothing without shards; else a round trip of the first database and one of the shards that have a copy.
 *
 * @param directory The first database.
 * @returns The results of the change.
 * @throws Error if a shard does not answer; `change` is not called then, but for a shard that got a copy meanwhile.
 */
export async function hideCopiesBefore(
  directory: Database,
  ctx: Pick<Ctx, "openShards" | "defer" | "now">,
  { repoId, change }: Hiding,
): Promise<unknown[]> {
  const databases = ctx.openShards();
  if (databases.size === 0) return change();
  const idsOf = (copies: CopyPlace[]) => copies.map(({ shardId }) => shardId);
  let ids = idsOf(await shardsWithCopy(directory, repoId));
  const hide = (shardIds: readonly number[]) =>
    settled(shardIds.map((shardId) => hideCopy(databases.get(shardId), repoId)));
  try {
    await hide(ids);
    const results = await change(shardsWithCopy(directory, repoId));
    const before = new Set(ids);
    ids = idsOf(results.at(-1) as CopyPlace[]);
    await hide(ids.filter((id) => !before.has(id)));
    return results.slice(0, -1);
  } catch (error) {
    const key = JSON.stringify([repoId]);
    await Promise.allSettled(
      ids.map((id) => directory.run(insertChanges(copiedTable("repositories"), [key], id))),
    );
    await copyNow(directory, ctx, ids);
    throw error;
  }
}

type CopyPlace = Pick<typeof shardRepositories.$inferSelect, "shardId">;

const shardsWithCopy = (directory: Database, repoId: number) =>
  directory
    .select({ shardId: shardRepositories.shardId })
    .from(shardRepositories)
    .where(eq(shardRepositories.repoId, repoId));

async function hideCopy(shard: Database | undefined, repoId: number): Promise<void> {
  if (!shard) throw new Error("the shard has no binding");
  await shard.batch([
    shard.update(shardCopies).set({ isCopying: true }),
    shard
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, repoId)),
    shard.update(shardCopies).set({ isCopying: false }),
  ]);
}
