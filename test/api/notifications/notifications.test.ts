import { and, asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  collaborations,
  mails,
  notificationCounts,
  notifications,
  repositories,
  type Notification,
  type User,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeNotification } from "../../support/notifications.ts";
import { logged } from "../../support/usage.ts";

/** A user with three notifications of one repository: unread at 1 s, read at 2 s, pinned at 3 s. */
async function makeScene() {
  const [owner, user] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  const [first, second, third] = [
    await makeIssue(repo),
    await makeIssue(repo, { isClosed: true }),
    await makeIssue(repo, { isPull: true }),
  ];
  const unread = await makeNotification(user, first);
  const read = await makeNotification(user, second, { status: "read", updatedAt: 2000 });
  const pinned = await makeNotification(user, third, { status: "pinned", updatedAt: 3000 });
  return { owner, user, repo, issue: first, unread, read, pinned };
}

const idsOf = (found: { body: { id: number }[] }) => found.body.map(({ id }) => id);
const list = async (as: TestUser, query = "") =>
  idsOf(await call("GET", `/notifications${query}`, { as }));
const countNew = async (as: TestUser): Promise<number> =>
  (await call("GET", "/notifications/new", { as })).body.new;
const statusesOf = async ({ id }: Pick<User, "id">) =>
  (
    await db
      .select({ status: notifications.status })
      .from(notifications)
      .where(eq(notifications.userId, id))
      .orderBy(asc(notifications.id))
  ).map(({ status }) => status);

