import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { eventsBy, typesOf } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

/** A repository and a user who may watch it. */
async function scene(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const path = `/repos/${owner.name}/${repo.name}/subscription`;
  return { owner, repo, path, user: await make.user() };
}

const watcherCount = async ({ id }: { id: number }, as: { token: string }) =>
  (await call("GET", `/repositories/${id}`, { as })).body.watchers_count;

describe("PUT /repos/{owner}/{repo}/subscription", () => {
  it("watches once for repeated requests, in the contract's shape", async () => {
    const { owner, repo, path, user } = await scene();
    const api = `https://forge.example/api/v1/repos/${owner.name}/${repo.name}`;
    const info = {
      subscribed: true,
      ignored: false,
      reason: null,
      created_at: "1970-01-01T00:00:01Z",
      url: `${api}/subscription`,
      repository_url: api,
    };

    const { answer, line } = await logged(() => call("PUT", path, { as: user }));
    const again = await call("PUT", path, { as: user });

    expect([answer.status, answer.body]).toEqual([200, info]);
    expect([again.status, again.body]).toEqual([200, info]);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 200, body: info });
    expect(await watcherCount(repo, owner)).toBe(1);
    expect(await eventsBy(user)).toMatchObject([
      { type: "watch.created", repoId: repo.id, ownerId: owner.id },
    ]);
  });

  it("records one event for ten concurrent requests", async () => {
    const { owner, repo, path, user } = await scene();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call("PUT", path, { as: user })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await watcherCount(repo, owner)).toBe(1);
    expect(await eventsBy(user)).toHaveLength(1);
  });

  it("requires a signed-in user with the write scope who may see the repository", async () => {
    const { owner, repo, path, user } = await scene({ isPrivate: true });
    const open = await scene();
    expect(await call("PUT", path, { as: user })).toMatchObject({ status: 404, body: "" });
    expect(await call("PUT", path)).toMatchObject({ status: 404, body: "" });
    expect((await call("PUT", open.path)).status).toBe(401);
    const reading = await make.token(user, { scopes: "read:repository" });
    expect((await call("PUT", open.path, { token: reading })).status).toBe(403);
    expect(await eventsBy(user)).toEqual([]);
    expect(await watcherCount(repo, owner)).toBe(0);
    expect(await watcherCount(open.repo, open.owner)).toBe(0);

    await make.collaborator(repo, user, 1);
    expect((await call("PUT", path, { as: user })).status).toBe(200);
  });
});

describe("GET /repos/{owner}/{repo}/subscription", () => {
  it("is not found for a repository that the caller does not watch or may not see", async () => {
    const { path, user, owner } = await scene();
    const hidden = await scene({ isPrivate: true });
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    expect(await call("GET", hidden.path, { as: user })).toMatchObject({ status: 404, body: "" });
    expect((await call("GET", path)).status).toBe(401);
    const none = `/repos/${owner.name}/no-such-thing/subscription`;
    expect(await call("GET", none, { as: user })).toMatchObject({ status: 404, body: "" });
  });
});

describe("DELETE /repos/{owner}/{repo}/subscription", () => {
  it("stops watching, and is idempotent", async () => {
    const { owner, repo, path, user } = await scene();
    await call("PUT", path, { as: user });

    for (let time = 0; time < 3; time += 1) {
      expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204, body: "" });
    }

    expect((await call("GET", path, { as: user })).status).toBe(404);
    expect(await watcherCount(repo, owner)).toBe(0);
    expect(typesOf(await eventsBy(user))).toEqual(["watch.created", "watch.deleted"]);
    expect((await call("DELETE", path)).status).toBe(401);
    const hidden = await scene({ isPrivate: true });
    expect((await call("DELETE", hidden.path, { as: user })).status).toBe(404);
  });
});

describe.each([
  ["subscribers", (owner: string, repo: string) => `/repos/${owner}/${repo}/subscription`],
  ["stargazers", (owner: string, repo: string) => `/user/starred/${owner}/${repo}`],
])("GET /repos/{owner}/{repo}/%s", (list, pathOf) => {
  it("lists visible users by id, in full pages, with the total of visible users", async () => {
    const { owner, repo } = await scene();
    const path = `/repos/${owner.name}/${repo.name}/${list}`;
    const fans: TestUser[] = [];
    for (const fields of [{}, { visibility: "private" }, {}, { visibility: "limited" }, {}]) {
      const fan = await make.user(fields as { visibility?: "private" });
      fans.push(fan);
      await call("PUT", pathOf(owner.name, repo.name), { as: fan });
    }
    const idsAt = (...places: number[]) => places.map((at) => fans[at]?.id);

    const [, shy] = fans;
    const seen = {
      anonymous: await readAll(path, {}, { limit: 2 }),
      stranger: await readAll(path, { as: await make.user() }, { limit: 2 }),
      self: await readAll(path, shy && { as: shy }, { limit: 2 }),
      admin: await readAll(path, { as: await make.admin() }, { limit: 2 }),
    };

    expect(seen.anonymous.ids).toEqual(idsAt(0, 2, 4));
    expect(seen.anonymous.pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(seen.anonymous.totals).toEqual([3]);
    expect([seen.stranger.ids, seen.stranger.totals]).toEqual([idsAt(0, 2, 3, 4), [4]]);
    expect([seen.self.ids, seen.self.totals]).toEqual([idsAt(0, 1, 2, 3, 4), [5]]);
    expect([seen.admin.ids, seen.admin.totals]).toEqual([idsAt(0, 1, 2, 3, 4), [5]]);
  });

  it("lists users of a private repository only for callers who may see it", async () => {
    const { owner, repo, user } = await scene({ isPrivate: true });
    await call("PUT", pathOf(owner.name, repo.name), { as: owner });
    const path = `/repos/${owner.name}/${repo.name}/${list}`;
    expect((await readAll(path, { as: owner })).ids).toEqual([owner.id]);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
  });
});
