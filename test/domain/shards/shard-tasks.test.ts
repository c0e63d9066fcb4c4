import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { accountActor } from "../../../src/auth/actor.ts";
import type { Ctx } from "../../../src/context.ts";
import type { Database } from "../../../src/db/db.ts";
import {
  ACCESS,
  accountDeletions,
  copiedChanges,
  events,
  everyUnit,
  issueLabels,
  issues,
  labels,
  repositories,
  repositoryRemains,
  shards,
  shardTasks,
  users,
  type User,
} from "../../../src/db/schema/index.ts";
import { removeCollaborator } from "../../../src/domain/collaborators/remove-collaborator.ts";
import { deleteUser } from "../../../src/domain/deletions/delete-user.ts";
import { releaseInShards } from "../../../src/domain/deletions/release-in-shards.ts";
import { deleteTeam } from "../../../src/domain/orgs/delete-team.ts";
import { editTeam } from "../../../src/domain/orgs/edit-team.ts";
import { removeMember, removeTeamMember } from "../../../src/domain/orgs/team-members.ts";
import { removeTeamRepository } from "../../../src/domain/orgs/team-repositories.ts";
import { deleteRepository } from "../../../src/domain/repos/delete-repository.ts";
import { moveRepository } from "../../../src/domain/repos/transfers/move-repository.ts";
import {
  runShardTasks,
  SHARD_TASK_LEASE_MS,
} from "../../../src/domain/shard-tasks/run-shard-tasks.ts";
import { handleBatch } from "../../../src/jobs/index.ts";
import { copyChanges } from "../../../src/domain/shards/copy-changes.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import type { RepositoryContext } from "../../../src/shapes/repos/repository.ts";
import { systemCtx } from "../../support/system.ts";
import { failing, intercepted } from "../../support/intercepted-database.ts";
import {
  assigneesOf,
  BINDINGS,
  databases,
  insertIssue,
  insertRepo,
  insertTeam,
  insertUser,
} from "./task-fixtures.ts";
import { clearDatabases, copyAll, directory } from "./three-shards.ts";

const NOW = Date.UTC(2026, 0, 31);
const ctxAt = (now: number, bindings: Partial<typeof BINDINGS> = BINDINGS) =>
  systemCtx({ DB: BINDINGS.DB, ...bindings }, now, { ROOT_URL: "https://forge.example" });
const ctx = () => ctxAt(NOW);
const actingAs = (user: User): Ctx => ({ ...ctx(), actor: accountActor(user) });
const tasks = () => directory.select().from(shardTasks);

/** Brings all shards up to date. */
const copy = () => copyToShards(ctx());

/** An organization with a member in a team, and repositories of the team: in the first database, and in two shards. */
async function makeOrganization() {
  const org = await insertUser("org", { kind: "organization" });
  const [ann, bob] = [await insertUser("ann"), await insertUser("bob")];
  const owners = await insertTeam(org, "owners", {
    access: ACCESS.owner,
    units: everyUnit(ACCESS.owner),
    includesAllRepositories: true,
  });
  const team = await insertTeam(org, "team");
  const repos = {
    first: await insertRepo(org, "in-first", 0),
    one: await insertRepo(org, "in-one", 1),
    two: await insertRepo(org, "in-two", 2),
  };
  await join(org, owners.id, bob);
  await join(org, team.id, ann);
  for (const { row } of Object.values(repos)) {
    await directory.run(
      sql`insert into team_repositories (team_id, repo_id) values (${team.id}, ${row.id})`,
    );
  }
  await copy();
  for (const repo of Object.values(repos)) await insertIssue(repo, [ann, bob]);
  return { org, ann, bob, team, owners, repos, all: Object.values(repos) };
}

async function join(org: User, teamId: number, user: User): Promise<void> {
  await directory.run(
    sql`insert or ignore into organization_members (org_id, user_id) values (${org.id}, ${user.id})`,
  );
  await directory.run(
    sql`insert or ignore into team_members (team_id, user_id) values (${teamId}, ${user.id})`,
  );
}

const collaborate = ({ row }: RepositoryContext, { id }: User) =>
  directory.run(sql`
    insert into collaborations (repo_id, user_id, access, created_at)
    values (${row.id}, ${id}, ${ACCESS.write}, 1)`);

beforeEach(async () => {
  await clearDatabases();
  await copy();
});

