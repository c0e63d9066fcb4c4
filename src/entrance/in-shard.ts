import { and, eq } from "drizzle-orm";

import { callerArgument, type CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { noteCopied } from "../db/copies/noted-accounts.ts";
import { notedAccounts } from "../db/schema/index.ts";
import { copyToShard } from "../domain/shards/copy-to-shards.ts";
import { inDatabase } from "../domain/shards/in-database.ts";
import { ownedColumns, withOwned } from "../domain/shards/owned-columns.ts";
import { insertAccountShard } from "../domain/shards/shards-of.ts";
import { logBug } from "../lib/log.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { TargetQuery } from "./authenticate.ts";

/** The results of queries, in their order. */
type ResultsOf<R extends readonly TargetQuery[]> = {
  [At in keyof R]: R[At]["_"]["result"];
};

/** Queries of a repository's own data, for a batch. */
type SelectOwn<R extends readonly TargetQuery[]> = (db: Database, caller: CallerArgument) => R;

/** Queries of own data, and what the first database answered to them in the batch that found the repository. */
export interface OwnQueries<R extends readonly TargetQuery[]> {
  loaded?: ResultsOf<R> | undefined;
  select?: SelectOwn<R> | undefined;
  /** Whether the request may write there. */
  isWrite?: boolean | undefined;
}

/** A request's context where a repository's own data is, and what was read there. */
export interface InShard<R extends readonly TargetQuery[]> {
  ctx: Ctx;
  repo: RepositoryContext;
  own: ResultsOf<R> | undefined;
}

/**
 * Goes on in the database with a repository's own data, which is the first one for most deployments.
 *
 * Cost: nothing there; one round trip of a shard, which also brings what of the repository's row belongs to the shard. Before the first
 * write of an account in a shard, one of the first database, so that the account's lists ask this shard from now on.
 *
 * @param own Queries that are sent again there.
 */
export async function inShard<const R extends readonly TargetQuery[]>(
  ctx: Ctx,
  repo: RepositoryContext,
  { loaded, select, isWrite = false }: OwnQueries<R> = {},
): Promise<InShard<R>> {
  const { shard, id } = repo.row;
  const there = inDatabase(ctx, shard);
  if (shard === 0) return { ctx: there, repo, own: loaded };

  const { db } = there;
  const caller = callerArgument(ctx.actor);
  const writerId = isWrite ? ctx.actor.user?.id : undefined;
  const read = async () => {
    const queries = select?.(db, caller) ?? [];
    const notes = writerId === undefined ? [] : [notedAccount(db, { accountId: writerId })];
    const [owned, ...rest] = await db.batch([
      ownedColumns(db, { repoId: id }),
      ...notes,
      ...queries,
    ]);
    const [noted] = rest.splice(0, notes.length) as unknown[] as [{ id: number }[]?];
    const own = select && (rest as unknown[] as ResultsOf<R>);
    return { owned: owned[0], own, isNoted: noted?.length !== 0 };
  };
  const before = await read();
  let { owned, own } = before;
  if (writerId !== undefined && !before.isNoted) {
    await ctx.directory.run(insertAccountShard(writerId, shard));
    // Without it, the account's next write tells again.
    ctx.defer(
      db.run(noteCopied(writerId)).catch((error: unknown) => logBug(`shard ${shard}`, error)),
    );
  }
  if (!owned) {
    // The request that created it ended before it was copied.
    await copyToShard(ctx.directory, { id: shard, db }, ctx.now);
    ({ owned, own } = await read());
  }
  return {
    ctx: there,
    repo: owned ? { ...repo, row: withOwned(repo.row, owned) } : repo,
    own,
  };
}

/** Selects an account of which the first database knows that the shard has something. */
const notedAccount = prepare((db, { accountId }: Params<{ accountId: number }>) =>
  db
    .select({ id: notedAccounts.accountId })
    .from(notedAccounts)
    .where(and(eq(notedAccounts.accountId, accountId), notedAccounts.isCopied)),
);
