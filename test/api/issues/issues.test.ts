import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  blocks,
  contentVersions,
  events,
  issueAssignees,
  issueDependencies,
  issueLabels,
  issues,
  repositories,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { entriesOf, eventsOf, issueStateOf } from "../../support/issue-state.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make } from "../../support/make.ts";

const pathOf = ({ owner, name }: { owner: string; name: string }, rest = "") =>
  `/repos/${owner}/${name}/issues${rest}`;

/** A repository with an owner, a collaborator who writes, and a stranger. */
async function makeShared(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, writer, stranger] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, writer, ACCESS.write);
  return { owner, writer, stranger, repo };
}

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

  it("stores every field for a writer, and records each event once", async () => {
    const { writer, stranger, repo } = await makeShared();
    const [label, milestone] = [await makeLabel({ repo }), await makeMilestone(repo)];
    const json = {
      title: " It rains ",
      body: "in",
      ref: "main",
      closed: true,
      assignee: stranger.name,
      assignees: [stranger.name.toUpperCase(), "", writer.name],
      labels: [label.id, 99_999_999],
      milestone: milestone.id,
      due_date: "2030-05-06T07:08:09+02:00",
    };
    const answer = await call("POST", pathOf(repo), { as: writer, json });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        number: 1,
        title: "It rains",
        body: "in",
        ref: "main",
        state: "closed",
        user: { login: writer.name },
        assignees: [{ login: stranger.name }, { login: writer.name }],
        labels: [{ id: label.id }],
        milestone: { id: milestone.id, open_issues: 0, closed_issues: 1 },
        due_date: "2030-05-06T05:08:09Z",
        content_version: 0,
      },
    });
    expect(answer.body.closed_at).not.toBeNull();
    expect((await entriesOf(answer.body.id)).map(({ kind }) => kind)).toEqual([
      "assignees",
      "assignees",
      "label",
      "milestone",
      "close",
    ]);
    expect(await eventsOf(repo)).toEqual([
      "issue.opened",
      "issue.assigned",
      "issue.assigned",
      "issue.labeled",
      "issue.milestoned",
      "issue.closed",
    ]);
  });

  it("ignores what only writers set, also where it names nothing", async () => {
    const { writer, stranger, repo } = await makeShared();
    const [label, milestone] = [
      await makeLabel({ repo }),
      await makeMilestone(repo, { isClosed: true }),
    ];
    for (const assignee of [writer.name, "nobody-at-all"]) {
      const json = {
        title: "by a stranger",
        closed: true,
        ref: "main",
        assignees: [assignee],
        labels: [label.id],
        milestone: milestone.id,
        due_date: "2030-05-06T07:08:09Z",
      };
      expect(await call("POST", pathOf(repo), { as: stranger, json })).toMatchObject({
        status: 201,
        body: {
          state: "closed",
          ref: "main",
          assignees: [],
          labels: [],
          milestone: null,
          due_date: null,
        },
      });
    }
  });

  it("keeps one label of an exclusive scope, the last one by name", async () => {
    const { owner, repo } = await makeShared();
    const names = ["prio/high", "prio/low", "prio/mid", "plain"];
    const labels = await Promise.all(
      names.map((name) => makeLabel({ repo }, { name, isExclusive: name !== "plain" })),
    );
    const json = { title: "labelled", labels: labels.map(({ id }) => id) };
    const { body } = await call("POST", pathOf(repo), { as: owner, json });
    expect(body.labels.map(({ name }: { name: string }) => name)).toEqual(["plain", "prio/mid"]);
  });

  it("ignores an unknown milestone and a foreign one, and takes no foreign label", async () => {
    const { owner, repo } = await makeShared();
    const other = await make.repo(owner);
    const [milestone, label] = [await makeMilestone(other), await makeLabel({ repo: other })];
    for (const id of [milestone.id, 99_999_999, 0, -1]) {
      const json = { title: "x", milestone: id, labels: [label.id] };
      const answer = await call("POST", pathOf(repo), { as: owner, json });
      expect(answer).toMatchObject({ status: 201, body: { milestone: null, labels: [] } });
    }
    expect(await eventsOf(repo)).toEqual(Array.from({ length: 4 }, () => "issue.opened"));
  });

  it("trims a title, and cuts one that is too wide", async () => {
    const { owner, repo } = await makeShared();
    const post = async (title: string) =>
      (await call("POST", pathOf(repo), { as: owner, json: { title } })).body.title;
    expect(await post("   ")).toBe("");
    expect(await post("t".repeat(255))).toBe("t".repeat(255));
    expect(await post("t".repeat(256))).toBe(`${"t".repeat(252)}…`);
    expect(await post("雨".repeat(127))).toBe("雨".repeat(127));
    expect(await post("雨".repeat(128))).toBe(`${"雨".repeat(126)}…`);
  });

  it.each([
    [{ body: "x" }, 422],
    [{ title: "" }, 422],
    [{ title: 7 }, 422],
    [{ title: "x", body: "b".repeat(262_145) }, 422],
    [{ title: "x", due_date: "tomorrow" }, 422],
    [{ title: "x", due_date: "0001-01-02T00:00:00Z" }, 422],
    [{ title: "x", due_date: "9999-12-31T23:59:59-10:00" }, 422],
    [{ title: "x", labels: ["bug"] }, 422],
    [{ title: "x", assignees: ["nobody-at-all"] }, 422],
    [{ title: "x", assignees: Array.from({ length: 51 }, (_, at) => `n${at}`) }, 422],
  ])("refuses invalid input, and stores nothing: %j", async (json, status) => {
    const { owner, repo } = await makeShared();
    const before = await issueStateOf(repo);
    const answer = await call("POST", pathOf(repo), { as: owner, json });
    expect(answer).toMatchObject({ status, body: { message: expect.any(String) } });
    expect(await issueStateOf(repo)).toEqual(before);
  });

  it("refuses an organization, a closed milestone, and who can't read the repository", async () => {
    const { owner, stranger, repo } = await makeShared({ isPrivate: true });
    const org = await make.org([owner]);
    const closed = await makeMilestone(repo, { isClosed: true });
    const before = await issueStateOf(repo);
    for (const fields of [
      { assignees: [org.name] },
      { assignees: [stranger.name] },
      { milestone: closed.id },
    ]) {
      const json = { title: "x", ...fields };
      expect(await call("POST", pathOf(repo), { as: owner, json })).toMatchObject({ status: 422 });
    }
    expect(await issueStateOf(repo)).toEqual(before);
  });

  // The account is hidden: the answer must be that for a name that nobody has.
  it("does not reveal a private account", async () => {
    const { writer, repo } = await makeShared();
    const hidden = await make.user({ visibility: "private" });
    const messages = await Promise.all(
      [hidden.name, "nobody-at-all"].map(async (name) => {
        const json = { title: "x", assignees: [name] };
        const { status, body } = await call("POST", pathOf(repo), { as: writer, json });
        return [status, body.message.replace(name, "")];
      }),
    );
    expect(messages[0]).toEqual(messages[1]);
  });

  it("refuses whom the owner blocks, and an assignee whom a block separates", async () => {
    const { owner, writer, stranger, repo } = await makeShared();
    await db
      .insert(blocks)
      .values({ blockerId: owner.id, blockedId: stranger.id, note: "", createdAt: 1000 });
    const before = await issueStateOf(repo);
    const json = { title: "x" };
    expect(await call("POST", pathOf(repo), { as: stranger, json })).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    const assigned = { title: "x", assignees: [stranger.name] };
    expect(await call("POST", pathOf(repo), { as: writer, json: assigned })).toMatchObject({
      status: 403,
    });
    expect(await issueStateOf(repo)).toEqual(before);
  });

  it("is for signed-in readers, while the unit is on and the repository not archived", async () => {
    const { owner, stranger, repo } = await makeShared();
    const secret = await make.repo(owner, { isPrivate: true });
    const off = await make.repo(owner, { hasIssues: false });
    const external = await make.repo(owner, {
      issueSettings: {
        ...repo.issueSettings,
        external: { url: "https://tracker.example", format: "", style: "", regexpPattern: "" },
      },
    });
    const archived = await make.repo(owner, { archivedAt: 1000 });
    const json = { title: "x" };
    const cases = [
      [repo, undefined, 401],
      [secret, undefined, 404],
      [secret, stranger, 404],
      [off, stranger, 404],
      [off, owner, 403],
      [external, stranger, 404],
      [external, owner, 403],
      [archived, owner, 423],
      [archived, stranger, 423],
    ] as const;
    for (const [where, as, status] of cases) {
      const before = await issueStateOf(where);
      const answer = await call("POST", pathOf(where), { ...(as && { as }), json });
      expect(answer.status, `${where.name} ${as?.name}`).toBe(status);
      expect(await issueStateOf(where)).toEqual(before);
    }
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

describe("PATCH /repos/{owner}/{repo}/issues/{index}", () => {
  it("changes everything in one request, and records each change once", async () => {
    const { owner, writer, repo } = await makeShared();
    const milestone = await makeMilestone(repo);
    const issue = await makeIssue(repo, { title: "old", body: "old body" });
    const json = {
      title: "new",
      body: "new body",
      ref: "main",
      state: "closed",
      assignees: [owner.name],
      milestone: milestone.id,
      due_date: "2031-02-03T04:05:06Z",
    };
    for (const time of ["first", "again"]) {
      const answer = await call("PATCH", pathOf(repo, "/1"), { as: writer, json });
      expect(answer, time).toMatchObject({
        status: 201,
        body: {
          title: "new",
          body: "new body",
          ref: "main",
          state: "closed",
          assignees: [{ login: owner.name }],
          milestone: { id: milestone.id, closed_issues: 1 },
          due_date: "2031-02-03T23:59:59Z",
          content_version: 1,
        },
      });
    }
    expect(await entriesOf(issue.id)).toMatchObject([
      { kind: "change_title", oldValue: "old", newValue: "new", posterId: writer.id },
      { kind: "change_issue_ref", oldValue: "", newValue: "main" },
      { kind: "assignees", assigneeId: owner.id, isAssigneeRemoved: false },
      { kind: "milestone", milestoneId: milestone.id, oldMilestoneId: null },
      { kind: "added_deadline", body: "2031-02-03" },
      { kind: "close" },
    ]);
    expect(await eventsOf(repo)).toEqual([
      "issue.edited",
      "issue.assigned",
      "issue.milestoned",
      "issue.deadline_changed",
      "issue.closed",
    ]);
    const [edited] = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(edited?.payload).toMatchObject({
      issueId: issue.id,
      from: { title: "old", body: "old body", ref: "" },
    });
  });

  it("removes the property of an empty value, and records its former value", async () => {
    const { owner, writer, repo } = await makeShared();
    const milestone = await makeMilestone(repo);
    const issue = await makeIssue(repo, {
      milestoneId: milestone.id,
      deadlineAt: Date.UTC(2031, 1, 3, 23, 59, 59),
      isClosed: true,
      closedAt: 1000,
    });
    await db
      .insert(issueAssignees)
      .values({ issueId: issue.id, repoId: repo.id, userId: owner.id, createdAt: 1000 });
    const json = { assignees: [], milestone: 0, unset_due_date: true, state: "open" };
    expect(await call("PATCH", pathOf(repo, "/1"), { as: writer, json })).toMatchObject({
      status: 201,
      body: { assignees: [], milestone: null, due_date: null, state: "open", closed_at: null },
    });
    expect(await entriesOf(issue.id)).toMatchObject([
      { kind: "assignees", assigneeId: owner.id, isAssigneeRemoved: true },
      { kind: "milestone", milestoneId: null, oldMilestoneId: milestone.id },
      { kind: "removed_deadline", body: "2031-02-03" },
      { kind: "reopen" },
    ]);
    expect(await eventsOf(repo)).toEqual([
      "issue.unassigned",
      "issue.demilestoned",
      "issue.deadline_changed",
      "issue.reopened",
    ]);
    const rows = await db.select().from(events).where(eq(events.type, "issue.demilestoned"));
    expect(rows.find(({ repoId }) => repoId === repo.id)?.payload).toMatchObject({
      milestoneId: milestone.id,
    });
  });

  it("moves a due date to the end of its day, in its own offset", async () => {
    const { owner, repo } = await makeShared();
    const issue = await makeIssue(repo);
    const patch = async (dueDate: string) => {
      const json = { due_date: dueDate };
      return (await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).body.due_date;
    };
    expect(await patch("2031-02-03T04:05:06Z")).toBe("2031-02-03T23:59:59Z");
    expect(await patch("2031-02-03T23:05:06-05:00")).toBe("2031-02-04T04:59:59Z");
    expect(await patch("2031-02-03T00:05:06+05:30")).toBe("2031-02-03T18:29:59Z");
    expect((await entriesOf(issue.id)).map(({ kind, body }) => [kind, body])).toEqual([
      ["added_deadline", "2031-02-03"],
      ["modified_deadline", "2031-02-04|2031-02-03"],
      ["modified_deadline", "2031-02-03|2031-02-04"],
    ]);
  });

  it("lets the poster change text and state only", async () => {
    const { stranger, writer, repo } = await makeShared();
    const milestone = await makeMilestone(repo);
    await makeIssue(repo, { posterId: stranger.id });
    const json = {
      title: "mine",
      body: "my words",
      state: "closed",
      assignees: [writer.name, "nobody-at-all"],
      milestone: milestone.id,
      due_date: "2031-01-01T00:00:00Z",
    };
    expect(await call("PATCH", pathOf(repo, "/1"), { as: stranger, json })).toMatchObject({
      status: 201,
      body: {
        title: "mine",
        body: "my words",
        state: "closed",
        assignees: [],
        milestone: null,
        due_date: null,
      },
    });
  });

  it("keeps the texts of a body, the original with the first edit", async () => {
    const { owner, stranger, repo } = await makeShared();
    const issue = await makeIssue(repo, { posterId: stranger.id, body: "one" });
    for (const [as, body] of [
      [stranger, "two"],
      [owner, "three"],
      [owner, "three"],
      [owner, ""],
    ] as const) {
      await call("PATCH", pathOf(repo, "/1"), { as, json: { body } });
    }
    const versions = await db
      .select()
      .from(contentVersions)
      .where(eq(contentVersions.issueId, issue.id));
    expect(versions.map(({ body, editorId }) => [body, editorId])).toEqual([
      ["one", stranger.id],
      ["two", stranger.id],
      ["three", owner.id],
      ["", owner.id],
    ]);
    expect(await call("GET", pathOf(repo, "/1"))).toMatchObject({
      body: { body: "", content_version: 3 },
    });
  });

  it("lets one of two edits of the same version win, and changes nothing by the other", async () => {
    const { owner, repo } = await makeShared();
    await makeIssue(repo, { body: "one" });
    const edit = (body: string) =>
      call("PATCH", pathOf(repo, "/1"), {
        as: owner,
        json: { title: body, body, state: "closed", content_version: 0 },
      });
    const answers = await Promise.all(["two", "three"].map(edit));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400]);
    const winner = answers.find(({ status }) => status === 201);
    const before = await issueStateOf(repo);
    expect((await edit("four")).status).toBe(400);
    // Also where the body stays as it is.
    const json = { state: "open", content_version: 0 };
    expect((await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).status).toBe(400);
    expect(await issueStateOf(repo)).toEqual(before);
    expect(await call("GET", pathOf(repo, "/1"))).toMatchObject({
      body: { body: winner?.body.body, title: winner?.body.title, content_version: 1 },
    });
  });

  it("does not close what open issues block, until they are closed", async () => {
    const { owner, stranger, repo } = await makeShared();
    const blocked = await makeIssue(repo, { posterId: stranger.id });
    const blocker = await makeIssue(await make.repo(await make.user(), { isPrivate: true }));
    const link = { issueId: blocked.id, blockerId: blocker.id, createdAt: 1000 };
    await db.insert(issueDependencies).values(link);
    const before = await issueStateOf(repo);
    const json = { title: "done", state: "closed" };
    for (const as of [owner, stranger]) {
      expect(await call("PATCH", pathOf(repo, "/1"), { as, json })).toMatchObject({ status: 412 });
    }
    expect(await issueStateOf(repo)).toEqual(before);
    const isOff = { ...repo.issueSettings, enableIssueDependencies: false };
    const isThis = eq(repositories.id, repo.id);
    await db.update(repositories).set({ issueSettings: isOff }).where(isThis);
    expect((await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).status).toBe(201);
    await call("PATCH", pathOf(repo, "/1"), { as: owner, json: { state: "open" } });
    await db.update(repositories).set({ issueSettings: repo.issueSettings }).where(isThis);
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, blocker.id));
    expect((await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).status).toBe(201);
  });

  it.each([
    [{ state: "done" }, 412],
    [{ state: "" }, 412],
    [{ state: "CLOSED" }, 412],
    [{ title: ["x"] }, 422],
    [{ due_date: "x" }, 422],
    [{ milestone: 99_999_999 }, 422],
    [{ milestone: -1 }, 422],
    [{ assignees: ["nobody-at-all"] }, 422],
    [{ body: "b".repeat(262_145) }, 422],
    [{ content_version: 77, body: "x" }, 400],
    [{ content_version: 1.5, body: "x" }, 422],
  ])("refuses invalid input as a whole: %j", async (wrong, status) => {
    const { owner, repo } = await makeShared();
    await makeIssue(repo);
    const before = await issueStateOf(repo);
    const json = { title: "new", ref: "main", ...wrong };
    const answer = await call("PATCH", pathOf(repo, "/1"), { as: owner, json });
    expect(answer).toMatchObject({ status, body: { message: expect.any(String) } });
    expect(await issueStateOf(repo)).toEqual(before);
  });

  it("refuses a milestone that is closed or foreign, and keeps one that was closed since", async () => {
    const { owner, repo } = await makeShared();
    const closed = await makeMilestone(repo, { isClosed: true });
    const foreign = await makeMilestone(await make.repo(owner));
    await makeIssue(repo);
    const before = await issueStateOf(repo);
    for (const { id } of [closed, foreign]) {
      const json = { milestone: id };
      expect(await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).toMatchObject({
        status: 422,
      });
    }
    expect(await issueStateOf(repo)).toEqual(before);
    await db.update(issues).set({ milestoneId: closed.id }).where(eq(issues.repoId, repo.id));
    const json = { title: "kept", milestone: closed.id };
    expect(await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).toMatchObject({
      status: 201,
      body: { title: "kept", milestone: { id: closed.id } },
    });
  });

  it("leaves an empty title as it is, and an empty edit changes nothing", async () => {
    const { owner, repo } = await makeShared();
    const { title } = await makeIssue(repo);
    const before = await issueStateOf(repo);
    for (const json of [{}, { title: "" }, { title: "  " }, { title }, { labels: [1] }]) {
      expect(await call("PATCH", pathOf(repo, "/1"), { as: owner, json })).toMatchObject({
        status: 201,
        body: { title },
      });
    }
    expect(await issueStateOf(repo)).toEqual(before);
  });

  it("is for the poster and writers, while the unit is on and the repository not archived", async () => {
    const { owner, writer, stranger, repo } = await makeShared();
    const poster = await make.user();
    const issue = await makeIssue(repo, { posterId: poster.id });
    const ghost = await makeIssue(repo, { posterId: null });
    const json = { title: "x" };
    const refuse = async (status: number, as: typeof owner | undefined, number = issue.number) => {
      const before = await issueStateOf(repo);
      const options = { ...(as && { as }), json };
      expect((await call("PATCH", pathOf(repo, `/${number}`), options)).status).toBe(status);
      expect(await issueStateOf(repo)).toEqual(before);
    };
    const set = (fields: Partial<typeof repo>) =>
      db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
    await refuse(401, undefined);
    await refuse(403, stranger);
    await refuse(403, stranger, ghost.number);
    await refuse(404, owner, 99);
    await set({ archivedAt: 1000 });
    await refuse(423, poster);
    await refuse(423, owner);
    await refuse(403, stranger);
    await set({ archivedAt: null, hasIssues: false });
    await refuse(404, poster);
    await refuse(404, writer);
    await refuse(403, owner);
    await set({ hasIssues: true, isPrivate: true });
    await refuse(404, poster);
    await set({ isPrivate: false });
    await db
      .insert(blocks)
      .values({ blockerId: owner.id, blockedId: poster.id, note: "", createdAt: 1000 });
    await refuse(403, poster);
    expect((await call("PATCH", pathOf(repo, "/1"), { as: writer, json })).status).toBe(201);
  });
});