describe("lost access", () => {
  type Organization = Awaited<ReturnType<typeof makeOrganization>>;
  /** Each takes all repositories of the organization from a member, or those in the list. */
  const ENDS: Record<string, (made: Organization) => Promise<unknown>> = {
    "a removed team member": ({ team, ann }) => removeTeamMember(ctx(), team, ann),
    "a removed member of an organization": ({ org, ann }) => removeMember(ctx(), org, ann),
    "a deleted team": ({ team }) => deleteTeam(ctx(), team),
    "a team that may do less": ({ team }) =>
      editTeam(ctx(), team, { permission: "read", units: ["repo.code"] }),
    "repositories that a team loses": async ({ team, all }) => {
      for (const { row } of all) {
        await removeTeamRepository({ ...ctx(), db: databases[row.shard] as never }, team, row);
      }
    },
  };

  it.each(Object.keys(ENDS))("ends assignments in the shards, too: %s", async (end) => {
    const made = await makeOrganization();
    const { ann, bob, all, repos } = made;
    await ENDS[end]?.(made);
    expect(await assigneesOf(repos.first)).toEqual([bob.id]);
    expect(await assigneesOf(repos.one)).toEqual([ann.id, bob.id]);
    expect((await tasks()).map(({ shardId }) => shardId)).toEqual([1, 2]);

    await runShardTasks(ctx());
    for (const repo of all) expect(await assigneesOf(repo)).toEqual([bob.id]);
    expect(await tasks()).toEqual([]);
  });

  it("ends those of a removed collaborator, in the shard alone that has the repository", async () => {
    const [owner, ann, bob] = [
      await insertUser("owner"),
      await insertUser("ann"),
      await insertUser("bob"),
    ];
    const [repo, other] = [await insertRepo(owner, "r", 2), await insertRepo(owner, "other", 3)];
    for (const each of [repo, other]) {
      for (const user of [ann, bob]) await collaborate(each, user);
    }
    await copy();
    for (const each of [repo, other]) await insertIssue(each, [ann, bob]);

    // As in a request about the repository.
    const requestCtx = { ...ctx(), db: databases[2] as never };
    await removeCollaborator(requestCtx, repo, ann);
    expect(await tasks()).toMatchObject([
      {
        shardId: 2,
        task: { kind: "lost_assignments", repoId: repo.row.id, userIds: [ann.id] },
      },
    ]);
    expect(await directory.select().from(events)).toMatchObject([{ type: "collaborator.removed" }]);
    await runShardTasks(ctx());
    expect(await assigneesOf(repo)).toEqual([bob.id]);
    expect(await assigneesOf(other)).toEqual([ann.id, bob.id]);
  });

  it("keeps assignments of those who still have access by another way", async () => {
    const { org, ann, bob, team, repos } = await makeOrganization();
    await collaborate(repos.one, ann);
    const second = await insertTeam(org, "second", { includesAllRepositories: true });
    await join(org, second.id, bob);
    await removeTeamMember(ctx(), team, ann);
    await runShardTasks(ctx());
    expect(await assigneesOf(repos.one)).toEqual([ann.id, bob.id]);
    expect(await assigneesOf(repos.two)).toEqual([bob.id]);
  });

  // Copied entry by entry, the member would be in no team between the two entries of the change.
  it("is decided on whole changes only, whatever others copy meanwhile", async () => {
    const { org, ann, bob, team, repos } = await makeOrganization();
    const other = await insertTeam(org, "other", { includesAllRepositories: true });
    const task = { kind: "lost_assignments", ownerId: org.id, repoId: null, userIds: [ann.id] };
    const changeTeam = async (from: number, to: number, prefix: string) => {
      const others = Array.from({ length: 150 }, (_, at) => `${prefix}-${at}`);
      await directory.batch([
        directory.textStatement(
          sql`delete from team_members where team_id = ${from} and user_id = ${ann.id}`,
        ),
        directory.textStatement(sql`
          insert into users (kind, name, lower_name, created_at, updated_at)
          select 'user', value, value, 1, 1 from json_each(${JSON.stringify(others)})`),
        directory.textStatement(
          sql`insert into team_members (team_id, user_id) values (${to}, ${ann.id})`,
        ),
      ] as never);
    };
    let [from, to] = [team.id, other.id];
    for (let at = 0; at < 40; at++) {
      await directory.run(sql`
        insert into shard_tasks (shard_id, task, due_at, created_at)
        values (1, ${JSON.stringify(task)}, 1, 1)`);
      let calls = 0;
      const meanwhile = async (call: () => Promise<unknown>): Promise<unknown> => {
        if (calls++ === at) {
          await changeTeam(from, to, `u${at}`);
          await copyChanges(directory, databases[1] as Database);
        }
        return call();
      };
      const bindings = {
        DB: intercepted(BINDINGS.DB, meanwhile),
        SHARD_1: intercepted(BINDINGS.SHARD_1, meanwhile),
      };
      await runShardTasks(ctxAt(NOW, bindings));
      expect(await tasks(), `during call ${at}`).toEqual([]);
      expect(await assigneesOf(repos.one), `during call ${at}`).toEqual([ann.id, bob.id]);
      if (calls <= at) return;
      [from, to] = [to, from];
    }
    expect.fail("too many calls");
  }, 120_000);

  it("of very many users is worked off in steps", async () => {
    const { org, ann, bob, repos } = await makeOrganization();
    const userIds = [...Array.from({ length: 3000 }, (_, at) => 1_000_000 + at), ann.id];
    await directory.run(sql`delete from team_members where user_id = ${ann.id}`);
    await directory.run(sql`delete from organization_members where user_id = ${ann.id}`);
    await directory.run(sql`
      insert into shard_tasks (shard_id, task, due_at, created_at)
      values (1, ${JSON.stringify({ kind: "lost_assignments", ownerId: org.id, repoId: null, userIds })}, 1, 1)`);
    await runShardTasks(ctx());
    expect(await tasks()).toEqual([]);
    expect(await assigneesOf(repos.one)).toEqual([bob.id]);
  });

  it("leaves no task where it is refused, or nobody loses it", async () => {
    const { org, ann, bob, owners, team, repos } = await makeOrganization();
    await expect(removeTeamMember(ctx(), owners, bob)).rejects.toThrow("last owner");
    await expect(removeMember(ctx(), org, bob)).rejects.toThrow("last owner");
    await directory.run(sql`delete from team_members where team_id = ${team.id}`);
    await removeTeamRepository(ctx(), team, repos.one.row);
    expect(await tasks()).toEqual([]);
    expect(await assigneesOf(repos.one)).toEqual([ann.id, bob.id]);
  });

  it("writes nothing for shards where there are none", async () => {
    const { team, ann, repos } = await makeOrganization();
    await removeTeamMember(systemCtx({ DB: BINDINGS.DB }, NOW), team, ann);
    expect(await tasks()).toEqual([]);
    expect(await assigneesOf(repos.first)).not.toContain(ann.id);
  });
});

