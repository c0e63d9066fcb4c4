import { asc, eq, sql } from "drizzle-orm";

import {
  contentVersions,
  events,
  issueAssignees,
  issueLabels,
  issues,
  repositories,
  timelineEntries,
  type Repository,
  type TimelineEntry,
} from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/** The kinds of the events of a repository, in order. */
export async function eventsOf({ id }: Pick<Repository, "id">): Promise<string[]> {
  const rows = await db.select().from(events).where(eq(events.repoId, id)).orderBy(asc(events.id));
  return rows.map(({ type }) => type);
}

/** The timeline of an issue, in order. */
export const entriesOf = (issueId: number): Promise<TimelineEntry[]> =>
  db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, issueId))
    .orderBy(asc(timelineEntries.id));

/** The rows that a request about issues changes: a refused one leaves them as they are. */
export async function issueStateOf({ id }: Pick<Repository, "id">): Promise<unknown> {
  return Promise.all([
    db.select().from(issues).where(eq(issues.repoId, id)).orderBy(asc(issues.id)),
    db.select().from(timelineEntries).where(eq(timelineEntries.repoId, id)),
    db.select().from(issueAssignees).where(eq(issueAssignees.repoId, id)),
    db.select().from(issueLabels).where(eq(issueLabels.repoId, id)),
    db
      .select()
      .from(contentVersions)
      .where(
        sql`${contentVersions.issueId} in (select id from ${issues} where ${issues.repoId} = ${id})`,
      ),
    db.select().from(events).where(eq(events.repoId, id)),
    db.select().from(repositories).where(eq(repositories.id, id)),
  ]);
}
