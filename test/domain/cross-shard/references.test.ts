import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accountActor } from "../../../src/auth/actor.ts";
import type { Ctx } from "../../../src/context.ts";
import {
  blocks,
  crossShardEntries,
  events,
  issues,
  pulls,
  repositories,
  timelineEntries,
  type Issue,
  type User,
} from "../../../src/db/schema/index.ts";
import { CONSEQUENCES } from "../../../src/domain/consequences/consequences.ts";
import { runConsequences } from "../../../src/domain/consequences/run-consequences.ts";
import { closeByMerge } from "../../../src/domain/pulls/merge/close-by-merge.ts";
import { referByCommits } from "../../../src/domain/references/refer-by-commits.ts";
import { referByText } from "../../../src/domain/references/refer-by-text.ts";
import { requeueDue } from "../../../src/domain/webhooks/delivery/requeue-due.ts";
import type { Consequence } from "../../../src/events/consequence.ts";
import type { Event } from "../../../src/events/event.ts";
import { record } from "../../../src/events/record.ts";
import { handleBatch } from "../../../src/jobs/index.ts";
import { WorkBudget } from "../../../src/lib/work-budget.ts";
import { makeComment } from "../../support/issues.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";
import { only } from "../../../src/lib/only.ts";
import {
  copyAll,
  eventOf,
  makeIssueOf,
  makeRepoIn,
  shardOf,
} from "../notifications/sharded-scene.ts";
import {
  BINDINGS,
  callSharded,
  entriesOf,
  FAILURES,
  type Fault,
  faultyDatabases,
  makePlaces,
  pathOf,
  type Place,
  sendAll,
  sentBy,
} from "./scene.ts";
import { withShards } from "../../support/copies.ts";

withShards();

const DIRECTIONS = [
  [1, 2],
  [0, 1],
  [2, 0],
] as const;
const OID = "a".repeat(40);

const textOf = ([repo, { number }]: Place): string => `${repo.owner}/${repo.name}#${number}`;
const edit = ([{ shard }, { id }]: Place, fields: Partial<Issue>) =>
  shardOf(shard).update(issues).set(fields).where(eq(issues.id, id));

/** Draws a consequence of an event in the database of its issue, by one who did it. */
async function drawBy(
  by: User,
  [repo, { id: issueId, number, isPull }]: Place,
  event: Record<string, unknown>,
  consequence: Consequence = referByText,
  bindings: typeof BINDINGS = BINDINGS,
): Promise<void> {
  const recorded = eventOf(repo, by, { issueId, number, isPull, ...event });
  const ctx = systemCtx(bindings, Date.now(), { ROOT_URL: "https://forge.example" });
  const budget = new WorkBudget(Date.now(), { ms: 60_000, statements: 1000 });
  const acting: Ctx = { ...ctx, db: ctx.openShard(repo.shard), actor: accountActor(by) };
  let state: unknown;
  do state = await consequence.handle(acting, recorded, budget, state);
  while (state !== undefined);
}

async function makePair(
  from: number,
  to: number,
  body = (target: Place) => `see ${textOf(target)}`,
) {
  const { owner, places } = await makePlaces(to);
  const [target] = places as [Place];
  const repo = await makeRepoIn(from, owner);
  const source: Place = [repo, await makeIssueOf(repo, { body: body(target) })];
  return { owner, source, target };
}

const timelineOf = async (place: Place, as?: TestUser) => {
  const { status, body, headers } = await callSharded(
    "GET",
    pathOf(place, "/timeline"),
    as && { as },
  );
  expect(status).toBe(200);
  const entries = body as {
    type: string;
    ref_action: string;
    ref_issue: { id: number; repository: { full_name: string } } | null;
    ref_comment: { id: number } | null;
    ref_commit_sha: string;
  }[];
  expect(headers.get("X-Total-Count")).toBe(String(entries.length));
  return entries;
};
const stateOf = async ([{ shard }, { id }]: Place) =>
  only(await shardOf(shard).select().from(issues).where(eq(issues.id, id))).isClosed;

