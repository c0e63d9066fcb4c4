import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { allOf } from "../../../src/db/db.ts";
import { auditEvents, repositories } from "../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../src/domain/code/git/maintain-repository.ts";
import type { RepositoryLocation } from "../../../src/storage/repository-records.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { git } from "../../support/git.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makeCommit, pushCommands, storePush } from "../../support/push.ts";
import { systemCtx } from "../../support/system.ts";

const create = (as: TestUser | undefined, username: string, json: object) =>
  call("POST", `/admin/users/${username}/repos`, { ...(as && { as }), json });
const named = (ownerId: number) =>
  db.select().from(repositories).where(eq(repositories.ownerId, ownerId));

describe("POST /admin/users/{username}/repos", () => {
  it("creates a repository that belongs to the user, whatever their maximum is", async () => {
    const [admin, user] = [await make.admin(), await make.user({ repoCountMax: 0 })];
    const name = freshName("repo");
    const { status, body } = await create(admin, user.name, { name, auto_init: true });

    expect([status, body.full_name, body.empty]).toEqual([201, `${user.name}/${name}`, false]);
    const own = await call("GET", `/repos/${user.name}/${name}`, { as: user });
    expect(own.body.permissions).toEqual({ admin: true, push: true, pull: true });
    expect(await eventsOf(body)).toMatchObject([
      { type: "repository.created", ownerId: user.id, actorId: admin.id },
      { type: "repository.pushed", actorId: admin.id },
    ]);
    const full = await call("POST", "/user/repos", { as: user, json: { name: freshName("own") } });
    expect(full.status).toBe(403);
  });

  it("creates a repository that belongs to the organization, as its owners would", async () => {
    const [admin, owner] = [await make.admin(), await make.user()];
    const org = await make.org([owner], { visibility: "private" });
    const name = freshName("repo");
    const { status, body } = await create(admin, org.name, { name, auto_init: true });

    expect([status, body.full_name, body.owner.id]).toEqual([201, `${org.name}/${name}`, org.id]);
    const own = await call("GET", `/orgs/${org.name}/repos`, { as: owner });
    expect(own.body).toMatchObject([{ id: body.id, permissions: { admin: true } }]);
    const collaborators = await call("GET", `/repos/${org.name}/${name}/collaborators`, {
      as: owner,
    });
    expect(collaborators.body).toEqual([]);
    expect(await eventsOf(body)).toMatchObject([
      { type: "repository.created", ownerId: org.id, actorId: admin.id },
      { type: "repository.pushed", actorId: admin.id },
    ]);
    expect((await create(admin, org.name, { name })).status).toBe(409);
  });

  it("leads from the former name of an organization", async () => {
    const [admin, owner] = [await make.admin(), await make.user()];
    const org = await make.org([owner]);
    const renamed = freshName("renamed");
    const json = { new_name: renamed };
    expect((await call("POST", `/orgs/${org.name}/rename`, { as: owner, json })).status).toBe(204);
    const { status, headers } = await create(admin, org.name, { name: freshName("repo") });
    expect([status, new URL(headers.get("Location") ?? "").pathname]).toEqual([
      307,
      `/api/v1/admin/users/${renamed}/repos`,
    ]);
    expect(await named(org.id)).toEqual([]);
  });

  it("is refused to everybody else, for no account, and for invalid names", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const org = await make.org([user]);
    const json = { name: freshName("repo") };
    expect((await create(undefined, user.name, json)).status).toBe(401);
    expect((await create(user, user.name, json)).status).toBe(403);
    expect((await create(user, freshName("none"), json)).status).toBe(403);
    expect((await create(admin, freshName("none"), json)).status).toBe(404);
    expect((await create(user, org.name, json)).status).toBe(403);
    expect((await create(admin, user.name, {})).status).toBe(422);
    expect((await create(admin, user.name, { name: "a b" })).status).toBe(422);
    const readme = { ...json, auto_init: true, readme: "None" };
    expect((await create(admin, user.name, readme)).status).toBe(400);
    expect([await named(user.id), await named(org.id)]).toEqual([[], []]);

    expect((await create(admin, user.name, json)).status).toBe(201);
    expect((await create(admin, user.name, json)).status).toBe(409);
    expect(await named(user.id)).toHaveLength(1);
  });
});

describe("POST /admin/repos/{owner}/{repo}/gc", () => {
  const collect = (as: TestUser | undefined, path: string, json: object = {}) =>
    call("POST", `/admin/repos/${path}/gc`, { ...(as && { as }), json });
  const entriesOf = (repoId: number) =>
    db
      .select()
      .from(auditEvents)
      .where(
        allOf(
          eq(auditEvents.repoId, repoId),
          eq(auditEvents.kind, "repository.collection_requested"),
        ),
      );

  /** A repository with a branch, and a commit of a branch that was deleted. */
  async function makeLeaked() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [kept, secret] = [makeCommit(freshName("kept")), makeCommit(freshName("secret"))];
    await storePush(repo, "refs/heads/main", kept.oid, kept.pack);
    await storePush(repo, "refs/heads/secret", secret.oid, secret.pack);
    await maintainRepository(systemCtx({}, Date.now()), repo);
    const removal = { ref: "refs/heads/secret", old: secret.oid };
    await pushCommands(owner, repo, [removal]);
    return { owner, repo, kept, secret };
  }
  const hasObject = async (repo: RepositoryLocation, oid: string) => {
    const stored = git.repository(repo);
    const { objects } = await stored.open(await stored.snapshot());
    return (await objects.readObject(oid)) !== undefined;
  };

  it("removes what no ref reaches, and records who asked for it", async () => {
    const { owner, repo, kept, secret } = await makeLeaked();
    const admin = await make.admin();
    const path = `${repo.owner}/${repo.name}`;
    expect((await collect(admin, path, { grace_days: 0 })).status).toBe(202);
    // The queue runs by itself.
    await vi.waitFor(async () => expect(await hasObject(repo, secret.oid)).toBe(false), 10_000);
    expect(await hasObject(repo, kept.oid)).toBe(true);
    expect(await entriesOf(repo.id)).toMatchObject([
      { actorId: admin.id, ownerId: owner.id, details: { graceDays: 0 } },
    ]);
  });

  it("keeps the configured grace period if no other is given", async () => {
    const { repo, secret } = await makeLeaked();
    expect((await collect(await make.admin(), `${repo.owner}/${repo.name}`)).status).toBe(202);
    expect(await entriesOf(repo.id)).toMatchObject([{ details: { graceDays: 14 } }]);
    expect(await hasObject(repo, secret.oid)).toBe(true);
  });

  it("is for administrators, and for repositories that exist", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const path = `${repo.owner}/${repo.name}`;
    const admin = await make.admin();
    expect((await collect(undefined, path)).status).toBe(401);
    expect((await collect(owner, path, { grace_days: 0 })).status).toBe(403);
    expect((await collect(admin, `${repo.owner}/${freshName("none")}`)).status).toBe(404);
    for (const grace_days of [-1, 1.5, "0", 36_501]) {
      expect((await collect(admin, path, { grace_days })).status).toBe(422);
    }
    expect(await entriesOf(repo.id)).toEqual([]);
    expect(await hasObject(repo, secret.oid)).toBe(true);
  });
});
