import { sql } from "drizzle-orm";

import {
  attachments,
  issueLabels,
  issues,
  labels,
  milestones,
  repositories,
  stopwatches,
  timelineEntries,
  type Attachment,
  trackedTimes,
  type Issue,
  type Label,
  type Milestone,
  type Repository,
  type TimelineEntry,
  type TrackedTime,
  type User,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName } from "./make.ts";

/** Stores an issue by the owner of a repository, past the API. */
export async function makeIssue(repo: Repository, fields: Partial<Issue> = {}): Promise<Issue> {
  const id = sql`${repositories.id} = ${repo.id}`;
  const [, [issue]] = await db.batch([
    db
      .update(repositories)
      .set({ lastIssueNumber: sql`${repositories.lastIssueNumber} + 1` })
      .where(id),
    db
      .insert(issues)
      .values({
        repoId: repo.id,
        number: sql<number>`(select last_issue_number from repositories where ${id})`,
        posterId: repo.ownerId,
        title: freshName("issue"),
        createdAt: 1000,
        updatedAt: 1000,
        ...fields,
      })
      .returning(),
  ]);
  return only([issue]) as Issue;
}

/** Stores a comment by the poster of an issue. */
export async function makeComment(
  issue: Issue,
  fields: Partial<TimelineEntry> = {},
): Promise<TimelineEntry> {
  const { repoId, id: issueId, posterId } = issue;
  const row = { repoId, issueId, posterId, body: "a comment", createdAt: 1000, updatedAt: 1000 };
  const values = { kind: "comment" as const, ...row, ...fields };
  return only(await db.insert(timelineEntries).values(values).returning());
}

/** Stores a label of a repository, or of an organization. */
export async function makeLabel(
  { repo, org }: { repo?: Repository; org?: User },
  fields: Partial<Label> = {},
): Promise<Label> {
  const row = { repoId: repo?.id ?? null, orgId: org?.id ?? null, color: "ee0701" };
  const values = { ...row, name: freshName("label"), createdAt: 1000, updatedAt: 1000, ...fields };
  return only(await db.insert(labels).values(values).returning());
}

/** Attaches labels to an issue, without entries of its timeline. */
export async function attachLabel(issue: Issue, ...attached: Label[]): Promise<void> {
  const { id: issueId, repoId, isPull, isClosed } = issue;
  const rows = attached.map(({ id }) => ({ issueId, repoId, isPull, isClosed, labelId: id }));
  await db.insert(issueLabels).values(rows);
}

export async function makeMilestone(
  repo: Repository,
  fields: Partial<Milestone> = {},
): Promise<Milestone> {
  const row = { repoId: repo.id, title: freshName("milestone"), createdAt: 1000, updatedAt: 1000 };
  return only(
    await db
      .insert(milestones)
      .values({ ...row, ...fields })
      .returning(),
  );
}

/** Stores the row of a file of an issue, or of one of its comments, without its bytes. */
export async function makeAttachment(
  { id: issueId, repoId }: Issue,
  fields: Partial<Attachment> = {},
): Promise<Attachment> {
  const row = { issueId, repoId, name: "a.txt", sizeBytes: 5, createdAt: 1000 };
  const values = { uuid: crypto.randomUUID(), ...row, ...fields };
  return only(await db.insert(attachments).values(values).returning());
}

/** Stores an hour that a user spent on an issue. */
export async function makeTime(
  { id: issueId, repoId }: Issue,
  { id: userId }: Pick<User, "id">,
  fields: Partial<TrackedTime> = {},
): Promise<TrackedTime> {
  const row = { issueId, repoId, userId, seconds: 3600, createdAt: 1000, bookedAt: 1000 };
  return only(
    await db
      .insert(trackedTimes)
      .values({ ...row, ...fields })
      .returning(),
  );
}

/** Stores a running stopwatch of a user. */
export async function makeStopwatch(
  { id: issueId }: Issue,
  { id: userId }: Pick<User, "id">,
  createdAt = 1000,
): Promise<void> {
  await db.insert(stopwatches).values({ issueId, userId, createdAt });
}
