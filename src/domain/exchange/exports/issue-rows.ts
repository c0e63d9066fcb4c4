import { and, eq, sql } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  issueAssignees,
  issueLabels,
  issues,
  type Pull,
  pulls,
  reactions,
  repositories,
  timelineEntries,
  users,
} from "../../../db/schema/index.ts";
import type { ForeignComment, ForeignIssue, ForeignPull } from "../../../forges/forge.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  among,
  EXPORT_PAGE_ITEMS,
  accountNameOf,
  nextOf,
  type ReadExportPage,
  selectExportedReactions,
  toReactions,
  toUser,
} from "./export-page.ts";

/** Issues, or pull requests, by their numbers. */
async function readIssueRows(
  { db, actor }: Ctx,
  { row }: RepositoryContext,
  isPull: boolean,
  after: number,
) {
  const rows = await db
    .select({ issue: issues, posterName: accountNameOf(issues.posterId).as("poster_name") })
    .from(issues)
    .where(
      sql`${issues.repoId} = ${row.id}
        and ${issues.isPull} = ${isPull}
        and ${issues.id} > ${after}`,
    )
    .orderBy(issues.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ issue }) => issue.id);
  const isOfPage = (column: typeof issueLabels.issueId) => among(sql`${column}`, ids);
  const belonging = await batch(db, {
    ofLabels: db.select().from(issueLabels).where(isOfPage(issueLabels.issueId)),
    ofAssignees: db
      .select({ issueId: issueAssignees.issueId, id: users.id, name: users.name })
      .from(issueAssignees)
      .innerJoin(users, eq(users.id, issueAssignees.userId))
      .where(among(sql`${issueAssignees.issueId}`, ids)),
    ofReactions: selectExportedReactions(db).where(
      sql`${reactions.entryId} is null and ${among(sql`${reactions.issueId}`, ids)}`,
    ),
    ofPulls: db
      .select({
        pull: columnsOf(pulls, "p"),
        headRepository: sql<string | null>`
          ${repositories.ownerLowerName} || '/' || ${repositories.lowerName}`.as("head_repository"),
        mergerName: accountNameOf(sql`${pulls.mergerId}`).as("merger_name"),
      })
      .from(pulls)
      // SECURITY: a head repository that the caller may not see is not named.
      .leftJoin(
        repositories,
        and(eq(repositories.id, pulls.headRepoId), isRepositoryVisible(principalOf(actor))),
      )
      .where(among(sql`${pulls.issueId}`, ids)),
  });
  return { rows, ...belonging };
}

type IssueRows = Awaited<ReturnType<typeof readIssueRows>>;

function toIssueFields(
  { issue, posterName }: IssueRows["rows"][number],
  { ofLabels, ofAssignees, ofReactions }: IssueRows,
): Omit<ForeignIssue, "kind"> {
  return {
    foreignId: String(issue.id),
    number: issue.number,
    poster: toUser({ ...issue, posterName }),
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    labelIds: ofLabels
      .filter(({ issueId }) => issueId === issue.id)
      .map(({ labelId }) => String(labelId)),
    milestoneId: issue.milestoneId === null ? null : String(issue.milestoneId),
    assignees: ofAssignees
      .filter(({ issueId }) => issueId === issue.id)
      .map(({ id, name }) => ({ id, name })),
    reactions: toReactions(ofReactions.filter(({ issueId }) => issueId === issue.id)),
    isLocked: issue.isLocked,
    isClosed: issue.isClosed,
    closedAt: issue.closedAt,
    deadlineAt: issue.deadlineAt,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    pinOrder: issue.pinOrder,
    timeEstimateSeconds: issue.timeEstimateSeconds,
  };
}

export const exportIssues: ReadExportPage<"issues"> = async (ctx, repo, after) => {
  const page = await readIssueRows(ctx, repo, false, after);
  const items = page.rows.map((row): ForeignIssue => ({
    kind: "issue",
    ...toIssueFields(row, page),
  }));
  return { items, next: nextOf(page.rows.map(({ issue }) => issue)) };
};

export const exportPulls: ReadExportPage<"pulls"> = async (ctx, repo, after) => {
  const page = await readIssueRows(ctx, repo, true, after);
  const ofPulls = new Map(page.ofPulls.map((each) => [each.pull.issueId, each]));
  const repository = `${repo.owner.lowerName}/${repo.row.lowerName}`;
  const items = page.rows.flatMap((row): ForeignPull[] => {
    const found = ofPulls.get(row.issue.id);
    if (!found) return [];
    const { pull, headRepository, mergerName } = found;
    return [
      {
        kind: "pull",
        ...toIssueFields(row, page),
        head: { ...toHead(pull, headRepository), oid: pull.headOid },
        base: { branch: pull.baseBranch, oid: pull.mergedBaseOid, repository },
        headRef: `refs/pull/${row.issue.number}/head`,
        mergeBaseOid: pull.mergeBaseOid,
        allowMaintainerEdit: pull.allowMaintainerEdit,
        mergedAt: pull.mergedAt,
        merger: pull.mergerId === null ? null : { id: pull.mergerId, name: mergerName ?? "Ghost" },
        mergeCommitOid: pull.mergeCommitOid,
        ...(pull.mergeKind !== null && { mergeKind: pull.mergeKind }),
      },
    ];
  });
  return { items, next: nextOf(page.rows.map(({ issue }) => issue)) };
};

/**
 * The branch of a head and its repository. That of a head which is no branch, pushed as a topic or
 * from a fork elsewhere, is known by its owner only.
 */
function toHead({ flow, headBranch }: Pull, headRepository: string | null) {
  const [, owner, branch] = (flow === "agit" && /^([^:/]+)[:/](.*)$/s.exec(headBranch)) || [];
  return owner === undefined || branch === undefined
    ? { branch: headBranch, repository: headRepository ?? "" }
    : { branch, repository: `${owner}/` };
}

export const exportComments: ReadExportPage<"comments"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      entry: timelineEntries,
      number: issues.number,
      posterName: accountNameOf(sql`${timelineEntries.posterId}`).as("poster_name"),
    })
    .from(timelineEntries)
    .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
    .where(
      sql`${timelineEntries.repoId} = ${row.id}
        and ${timelineEntries.kind} = 'comment'
        and ${timelineEntries.id} > ${after}`,
    )
    .orderBy(timelineEntries.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ entry }) => entry.id);
  const ofReactions = await selectExportedReactions(db).where(
    among(sql`${reactions.entryId}`, ids),
  );
  const items = rows.map(({ entry, number, posterName }): ForeignComment => ({
    kind: "comment",
    foreignId: String(entry.id),
    number,
    poster: toUser({ ...entry, posterName }),
    body: entry.body,
    reactions: toReactions(ofReactions.filter(({ entryId }) => entryId === entry.id)),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
  }));
  return { items, next: nextOf(rows.map(({ entry }) => entry)) };
};