describe("a deleted repository", () => {
  it("leaves nothing in its shard, and the others keep theirs", async () => {
    const owner = await insertUser("owner");
    const [repo, kept] = [await insertRepo(owner, "r", 1), await insertRepo(owner, "kept", 1)];
    await copy();
    for (let at = 0; at < 250; at++) await insertIssue(repo);
    await insertIssue(kept, [owner]);
    const [, shard] = databases;
    await shard
      ?.insert(labels)
      .values({ repoId: repo.row.id, name: "l", color: "ffffff", createdAt: 1, updatedAt: 1 });

    await deleteRepository({ ...ctx(), db: shard as never }, repo);
    expect(await directory.select().from(repositories)).toMatchObject([{ id: kept.row.id }]);
    expect(await directory.select().from(events)).toMatchObject([{ type: "repository.deleted" }]);
    expect(await shard?.select().from(issues)).toHaveLength(251);
    await runShardTasks(ctx());
    expect(await shard?.select().from(issues)).toMatchObject([{ repoId: kept.row.id }]);
    expect(await shard?.select().from(labels)).toEqual([]);
    expect(await shard?.select().from(repositoryRemains)).toEqual([]);
    expect(await tasks()).toEqual([]);
  });

  it("is removed from the shard of a fork, too", async () => {
    const owner = await insertUser("owner");
    const [repo, fork] = [await insertRepo(owner, "r", 1), await insertRepo(owner, "fork", 2)];
    await directory.run(
      sql`insert into shard_repositories (shard_id, repo_id) values (2, ${repo.row.id})`,
    );
    await copy();
    await deleteRepository(ctx(), repo);
    await runShardTasks(ctx());
    for (const number of [1, 2]) {
      expect(await databases[number]?.select().from(repositoryRemains)).toEqual([]);
    }
    expect(await databases[2]?.select({ id: repositories.id }).from(repositories)).toEqual([
      { id: fork.row.id },
    ]);
  });
});