describe("GET /notifications", () => {
  it("shows the subject with its state and the last comment", async () => {
    const { user, repo, issue, unread } = await makeScene();
    await makeComment(issue);
    const last = await makeComment(issue);
    const path = `${repo.owner}/${repo.name}/issues/${issue.number}`;
    const { body, headers } = await call("GET", "/notifications?status-types=unread", { as: user });
    const root = new URL(body[0].url).origin;
    expect(body).toMatchObject([
      {
        id: unread.id,
        unread: true,
        pinned: false,
        updated_at: "1970-01-01T00:00:01Z",
        url: `${root}/api/v1/notifications/threads/${unread.id}`,
        repository: { full_name: `${repo.owner}/${repo.name}` },
        subject: {
          type: "Issue",
          title: issue.title,
          state: "open",
          url: `${root}/api/v1/repos/${path}`,
          html_url: `${root}/${path}`,
          latest_comment_url: `${root}/api/v1/repos/${repo.owner}/${repo.name}/issues/comments/${last.id}`,
          latest_comment_html_url: `${root}/${path}#issuecomment-${last.id}`,
        },
      },
    ]);
    expect(headers.get("X-Total-Count")).toBe("1");
  });

  it("shows subjects that are no issue", async () => {
    const [owner, user] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const row = { userId: user.id, repoId: repo.id, createdAt: 1000, updatedAt: 1000 };
    const commitOid = "a".repeat(40);
    await db.insert(notifications).values([
      { ...row, subject: "repository", status: "unread" },
      { ...row, subject: "commit", commitOid, status: "unread", updatedAt: 2000 },
    ]);
    const { body } = await call("GET", "/notifications", { as: user });
    expect(body).toMatchObject([
      { subject: { type: "Commit", title: commitOid, state: "", latest_comment_url: "" } },
      { subject: { type: "Repository", title: `${repo.owner}/${repo.name}` } },
    ]);
    expect(body[0].subject.html_url).toMatch(`/${repo.name}/commit/${commitOid}`);
  });

  it.each([
    ["", ["pinned", "unread"]],
    ["?all=true", ["pinned", "read", "unread"]],
    ["?all=true&status-types=read", ["pinned", "read", "unread"]],
    ["?status-types=read", ["read"]],
    ["?status-types=read&status-types=unread", ["read", "unread"]],
    ["?status-types=read,pinned", ["pinned", "read"]],
    ["?status-types=read&status-types=x", ["read"]],
    ["?status-types=x", ["pinned", "read", "unread"]],
    ["?status-types=", ["pinned", "unread"]],
    ["?subject-type=issue", ["unread"]],
    ["?subject-type=pull", ["pinned"]],
    ["?subject-type=pull&subject-type=issue", ["pinned", "unread"]],
    ["?subject-type=commit&subject-type=repository", []],
    ["?subject-type=x", ["pinned", "unread"]],
    ["?all=true&since=1970-01-01T00:00:02Z", ["pinned", "read"]],
    ["?all=true&before=1970-01-01T00:00:02Z", ["read", "unread"]],
    ["?all=true&since=1970-01-01T00:00:02Z&before=1970-01-01T00:00:02Z", ["read"]],
    ["?all=true&since=1970-01-01T01:00:02%2B01:00", ["pinned", "read"]],
    ["?all=true&since=2100-01-01T00:00:00Z", []],
    ["?all=true&limit=1&page=2", ["read"]],
    ["?all=true&limit=1&page=9", []],
  ] as const)("with %j lists %j", async (query, expected) => {
    const scene = await makeScene();
    const found = await call("GET", `/notifications${query}`, { as: scene.user });
    expect(idsOf(found)).toEqual(expected.map((each) => scene[each].id));
    const path = `/repos/${scene.repo.owner}/${scene.repo.name}/notifications${query}`;
    const ofRepo = await call("GET", path, { as: scene.user });
    expect(idsOf(ofRepo)).toEqual(idsOf(found));
    const total = query.includes("limit") ? 3 : expected.length;
    for (const { headers } of [found, ofRepo]) {
      expect(headers.get("X-Total-Count")).toBe(String(total));
    }
  });

  it("shows every notification once in pages of any size, whatever their status and subject", async () => {
    const [owner, user] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const statuses = ["unread", "read", "pinned"] as const;
    const made: Notification[] = [];
    for (let at = 0; at < 20; at++) {
      const issue = await makeIssue(repo, { isPull: at % 2 === 0 });
      // Some at the same moment.
      const updatedAt = Math.floor(at / 3) * 1000;
      made.push(
        await makeNotification(user, issue, { status: statuses[at % 3] ?? "read", updatedAt }),
      );
    }
    const expected = made
      .toSorted((a, b) => b.updatedAt - a.updatedAt || b.id - a.id)
      .map(({ id }) => id);
    for (const limit of [3, 7, 50]) {
      const { ids, totals } = await readAll("/notifications?all=true", { as: user }, { limit });
      expect(ids).toEqual(expected);
      expect(totals).toEqual([20]);
    }
  });

  it.each(["since", "before"])("refuses a time that is none: %s", async (parameter) => {
    const user = await make.user();
    const found = await call("GET", `/notifications?${parameter}=x`, { as: user });
    expect(found).toMatchObject({ status: 422 });
    expect(found.body.message).toContain(`[${parameter}]`);
  });

  it("shows nobody the notifications of others, administrators included", async () => {
    const { owner, repo } = await makeScene();
    const path = `/repos/${repo.owner}/${repo.name}/notifications?all=true`;
    for (const as of [owner, await make.admin()]) {
      expect(await list(as, "?all=true")).toEqual([]);
      expect(idsOf(await call("GET", path, { as }))).toEqual([]);
      expect(await countNew(as)).toBe(0);
    }
  });

  it("needs a caller and the scope", async () => {
    const { user, repo, unread } = await makeScene();
    const token = await make.token(user, { scopes: "write:issue,write:repository" });
    const paths = [
      "/notifications",
      "/notifications/new",
      `/notifications/threads/${unread.id}`,
      `/repos/${repo.owner}/${repo.name}/notifications`,
    ];
    for (const path of paths) {
      expect(await call("GET", path), path).toMatchObject({ status: 401 });
      expect(await call("GET", path, { token }), path).toMatchObject({ status: 403 });
    }
    const read = await make.token(user, { scopes: "read:notification" });
    for (const path of ["/notifications", `/repos/${repo.owner}/${repo.name}/notifications`]) {
      expect(await call("PUT", path, { token: read }), path).toMatchObject({ status: 403 });
    }
    expect(await statusesOf(user)).toEqual(["unread", "read", "pinned"]);
  });
});

