import { eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, events, hookDeliveries, users } from "../../src/db/schema/index.ts";
import { maintainRepository } from "../../src/domain/code/git/maintain-repository.ts";
import { dispatchEvents } from "../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { call, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { makeHook } from "../support/hooks.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeCommit, makeEmptyPack, pushCommands } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";
import { systemCtx } from "../support/system.ts";
import { withoutEvents } from "../support/without-events.ts";

const MAIN = "refs/heads/main";
const SECRET = "refs/heads/secret-plan";

type Reader = TestUser | undefined;

/**
 * The branches that a reader sees in streams, feeds, RSS and Atom: those of the repository,
 * of the account that owns it, and of the account that pushed.
 */
async function readAll(repo: TestRepo, pusher: TestUser, as: Reader): Promise<string[]> {
  const path = `${repo.owner}/${repo.name}`;
  const options = as ? { as } : {};
  const answers = [];
  for (const each of [`/repos/${path}/events`, `/repos/${path}/activities/feeds`]) {
    const answer = await call("GET", each, options);
    expect(answer.status).toBe(200);
    answers.push(answer);
  }
  for (const name of new Set([repo.owner, pusher.name])) {
    answers.push(await call("GET", `/users/${name}/activities/feeds`, options));
    answers.push(await call("GET", `/orgs/${name}/activities/feeds`, options));
    answers.push(await call("GET", `/orgs/${name}/events`, options));
  }
  for (const ending of [".rss", ".atom"]) {
    for (const each of [path, repo.owner, pusher.name]) {
      answers.push(await visit("GET", `/${each}${ending}`, options));
    }
  }
  const text = answers.map(({ body }) => JSON.stringify(body)).join();
  return ["open", "secret-plan", "published"].filter((name) =>
    [`refs/heads/${name}`, `pushed to ${name}`].some((words) => text.includes(words)),
  );
}

async function countHeat(user: TestUser, as: Reader): Promise<number> {
  const { body } = await call("GET", `/users/${user.name}/heatmap`, as ? { as } : {});
  return (body as { contributions: number }[]).reduce((sum, each) => sum + each.contributions, 0);
}

/** Pushes two branches. */
async function pushSecret(pusher: TestUser, repo: TestRepo, visitBy = visit) {
  const { oid, pack } = makeCommit("a plan");
  const commands = [
    { ref: MAIN, new: oid },
    { ref: SECRET, new: oid },
  ];
  const { body } = await pushCommands(pusher, repo, commands, { pack, visit: visitBy });
  expect(body).toContain(`ok ${SECRET}`);
  return oid;
}

/** Makes a repository public, and pushes another branch. */
async function publish(owner: TestUser, repo: TestRepo, oid: string): Promise<void> {
  const json = { private: false };
  const path = `/repos/${repo.owner}/${repo.name}`;
  expect((await call("PATCH", path, { as: owner, json })).status).toBe(200);
  const command = { ref: "refs/heads/published", new: oid };
  const { body } = await pushCommands(owner, repo, [command], { pack: makeEmptyPack() });
  expect(body).toContain("ok refs/heads/published");
}

