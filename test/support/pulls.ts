import { branchTips, pulls, type Issue, type Pull } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { makeIssue } from "./issues.ts";
import type { TestRepo } from "./make.ts";

/** A stored pull request, as an issue and with what only pull requests have. */
export type TestPull = Issue & { readonly pull: Pull };

/** Stores the rows of a judged pull request by the owner of a repository, past the API; its commits are not stored. */
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
    judgedBaseOid: "2".repeat(40),
    judgedHeadOid: headOid,
    ...fields,
  } as const;
  const tips = [
    { repoId: repo.id, branch: row.baseBranch, oid: row.judgedBaseOid },
    { repoId: row.headRepoId, branch: row.headBranch, oid: headOid },
  ];
  const pull = only(await db.insert(pulls).values(row).returning());
  await db.insert(branchTips).values(tips).onConflictDoNothing();
  return { ...issue, pull };
}