describe("a notification of a repository to which access was lost", () => {
  async function makeLost() {
    const [owner, user] = [await make.user(), await make.user()];
    const repo = await make.repo(owner, { isPrivate: true });
    await make.collaborator(repo, user, 1);
    const issue = await makeIssue(repo, { title: "a private title" });
    const thread = await makeNotification(user, issue);
    const path = `/notifications/threads/${thread.id}`;
    const isMember = and(eq(collaborations.repoId, repo.id), eq(collaborations.userId, user.id));
    return { owner, user, repo, issue, thread, path, isMember };
  }

  // SECURITY: the row outlives the access, and its subject's title is read when it is shown.
  it("is not listed, counted, read or marked, and comes back with the access", async () => {
    const { user, repo, thread, path, isMember } = await makeLost();
    expect(await list(user)).toEqual([thread.id]);
    expect(await countNew(user)).toBe(1);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 200 });

    await db.delete(collaborations).where(isMember);
    const found = await call("GET", "/notifications?all=true", { as: user });
    expect(found.body).toEqual([]);
    expect(found.headers.get("X-Total-Count")).toBe("0");
    const timed = await call("GET", "/notifications?since=1970-01-01T00:00:00Z", { as: user });
    expect(timed.headers.get("X-Total-Count")).toBe("0");
    expect(await countNew(user)).toBe(0);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    expect(await call("PATCH", path, { as: user })).toMatchObject({ status: 404 });
    expect(await call("PUT", "/notifications", { as: user })).toMatchObject({ status: 205 });
    const ofRepo = `/repos/${repo.owner}/${repo.name}/notifications`;
    expect(await call("GET", ofRepo, { as: user })).toMatchObject({ status: 404 });
    expect(await call("PUT", ofRepo, { as: user })).toMatchObject({ status: 404 });

    await make.collaborator(repo, user, 1);
    expect(await countNew(user)).toBe(1);
    expect(await list(user)).toEqual([thread.id]);
  });

  it("is hidden as soon as the unit is off or the repository private", async () => {
    const { user, issue, unread, repo } = await makeScene();
    const isRepo = eq(repositories.id, repo.id);
    await db.update(repositories).set({ hasIssues: false }).where(isRepo);
    expect(await list(user, "?all=true&subject-type=issue")).toEqual([]);
    expect(await countNew(user)).toBe(0);
    const path = `/notifications/threads/${unread.id}`;
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404 });
    // Pull requests are another unit.
    expect(await list(user, "?subject-type=pull")).toHaveLength(1);
    await db
      .update(repositories)
      .set({ hasIssues: true, isPrivate: true, visibility: "private" })
      .where(isRepo);
    expect(await list(user, "?all=true")).toEqual([]);
    expect(issue.title).not.toBe("");
  });

  it("is hidden from tokens that reach less", async () => {
    const { owner, user, repo, thread, path } = await makeLost();
    const other = await make.repo(owner);
    const shown = await makeNotification(user, await makeIssue(other));
    const publicOnly = await make.token(user, { scopes: "read:notification,public-only" });
    const found = await call("GET", "/notifications", { token: publicOnly });
    expect(idsOf(found)).toEqual([shown.id]);
    expect((await call("GET", "/notifications/new", { token: publicOnly })).body).toEqual({
      new: 1,
    });
    expect(await call("GET", path, { token: publicOnly })).toMatchObject({ status: 404 });
    expect(await list(user)).toEqual([shown.id, thread.id]);
    expect(repo.isPrivate).toBe(true);
  });
});

