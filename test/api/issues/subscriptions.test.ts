import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { issueAssignees, issueSubscriptions, type Issue } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeSubscription, makeWatch } from "../../support/notifications.ts";

async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const issue = await makeIssue(repo);
  const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}/subscriptions`;
  return { owner, repo, issue, path, reader: await make.user() };
}

const storedOf = (issue: Issue, user: TestUser) =>
  db
    .select({ isSubscribed: issueSubscriptions.isSubscribed })
    .from(issueSubscriptions)
    .where(and(eq(issueSubscriptions.issueId, issue.id), eq(issueSubscriptions.userId, user.id)));

describe("GET /repos/{owner}/{repo}/issues/{index}/subscriptions/check", () => {
  it("counts watchers, posters, commenters and assignees as subscribed until they choose", async () => {
    const { owner, repo, issue, path, reader } = await makeScene();
    const [watcher, commenter, assignee] = [
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    await makeWatch(watcher, repo);
    await makeComment(issue, { posterId: commenter.id });
    const assigned = { issueId: issue.id, repoId: repo.id, userId: assignee.id, createdAt: 1000 };
    await db.insert(issueAssignees).values(assigned);

    for (const user of [owner, watcher, commenter, assignee]) {
      const { body } = await call("GET", `${path}/check`, { as: user });
      expect(body).toMatchObject({ subscribed: true, ignored: false, reason: null });
      expect(await call("DELETE", `${path}/${user.name}`, { as: user })).toMatchObject({
        status: 201,
      });
      expect((await call("GET", `${path}/check`, { as: user })).body).toMatchObject({
        subscribed: false,
        ignored: true,
      });
    }
    const { body } = await call("GET", `${path}/check`, { as: reader });
    expect(body).toMatchObject({ subscribed: false, ignored: true });
    expect(body.url).toMatch(`/api/v1${path}`);
  });

  it("needs a caller", async () => {
    const { path } = await makeScene();
    expect(await call("GET", `${path}/check`)).toMatchObject({ status: 401 });
  });
});

describe("PUT and DELETE /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}", () => {
  it("answer 201 where they change something and 200 otherwise", async () => {
    const { issue, path, reader } = await makeScene();
    const own = `${path}/${reader.name}`;
    const statuses = [];
    for (const method of ["DELETE", "PUT", "PUT", "DELETE", "DELETE"]) {
      statuses.push((await call(method, own, { as: reader })).status);
    }
    expect(statuses).toEqual([200, 201, 200, 201, 200]);
    expect(await storedOf(issue, reader)).toEqual([{ isSubscribed: false }]);
  });

  it("store nothing for a watcher who subscribes", async () => {
    const { repo, issue, path, reader } = await makeScene();
    await makeWatch(reader, repo);
    expect(await call("PUT", `${path}/${reader.name}`, { as: reader })).toMatchObject({
      status: 200,
    });
    expect(await storedOf(issue, reader)).toEqual([]);
  });

  it("change nobody else, but for administrators of the site", async () => {
    const { owner, issue, path, reader } = await makeScene();
    const stranger = await make.user();
    for (const method of ["PUT", "DELETE"]) {
      for (const as of [owner, reader]) {
        const answer = await call(method, `${path}/${stranger.name}`, { as });
        expect(answer).toMatchObject({
          status: 403,
          body: {
            message: `${as.name} is not permitted to change subscriptions for ${stranger.name}`,
          },
        });
      }
    }
    expect(await storedOf(issue, stranger)).toEqual([]);
    const admin = await make.admin();
    expect(await call("PUT", `${path}/${stranger.name}`, { as: admin })).toMatchObject({
      status: 201,
    });
    expect(await storedOf(issue, stranger)).toEqual([{ isSubscribed: true }]);
  });

  it("find no unknown or hidden user, no unknown issue, and nothing of a hidden repository", async () => {
    const { owner, path, reader } = await makeScene();
    const hidden = await make.user({ visibility: "private" });
    const secret = await make.repo(owner, { isPrivate: true });
    const { number } = await makeIssue(secret);
    const paths = [
      `${path}/nobody-at-all`,
      `${path}/${hidden.name}`,
      path.replace("/1/", "/99/") + `/${reader.name}`,
      `/repos/${secret.owner}/${secret.name}/issues/${number}/subscriptions/${reader.name}`,
    ];
    for (const each of paths) {
      expect(await call("PUT", each, { as: reader }), each).toMatchObject({ status: 404 });
    }
    expect(
      await db.select().from(issueSubscriptions).where(eq(issueSubscriptions.userId, reader.id)),
    ).toEqual([]);
  });

  it("find no issue of a unit that is off", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { hasIssues: false });
    const { number } = await makeIssue(repo);
    const reader = await make.user();
    const path = `/repos/${repo.owner}/${repo.name}/issues/${number}/subscriptions`;
    for (const each of [path, `${path}/check`]) {
      expect(await call("GET", each, { as: reader })).toMatchObject({ status: 404 });
    }
    expect(await call("PUT", `${path}/${reader.name}`, { as: reader })).toMatchObject({
      status: 404,
    });
  });
});

describe("GET /repos/{owner}/{repo}/issues/{index}/subscriptions", () => {
  it("lists those who subscribed themselves, with pages and total, without hidden accounts", async () => {
    const { repo, issue, path, reader } = await makeScene();
    const [first, second] = [await make.user(), await make.user()];
    const hidden = await make.user({ visibility: "private" });
    for (const user of [second, first, hidden]) await makeSubscription(user, issue);
    await makeSubscription(reader, issue, false);
    await makeWatch(await make.user(), repo);

    const all = await call("GET", path);
    expect(all.body.map(({ login }: { login: string }) => login)).toEqual([
      first.name,
      second.name,
    ]);
    const page = await call("GET", `${path}?page=2&limit=1`);
    expect(page.body).toMatchObject([{ login: second.name }]);
    expect(page.headers.get("X-Total-Count")).toBe("2");
    const own = await call("GET", path, { as: hidden });
    expect(own.headers.get("X-Total-Count")).toBe("3");
  });
});