describe.each(DIRECTIONS)("a text of database %i that refers to an issue in %i", (...shards) => {
  it("is told in its timeline, once, and follows edits", async () => {
    const { owner, source, target } = await makePair(...shards);
    await drawBy(owner, source, { type: "issue.opened" });
    await drawBy(owner, source, { type: "issue.edited" });
    const [{ owner: name }, { id }] = [source[0], source[1]];
    expect(await timelineOf(target)).toMatchObject([
      {
        type: "issue_ref",
        ref_action: "none",
        ref_issue: { id, repository: { full_name: `${name}/${source[0].name}` } },
        ref_comment: null,
      },
    ]);
    expect(await entriesOf(source)).toEqual([]);

    await edit(source, { body: "nothing" });
    await drawBy(owner, source, { type: "issue.edited" });
    expect([await entriesOf(target), await sentBy(source)]).toEqual([[], []]);
    await edit(source, { body: "nothing", title: `again ${textOf(target)}` });
    await drawBy(owner, source, { type: "issue.edited" });
    expect(await entriesOf(target)).toEqual([["issue_ref", id]]);
  });

  it("is found needed by the condition also after its last reference was removed", async () => {
    const { owner, source, target } = await makePair(...shards);
    const [repo, { id: issueId, number, isPull }] = source;
    const run = async (type: "issue.opened" | "issue.edited") => {
      const ctx = systemCtx(BINDINGS, Date.now(), { ROOT_URL: "https://forge.example" });
      const acting = { ...ctx, db: ctx.openShard(repo.shard), actor: accountActor(owner) };
      const subject = { repoId: repo.id, ownerId: owner.id, issueId, number, isPull };
      await record(acting, {
        type,
        ...subject,
        ...(type === "issue.edited" && { from: {} }),
      } as Event);
      const later = { ...acting, now: Date.now() + 1000 };
      await runConsequences(
        later,
        CONSEQUENCES.filter(({ name }) => name === referByText.name),
      );
    };
    await run("issue.opened");
    expect(await entriesOf(target)).toHaveLength(1);
    await edit(source, { body: "nothing" });
    await run("issue.edited");
    expect(await entriesOf(target)).toEqual([]);
  });

  it("is told as a comment, which goes with the comment and with its issue", async () => {
    const { owner, source, target } = await makePair(...shards, () => "");
    const comments = [];
    for (let count = 0; count < 2; count++) {
      const comment = await makeComment(
        source[1],
        { posterId: owner.id, body: `also ${textOf(target)}` },
        shardOf(source[0].shard),
      );
      comments.push(comment);
      await drawBy(owner, source, { type: "comment.created", commentId: comment.id });
    }
    expect(await timelineOf(target)).toMatchObject(
      comments.map(({ id }) => ({
        type: "comment_ref",
        ref_issue: { id: source[1].id },
        ref_comment: { id },
      })),
    );
    const [first] = comments;
    await shardOf(source[0].shard)
      .delete(timelineEntries)
      .where(eq(timelineEntries.id, first?.id ?? 0));
    await sendAll();
    expect(await timelineOf(target)).toMatchObject([{ ref_comment: { id: comments[1]?.id } }]);
    await shardOf(source[0].shard).delete(issues).where(eq(issues.id, source[1].id));
    await sendAll();
    expect([await entriesOf(target), await sentBy(source)]).toEqual([[], []]);
  });

  it("is not told where its author may not comment, nor shown to who may not see it", async () => {
    const { owner, source, target } = await makePair(...shards);
    const [stranger, kept] = [await make.user(), await make.user()];
    await db.insert(blocks).values({ blockerId: owner.id, blockedId: kept.id, createdAt: 1 });
    await copyAll();
    await drawBy(kept, source, { type: "issue.opened" });
    const row = eq(repositories.id, target[0].id);
    await db.update(repositories).set({ isPrivate: true, visibility: "private" }).where(row);
    await copyAll();
    await drawBy(stranger, source, { type: "issue.opened" });
    await db
      .update(repositories)
      .set({ isPrivate: false, visibility: "public", archivedAt: 1 })
      .where(row);
    await copyAll();
    await drawBy(owner, source, { type: "issue.opened" });
    expect([await entriesOf(target), await sentBy(source)]).toEqual([[], []]);

    await db.update(repositories).set({ archivedAt: null }).where(row);
    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, source[0].id));
    await copyAll();
    await drawBy(owner, source, { type: "issue.opened" });
    expect(await timelineOf(target, stranger)).toEqual([]);
    expect(await timelineOf(target, owner)).toHaveLength(1);
  });

  it.each(FAILURES)("is told once after %s, whichever it is", async (_, failure) => {
    const { owner, source } = await makePair(...shards, () => "");
    const repo = await makeRepoIn(shards[1], owner);
    for (let at = 0, isOver = false; !isOver; at++) {
      const target: Place = [repo, await makeIssueOf(repo)];
      await edit(source, { body: `see ${textOf(target)}` });
      const fault: Fault = { at, ...failure, calls: 0 };
      const bindings = { ...BINDINGS, ...faultyDatabases(fault) };
      await drawBy(owner, source, { type: "issue.edited" }, referByText, bindings).catch(() => {});
      isOver = fault.calls <= at;
      await drawBy(owner, source, { type: "issue.edited" });
      await sendAll(5 * 60_000);
      expect(await entriesOf(target)).toEqual([["issue_ref", source[1].id]]);
      // What was told before is removed.
      expect(await sentBy(source)).toMatchObject([{ toIssueId: target[1].id, state: "sent" }]);
    }
  });

  it("of a merged pull request closes it, as far as the merger may", async () => {
    const { owner, source, target } = await makePair(...shards, (to) => `closes ${textOf(to)}`);
    const stranger = await make.user();
    await copyAll();
    const { shard } = source[0];
    await shardOf(shard).update(issues).set({ isPull: true }).where(eq(issues.id, source[1].id));
    const { id: issueId, repoId } = source[1];
    const branches = { headBranch: "topic", baseBranch: "main", headOid: OID };
    await shardOf(shard)
      .insert(pulls)
      .values({ issueId, repoId, headRepoId: repoId, ...branches });
    const pull: Place = [source[0], { ...source[1], isPull: true }];
    await drawBy(owner, pull, { type: "issue.edited" });
    expect(await timelineOf(target)).toMatchObject([{ type: "pull_ref", ref_action: "closes" }]);
    const merged = { type: "pull.merged", mergeCommitOid: OID };
    await drawBy(stranger, pull, merged, closeByMerge);
    // SECURITY: a bound token merges with the rights of its account.
    await drawBy(owner, pull, { ...merged, isConfined: true }, closeByMerge);
    expect(await stateOf(target)).toBe(false);
    await drawBy(owner, pull, merged, closeByMerge);
    await drawBy(owner, pull, merged, closeByMerge);
    expect(await stateOf(target)).toBe(true);
    expect((await entriesOf(target)).map(([kind]) => kind)).toEqual(["pull_ref", "close"]);
    const closed = await shardOf(target[0].shard)
      .select()
      .from(events)
      .where(eq(events.repoId, target[0].id));
    expect(closed).toMatchObject([{ type: "issue.closed", payload: { commitOid: OID } }]);
  });

  it("of a pushed commit is told, books time and closes it, once", async () => {
    const { owner, source, target } = await makePair(...shards);
    const [repo] = source;
    const path = `/repos/${repo.owner}/${repo.name}/contents/a.txt`;
    const message = `closes ${textOf(target)} @1h`;
    const pushed = await callSharded("POST", path, {
      as: owner,
      json: { content: "YQ==", message },
    });
    expect(pushed.status).toBe(201);
    const commitOid = pushed.body.commit.sha as string;
    const run = async () => {
      const ctx = systemCtx(BINDINGS, Date.now() + 1000);
      const there = { ...ctx, db: ctx.openShard(repo.shard) };
      await runConsequences(there, [referByCommits]);
    };
    await run();
    const told = ["commit_ref", "add_time_manual", "close"];
    expect((await entriesOf(target)).map(([kind]) => kind)).toEqual(told);
    expect(await stateOf(target)).toBe(true);
    expect(await timelineOf(target)).toMatchObject([
      { type: "commit_ref", ref_commit_sha: commitOid },
      { type: "add_time_manual" },
      { type: "close" },
    ]);
    // Again, after somebody opened it.
    await edit(target, { isClosed: false });
    await shardOf(repo.shard)
      .update(events)
      .set({ consequencesAt: 1 })
      .where(and(eq(events.repoId, repo.id), eq(events.type, "repository.pushed")));
    await run();
    expect((await entriesOf(target)).map(([kind]) => kind)).toEqual(told);
    expect(await stateOf(target)).toBe(false);

    // SECURITY: that there is a commit tells of its repository.
    const hide = { isPrivate: true, visibility: "private" } as const;
    await db.update(repositories).set(hide).where(eq(repositories.id, repo.id));
    await copyAll();
    expect((await timelineOf(target)).map(({ type }) => type)).toEqual(told.slice(1));
  });
});

