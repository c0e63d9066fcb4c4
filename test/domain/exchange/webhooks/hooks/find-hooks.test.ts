import { eq } from "drizzle-orm";
import { afterAll, describe, expect, it } from "vitest";

import {
  collaborations,
  hooks,
  teamMembers,
  users,
  type Hook,
  type User,
} from "../../../../../src/db/schema/index.ts";
import {
  findHooks,
  matchesBranchFilter,
  type HookTrigger,
} from "../../../../../src/domain/exchange/webhooks/hooks/find-hooks.ts";
import { db } from "../../../../support/db.ts";
import { systemCtx } from "../../../../support/system.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { make } from "../../../../support/make.ts";

/** The given hooks that match a trigger, in order; other hooks are left out. */
async function matchingIds(trigger: Partial<HookTrigger> & { ownerId: number }, among: Hook[]) {
  const fullTrigger: HookTrigger = { event: "push", at: Date.now(), ...trigger };
  const hooksFor = await findHooks(systemCtx({}, Date.now()), [fullTrigger]);
  return hooksFor(fullTrigger)
    .map(({ id }) => id)
    .filter((id) => among.some((hook) => hook.id === id));
}
const idsOf = (list: Hook[]) => list.map(({ id }) => id);

// Remaining system webhooks would receive the events of other tests.
afterAll(async () => {
  await db.delete(hooks).where(eq(hooks.level, "system"));
});

describe("findHooks", () => {
  it("returns the hooks of the repository, then its owner's, then the service's", async () => {
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
    expect(await matchingIds(at, all)).toEqual(idsOf([first, second, own, system]));
    expect(await matchingIds({ ownerId: owner.id }, all)).toEqual(idsOf([own, system]));
  });

  it("skips hooks that are inactive, paused, or subscribed to other events", async () => {
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

    expect(await matchingIds(at, all)).toEqual(idsOf(all.slice(3)));
    expect(await matchingIds({ ...at, event: "status" }, all)).toEqual(idsOf(all.slice(2, 3)));
    expect(await matchingIds({ ...at, event: "wiki" }, all)).toEqual([]);
  });

  it("applies the branch filter if the event is about a ref", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const main = await makeHook({ ...base, branchFilter: "main" });
    const all = [main, await makeHook({ ...base, branchFilter: "release*" })];
    const at = { ownerId: owner.id, repoId: repo.id };

    expect(await matchingIds({ ...at, ref: "refs/heads/main" }, all)).toEqual([main.id]);
    expect(await matchingIds({ ...at, ref: "refs/tags/main" }, all)).toEqual([]);
    expect(await matchingIds(at, all)).toEqual(idsOf(all));
  });

  it("skips a user's own hook while they may not sign in", async () => {
    const owner = await make.user();
    const hook = await makeHook({ level: "user", approverId: owner.id, ownerId: owner.id });
    expect(await matchingIds({ ownerId: owner.id }, [hook])).toEqual([hook.id]);
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, owner.id));
    expect(await matchingIds({ ownerId: owner.id }, [hook])).toEqual([]);
  });

  it("skips hooks that are newer than the event", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const fields = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
    const hook = await makeHook({ ...fields, createdAt: 5000 });
    const at = { ownerId: owner.id, repoId: repo.id };
    expect(await matchingIds({ ...at, at: 4999 }, [hook])).toEqual([]);
    expect(await matchingIds({ ...at, at: 5000 }, [hook])).toEqual([hook.id]);
  });

  it("handles several triggers at once, and looks up an owner that is not given", async () => {
    const [one, two] = [await make.user(), await make.user()];
    const repos = [await make.repo(one), await make.repo(two)];
    const own = (owner: User) =>
      makeHook({ level: "user", approverId: owner.id, ownerId: owner.id, events: ["fork"] });
    const all = [await own(one), await own(two)];
    const triggers = repos.map((repo): HookTrigger => ({
      event: "fork",
      repoId: repo.id,
      at: Date.now(),
    }));
    const hooksFor = await findHooks(systemCtx({}, Date.now()), triggers);
    const matched = triggers.map((each) => hooksFor(each).filter(({ level }) => level === "user"));
    expect(matched.map((list) => list.map(({ id }) => id))).toEqual(all.map(({ id }) => [id]));
    const otherTrigger: HookTrigger = { event: "push", repoId: repos[0]?.id, at: Date.now() };
    expect(
      (await findHooks(systemCtx({}, Date.now()), [otherTrigger]))(otherTrigger).map(
        ({ id }) => id,
      ),
    ).not.toContain(all[0]?.id);
  });

  // SECURITY: a removed collaborator would keep receiving events through a hook.
  it("skips a hook whose approver lost admin rights on its owner", async () => {
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
    const inRepo = () => matchingIds({ ownerId: owner.id, repoId: repo.id }, all);
    const inOrg = () => matchingIds({ ownerId: org.id, repoId: orgRepo.id }, all);

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
    // No operation stores such a filter, and it must not match everything.
    ["[a", "refs/heads/a", false],
  ])("%j and %s: %j", (filter, ref, expected) => {
    expect(matchesBranchFilter(filter, ref)).toBe(expected);
  });
});