describe("DELETE /repos/{owner}/{repo}/issues/{index}", () => {
  it("removes the issue with what belongs to it, and never uses its number again", async () => {
    const { owner, repo } = await makeShared();
    const milestone = await makeMilestone(repo);
    const issue = await makeIssue(repo, { milestoneId: milestone.id, title: "gone" });
    await makeComment(issue);
    expect((await call("DELETE", pathOf(repo, "/1"), { as: owner })).status).toBe(204);
    expect((await call("DELETE", pathOf(repo, "/1"), { as: owner })).status).toBe(404);
    expect((await call("GET", pathOf(repo, "/1"), { as: owner })).status).toBe(404);
    const isOfRepo = eq(timelineEntries.repoId, repo.id);
    expect(await db.select().from(timelineEntries).where(isOfRepo)).toEqual([]);
    const rows = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(rows).toMatchObject([
      {
        type: "issue.deleted",
        payload: {
          number: 1,
          title: "gone",
          lastPayload: { action: "deleted", issue: { id: issue.id, comments: 1 } },
        },
      },
    ]);
    const json = { title: "next" };
    expect(await call("POST", pathOf(repo), { as: owner, json })).toMatchObject({
      body: { number: 2 },
    });
  });

  it("closes the gap among pins", async () => {
    const { owner, repo } = await makeShared();
    for (const pinOrder of [1, 2, 3]) await makeIssue(repo, { pinOrder });
    await call("DELETE", pathOf(repo, "/1"), { as: owner });
    const { body } = await call("GET", pathOf(repo, "/pinned"));
    expect(body.map((each: Record<string, number>) => [each["number"], each["pin_order"]])).toEqual(
      [
        [2, 1],
        [3, 2],
      ],
    );
  });

  it("is for administrators of the repository, while it is not archived", async () => {
    const { owner, writer, stranger, repo } = await makeShared();
    await makeIssue(repo, { posterId: stranger.id });
    const before = await issueStateOf(repo);
    for (const [as, status] of [
      [undefined, 401],
      [stranger, 403],
      [writer, 403],
    ] as const) {
      expect((await call("DELETE", pathOf(repo, "/1"), { ...(as && { as }) })).status).toBe(status);
    }
    expect(await issueStateOf(repo)).toEqual(before);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect((await call("DELETE", pathOf(repo, "/1"), { as: owner })).status).toBe(423);
    const archived = await db.select().from(issues).where(eq(issues.repoId, repo.id));
    expect(archived).toHaveLength(1);
  });
});
