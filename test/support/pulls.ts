import {
  branchTips,
  codeComments,
  pulls,
  reviews,
  type CodeComment,
  type Issue,
  type Pull,
  type Review,
  type TimelineEntry,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { makeComment, makeIssue } from "./issues.ts";
import type { TestRepo } from "./make.ts";

/** A stored pull request, as an issue and with what only pull requests have. */
export type TestPull = Issue & { readonly pull: Pull };

/**
 * Stores the rows of a judged pull request by the owner of a repository, past the API; its commits
 * are not stored.
 */
export async function makePull(
  repo: TestRepo,
  fields: Partial<Pull> = {},
  issueFields: Partial<Issue> = {},
): Promise<TestPull> {
  const issue = await makeIssue(repo, { isPull: true, ...issueFields });
  const headOid = fields.headOid ?? "1".repeat(40);
  const row = {
    issueId: issue.id,
    repoId: repo.id,
    headRepoId: repo.id,
    headBranch: "topic",
    baseBranch: "main",
    headOid,
    mergeState: "mergeable",
    checkedBaseOid: "2".repeat(40),
    checkedHeadOid: headOid,
    ...fields,
  } as const;
  const tips = [
    { repoId: repo.id, branch: row.baseBranch, oid: row.checkedBaseOid },
    { repoId: row.headRepoId, branch: row.headBranch, oid: headOid },
  ];
  const pull = only(await db.insert(pulls).values(row).returning());
  await db.insert(branchTips).values(tips).onConflictDoNothing();
  return { ...issue, pull };
}

/**
 * Stores a review by the owner of the repository, and what its timeline tells of it once it is
 * submitted.
 */
export async function makeReview(pull: TestPull, fields: Partial<Review> = {}): Promise<Review> {
  const { repoId, id: issueId, posterId: reviewerId } = pull;
  const times = { createdAt: 1000, updatedAt: 1000 };
  const row = { repoId, issueId, reviewerId, commitOid: pull.pull.headOid, ...times };
  const values = { ...row, state: "approved" as const, ...fields };
  const review = only(await db.insert(reviews).values(values).returning());
  const { id: reviewId, state, reviewerId: posterId, body, createdAt, updatedAt } = review;
  if (state === "pending" || state === "request_review") return review;
  await makeComment(pull, { kind: "review", reviewId, posterId, body, createdAt, updatedAt });
  return review;
}

/** A stored comment on code: an entry of the timeline, and where it is. */
export type TestCodeComment = TimelineEntry & { readonly code: CodeComment };

/** Stores a comment of a review on the first line of a file. */
export async function makeCodeComment(
  pull: TestPull,
  review: Review,
  fields: Partial<CodeComment> = {},
  entryFields: Partial<TimelineEntry> = {},
): Promise<TestCodeComment> {
  const { headOid } = pull.pull;
  const { id: reviewId, reviewerId: posterId } = review;
  const entry = await makeComment(pull, { kind: "code", reviewId, posterId, ...entryFields });
  const place = { path: "a.txt", line: 1, startLine: 1, diffHunk: "@@ -0,0 +1 @@\n+a" };
  const commits = { commitOid: headOid, originalCommitOid: headOid, originalLine: 1 };
  const row = { entryId: entry.id, reviewId, issueId: pull.id, ...place, ...commits, ...fields };
  return { ...entry, code: only(await db.insert(codeComments).values(row).returning()) };
}
