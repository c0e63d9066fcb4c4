import { sql } from "drizzle-orm";

import { shards } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { db } from "../../support/db.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

/** A shard that the Worker has no binding of, so that nothing is copied to it. */
export const makeShard = async (values: Partial<typeof shards.$inferInsert> = {}) =>
  only(
    await db
      .insert(shards)
      .values({
        // Below it are the numbers of bindings.
        id: sql`(select max(1000, coalesce(max(id), 0)) + 1 from shards)`,
        seededAt: Date.now(),
        createdAt: Date.now(),
        ...values,
      })
      .returning(),
  );

export const samples = defineSamples({
  adminListShards: {
    request: async (world) => {
      await makeShard();
      return { as: await world.admin() };
    },
  },
  adminEditShard: {
    request: async (world) => ({
      as: await world.admin(),
      path: { id: (await makeShard()).id },
      json: { is_open: false },
    }),
    announces: NOTHING,
  },
});