describe("a transferred repository", () => {
  it("loses labels of its former organization in its shard, in steps", async () => {
    const { org, bob, repos } = await makeOrganization();
    const shard = databases[1];
    const label = { color: "ffffff", createdAt: 1, updatedAt: 1 };
    await directory.insert(labels).values({ id: 900, orgId: org.id, name: "theirs", ...label });
    await copyAll();
    const repoId = repos.one.row.id;
    await shard?.insert(labels).values({ id: 901, repoId, name: "own", ...label });
    const flags = { repoId: repos.one.row.id, isPull: false, isClosed: false };
    for (let at = 0; at < 30; at++) {
      const { id: issueId } = await insertIssue(repos.one);
      await shard?.insert(issueLabels).values([
        { issueId, labelId: 900, ...flags },
        { issueId, labelId: 901, ...flags },
      ]);
    }
    const requestCtx = { ...actingAs(bob), db: shard as never };
    await moveRepository(requestCtx, repos.one, { newOwner: bob, teamIds: [] });
    expect(await shard?.select().from(issueLabels)).toHaveLength(60);
    await runShardTasks(ctx());
    const left = await shard?.select({ id: issueLabels.labelId }).from(issueLabels);
    expect(new Set(left?.map(({ id }) => id))).toEqual(new Set([901]));
    expect(left).toHaveLength(30);
    expect(await tasks()).toEqual([]);
  });
});

describe("a deleted account", () => {
  it("leaves its posts without an author and loses its roles in every shard", async () => {
    const [admin, owner, ann] = [
      await insertUser("admin", { isAdmin: true }),
      await insertUser("owner"),
      await insertUser("ann"),
    ];
    const repos = [await insertRepo(owner, "one", 1), await insertRepo(owner, "three", 3)];
    for (const repo of repos) await collaborate(repo, ann);
    await copy();
    for (const repo of repos) {
      const { id } = await insertIssue(repo, [ann, owner]);
      await databases[repo.row.shard]
        ?.update(issues)
        .set({ posterId: ann.id })
        .where(eq(issues.id, id));
    }
    await deleteUser(actingAs(admin), ann, {
      isPurge: false,
    });
    expect(await directory.select().from(accountDeletions)).toEqual([]);
    expect(await directory.select().from(users).where(eq(users.id, ann.id))).toEqual([]);
    for (const repo of repos) {
      expect(await assigneesOf(repo)).toEqual([owner.id]);
      expect(await databases[repo.row.shard]?.select().from(issues)).toMatchObject([
        { posterId: null },
      ]);
    }
    await copy();
    expect(await databases[3]?.select().from(users).where(eq(users.id, ann.id))).toEqual([]);
  });

  it("is released in steps, shard by shard, in runs that each continue the one before", async () => {
    const ann = await insertUser("ann");
    const owner = await insertUser("owner");
    const repos = [await insertRepo(owner, "one", 1), await insertRepo(owner, "two", 2)];
    await copy();
    await directory.insert(accountDeletions).values({
      accountId: ann.id,
      isPurge: true,
      requesterId: 0,
      visibility: "public",
      isLoginProhibited: false,
      rootUrl: "https://forge.example",
      createdAt: 1,
    });
    for (const repo of repos) {
      for (let at = 0; at < 5; at++) await insertIssue(repo, [ann]);
    }
    const leftOf = async () => {
      const assigned = await Promise.all(repos.map(assigneesOf));
      return assigned.map((ids) => ids.length);
    };
    expect(await releaseInShards(ctx(), ann.id, 3)).toBe(true);
    expect(await leftOf()).toEqual([2, 2]);
    expect(await directory.select().from(accountDeletions)).toMatchObject([{ releasedShard: 0 }]);
    expect(await releaseInShards(ctx(), ann.id, 3)).toBe(false);
    expect(await leftOf()).toEqual([0, 0]);
    expect(await directory.select().from(accountDeletions)).toMatchObject([{ releasedShard: 3 }]);
  });
});

