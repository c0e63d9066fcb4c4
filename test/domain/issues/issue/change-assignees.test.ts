import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import {
  blocks,
  issueAssignees,
  OWNER_PERMISSION,
  repositories,
  timelineEntries,
  type Issue,
  type User,
} from "../../../../src/db/schema/index.ts";
import {
  asUnassignable,
  assigneeStatements,
} from "../../../../src/domain/issues/issue/change-assignees.ts";
import { only } from "../../../../src/lib/only.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { makeIssue } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 5000;

async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  return { owner, repo, issue: await makeIssue(repo) };
}

interface World {
  owner: TestUser;
  repo: TestRepo;
  issue: Issue;
}

async function assign({ owner, repo, issue }: World, assignees: User[], doer: User = owner) {
  const actor = { ...ANONYMOUS, user: doer, credential: "system" as const };
  const ctx = { ...systemCtx({}, NOW), actor };
  // A trigger sets the visibility after the row was returned.
  const row = only(await db.select().from(repositories).where(eq(repositories.id, repo.id)));
  const context = { row, owner, permission: OWNER_PERMISSION };
  try {
    await ctx.db.batch(assigneeStatements(ctx, { repo: context, row: issue }, assignees));
  } catch (error) {
    throw asUnassignable(error);
  }
}

const assigneesOf = async ({ issue }: World) => {
  const rows = await db
    .select({ userId: issueAssignees.userId })
    .from(issueAssignees)
    .where(eq(issueAssignees.issueId, issue.id))
    .orderBy(asc(issueAssignees.createdAt), asc(issueAssignees.userId));
  return rows.map(({ userId }) => userId);
};

const timelineOf = async ({ issue }: World) => {
  const rows = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, issue.id))
    .orderBy(asc(timelineEntries.id));
  return rows.map((row) => [row.kind, row.posterId, row.assigneeId, row.isAssigneeRemoved]);
};

const assignmentsIn = async ({ repo }: World) =>
  (await eventsOf(repo)).map(({ type, payload }) => [type, payload]);

describe("assigneeStatements", () => {
  it("makes the assignees equal the given ones, with an entry and an event per change", async () => {
    const world = await makeWorld();
    const [one, two, three] = [await make.user(), await make.user(), await make.user()];
    const { owner, issue } = world;
    await assign(world, [two, one]);
    await assign(world, [one, three]);
    expect(await assigneesOf(world)).toEqual([one.id, three.id]);
    expect(await timelineOf(world)).toEqual([
      ["assignees", owner.id, two.id, false],
      ["assignees", owner.id, one.id, false],
      ["assignees", owner.id, two.id, true],
      ["assignees", owner.id, three.id, false],
    ]);
    const about = { issueId: issue.id, number: issue.number, isPull: false };
    expect(await assignmentsIn(world)).toEqual([
      ["issue.assigned", { ...about, userId: two.id }],
      ["issue.assigned", { ...about, userId: one.id }],
      ["issue.unassigned", { ...about, userId: two.id }],
      ["issue.assigned", { ...about, userId: three.id }],
    ]);
  });

  it("writes nothing where nothing changes, and names nobody twice", async () => {
    const world = await makeWorld();
    const one = await make.user();
    await assign(world, [one, one]);
    await assign(world, [one]);
    expect(await assigneesOf(world)).toEqual([one.id]);
    expect(await timelineOf(world)).toHaveLength(1);
    await assign(world, []);
    expect(await assigneesOf(world)).toEqual([]);
    expect(await timelineOf(world)).toHaveLength(2);
  });

  it("assigns nobody who can't read the issue, whatever was checked before", async () => {
    const world = await makeWorld({ isPrivate: true });
    const [member, stranger] = [await make.user(), await make.user()];
    await make.collaborator(world.repo, member, 1);
    await assign(world, [member]);
    await expect(assign(world, [stranger])).rejects.toMatchObject({ kind: "invalid" });
    expect(await assigneesOf(world)).toEqual([member.id]);
    expect(await timelineOf(world)).toHaveLength(1);
    expect(await assignmentsIn(world)).toHaveLength(1);
  });

  it.each(["owner", "poster", "assignee"] as const)("lets a block by the %s refuse", async (by) => {
    const { owner, repo } = await makeWorld();
    const [poster, assignee, writer] = [await make.user(), await make.user(), await make.user()];
    const world = { owner, repo, issue: await makeIssue(repo, { posterId: poster.id }) };
    const blocker = { owner, poster, assignee }[by];
    const blocked = by === "assignee" ? writer : assignee;
    await db
      .insert(blocks)
      .values({ blockerId: blocker.id, blockedId: blocked.id, createdAt: 1000 });
    await expect(assign(world, [assignee], writer)).rejects.toMatchObject({ kind: "forbidden" });
    expect(await assigneesOf(world)).toEqual([]);
    expect(await assignmentsIn(world)).toEqual([]);
    expect(await timelineOf(world)).toEqual([]);
  });
});
