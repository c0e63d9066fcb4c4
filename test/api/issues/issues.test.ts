import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make } from "../../support/make.ts";
import { db } from "../../support/db.ts";
import { issueAssignees, issueLabels } from "../../../src/db/schema/index.ts";

describe("GET /repos/{owner}/{repo}/issues/{index}", () => {
  it("shows the issue with its labels, assignees and milestone", async () => {
    const [owner, friend] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const milestone = await makeMilestone(repo);
    const issue = await makeIssue(repo, { body: "a `body`", milestoneId: milestone.id });
    const label = await makeLabel({ repo }, { isExclusive: true, name: "kind/bug" });
    const { id: issueId, repoId, isPull, isClosed } = issue;
    await db.insert(issueLabels).values({ issueId, repoId, isPull, isClosed, labelId: label.id });
    await db.insert(issueAssignees).values({ issueId, repoId, userId: friend.id, createdAt: 1000 });

    const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}`;
    expect(await call("GET", path, { as: owner })).toMatchObject({
      status: 200,
      body: {
        id: issue.id,
        number: 1,
        title: issue.title,
        body: "a `body`",
        state: "open",
        user: { login: owner.name },
        labels: [{ id: label.id, name: "kind/bug", exclusive: true, is_archived: false }],
        milestone: { id: milestone.id, open_issues: 1 },
        assignee: { login: friend.name },
        assignees: [{ login: friend.name, created: "1970-01-01T00:00:01Z" }],
        pull_request: null,
        repository: { full_name: `${repo.owner}/${repo.name}` },
      },
    });
  });

  it("finds no issue of another repository, and none of a disabled unit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const other = await make.repo(owner);
    await makeIssue(other);
    const closed = await make.repo(owner, { hasIssues: false });
    await makeIssue(closed);
    const reader = await make.user();
    for (const { owner: name, name: repoName } of [repo, closed]) {
      const path = `/repos/${name}/${repoName}/issues/1`;
      expect(await call("GET", path, { as: reader })).toMatchObject({ status: 404 });
    }
  });
});
