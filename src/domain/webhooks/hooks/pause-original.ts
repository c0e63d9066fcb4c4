import { and, eq, isNull, lte } from "drizzle-orm";

import { hooks } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";

/**
 * Pauses a hook of an organization, a user or the service in the first database when a shard has paused its copy, so that it is
 * paused everywhere. A hook that was edited since stays as it is.
 */
export const pauseOriginal: Consequence = {
  name: "pause-original",
  kinds: ["hook.paused"],
  async handle({ db, directory }, { event, createdAt }) {
    if (event.type !== "hook.paused" || db.shard === 0) return undefined;
    await directory
      .update(hooks)
      .set({ pausedAt: createdAt })
      .where(
        and(
          eq(hooks.id, event.hookId),
          isNull(hooks.repoId),
          isNull(hooks.pausedAt),
          lte(hooks.updatedAt, createdAt),
        ),
      );
    return undefined;
  },
};
