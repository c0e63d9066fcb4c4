import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { issueLabels, labels, timelineEntries, type Issue } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue, makeLabel } from "../../support/issues.ts";
import { make, type TestRepo } from "../../support/make.ts";

/** A repository of an organization, and an issue with a label of each. */
async function makeScene() {
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const ofOrg = await makeLabel({ org }, { name: "org" });
  const ofRepo = await makeLabel({ repo }, { name: "repo" });
  const issue = await makeIssue(repo);
  const attach = (to: TestRepo, issueOf: Issue, names: string[]) =>
    call("POST", `/repos/${to.owner}/${to.name}/issues/${issueOf.number}/labels`, {
      as: owner,
      json: { labels: names },
    });
  await attach(repo, issue, ["org", "repo"]);
  const move = (newOwner: string) =>
    call("POST", `/repos/${repo.owner}/${repo.name}/transfer`, {
      as: owner,
      json: { new_owner: newOwner },
    });
  return { owner, org, repo, ofOrg, ofRepo, issue, attach, move };
}

const labelsOf = async (issue: Issue) =>
  (await db.select().from(issueLabels).where(eq(issueLabels.issueId, issue.id))).map(
    ({ labelId }) => labelId,
  );

const entriesOf = async (issue: Issue) =>
  (
    await db
      .select()
      .from(timelineEntries)
      .where(and(eq(timelineEntries.issueId, issue.id), eq(timelineEntries.kind, "label")))
  ).map(({ labelId }) => labelId);

describe("a repository that leaves an organization", () => {
  it("loses the organization's labels, and their entries in its timelines", async () => {
    const { owner, org, repo, ofOrg, ofRepo, issue, attach, move } = await makeScene();
    const stays = await make.repo(org);
    const other = await makeIssue(stays);
    await attach(stays, other, ["org"]);

    expect((await move(owner.name)).status).toBe(202);
    expect(await labelsOf(issue)).toEqual([ofRepo.id]);
    expect(await entriesOf(issue)).toEqual([ofRepo.id]);
    expect(await labelsOf(other)).toEqual([ofOrg.id]);
    expect(await entriesOf(other)).toEqual([ofOrg.id]);
    expect(await db.select().from(labels).where(eq(labels.id, ofOrg.id))).toMatchObject([
      { openIssueCount: 1 },
    ]);
    const moved = { ...repo, owner: owner.name };
    expect((await attach(moved, issue, ["org"])).body).toMatchObject([{ id: ofRepo.id }]);
  });

  it("keeps everything where the transfer is refused", async () => {
    const { owner, repo, ofOrg, ofRepo, issue, move } = await makeScene();
    await make.repo(owner, { name: repo.name });
    expect((await move(owner.name)).status).toBe(422);
    expect(await labelsOf(issue)).toEqual([ofRepo.id, ofOrg.id].toSorted((a, b) => a - b));
    expect(await entriesOf(issue)).toHaveLength(2);
  });
});
