import { and, eq, isNotNull, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { hashSecret, makeSecret } from "../../../src/auth/secret.ts";
import type { Database } from "../../../src/db/db.ts";
import {
  accessTokens,
  type Repository,
  timelineEntries,
  type User,
} from "../../../src/db/schema/index.ts";
import { copyNext } from "../../../src/domain/moves/copy-rows.ts";
import { cancelMove } from "../../../src/domain/moves/moves.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { startMove } from "../../../src/domain/moves/start-move.ts";
import { WorkBudget } from "../../../src/lib/work-budget.ts";
import {
  handleAll,
  makeAccount,
  makeRepository,
  type Sent,
  SHARDED,
  shardDatabase,
  shardedCtx,
  directory,
} from "../../support/sharded.ts";
import { serviceWith } from "../../support/service.ts";
import { moveOf, runUntil, shardNumbers, withMoves } from "./fixtures.ts";

withMoves();

const sent: Sent = [];
const queue = {
  send: async (body: Sent[number]["body"]) => void sent.push({ body }),
  sendBatch: async (messages: Sent) => void sent.push(...messages),
} as unknown as Queue<never>;
const service = serviceWith({}, { ...SHARDED, EVENT_JOBS: queue, DELIVERY_JOBS: queue });

/** The scene: two repositories of one owner, whose issues refer to one another. */
let owner: User;
let token: string;
let one: Repository;
let two: Repository;

type Body = Record<string, unknown>;

/** Calls the API as the owner, and lets the jobs that follow run. */
async function call(method: string, path: string, body?: Body) {
  const answer = await service(method, path, { token, json: body });
  await handleAll(sent.splice(0).map((message) => message.body));
  return answer;
}

const issuePath = ({ name }: Repository, number: number, rest = ""): string =>
  `/repos/${owner.name}/${name}/issues/${number}${rest}`;
const refTo = ({ name }: Repository, number: number): string => `${owner.name}/${name}#${number}`;
const keyOf = ({ name }: Repository, number: number) => ({
  owner: owner.name,
  repo: name,
  index: number,
});

async function made(path: string, body: Body): Promise<{ id: number }> {
  const answer = await call("POST", path, body);
  expect(answer, path).toMatchObject({ status: 201 });
  return answer.body as { id: number };
}

const COMMENT = "a comment about";
let commentId: number;

beforeEach(async () => {
  owner = await makeAccount();
  token = makeSecret();
  await directory.insert(accessTokens).values({
    userId: owner.id,
    name: "token",
    secretHash: await hashSecret(token),
    lastEight: token.slice(-8),
    scopes: "all",
    createdAt: Date.now(),
    lastUsedAt: Date.now(),
  });
  [one, two] = [await makeRepository(owner, 1), await makeRepository(owner, 1)];
  for (const repo of [one, two]) {
    for (const title of ["first", "second"]) {
      await made(`/repos/${owner.name}/${repo.name}/issues`, { title });
    }
  }
  const commented = { body: `${COMMENT} ${refTo(two, 1)}` };
  ({ id: commentId } = await made(issuePath(one, 1, "/comments"), commented));
  await call("PATCH", issuePath(one, 2), { body: `as ${refTo(two, 2)}` });
  await call("PATCH", issuePath(two, 1), { body: `as ${refTo(one, 2)}` });
  await made(issuePath(one, 1, "/dependencies"), keyOf(two, 1));
  await made(issuePath(two, 2, "/dependencies"), keyOf(one, 2));
});

type Entry = { type: string; ref_issue?: { number: number; repository: { name: string } } };

/** What is shown of all issues: their timelines, and what blocks what. */
async function readAll() {
  const found: Record<string, unknown> = {};
  for (const repo of [one, two]) {
    for (const number of [1, 2]) {
      for (const rest of ["/timeline", "/dependencies", "/blocks"]) {
        const { status, body } = await call("GET", issuePath(repo, number, rest));
        found[`${repo === one ? "one" : "two"} ${number}${rest}`] =
          status === 200 ? (body as unknown) : status;
      }
    }
  }
  return found;
}

const typesOf = async (repo: Repository, number: number): Promise<string[]> =>
  ((await call("GET", issuePath(repo, number, "/timeline"))).body as Entry[]).map(
    ({ type }) => type,
  );

async function move(repo: Repository, target: number): Promise<void> {
  const { id } = await startMove(shardedCtx(), { owner: owner.name, name: repo.name, target });
  expect(await runUntil(id, ["cleaning", "failed"])).toMatchObject({
    state: "cleaning",
    reason: "",
  });
  expect(await runUntil(id, ["done"])).toMatchObject({ differenceCount: 0 });
}

/** Begins a move, which follows its source until it is cancelled. */
async function follow(repo: Repository): Promise<number> {
  const { id } = await startMove(shardedCtx(), { owner: owner.name, name: repo.name, target: 2 });
  await shardDatabase(1).run(sql`
    insert into events (type, actor_id, owner_id, repo_id, payload, created_at, dispatch_at)
    values ('x', 1, 1, ${repo.id}, '{}', 1, 1)`);
  for (let runs = 0; runs < 10; runs++) {
    await directory.run(sql`update repository_moves set due_at = 0, leased_until = 0`);
    await runMove(shardedCtx(), id);
  }
  expect(await moveOf(id)).toMatchObject({ state: "following" });
  return id;
}

/** Gives a move up when the references have changed. */
async function cancel(repo: Repository): Promise<void> {
  const id = await follow(repo);
  await cancelMove(shardedCtx(), id);
  await directory.run(sql`update repository_moves set due_at = 0, leased_until = 0`);
  await runUntil(id, ["cancelled"]);
  await shardDatabase(1).run(sql`delete from events where type = 'x'`);
}

/** What fifty requests to four databases, and two moves, may take on a busy machine. */
const BUSY_MS = 300_000;

describe("issues that refer to those of another repository", () => {
  it.each([
    ["one moves away", () => move(one, 2)],
    ["the other one moves away", () => move(two, 3)],
    ["both move, to one shard", () => move(one, 2).then(() => move(two, 2))],
    ["one moves away, and back", () => move(one, 2).then(() => move(one, 1))],
    ["a move is given up", () => cancel(one)],
  ])(
    "show the same after %s",
    async (_what, act) => {
      const before = await readAll();
      expect(before["two 1/timeline"]).toMatchObject([
        { type: "comment_ref", ref_comment: { body: expect.stringContaining(COMMENT) as string } },
        { type: "add_dependency" },
      ]);
      expect(before["two 1/blocks"]).toHaveLength(1);
      expect(before["one 2/timeline"]).toMatchObject([
        { type: "issue_ref", ref_issue: { number: 1 } },
        { type: "add_dependency" },
      ]);

      await act();

      expect(await readAll()).toEqual(before);
      for (const shard of shardNumbers) {
        const db = shardDatabase(shard);
        expect(await db.all(sql`pragma foreign_key_check`)).toEqual([]);
        expect(await db.all(sql`select * from cross_shard_entries where attempts <> 0`)).toEqual(
          [],
        );
      }
    },
    BUSY_MS,
  );

  it.each([
    ["between databases, when one has moved away", () => move(one, 2)],
    ["in one database, where both have moved to", () => move(one, 2).then(() => move(two, 2))],
    ["in one database, when a move was given up", () => cancel(one)],
  ])(
    "are written as before: %s",
    async (_where, act) => {
      await act();

      // References are told once, and not any more when a text has them no more.
      await call("PATCH", issuePath(one, 2), { body: `still as ${refTo(two, 2)}` });
      expect(await typesOf(two, 2)).toEqual(["issue_ref", "add_dependency"]);
      const comment = `/repos/${owner.name}/${one.name}/issues/comments/${commentId}`;
      await call("PATCH", comment, { body: "about nothing" });
      expect(await typesOf(two, 1)).toEqual(["add_dependency"]);
      await call("PATCH", comment, { body: `again ${refTo(two, 1)}` });
      expect(await typesOf(two, 1)).toEqual(["add_dependency", "comment_ref"]);
      await call("PATCH", issuePath(two, 1), { body: "as before" });
      expect(await typesOf(one, 2)).toEqual(["add_dependency"]);

      // A dependency is there once, closes no circle, and can be removed and added.
      const [path, key] = [issuePath(one, 1, "/dependencies"), keyOf(two, 1)];
      expect(await call("POST", path, key)).toMatchObject({ status: 409 });
      const circle = await call("POST", issuePath(two, 1, "/dependencies"), keyOf(one, 1));
      expect(circle).toMatchObject({ status: 422 });
      expect(await call("DELETE", path, key)).toMatchObject({ status: 201 });
      expect(await call("GET", path)).toMatchObject({ body: [] });
      expect(await call("GET", issuePath(two, 1, "/blocks"))).toMatchObject({ body: [] });
      expect(await call("DELETE", path, key)).toMatchObject({ status: 404 });
      expect(await typesOf(two, 1)).toEqual(["add_dependency", "comment_ref", "remove_dependency"]);
      await made(path, key);
      expect((await call("GET", path)).body).toHaveLength(1);

      // An open issue keeps another one open.
      const close = { state: "closed" };
      expect(await call("PATCH", issuePath(one, 1), close)).toMatchObject({ status: 412 });
      await call("PATCH", issuePath(two, 1), close);
      expect(await call("PATCH", issuePath(one, 1), close)).toMatchObject({ status: 201 });

      // What tells of an issue or a comment goes with it.
      expect(await call("DELETE", issuePath(one, 2))).toMatchObject({ status: 204 });
      expect(await typesOf(two, 2)).toEqual([]);
      expect(await call("GET", issuePath(two, 2, "/dependencies"))).toMatchObject({ body: [] });
      expect(await call("PATCH", issuePath(two, 2), close)).toMatchObject({ status: 201 });
      expect(await call("DELETE", comment)).toMatchObject({ status: 204 });
      expect(await typesOf(two, 1)).not.toContain("comment_ref");
      expect(await call("DELETE", issuePath(two, 1))).toMatchObject({ status: 204 });
      expect(await call("GET", path)).toMatchObject({ body: [] });
      expect(await typesOf(one, 1)).toEqual(["close"]);
    },
    BUSY_MS,
  );
});

describe("references that are made while a move copies", () => {
  it("are changed as far as the budget of a run goes, and then copied", async () => {
    const id = await follow(one);
    const source = shardDatabase(1);
    await source.run(sql`
      insert into timeline_entries (
        repo_id, issue_id, kind, poster_id, other_issue_id, created_at, updated_at
      )
      select i.repo_id, i.id, 'issue_ref', ${owner.id}, other.id, 1, 1
      from issues i, issues other, json_each(${JSON.stringify(Array.from({ length: 450 }))})
      where i.repo_id = ${one.id} and i.number = 1
        and other.repo_id = ${two.id} and other.number = 2`);
    const opened = await moveOf(id);
    const copyWithin = (statements: number): Promise<boolean> =>
      copyNext({
        ctx: shardedCtx(),
        directory,
        source,
        target: shardDatabase(2),
        budget: new WorkBudget(Date.now(), { ms: BUSY_MS, statements }),
        move: opened,
      });
    const told = (db: Database, isNear: boolean) =>
      db.$count(
        timelineEntries,
        and(
          eq(timelineEntries.repoId, one.id),
          eq(timelineEntries.createdAt, 1),
          isNear ? isNotNull(timelineEntries.otherIssueId) : undefined,
        ),
      );

    expect(await copyWithin(1)).toBe(true);
    expect([await told(source, true), await told(shardDatabase(2), false)]).toEqual([250, 0]);
    expect(await copyWithin(1000)).toBe(true);
    expect([await told(source, true), await told(shardDatabase(2), false)]).toEqual([250, 200]);
    while (await copyWithin(1000));
    expect(await told(shardDatabase(2), false)).toBe(450);
  });
});
