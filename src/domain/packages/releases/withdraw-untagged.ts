import { and, eq, lte, sql } from "drizzle-orm";

import { events, releases } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";

const PREFIX = "refs/tags/";

/**
 * Turns releases into drafts whose tags were deleted by a push, as Gitea does: their texts and
 * files stay for writers, who publish them again with a new tag.
 *
 * A release that was published after the push has its tag again, and stays.
 */
export const withdrawUntagged: Consequence = {
  name: "untagged-releases",
  kinds: ["repository.pushed"],
  isNeeded: sql`exists (
    select 1
    from json_each(${events.payload}, '$.updates')
    where value ->> 'after' is null and value ->> 'ref' like 'refs/tags/%'
  )`,
  async handle({ db }, { event, createdAt }, budget) {
    if (event.type !== "repository.pushed") return undefined;
    const names = event.updates
      .filter(({ ref, after }) => after === null && ref.startsWith(PREFIX))
      .map(({ ref }) => ref.slice(PREFIX.length));
    if (names.length === 0) return undefined;
    budget.consume(1);
    const lowerNames = names.map((name) => name.toLowerCase());
    await db
      .update(releases)
      .set({ isDraft: true })
      .where(
        and(
          eq(releases.repoId, event.repoId),
          sql`${releases.lowerTagName} in (
            select value from json_each(${JSON.stringify(lowerNames)})
          )`,
          sql`${releases.tagName} in (select value from json_each(${JSON.stringify(names)}))`,
          eq(releases.isDraft, false),
          lte(releases.publishedAt, createdAt),
        ),
      );
    return undefined;
  },
};
