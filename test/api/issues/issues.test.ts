import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make } from "../../support/make.ts";
import { db } from "../../support/db.ts";
import { asc, eq } from "drizzle-orm";

import {
  events,
  issueAssignees,
  issueLabels,
  issues,
  repositories,
  timelineEntries,
  type Repository,
} from "../../../src/db/schema/index.ts";

const pathOf = ({ owner, name }: { owner: string; name: string }, rest = "") =>
  `/repos/${owner}/${name}/issues${rest}`;

const eventsOf = async ({ id }: Repository) =>
  (await db.select().from(events).where(eq(events.repoId, id)).orderBy(asc(events.id))).map(
    ({ type }) => type,
  );
const entriesOf = (issueId: number) =>
  db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, issueId))
    .orderBy(asc(timelineEntries.id));
describe("POST /repos/{owner}/{repo}/issues", () => {
  it("gives 50 issues that are opened at once 50 consecutive numbers", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        call("POST", pathOf(repo), { as: owner, json: { title: `number ${at}` } }),
      ),
    );
    const numbers = answers.map(({ body }) => body.number).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    expect(await eventsOf(repo)).toEqual(numbers.map(() => "issue.opened"));
  });

  it("stores every field for a writer, and tells of it once", async () => {
    const [owner, friend] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const [label, milestone] = [await makeLabel({ repo }), await makeMilestone(repo)];
    const json = {
      title: " It rains ",
      body: "in",
      ref: "main",
      closed: true,
      assignees: [friend.name.toUpperCase(), "", friend.name],
      labels: [label.id],
      milestone: milestone.id,
      due_date: "2030-05-06T07:08:09+02:00",
    };
    const answer = await call("POST", pathOf(repo), { as: owner, json });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        number: 1,
        title: "It rains",
        body: "in",
        ref: "main",
        state: "closed",
        assignees: [{ login: friend.name }],
        labels: [{ id: label.id }],
        milestone: { id: milestone.id, open_issues: 0, closed_issues: 1 },
        due_date: "2030-05-06T05:08:09Z",
        content_version: 0,
      },
    });
    expect(answer.body.closed_at).not.toBeNull();
    expect((await entriesOf(answer.body.id)).map(({ kind }) => kind)).toEqual([
      "assignees",
      "milestone",
      "close",
    ]);
    expect(await eventsOf(repo)).toEqual([
      "issue.opened",
      "issue.assigned",
      "issue.milestoned",
      "issue.closed",
    ]);
  });
});

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