describe("GET and PATCH /notifications/threads/{id}", () => {
  it.each([
    ["", "read"],
    ["?to-status=pinned", "pinned"],
    ["?to-status=unread", "unread"],
    ["?to-status=x", "read"],
  ])("marks the thread: %j", async (query, status) => {
    const { user, unread } = await makeScene();
    const path = `/notifications/threads/${unread.id}`;
    expect(await call("PATCH", `${path}${query}`, { as: user })).toMatchObject({
      status: 205,
      body: "",
    });
    const { body } = await call("GET", path, { as: user });
    expect(body).toMatchObject({ unread: status === "unread", pinned: status === "pinned" });
    expect(await statusesOf(user)).toEqual([status, "read", "pinned"]);
  });

  it("refuses threads of others, and changes nothing", async () => {
    const { owner, user, unread } = await makeScene();
    const path = `/notifications/threads/${unread.id}`;
    for (const method of ["GET", "PATCH"]) {
      // SECURITY: as for a thread that does not exist.
      expect(await call(method, path, { as: owner })).toMatchObject({ status: 404, body: "" });
      expect(await call(method, "/notifications/threads/99999999", { as: owner })).toMatchObject({
        status: 404,
      });
      expect(await call(method, "/notifications/threads/x", { as: owner })).toMatchObject({
        status: 404,
      });
    }
    expect(await statusesOf(user)).toEqual(["unread", "read", "pinned"]);
    expect(await call("GET", path, { as: await make.admin() })).toMatchObject({ status: 200 });
  });

  it("is not marked by a read of its issue", async () => {
    const { user, repo, issue } = await makeScene();
    const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}`;
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 200 });
    expect(await countNew(user)).toBe(1);
  });

  it("goes with its issue, as its mail does, and those of others stay", async () => {
    const { owner, user, repo, issue, unread, read, pinned } = await makeScene();
    const mail = { userId: user.id, address: "", sealedContent: "", createdAt: 1000 };
    const isOwn = eq(mails.userId, user.id);
    for (const { issueId } of [unread, read]) {
      await db.insert(mails).values({ ...mail, issueId, dueAt: Number.MAX_SAFE_INTEGER });
    }
    const ofIssue = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}`;
    expect(await call("DELETE", ofIssue, { as: owner })).toMatchObject({ status: 204 });
    const path = `/notifications/threads/${unread.id}`;
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404 });
    expect(await list(user)).toEqual([pinned.id]);
    expect(await countNew(user)).toBe(0);
    expect(await statusesOf(user)).toEqual(["read", "pinned"]);
    expect(await db.select().from(mails).where(isOwn)).toMatchObject([{ issueId: read.issueId }]);
    await db.delete(mails).where(isOwn);
  });
});

describe("PUT /notifications", () => {
  it.each([
    ["", ["read", "read", "pinned"]],
    ["?all=true", ["read", "read", "read"]],
    ["?all=true&to-status=unread", ["unread", "unread", "unread"]],
    ["?status-types=read&to-status=pinned", ["unread", "pinned", "pinned"]],
    ["?status-types=pinned&status-types=unread", ["read", "read", "read"]],
    ["?status-types=x&to-status=pinned", ["pinned", "pinned", "pinned"]],
    ["?to-status=x", ["read", "read", "pinned"]],
    ["?status-types=unread&to-status=unread", ["unread", "read", "pinned"]],
    [
      "?all=true&to-status=unread&last_read_at=1970-01-01T00:00:02Z",
      ["unread", "unread", "pinned"],
    ],
    // A fraction names a moment, without one the whole second.
    ["?last_read_at=1970-01-01T00:00:00.999Z", ["unread", "read", "pinned"]],
    ["?last_read_at=1970-01-01T00:00:01Z", ["read", "read", "pinned"]],
  ] as const)("with %j marks %j", async (query, statuses) => {
    const { user, repo } = await makeScene();
    const other = await makeScene();
    expect(await call("PUT", `/notifications${query}`, { as: user })).toMatchObject({
      status: 205,
      body: "",
    });
    expect(await statusesOf(user)).toEqual(statuses);
    expect(await statusesOf(other.user)).toEqual(["unread", "read", "pinned"]);

    const same = await makeScene();
    const path = `/repos/${same.repo.owner}/${same.repo.name}/notifications${query}`;
    const elsewhere = await makeNotification(same.user, await makeIssue(repo));
    expect(await call("PUT", path, { as: same.user })).toMatchObject({ status: 205 });
    expect(await statusesOf(same.user)).toEqual([...statuses, elsewhere.status]);
  });

  it("refuses a time that is none, and marks nothing", async () => {
    const { user, repo } = await makeScene();
    const ofRepo = `/repos/${repo.owner}/${repo.name}/notifications`;
    for (const path of ["/notifications", ofRepo]) {
      expect(await call("PUT", `${path}?last_read_at=x`, { as: user })).toMatchObject({
        status: 400,
      });
    }
    expect(await statusesOf(user)).toEqual(["unread", "read", "pinned"]);
  });
});

