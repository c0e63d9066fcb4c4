import { eq } from "drizzle-orm";
import { afterAll, describe, expect, it } from "vitest";

import {
  collaborations,
  hooks,
  teamMembers,
  users,
  type Hook,
  type User,
} from "../../../../src/db/schema/index.ts";
import {
  findHooks,
  matchesBranchFilter,
  type HookTrigger,
} from "../../../../src/domain/webhooks/hooks/find-hooks.ts";
import { db } from "../../../support/db.ts";
import { systemCtx } from "../../../support/system.ts";
import { makeHook } from "../../../support/hooks.ts";
import { make } from "../../../support/make.ts";

/** Which of some hooks are told, in their order; others of the service are passed over. */
async function told(trigger: Partial<HookTrigger> & { ownerId: number }, among: Hook[]) {
  const whole: HookTrigger = { event: "push", at: Date.now(), ...trigger };
  const hear = await findHooks(systemCtx({}, Date.now()), [whole]);
  return hear(whole)
    .map(({ id }) => id)
    .filter((id) => among.some((hook) => hook.id === id));
}
const idsOf = (list: Hook[]) => list.map(({ id }) => id);

// Left behind, they would be told of whatever other tests do.
afterAll(async () => {
  await db.delete(hooks).where(eq(hooks.level, "system"));
});

