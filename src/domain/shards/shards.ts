import { and, asc, count, eq, gt, ne } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { type Shard, shards } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { ShardEntry } from "../../shapes/admin/shard.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the databases besides the first, by number. */
export async function listShards(ctx: Ctx, { size, offset }: Slice): Promise<Listed<ShardEntry>> {
  const { directory: db } = ctx;
  const [items, [counted]] = await db.batch([allShards(db, { size, offset }), shardCount(db, {})]);
  const databases = ctx.openShards();
  return { items: items.map((each) => toEntry(each, databases)), total: counted?.total ?? 0 };
}

const allShards = prepare((db, p: Params<Slice>) =>
  db.select().from(shards).orderBy(asc(shards.id)).limit(p.size).offset(p.offset),
);

const shardCount = prepare((db) =>
  db
    .select({ total: count().as("total") })
    .from(shards)
    .where(gt(shards.id, 0)),
);

/**
 * Opens a shard for new repositories, or closes it: those that it has stay, and their forks go elsewhere.
 *
 * @throws Failure `not_found` for an unknown shard.
 */
export async function setShardOpen(ctx: Ctx, id: number, isOpen: boolean): Promise<ShardEntry> {
  const { directory: db } = ctx;
  const [, , [shard]] = await db.batch([
    db
      .update(shards)
      .set({ isOpen })
      .where(and(eq(shards.id, id), ne(shards.isOpen, isOpen))),
    recordAuditIfChanged(ctx, {
      kind: isOpen ? "shard.opened" : "shard.closed",
      ownerId: 0,
      target: String(id),
    }),
    db.select().from(shards).where(eq(shards.id, id)),
  ]);
  if (!shard) throw notFound();
  return toEntry(shard, ctx.openShards());
}

const toEntry = (shard: Shard, databases: ReturnType<Ctx["openShards"]>): ShardEntry => ({
  ...shard,
  isReady: shard.seededAt !== null && databases.has(shard.id),
});