describe("a user with very many notifications", () => {
  async function makeMany(n: number) {
    const [owner, user] = [await make.user(), await make.user()];
    const repos = [await make.repo(owner), await make.repo(owner, { isPrivate: true })];
    const [shown, hidden] = repos;
    if (!shown || !hidden) throw new Error("no repository");
    const numbers = JSON.stringify(Array.from({ length: n }, (_, at) => at + 1));
    for (const { id } of repos) {
      await db.run(sql`
        insert into issues (repo_id, number, title, created_at, updated_at)
        select ${id}, value, 'many', 1000, 1000 from json_each(${numbers})`);
      await db.run(sql`
        insert into notifications (
          user_id, repo_id, subject, issue_id, status, created_at, updated_at
        )
        select ${user.id}, ${id}, 'issue', id,
          case number % 3 when 0 then 'read' else 'unread' end,
          1000, 1000 + number
        from issues where repo_id = ${id}`);
    }
    return { user, shown };
  }

  const rowsRead = async (user: TestUser, path: string): Promise<number> => {
    const { answer, line } = await logged(() => call("GET", path, { as: user }));
    expect(answer.status).toBe(200);
    return line.d1RowsRead;
  };

  it("reads as many rows as one with few, and counts right", async () => {
    const [small, large] = [await makeMany(90), await makeMany(3000)];
    expect(await countNew(large.user)).toBe(2000);
    for (const path of [
      "/notifications/new",
      "/notifications?limit=10",
      "/notifications?all=true&limit=10",
      "/notifications?status-types=read&subject-type=issue&limit=10",
    ]) {
      expect(await rowsRead(large.user, path), path).toBeLessThan(
        // Ranges that are empty are read to their end.
        (await rowsRead(small.user, path)) + 10,
      );
    }
    const path = ({ owner, name }: { owner: string; name: string }) =>
      `/repos/${owner}/${name}/notifications?limit=10`;
    expect(await rowsRead(large.user, path(large.shown))).toBeLessThan(
      (await rowsRead(small.user, path(small.shown))) + 10,
    );
  });

  it("is marked in steps, and the stored counters equal a recount", async () => {
    const { user } = await makeMany(3100);
    const { answer, line } = await logged(() => call("PUT", "/notifications", { as: user }));
    expect(answer.status).toBe(205);
    // The caller, then 2,000 and the rest.
    expect(line.d1Rounds).toBe(3);
    expect(await countNew(user)).toBe(0);
    const isOwn = eq(notifications.userId, user.id);
    const recounted = await db
      .select({
        repoId: notifications.repoId,
        status: notifications.status,
        count: sql<number>`count(*)`,
      })
      .from(notifications)
      .where(isOwn)
      .groupBy(notifications.repoId, notifications.status)
      .orderBy(notifications.repoId, notifications.status);
    const stored = await db
      .select({
        repoId: notificationCounts.repoId,
        status: notificationCounts.status,
        count: notificationCounts.count,
      })
      .from(notificationCounts)
      .where(eq(notificationCounts.userId, user.id))
      .orderBy(notificationCounts.repoId, notificationCounts.status);
    expect(stored).toEqual(recounted);
    await db.delete(notifications).where(isOwn);
    expect(
      await db.select().from(notificationCounts).where(eq(notificationCounts.userId, user.id)),
    ).toEqual([]);
  });
});