describe("a push to a repository that became public", () => {
  it("is shown to nobody who could not see it, and later pushes are shown to all", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const collaborator = await make.user();
    await make.collaborator(repo, collaborator, ACCESS.read);
    const admin = await make.admin();
    await publish(owner, repo, await pushSecret(owner, repo));

    const stranger = await make.user();
    const narrow = await make.token(owner, { scopes: "all,public-only" });
    for (const reader of [undefined, stranger, { ...owner, token: narrow }]) {
      expect(await readAll(repo, owner, reader)).toEqual(["published"]);
    }
    for (const reader of [owner, collaborator, admin]) {
      expect(await readAll(repo, owner, reader)).toEqual(["secret-plan", "published"]);
    }
    expect(await countHeat(owner, stranger)).toBe(1);
    expect(await countHeat(owner, undefined)).toBe(1);
    expect(await countHeat(owner, owner)).toBe(2);
  });

  it("says so in the feed of those who see it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    await publish(owner, repo, await pushSecret(owner, repo));
    const path = `/repos/${repo.owner}/${repo.name}/activities/feeds`;
    const { body } = await call("GET", path, { as: owner });
    const entries = body as { ref_name: string; is_private: boolean }[];
    expect(Object.fromEntries(entries.map((each) => [each.ref_name, each.is_private]))).toEqual({
      "refs/heads/published": false,
      [SECRET]: true,
      [MAIN]: true,
    });
  });

  // A member reads what is not private without a team.
  it("is not shown to members of the organization that could not see the repository", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const member = await make.user();
    await make.member(org, await make.team(org, { all: false }), member);
    const repo = await make.repo(org, { isPrivate: true });
    await publish(owner, repo, await pushSecret(owner, repo));
    expect(await readAll(repo, owner, owner)).toContain("secret-plan");
    expect(await readAll(repo, owner, member)).toEqual(["published"]);
  });

  it("is not shown by maintenance that records it when it is public", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const oid = await pushSecret(owner, repo, doorsWith({}, { DB: withoutEvents }));
    await publish(owner, repo, oid);
    await maintainRepository(systemCtx({}, Date.now()), repo);
    expect(await readAll(repo, owner, owner)).toContain("secret-plan");
    expect(await readAll(repo, owner, undefined)).not.toContain("secret-plan");
  });

  it("is shown to nobody again when the repository was private in between only", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const first = makeCommit("a start");
    await pushCommands(owner, repo, [{ ref: "refs/heads/open", new: first.oid }], {
      pack: first.pack,
    });
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("PATCH", path, { as: owner, json: { private: true } });
    await publish(owner, repo, await pushSecret(owner, repo));
    expect(await readAll(repo, owner, undefined)).toEqual(["open", "published"]);
  });
});

// An administrator who came later could not see the repository when it was pushed to.
it("a webhook created after a repository became public receives no earlier push, even one still to be dispatched", async () => {
  const owner = await make.user();
  const repo = await make.repo(owner, { isPrivate: true });
  const oid = await pushSecret(owner, repo);
  const late = Date.UTC(2100, 0, 1);
  const [pending] = await db
    .update(events)
    .set({ dispatchAt: late })
    .where(eq(events.repoId, repo.id))
    .returning();
  expect(pending?.type).toBe("repository.pushed");
  await publish(owner, repo, oid);
  const later = await make.user();
  await make.collaborator(repo, later, ACCESS.admin);
  const fields = { level: "repository", approverId: later.id, repoId: repo.id } as const;
  const after = await makeHook({ ...fields, createdAt: Date.now() + 1 });
  const before = await makeHook({ ...fields, approverId: owner.id, createdAt: 1000 });

  await dispatchEvents(systemCtx({}, late, { ROOT_URL: "https://forge.example" }));
  const deliveries = await db
    .select({ hookId: hookDeliveries.hookId })
    .from(hookDeliveries)
    .where(inArray(hookDeliveries.hookId, [before.id, after.id]));
  expect(new Set(deliveries.map(({ hookId }) => hookId))).toEqual(new Set([before.id]));
});

describe("a push to a repository of an account that became visible", () => {
  it.each([
    ["limited", true],
    ["private", false],
  ] as const)(
    "is not shown to those who could not see it (%s)",
    async (visibility, isShownToUsers) => {
      const owner = await make.user({ visibility });
      const repo = await make.repo(owner);
      const oid = await pushSecret(owner, repo);
      await db.update(users).set({ visibility: "public" }).where(eq(users.id, owner.id));
      await publish(owner, repo, oid);
      expect(await readAll(repo, owner, undefined)).toEqual(["published"]);
      const shown = await readAll(repo, owner, await make.user());
      expect(shown.includes("secret-plan")).toBe(isShownToUsers);
      expect(await readAll(repo, owner, owner)).toContain("secret-plan");
    },
  );

  // They could see it: a member sees what is not private in an organization, whatever its
  // visibility.
  it("is shown to members of a private organization", async () => {
    const owner = await make.user();
    const org = await make.org([owner], { visibility: "private" });
    const member = await make.user();
    await make.member(org, await make.team(org, { all: false }), member);
    const repo = await make.repo(org);
    await pushSecret(owner, repo);
    expect(await readAll(repo, owner, member)).toContain("secret-plan");
    await db.update(users).set({ visibility: "public" }).where(eq(users.id, org.id));
    expect(await readAll(repo, owner, member)).toContain("secret-plan");
    expect(await readAll(repo, owner, undefined)).not.toContain("secret-plan");
  });
});
