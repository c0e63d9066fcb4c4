import { eq, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { insertRepositoryChanges } from "../../db/copies/copy-sql.ts";
import type { Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  hiddenRepositories,
  repositories,
  shardCopies,
  shardRepositories,
} from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { settled } from "../../lib/settled.ts";
import { copyNow } from "./copy-now.ts";

interface Hiding {
  readonly repoId: number;
  /** Makes the repository private in the first database, by one batch that ends with the given statements; returns its results. */
  readonly change: (...last: BatchItem<"sqlite">[]) => Promise<unknown[]>;
}

/** For how long a repository is hidden at most by an edit that ended anywhere, in milliseconds: longer than any request takes. */
const HIDDEN_MS = 10 * 60_000;

/**
 * Makes the copies of a repository private, and then lets `change` make it private in the first database. If that fails, the copies
 * become again what the first database has.
 *
 * SECURITY: in the other order, a shard that does not answer would show the repository for as long. Whatever copies the repository from
 * the beginning of this to its end gets it as a private one, and a shard refuses what was read before. A shard that got a copy by then
 * is asked after the change.
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
  const [places, [hidden]] = await directory.batch([
    shardsWithCopy(directory, repoId),
    insertSelect(
      directory,
      hiddenRepositories,
      { repoId, until: ctx.now + HIDDEN_MS },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    ).returning({ id: hiddenRepositories.id }),
  ]);
  // Deleted meanwhile, which the change finds out.
  if (!hidden) return change();
  const isThis = eq(hiddenRepositories.id, hidden.id);
  let ids = idsOf(places);
  const hide = (shardIds: readonly number[]) =>
    settled(shardIds.map((shardId) => hideCopy(databases.get(shardId), repoId, hidden.id)));
  try {
    await hide(ids);
    const results = await change(
      directory.delete(hiddenRepositories).where(isThis),
      shardsWithCopy(directory, repoId),
    );
    const before = new Set(ids);
    ids = idsOf(results.at(-1) as CopyPlace[]);
    await hide(ids.filter((id) => !before.has(id)));
    return results.slice(0, -2);
  } catch (error) {
    try {
      await showAgain(directory, isThis);
      await copyNow(directory, ctx, ids);
    } catch (failure) {
      logBug("shown again", failure);
    }
    throw error;
  }
}

/** Ends what edits that ended anywhere have hidden, long after them. */
export const showForgotten = (directory: Database, now: number): Promise<void> =>
  showAgain(directory, lt(hiddenRepositories.until, now));

/** Ends some hidings, so that the shards get these repositories again as they are. */
async function showAgain(directory: Database, which: SQL): Promise<void> {
  const repoIds = sql`
    select ${hiddenRepositories.repoId} from ${hiddenRepositories} where ${which}`;
  await directory.batch([
    directory.textStatement(insertRepositoryChanges(repoIds)),
    directory.delete(hiddenRepositories).where(which),
  ]);
}

type CopyPlace = Pick<typeof shardRepositories.$inferSelect, "shardId">;

const shardsWithCopy = (directory: Database, repoId: number) =>
  directory
    .select({ shardId: shardRepositories.shardId })
    .from(shardRepositories)
    .where(eq(shardRepositories.repoId, repoId));

async function hideCopy(
  shard: Database | undefined,
  repoId: number,
  hiddenId: number,
): Promise<void> {
  if (!shard) throw new Error("the shard has no binding");
  await shard.batch([
    shard.update(shardCopies).set({
      isCopying: true,
      hiddenId: sql`max(${shardCopies.hiddenId}, ${hiddenId})`,
    }),
    shard
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, repoId)),
    shard.update(shardCopies).set({ isCopying: false }),
  ]);
}
