import { and, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  issues,
  repositories,
  timelineEntries,
  users,
  type Issue,
  type RefAction,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { mayEditIssue } from "../issue/require-issue-access.ts";
import type { ReferredIssue } from "./find-references.ts";
import { findReferred } from "./find-referred.ts";

/** An issue or pull request with the text of its title and body, or one of its comments. */
export interface ReferringText {
  /** With the permission of the caller. */
  readonly repo: RepositoryContext;
  readonly issue: Issue;
  /** Undefined for the text of the issue itself. */
  readonly commentId: number | undefined;
}

/** A reference that a timeline is to list, and what it does. */
interface NewReference {
  readonly repoId: number;
  readonly issueId: number;
  readonly action: RefAction;
}

/**
 * Makes the timelines list exactly the references of a text: adds entries to issues that the caller
 * may see, and removes entries of references that the text has no more. A reference that stays
 * keeps its entry.
 *
 * Idempotent, also concurrently: the statement that adds an entry adds it once.
 */
export async function updateReferences(
  ctx: Ctx,
  text: ReferringText,
  references: readonly ReferredIssue[],
): Promise<void> {
  const find = await findReferred(ctx, text.repo, references);
  const present = new Map<number, NewReference>();
  for (const reference of references) {
    const referred = find(reference);
    if (!referred || referred.row.id === text.issue.id) continue;
    const { repoId, id: issueId } = referred.row;
    // Only a pull request does something to the issues that it names, when it is merged.
    const isActing = text.issue.isPull && text.commentId === undefined && !referred.row.isPull;
    const action = isActing && mayEditIssue(ctx, referred) ? reference.action : "none";
    const before = present.get(issueId);
    if (!before || before.action === "none") present.set(issueId, { repoId, issueId, action });
  }
  const stale = (await listEntries(ctx, text)).filter((entry) => {
    const now = present.get(entry.issueId);
    return now ? now.action !== entry.action : !isNamed(text, references, entry);
  });
  const inserted = insertEntries(ctx, text, [...present.values()]);
  if (stale.length === 0) {
    if (present.size > 0) await inserted;
    return;
  }
  const ids = sql`(select value from json_each(${JSON.stringify(stale.map(({ id }) => id))}))`;
  await ctx.db.batch([
    ctx.db.delete(timelineEntries).where(inArray(timelineEntries.id, ids)),
    inserted,
  ]);
}

/** The entry of a reference, with the present names of the issue to which it was made. */
interface ReferenceEntry {
  readonly issueId: number;
  readonly number: number;
  readonly owner: string;
  readonly name: string;
}

/**
 * Whether the text names the issue, also if the caller may not see it: then somebody else referred
 * to it.
 */
const isNamed = (
  { repo }: ReferringText,
  references: readonly ReferredIssue[],
  { number, owner, name }: ReferenceEntry,
): boolean =>
  references.some((each) => {
    const named = each.repo ?? { owner: repo.owner.lowerName, name: repo.row.lowerName };
    return each.number === number && named.owner === owner && named.name === name;
  });

const listEntries = ({ db }: Ctx, text: ReferringText) =>
  entriesOfText(db, textIdOf(text), { kind: kindOf(text) });

type RefKind = "comment_ref" | "pull_ref" | "issue_ref";

/** The ids of the text of an issue, or of a comment. */
interface TextId {
  readonly issueId: number;
  readonly commentId: number | undefined;
}

const textIdOf = ({ issue, commentId }: ReferringText): TextId => ({
  issueId: issue.id,
  commentId,
});

const entriesOfText = prepare((db, p: Params<TextId>, { kind }: { kind: RefKind }) =>
  db
    .select({
      id: timelineEntries.id,
      issueId: timelineEntries.issueId,
      action: timelineEntries.refAction,
      number: issues.number,
      owner: users.lowerName,
      name: repositories.lowerName,
    })
    .from(timelineEntries)
    .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
    .innerJoin(repositories, eq(repositories.id, issues.repoId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(isOfText(p, kind)),
);

const kindOf = ({ issue, commentId }: ReferringText): RefKind => {
  if (commentId !== undefined) return "comment_ref";
  return issue.isPull ? "pull_ref" : "issue_ref";
};

/** The condition for the entries of the references of a text. */
const isOfText = (id: TextId | Params<TextId>, kind: RefKind): SQL | undefined => {
  const { otherIssueId, otherEntryId } = timelineEntries;
  const isOfKind = eq(timelineEntries.kind, kind);
  return id.commentId === undefined
    ? and(eq(otherIssueId, id.issueId), isNull(otherEntryId), isOfKind)
    : and(eq(otherEntryId, id.commentId), isOfKind);
};

/** The statement that adds entries which do not exist yet. */
function insertEntries(
  { db, actor, now }: Ctx,
  text: ReferringText,
  references: readonly NewReference[],
) {
  const { issue, commentId } = text;
  const listed = sql`(
    select ${timelineEntries.issueId} from ${timelineEntries}
    where ${isOfText(textIdOf(text), kindOf(text))}
  )`;
  const isThere =
    commentId === undefined
      ? sql`exists (select 1 from ${issues} where ${issues.id} = ${issue.id})`
      : sql`exists (
          select 1 from ${timelineEntries} where ${timelineEntries.id} = ${commentId}
        )`;
  return insertSelect(
    db,
    timelineEntries,
    {
      repoId: sql`reference.value ->> 'repoId'`,
      issueId: sql`reference.value ->> 'issueId'`,
      kind: kindOf(text),
      posterId: actor.user?.id ?? null,
      otherIssueId: issue.id,
      otherEntryId: commentId ?? null,
      refAction: sql`reference.value ->> 'action'`,
      createdAt: now,
      updatedAt: now,
    },
    // Any of them may have been deleted meanwhile.
    sql`
      from json_each(${JSON.stringify(references)}) reference
      join ${issues} on ${issues.id} = reference.value ->> 'issueId'
      where ${issues.id} not in ${listed} and ${isThere}
      order by reference.key`,
  );
}
