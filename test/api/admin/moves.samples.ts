import { repositoryMoves } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { db } from "../../support/db.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import { makeShard } from "./shards.samples.ts";

/** A move of a repository that is gone, to a shard without a database. */
export const makeMove = async (values: Partial<typeof repositoryMoves.$inferInsert> = {}) =>
  only(
    await db
      .insert(repositoryMoves)
      .values({
        networkName: freshName("network"),
        repoId: 4_000_000,
        repoName: "octo/hello",
        source: 0,
        target: 1,
        createdAt: 1_769_846_400_000,
        ...values,
      })
      .returning(),
  );

export const samples = defineSamples({
  adminMoveRepository: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { shard: (await makeShard()).id },
      as: await world.admin(),
    }),
    refusal: { status: 422, reason: "the tested service has no database of a shard" },
    announces: NOTHING,
  },
  adminListMoves: {
    request: async (world) => {
      await makeMove();
      return { as: await world.admin() };
    },
  },
  adminGetMove: {
    request: async (world) => ({ as: await world.admin(), path: { id: (await makeMove()).id } }),
  },
  adminCancelMove: {
    request: async (world) => ({ as: await world.admin(), path: { id: (await makeMove()).id } }),
    announces: NOTHING,
  },
});
