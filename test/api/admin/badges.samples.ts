import { badges, userBadges } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { db } from "../../support/db.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const makeBadge = async () =>
  only(
    await db
      .insert(badges)
      .values({ slug: freshName("badge"), description: "", imageUrl: "" })
      .returning(),
  );

const atUser = async (world: World) => ({
  as: await world.admin(),
  path: await world.userPath(),
});

/** A badge that the user has. */
async function giveBadge(world: World): Promise<string> {
  const { id: badgeId, slug } = await makeBadge();
  await db.insert(userBadges).values({ userId: (await world.user()).id, badgeId });
  return slug;
}

export const samples = defineSamples({
  adminListBadges: { request: async (world) => ({ as: await world.admin() }) },
  adminCreateBadge: {
    request: async (world) => ({ as: await world.admin(), json: { slug: freshName("made") } }),
    announces: NOTHING,
  },
  adminDeleteBadge: {
    request: async (world) => ({
      as: await world.admin(),
      path: { slug: (await makeBadge()).slug },
    }),
    announces: NOTHING,
  },
  adminListUserBadges: {
    request: async (world) => {
      await giveBadge(world);
      return atUser(world);
    },
  },
  adminAddUserBadges: {
    request: async (world) => ({
      ...(await atUser(world)),
      json: { badge_slugs: [(await makeBadge()).slug] },
    }),
    announces: once("user.edited"),
  },
  adminDeleteUserBadges: {
    request: async (world) => ({
      ...(await atUser(world)),
      json: { badge_slugs: [await giveBadge(world)] },
    }),
    announces: once("user.edited"),
  },
});
