import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { blocks, collaborations, stars, watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const at = (repo: TestRepo) => `/repos/${repo.owner}/${repo.name}`;
const one = (repo: TestRepo, { name }: { name: string }) => `${at(repo)}/collaborators/${name}`;

const roles = (repo: TestRepo) =>
  db
    .select({ userId: collaborations.userId, access: collaborations.access })
    .from(collaborations)
    .where(eq(collaborations.repoId, repo.id));

/** A repository of a user, one of each permission, and somebody else. */
async function makeScene(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, admin, writer, reader] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, admin, 3);
  await make.collaborator(repo, writer, 2);
  await make.collaborator(repo, reader, 1);
  return { owner, admin, writer, reader, repo, stranger: await make.user() };
}

const permissionOf = async (repo: TestRepo, user: TestUser, as: TestUser) => {
  const { status, body } = await call("GET", `${one(repo, user)}/permission`, { as });
  expect(status).toBe(200);
  expect(body).toMatchObject({ role_name: body.permission, user: { login: user.name } });
  return body.permission as string;
};

describe("PUT /repos/{owner}/{repo}/collaborators/{collaborator}", () => {
  it("adds with write by default, and changes the permission, with one event for each change", async () => {
    const owner = await make.user();
    const user = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const path = one(repo, { name: user.name.toUpperCase() });
    expect((await call("GET", at(repo), { as: user })).status).toBe(404);

    const { answer, line } = await logged(() => call("PUT", path, { as: owner, json: {} }));
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await roles(repo)).toEqual([{ userId: user.id, access: 2 }]);
    expect(await call("GET", at(repo), { as: user })).toMatchObject({
      body: { permissions: { admin: false, push: true, pull: true } },
    });
    for (const permission of ["write", "admin", "read", "read"]) {
      expect((await call("PUT", path, { as: owner, json: { permission } })).status).toBe(204);
    }
    expect(await roles(repo)).toEqual([{ userId: user.id, access: 1 }]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "collaborator.added", payload: { userId: user.id, permission: "write" } },
      { type: "collaborator.edited", payload: { permission: "admin" } },
      { type: "collaborator.edited", payload: { permission: "read" } },
    ]);
  });

  it("is for administrators of the repository", async () => {
    const { admin, writer, reader, repo, stranger } = await makeScene();
    const user = await make.user();
    const path = one(repo, user);
    expect((await call("PUT", path, { json: {} })).status).toBe(401);
    for (const as of [writer, reader, stranger]) {
      expect((await call("PUT", path, { as, json: {} })).status).toBe(403);
    }
    expect(await roles(repo)).toHaveLength(3);
    expect((await call("PUT", path, { as: admin, json: { permission: "admin" } })).status).toBe(
      204,
    );
    expect((await call("PUT", path, { as: await make.admin(), json: {} })).status).toBe(204);
    expect(await roles(repo)).toHaveLength(4);
  });

  it("refuses whom and what there is not, and writes nothing", async () => {
    const { owner, repo } = await makeScene({ isPrivate: true });
    const before = await roles(repo);
    const hidden = await make.user({ visibility: "private" });
    const user = await make.user();
    const org = await make.org([]);
    for (const name of [freshName("none"), hidden.name]) {
      expect(await call("PUT", one(repo, { name }), { as: owner, json: {} })).toMatchObject({
        status: 422,
        body: { message: `user does not exist [uid: 0, name: ${name}]` },
      });
    }
    for (const { name } of [owner, org]) {
      const answer = await call("PUT", one(repo, { name }), { as: owner, json: {} });
      expect(answer.status, name).toBe(422);
    }
    // SECURITY: a permission is one of three; "owner" must never come from a body.
    for (const permission of ["owner", "none", "", "much", 3]) {
      const answer = await call("PUT", one(repo, user), { as: owner, json: { permission } });
      expect(answer, String(permission)).toMatchObject({
        status: 422,
        body: { message: expect.stringContaining("[permission]: must be") },
      });
    }
    expect((await call("PUT", one(repo, user), { as: user, json: {} })).status).toBe(404);
    expect(await roles(repo)).toEqual(before);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses users whom the owner blocks, and users who block the owner", async () => {
    const { owner, admin, repo, stranger } = await makeScene();
    const [other] = [await make.user()];
    await db.insert(blocks).values([
      { blockerId: owner.id, blockedId: stranger.id, createdAt: 1 },
      { blockerId: other.id, blockedId: owner.id, createdAt: 1 },
    ]);
    for (const user of [stranger, other]) {
      for (const as of [owner, admin]) {
        expect(await call("PUT", one(repo, user), { as, json: {} })).toMatchObject({
          status: 403,
          body: { message: "user is blocked" },
        });
      }
    }
    expect(await roles(repo)).toHaveLength(3);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("DELETE /repos/{owner}/{repo}/collaborators/{collaborator}", () => {
  it("removes once, with the star and the watch of who can't see the repository any more", async () => {
    const { owner, writer, repo } = await makeScene({ isPrivate: true });
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: writer });
    await call("PUT", `${at(repo)}/subscription`, { as: writer });
    const events = (await eventsOf(repo)).length;
    for (let time = 0; time < 2; time += 1) {
      expect((await call("DELETE", one(repo, writer), { as: owner })).status).toBe(204);
    }
    expect((await call("GET", at(repo), { as: writer })).status).toBe(404);
    for (const table of [stars, watches]) {
      const isThis = and(eq(table.repoId, repo.id), eq(table.userId, writer.id));
      expect(await db.select().from(table).where(isThis)).toEqual([]);
    }
    expect((await eventsOf(repo)).slice(events)).toMatchObject([
      { type: "collaborator.removed", ownerId: owner.id, payload: { userId: writer.id } },
    ]);
  });

  it("leaves the star of who still sees the repository", async () => {
    const { owner, writer, repo } = await makeScene();
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: writer });
    await call("DELETE", one(repo, writer), { as: owner });
    expect(await call("GET", at(repo))).toMatchObject({ body: { stars_count: 1 } });
  });

  it("is for administrators of the repository, also about themselves", async () => {
    const { admin, writer, reader, repo, stranger } = await makeScene();
    expect((await call("DELETE", one(repo, writer))).status).toBe(401);
    for (const as of [writer, reader, stranger]) {
      expect((await call("DELETE", one(repo, writer), { as })).status).toBe(403);
    }
    const none = { name: freshName("none") };
    expect((await call("DELETE", one(repo, none), { as: admin })).status).toBe(422);
    expect(await roles(repo)).toHaveLength(3);
    expect((await call("DELETE", one(repo, admin), { as: admin })).status).toBe(204);
    expect(await roles(repo)).toHaveLength(2);
  });

  // An administrator must be able to remove an account that has become private.
  it("finds a collaborator whom the caller may not see otherwise", async () => {
    const owner = await make.user();
    const hidden = await make.user({ visibility: "private" });
    const repo = await make.repo(owner);
    await make.collaborator(repo, hidden, 1);
    expect((await call("DELETE", one(repo, hidden), { as: owner })).status).toBe(204);
    expect(await roles(repo)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/collaborators", () => {
  it("lists them in the order in which they were added, in pages with a total", async () => {
    const { owner, admin, writer, reader, repo } = await makeScene();
    expect(await readAll(`${at(repo)}/collaborators`, { as: owner }, { limit: 2 })).toMatchObject({
      ids: [admin.id, writer.id, reader.id],
      totals: [3],
    });
  });

  it("is for signed-in readers, who see no hidden accounts", async () => {
    const { owner, repo, stranger } = await makeScene();
    const hidden = await make.user({ visibility: "private" });
    await make.collaborator(repo, hidden, 1);
    const path = `${at(repo)}/collaborators`;
    expect((await call("GET", path)).status).toBe(401);
    expect(await readAll(path, { as: stranger })).toMatchObject({ totals: [3] });
    expect(await readAll(path, { as: owner })).toMatchObject({ totals: [4] });
    expect((await call("GET", one(repo, hidden), { as: stranger })).status).toBe(422);
    expect((await call("GET", one(repo, hidden), { as: owner })).status).toBe(204);
  });

  it("is not found where the repository is not", async () => {
    const { repo, stranger } = await makeScene({ isPrivate: true });
    for (const path of ["collaborators", "assignees", "reviewers"]) {
      const answer = await call("GET", `${at(repo)}/${path}`, { as: stranger });
      expect(answer, path).toMatchObject({ status: 404, body: "" });
    }
  });

  it("answers for one user: 204, 404 or 422", async () => {
    const { writer, repo, stranger, owner } = await makeScene();
    expect((await call("GET", one(repo, writer))).status).toBe(401);
    expect((await call("GET", one(repo, writer), { as: stranger })).status).toBe(204);
    expect((await call("GET", one(repo, stranger), { as: owner })).status).toBe(404);
    expect((await call("GET", one(repo, { name: freshName("none") }), { as: owner })).status).toBe(
      422,
    );
  });
});

describe("GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission", () => {
  it("answers by role, visibility and site", async () => {
    const { owner, admin, writer, reader, repo, stranger } = await makeScene({ isPrivate: true });
    const site = await make.admin();
    expect(await permissionOf(repo, owner, admin)).toBe("owner");
    expect(await permissionOf(repo, admin, owner)).toBe("admin");
    expect(await permissionOf(repo, writer, owner)).toBe("write");
    expect(await permissionOf(repo, reader, owner)).toBe("read");
    expect(await permissionOf(repo, stranger, owner)).toBe("none");
    expect(await permissionOf(repo, site, owner)).toBe("owner");
    const open = await make.repo(owner);
    expect(await permissionOf(open, stranger, owner)).toBe("read");
    expect(await permissionOf(open, await make.user({ isRestricted: true }), owner)).toBe("none");
  });

  it("counts the units of a team, up to write", async () => {
    const [owner, member, wide] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true });
    const team = (units: { code: 1 | 2 | 3 }) => make.team(org, { access: 0, units });
    await make.member(org, await team({ code: 2 }), member);
    await make.member(org, await team({ code: 3 }), wide);
    expect(await permissionOf(repo, member, owner)).toBe("write");
    expect(await permissionOf(repo, wide, owner)).toBe("write");
  });

  it("lets everybody ask for themselves, and administrators for everybody", async () => {
    const { owner, writer, reader, repo, stranger } = await makeScene();
    expect((await call("GET", `${one(repo, writer)}/permission`)).status).toBe(401);
    for (const as of [writer, reader, stranger]) {
      expect(["read", "write"]).toContain(await permissionOf(repo, as, as));
      const answer = await call("GET", `${one(repo, owner)}/permission`, { as });
      expect(answer).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining("can query only their own") },
      });
    }
    const none = `${one(repo, { name: freshName("none") })}/permission`;
    expect(await call("GET", none, { as: owner })).toMatchObject({ status: 404, body: "" });
  });
});

