import { and, asc, eq, isNotNull } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { prepare } from "../../db/prepared.ts";
import { type Shard, shards } from "../../db/schema/index.ts";

/** A shard that takes new repositories. */
export type OpenShard = Pick<Shard, "id" | "sizeBytes">;

const openShards = prepare((db) =>
  db
    .select({ id: shards.id, sizeBytes: shards.sizeBytes })
    .from(shards)
    .where(and(eq(shards.isOpen, true), isNotNull(shards.seededAt)))
    .orderBy(asc(shards.id)),
);

/**
 * Chooses the shard of a new repository, but for a fork, which comes to the shard of its parent. The emptier one of two open shards that
 * are drawn: the emptiest of all would take all repositories until it is measured again.
 *
 * Cost: one round trip of the first database where the Worker has shards, otherwise none.
 *
 * @param ctx `directory` is the first database.
 * @returns 0, which is the first database, if no shard is open.
 */
export async function chooseShard(
  ctx: { readonly directory: Database } & Pick<Ctx, "openShards">,
): Promise<number> {
  const databases = ctx.openShards();
  if (databases.size === 0) return 0;
  return drawShard((await openShards(ctx.directory, {})).filter(({ id }) => databases.has(id)));
}

/**
 * The emptier one of two shards that are drawn.
 *
 * @param draw Returns a whole number that is less than its argument, and not negative.
 * @returns 0 if there are none.
 */
export function drawShard(
  open: readonly OpenShard[],
  draw = (below: number): number => Math.floor(Math.random() * below),
): number {
  const one = open[draw(open.length)];
  if (!one) return 0;
  const others = open.filter((each) => each !== one);
  const other = others[draw(others.length)];
  return other && other.sizeBytes < one.sizeBytes ? other.id : one.id;
}