describe("what was sent to a timeline of another database", () => {
  it("is asked for by the schedule, and sent with the events of its database", async () => {
    const { owner, source, target } = await makePair(1, 2);
    const row = { repoId: source[0].id, issueId: source[1].id, isPull: false };
    const to = { toRepoId: target[0].id, toIssueId: target[1].id, toNumber: 1 };
    const entry = { ...row, ...to, kind: "issue_ref" as const, posterId: owner.id, createdAt: 1 };
    const sent: { kind: string; shards?: number[] }[] = [];
    const send = async (body: never) => void sent.push(body);
    const EVENT_JOBS = { send } as unknown as Env["EVENT_JOBS"];
    const open = (): Ctx => systemCtx({ ...BINDINGS, EVENT_JOBS }, Date.now());
    const requeue = () => requeueDue({ ...open(), db: open().openShard(1) });
    await shardOf(1).update(events).set({ dispatchAt: null, consequencesAt: null });
    await requeue();
    expect(sent).toEqual([]);
    await shardOf(1)
      .insert(crossShardEntries)
      .values({ ...entry, dueAt: 1 });
    await requeue();
    expect(sent).toEqual([{ kind: "dispatch", shards: [1] }]);
    const message = { id: "1", body: only(sent), ack: () => undefined, retry: () => undefined };
    await handleBatch({ messages: [message as never] }, open);
    expect(await entriesOf(target)).toEqual([["issue_ref", source[1].id]]);
    expect(await sentBy(source)).toMatchObject([{ state: "sent", dueAt: null }]);
  });

  it("is forgotten where the issue is gone before it comes", async () => {
    const { owner, source, target } = await makePair(1, 2);
    const row = { repoId: source[0].id, issueId: source[1].id, isPull: false };
    const to = { toRepoId: target[0].id, toIssueId: target[1].id, toNumber: 1 };
    const entry = {
      ...row,
      ...to,
      kind: "issue_ref" as const,
      posterId: owner.id,
      createdAt: 1,
      dueAt: 1,
    };
    await shardOf(1)
      .insert(crossShardEntries)
      .values([entry, { ...entry, toRepoId: 987_654 }]);
    await shardOf(2).delete(issues).where(eq(issues.id, target[1].id));
    await sendAll();
    expect(await sentBy(source)).toEqual([]);
  });

  it("is removed by who comes next if it is deleted while it is sent", async () => {
    const { owner, source, target } = await makePair(1, 2);
    await drawBy(owner, source, { type: "issue.opened" });
    // Leased by a run that is under way.
    const until = Date.now() + 60_000;
    await shardOf(1)
      .update(crossShardEntries)
      .set({ state: "unsent", dueAt: until })
      .where(eq(crossShardEntries.issueId, source[1].id));
    await shardOf(1).delete(issues).where(eq(issues.id, source[1].id));
    await sendAll();
    expect(await sentBy(source)).toMatchObject([{ state: "gone", dueAt: until }]);
    expect(await entriesOf(target)).toHaveLength(1);
    await sendAll(120_000);
    expect([await sentBy(source), await entriesOf(target)]).toEqual([[], []]);
  });
});

describe("a rendered text", () => {
  it("leads to issues of all databases that its reader may see", async () => {
    const { owner, places } = await makePlaces(0, 1, 2);
    const hidden = places[2] as Place;
    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, hidden[0].id));
    await copyAll();
    const [home] = places[0] as Place;
    const Context = `${home.owner}/${home.name}`;
    const json = { Text: places.map(textOf).join(" and "), Mode: "comment", Context };
    const stranger = await make.user();
    const linksFor = async (as: TestUser) => {
      const { status, body } = await callSharded("POST", "/markdown", { json, as });
      expect(status).toBe(200);
      return [...String(body).matchAll(/href="[^"]*?\/issues\/\d+"/g)].length;
    };
    expect([await linksFor(owner), await linksFor(stranger)]).toEqual([3, 2]);
  });
});