describe("tasks of shards", () => {
  it("are done after any interruption, and each step may be repeated", async () => {
    const made = await makeOrganization();
    const { ann, bob, all, team } = made;
    for (const isDone of [false, true]) {
      for (let at = 0; at < 40; at++) {
        await join(made.org, team.id, ann);
        for (const repo of all) await insertIssue(repo, [ann]);
        await removeTeamMember(ctx(), team, ann);
        const faults = { at, isDone, calls: 0 };
        const broken = {
          DB: failing(BINDINGS.DB, faults),
          SHARD_1: failing(BINDINGS.SHARD_1, faults),
          SHARD_2: failing(BINDINGS.SHARD_2, faults),
        };
        await runShardTasks(ctxAt(NOW, broken)).catch(() => undefined);
        await runShardTasks(ctxAt(NOW + 2 * SHARD_TASK_LEASE_MS));
        expect(await tasks(), `after call ${at}`).toEqual([]);
        for (const repo of all) expect(await assigneesOf(repo)).not.toContain(ann.id);
        for (const repo of all) expect(await assigneesOf(repo)).toContain(bob.id);
        if (faults.calls <= at) break;
        expect(at).toBeLessThan(39);
      }
    }
  }, 120_000);

  it("are done once, whoever runs them at once", async () => {
    const { ann, bob, all, team } = await makeOrganization();
    await removeTeamMember(ctx(), team, ann);
    await Promise.all([runShardTasks(ctx()), runShardTasks(ctx()), copy(), runShardTasks(ctx())]);
    await runShardTasks(ctxAt(NOW + 2 * SHARD_TASK_LEASE_MS));
    for (const repo of all) expect(await assigneesOf(repo)).toEqual([bob.id]);
    expect(await tasks()).toEqual([]);
  });

  it("that fail are repeated later, and do not keep others from theirs", async () => {
    const { ann, bob, team, repos } = await makeOrganization();
    await directory.run(sql`
      insert into shard_tasks (shard_id, task, due_at, created_at) values (1, '{"kind":"unknown"}', 1, 1)`);
    await removeTeamMember(ctx(), team, ann);
    await runShardTasks(ctx());
    expect(await assigneesOf(repos.one)).toEqual([bob.id]);
    const [left, ...more] = await tasks();
    expect(more).toEqual([]);
    expect(left).toMatchObject({ task: { kind: "unknown" }, attempts: 1 });
    expect(left?.dueAt).toBeGreaterThanOrEqual(NOW + 30_000);
    await runShardTasks(ctxAt(NOW + 60_000));
    const [again] = await tasks();
    expect(again).toMatchObject({ attempts: 2 });
    expect(again?.dueAt).toBeGreaterThanOrEqual(NOW + 60_000 + 120_000);
  });

  it("wait until a new shard has its copies", async () => {
    const { ann, team, repos } = await makeOrganization();
    await directory.update(shards).set({ seededAt: null }).where(eq(shards.id, 1));
    await removeTeamMember(ctx(), team, ann);
    await runShardTasks(ctx());
    expect(await tasks()).toMatchObject([{ shardId: 1, attempts: 0 }]);
    expect(await assigneesOf(repos.one)).toContain(ann.id);
    await copy();
    await runShardTasks(ctx());
    expect(await assigneesOf(repos.one)).not.toContain(ann.id);
    expect(await directory.select().from(copiedChanges)).toEqual([]);
  });

  it("follow a request at once, by a message", async () => {
    const { ann, bob, team, all } = await makeOrganization();
    const sent: unknown[] = [];
    const EVENT_JOBS = { send: async (body: unknown) => void sent.push(body) } as never;
    const requestCtx = systemCtx({ ...BINDINGS, EVENT_JOBS }, NOW);
    await removeTeamMember(requestCtx, team, ann);
    expect(requestCtx.eventQueues.hasRecorded).toBe(true);
    await requestCtx.eventQueues.dispatchRecorded();
    expect(sent).toEqual([{ kind: "shard_tasks" }, { kind: "dispatch" }]);

    const message = { body: sent[0], ack: () => undefined, retry: () => expect.fail("retried") };
    await handleBatch({ messages: [message] } as never, ctx);
    for (const repo of all) expect(await assigneesOf(repo)).toEqual([bob.id]);
  });
});
