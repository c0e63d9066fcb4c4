import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertSelect } from "../../../../db/insert-select.ts";
import { branchTips, type MergeKind, type PullFlow, pulls } from "../../../../db/schema/index.ts";
import type { ForeignPull } from "../../../../forges/forge.ts";
import { NO_NODE, type Node } from "../../../../git/walk/commit-graph.ts";
import { findDivergence, latestOf } from "../../../../git/walk/merge-bases.ts";
import { branchRef } from "../../../code/branches/find-branch.ts";
import { findRef, type RepositorySnapshot } from "../../../code/git/open-snapshot.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { accountOf } from "./authors.ts";
import { issueStatements, toIssueRow } from "./issues.ts";
import { field, freshItem, freshItems, settleItems } from "./page.ts";

const OID = /^[0-9a-f]{40}$/;
const BRANCH_LENGTH_MAX = 500;

/** The columns of a pull request besides its issue, for the statements. */
export interface PullColumns {
  readonly flow: PullFlow;
  readonly headBranch: string;
  readonly baseBranch: string;
  readonly headOid: string;
  readonly mergeBaseOid: string;
  readonly allowMaintainerEdit: boolean;
  readonly mergedAt: number | null;
  readonly mergerId: number | null;
  readonly mergeCommitOid: string;
  readonly mergedBaseOid: string;
  readonly mergeKind: MergeKind | null;
  readonly baseTip: string | null;
  readonly headTip: string | null;
}

const toOid = (text: string): string => (OID.test(text) ? text : "");

/**
 * The commits and branches of a pull request, as far as the repository has them.
 *
 * A head from another repository is no branch here: it is named `owner:branch`, which no branch can
 * be, so that no push to a branch of the same name moves it. The repository of the base is the
 * project itself: the name can't be read from its address if the forge is below a path of its host,
 * or if the project was renamed.
 */
export function toPullColumns(
  job: ImportJob,
  snapshot: RepositorySnapshot,
  item: ForeignPull,
): PullColumns {
  const { graph } = snapshot.repository;
  const headName = item.head.repository.toLowerCase();
  const isOwn = headName !== "" && headName === item.base.repository.toLowerCase();
  const branch = item.head.branch.slice(0, BRANCH_LENGTH_MAX).toWellFormed();
  const owner = item.head.repository.split("/")[0] || item.poster.name || "ghost";
  const headBranch = isOwn ? branch : `${owner.toWellFormed()}:${branch}`;
  const baseBranch = item.base.branch.slice(0, BRANCH_LENGTH_MAX).toWellFormed();
  const tipOf = (name: string): string | null => findRef(snapshot, branchRef(name))?.oid ?? null;
  const headOid = toOid(item.head.oid);
  const mergeCommitOid = item.mergedAt === null ? "" : toOid(item.mergeCommitOid);
  const nodeOf = (oid: string): Node => (oid === "" ? NO_NODE : graph.find(oid));
  const merge = nodeOf(mergeCommitOid);
  const parents = merge === NO_NODE ? [] : [...graph.parents(merge)];
  const before = nodeOf(item.mergeKind === undefined ? "" : toOid(item.base.oid));
  const mergedBase = item.mergedAt !== null && before !== NO_NODE ? before : parents[0];
  const head = nodeOf(headOid);
  const base =
    item.mergedAt === null ? nodeOf(tipOf(baseBranch) ?? toOid(item.base.oid)) : mergedBase;
  const known = toOid(item.mergeBaseOid);
  const found =
    head === NO_NODE || base === undefined || base === NO_NODE
      ? undefined
      : latestOf(graph, findDivergence(graph, base, head).bases);
  return {
    flow: isOwn ? "branch" : "agit",
    headBranch,
    baseBranch,
    headOid,
    mergeBaseOid:
      known !== "" && nodeOf(known) !== NO_NODE
        ? known
        : found === undefined
          ? known
          : graph.oid(found),
    // Writers of the base repository can push to this head anyway.
    allowMaintainerEdit: isOwn && item.allowMaintainerEdit,
    mergedAt: item.mergedAt,
    mergerId: item.merger === null ? null : (accountOf(job, item.merger) ?? null),
    mergeCommitOid,
    mergedBaseOid: mergedBase === undefined ? "" : graph.oid(mergedBase),
    mergeKind:
      item.mergedAt === null
        ? null
        : (item.mergeKind ?? (parents.length > 1 ? "merge" : "manually-merged")),
    baseTip: tipOf(baseBranch),
    headTip: isOwn ? tipOf(branch) : null,
  };
}

/** A pull request as it goes into statements. */
export const toPullRow = (job: ImportJob, item: ForeignPull, columns: PullColumns) => ({
  ...toIssueRow(job, item),
  ...columns,
});
export type PullRow = ReturnType<typeof toPullRow>;

/** The statements that take pull requests which were not taken before. */
export function takePulls(job: ImportJob, rows: readonly PullRow[]): BatchItem<"sqlite">[] {
  if (rows.length === 0) return [];
  const { ctx, repoId } = job;
  return [
    ...issueStatements(job, rows),
    insertSelect(
      ctx.db,
      pulls,
      {
        issueId: freshItem.localId,
        repoId,
        flow: field("flow"),
        // Heads of other repositories, and of those that are gone, are kept in this one.
        headRepoId: repoId,
        headBranch: field("headBranch"),
        baseBranch: field("baseBranch"),
        headOid: field("headOid"),
        mergeBaseOid: field("mergeBaseOid"),
        allowMaintainerEdit: field("allowMaintainerEdit"),
        mergedAt: field("mergedAt"),
        mergerId: presentUserId(field("mergerId")),
        mergeCommitOid: field("mergeCommitOid"),
        mergedBaseOid: field("mergedBaseOid"),
        mergeKind: field("mergeKind"),
      },
      sql`${freshItems(job, "issue", rows)} where true`,
    ),
    ...tipStatements(job, rows),
    settleItems(job, "issue", rows),
  ];
}

/**
 * The statements that store the tips of the branches of pull requests; pushes update them later.
 */
const tipStatements = (job: ImportJob, rows: readonly PullRow[]) => {
  const tips = rows.flatMap((row) => [
    [row.baseBranch, row.baseTip],
    ...(row.flow === "branch" ? [[row.headBranch, row.headTip]] : []),
  ]);
  return [
    insertSelect(
      job.ctx.db,
      branchTips,
      { repoId: job.repoId, branch: sql`tip.value ->> 0`, oid: sql`tip.value ->> 1` },
      sql`from json_each(${JSON.stringify(tips)}) tip where true`,
    ).onConflictDoNothing(),
  ];
};
