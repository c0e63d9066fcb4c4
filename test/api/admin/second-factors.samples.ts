import { eq } from "drizzle-orm";

import { users } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminDeleteUserSecondFactors: {
    request: async (world) => {
      const { id } = await world.user();
      await db.update(users).set({ hasTotp: true }).where(eq(users.id, id));
      return { as: await world.admin(), path: await world.userPath() };
    },
    announces: once("user.edited"),
  },
});
