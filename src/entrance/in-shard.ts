import { callerArgument, type CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { copyToShard } from "../domain/shards/copy-to-shards.ts";
import { ownedColumns, withOwned } from "../domain/shards/owned-columns.ts";
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
 * Cost: nothing there; one round trip of a shard, which also brings what of the repository's row belongs to the shard.
 *
 * @param own Queries that are sent again there.
 */
export async function inShard<const R extends readonly TargetQuery[]>(
  ctx: Ctx,
  repo: RepositoryContext,
  { loaded, select }: OwnQueries<R> = {},
): Promise<InShard<R>> {
  const { shard, id } = repo.row;
  const db = ctx.openShard(shard);
  if (shard === 0) return { ctx: db === ctx.db ? ctx : { ...ctx, db }, repo, own: loaded };

  const caller = callerArgument(ctx.actor);
  const read = async () => {
    const queries = select?.(db, caller) ?? [];
    const [owned, ...own] = await db.batch([ownedColumns(db, { repoId: id }), ...queries]);
    return { owned: owned[0], own: select && (own as ResultsOf<R>) };
  };
  let { owned, own } = await read();
  if (!owned) {
    // The request that created it ended before it was copied.
    await copyToShard(ctx.directory, { id: shard, db }, ctx.now);
    ({ owned, own } = await read());
  }
  return {
    ctx: { ...ctx, db },
    repo: owned ? { ...repo, row: withOwned(repo.row, owned) } : repo,
    own,
  };
}