describe("findHooks", () => {
  it("gives the hooks of the repository, then its owner's, then those of the service", async () => {
    const owner = await make.user();
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const approverId = owner.id;
    const system = await makeHook({ level: "system", approverId: (await make.admin()).id });
    const own = await makeHook({ level: "user", approverId, ownerId: owner.id });
    const first = await makeHook({ level: "repository", approverId, repoId: repo.id });
    const second = await makeHook({ level: "repository", approverId: 0, repoId: repo.id });
    const foreign = await makeHook({ level: "repository", approverId, repoId: other.id });
    const byDefault = await makeHook({ level: "default", approverId });
    const stranger = await make.user();
    const strange = await makeHook({
      level: "user",
      approverId: stranger.id,
      ownerId: stranger.id,
    });
    const all = [system, own, first, second, foreign, byDefault, strange];

    const at = { ownerId: owner.id, repoId: repo.id };
    expect(await told(at, all)).toEqual(idsOf([first, second, own, system]));
    expect(await told({ ownerId: owner.id }, all)).toEqual(idsOf([own, system]));
  });

  it("passes over those that sleep, are paused, or are told of something else", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const all = [
      await makeHook({ ...base, isActive: false }),
      await makeHook({ ...base, pausedAt: 5 }),
      await makeHook({ ...base, events: ["pull_request", "status"] }),
      await makeHook({ ...base, events: ["create", "push"] }),
    ];
    const at = { ownerId: owner.id, repoId: repo.id };

    expect(await told(at, all)).toEqual(idsOf(all.slice(3)));
    expect(await told({ ...at, event: "status" }, all)).toEqual(idsOf(all.slice(2, 3)));
    expect(await told({ ...at, event: "wiki" }, all)).toEqual([]);
  });

  it("looks at the branch where the event is about one", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const main = await makeHook({ ...base, branchFilter: "main" });
    const all = [main, await makeHook({ ...base, branchFilter: "release*" })];
    const at = { ownerId: owner.id, repoId: repo.id };

    expect(await told({ ...at, ref: "refs/heads/main" }, all)).toEqual([main.id]);
    expect(await told({ ...at, ref: "refs/tags/main" }, all)).toEqual([]);
    expect(await told(at, all)).toEqual(idsOf(all));
  });

  it("tells a user's own hook nothing while they may not sign in", async () => {
    const owner = await make.user();
    const hook = await makeHook({ level: "user", approverId: owner.id, ownerId: owner.id });
    expect(await told({ ownerId: owner.id }, [hook])).toEqual([hook.id]);
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, owner.id));
    expect(await told({ ownerId: owner.id }, [hook])).toEqual([]);
  });

  it("tells no hook what happened before it was made", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const fields = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const hook = await makeHook({ ...fields, createdAt: 5000 });
    const at = { ownerId: owner.id, repoId: repo.id };
    expect(await told({ ...at, at: 4999 }, [hook])).toEqual([]);
    expect(await told({ ...at, at: 5000 }, [hook])).toEqual([hook.id]);
  });

  it("is asked of several things at once, and looks up an owner that it is not told", async () => {
    const [one, two] = [await make.user(), await make.user()];
    const repos = [await make.repo(one), await make.repo(two)];
    const own = (owner: User) =>
      makeHook({ level: "user", approverId: owner.id, ownerId: owner.id, events: ["fork"] });
    const all = [await own(one), await own(two)];
    const asked = repos.map((repo): HookTrigger => ({
      event: "fork",
      repoId: repo.id,
      at: Date.now(),
    }));
    const hear = await findHooks(systemCtx({}, Date.now()), asked);
    const heard = asked.map((each) => hear(each).filter(({ level }) => level === "user"));
    expect(heard.map((list) => list.map(({ id }) => id))).toEqual(all.map(({ id }) => [id]));
    const unasked: HookTrigger = { event: "push", repoId: repos[0]?.id, at: Date.now() };
    expect(
      (await findHooks(systemCtx({}, Date.now()), [unasked]))(unasked).map(({ id }) => id),
    ).not.toContain(all[0]?.id);
  });

  // SECURITY: a removed collaborator's hook would go on telling them.
  it("passes over a hook whose approver may not administer its place any more", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const org = await make.org([owner]);
    const orgRepo = await make.repo(org);
    const [collaborator, lead, coOwner] = [await make.user(), await make.user(), await make.user()];
    await make.collaborator(repo, collaborator, 3);
    const leads = await make.team(org, { access: 3, all: false });
    await make.teamRepo(leads, orgRepo);
    await make.member(org, leads, lead);
    const owners = await make.team(org, { access: 4 });
    await make.member(org, owners, coOwner);
    const at = (level: "repository" | "organization", by: User, id: number) =>
      makeHook({
        level,
        approverId: by.id,
        ...(level === "repository" ? { repoId: id } : { ownerId: id }),
      });
    const byCollaborator = await at("repository", collaborator, repo.id);
    const byLead = await at("repository", lead, orgRepo.id);
    const byCoOwner = await at("organization", coOwner, org.id);
    const leadOfOrg = await at("organization", lead, org.id);
    const [admin, demoted] = [await make.admin(), await make.admin()];
    const byAdmin = await makeHook({ level: "system", approverId: admin.id });
    const byDemoted = await makeHook({ level: "system", approverId: demoted.id });
    const all = [byCollaborator, byLead, byCoOwner, leadOfOrg, byAdmin, byDemoted];
    const inRepo = () => told({ ownerId: owner.id, repoId: repo.id }, all);
    const inOrg = () => told({ ownerId: org.id, repoId: orgRepo.id }, all);

    expect(await inRepo()).toEqual(idsOf([byCollaborator, byAdmin, byDemoted]));
    expect(await inOrg()).toEqual(idsOf([byLead, byCoOwner, byAdmin, byDemoted]));

    await db.update(users).set({ isAdmin: false }).where(eq(users.id, demoted.id));

    await db
      .update(collaborations)
      .set({ access: 2 })
      .where(eq(collaborations.userId, collaborator.id));
    expect(await inRepo()).toEqual([byAdmin.id]);
    await db.delete(teamMembers).where(eq(teamMembers.userId, lead.id));
    expect(await inOrg()).toEqual(idsOf([byCoOwner, byAdmin]));
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, coOwner.id));
    expect(await inOrg()).toEqual([byAdmin.id]);
  });
});

describe("matchesBranchFilter", () => {
  it.each([
    ["", "refs/tags/v1", true],
    ["*", "refs/heads/a/b", true],
    ["**", "refs/tags/v1", true],
    ["main", "refs/heads/main", true],
    ["main", "refs/heads/main2", false],
    ["main", "refs/tags/main", false],
    ["refs/tags/*", "refs/tags/v1/x", true],
    ["refs/heads/main", "refs/heads/main", true],
    ["release*", "refs/heads/release/1", true],
    ["{main,release/*}", "refs/heads/release/1", true],
    // Nothing can have stored it, and it must not stand for everything.
    ["[a", "refs/heads/a", false],
  ])("%j and %s: %j", (filter, ref, expected) => {
    expect(matchesBranchFilter(filter, ref)).toBe(expected);
  });
});