describe("GET /repos/{owner}/{repo}/assignees and /reviewers", () => {
  it("lists the owner last: assignees write, reviewers read", async () => {
    const { owner, admin, writer, reader, repo, stranger } = await makeScene();
    const byName = (...list: TestUser[]) =>
      list.toSorted((a, b) => (a.lowerName < b.lowerName ? -1 : 1)).map(({ id }) => id);
    expect(await readAll(`${at(repo)}/assignees`, { as: stranger })).toMatchObject({
      ids: [...byName(admin, writer), owner.id],
      totals: [3],
    });
    expect(await readAll(`${at(repo)}/reviewers`, { as: reader })).toMatchObject({
      ids: [...byName(admin, writer, reader), owner.id],
      totals: [4],
    });
    const { body } = await call("GET", `${at(repo)}/assignees?page=2&limit=2`, { as: owner });
    expect(body).toMatchObject([{ login: owner.name }]);
  });

  it("lists members of teams that may read issues or pull requests", async () => {
    const [owner, ofIssues, ofPulls, ofCode] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true });
    for (const [user, units] of [
      [ofIssues, { issues: 1 }],
      [ofPulls, { pulls: 1 }],
      [ofCode, { code: 2 }],
    ] as const) {
      await make.member(org, await make.team(org, { access: 0, units }), user);
    }
    const elsewhere = await make.team(org, {
      access: 0,
      units: { issues: 1, pulls: 1 },
      all: false,
    });
    await make.member(org, elsewhere, await make.user());

    const assignees = await readAll(`${at(repo)}/assignees`, { as: owner });
    expect(new Set(assignees.ids)).toEqual(new Set([owner.id, ofIssues.id, ofPulls.id]));
    const reviewers = await readAll(`${at(repo)}/reviewers`, { as: owner });
    expect(new Set(reviewers.ids)).toEqual(new Set([owner.id, ofPulls.id]));
  });

  it("shows reviewers only to possible reviewers, and administrators", async () => {
    const { repo, stranger } = await makeScene();
    const path = `${at(repo)}/reviewers`;
    expect((await call("GET", path)).status).toBe(401);
    expect((await call("GET", `${at(repo)}/assignees`)).status).toBe(401);
    expect(await call("GET", path, { as: stranger })).toMatchObject({
      status: 403,
      body: { message: "doer has no permission to get reviewers" },
    });
    expect((await call("GET", path, { as: await make.admin() })).status).toBe(200);
  });
});
