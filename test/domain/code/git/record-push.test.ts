import { env } from "cloudflare:workers";
import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, pulls } from "../../../../src/db/schema/index.ts";
import { recordPush } from "../../../../src/domain/code/git/record-push.ts";
import type { OutboxEntry, PushedMerge } from "../../../../src/storage/repository-records.ts";
import { maintainRepository } from "../../../../src/domain/code/git/maintain-repository.ts";
import { History } from "../../../support/commits.ts";
import { db } from "../../../support/db.ts";
import { failing } from "../../../support/faults.ts";
import { readAll } from "../../../support/list.ts";
import { make, type TestRepo } from "../../../support/make.ts";
import { makeReadyPull } from "../../../support/merges.ts";
import { pushCommands } from "../../../support/push.ts";
import { doorsWith } from "../../../support/service.ts";
import { expectPauses } from "../../../support/slices.ts";
import { systemCtx } from "../../../support/system.ts";
import { withoutEvents } from "../../../support/without-events.ts";

/** The service with a counter of its database batches. */
function countBatches() {
  const { bindings, calls } = failing({
    at: Number.POSITIVE_INFINITY,
    isDone: true,
    isDeath: false,
  });
  const batches = () => calls.filter((name) => name === "d1.batch").length;
  return { visit: doorsWith({}, bindings), batches };
}

interface PushEvent {
  pushId: string;
  part: number;
  refCount: number;
  updates: {
    ref: string;
    commitCount?: number;
    commits?: { message: string }[];
    hasNoReferences?: true;
  }[];
}

async function pushEventsOf(repo: TestRepo) {
  const rows = await db
    .select()
    .from(events)
    .where(eq(events.repoId, repo.id))
    .orderBy(asc(events.id));
  return rows.map(({ payload, rootUrl }) =>
    Object.assign(payload as unknown as PushEvent, { rootUrl }),
  );
}

const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `refs/heads/b${String(at).padStart(4, "0")}`);

describe("the merges of a push", () => {
  it.each([
    ["by this version", (merge: PushedMerge) => ({ merges: [merge] })],
    ["by an earlier version", (merge: PushedMerge) => ({ merge })],
  ])("are recorded from an entry stored %s", async (_by, fieldsOf) => {
    const { repo, pull, owner, baseOid, headOid } = await makeReadyPull();
    const [at, merger] = [Date.now(), await make.user()];
    const merge: PushedMerge = {
      number: pull.number,
      issueId: pull.id,
      kind: "merge",
      commitOid: headOid,
      baseOid,
      mergeBaseOid: baseOid,
      isAutomatic: true,
    };
    const recorded = async (mergerId?: number) => {
      const entry = {
        pushId: crypto.randomUUID(),
        updateCount: 0,
        actorId: owner.id,
        isConfined: true,
        at,
        rootUrl: "",
        visibility: { visibility: "public", isPrivate: false },
        packName: null,
        firstLogId: 1,
        ...fieldsOf({ ...merge, ...(mergerId !== undefined && { mergerId }) }),
      } as OutboxEntry;
      const summary = { head: "refs/heads/main", hasRefs: true, packBytes: 0 };
      const ctx = systemCtx({}, at);
      await recordPush(ctx, repo, entry, summary, [], () => Promise.resolve(new Map()));
      return (await db.select().from(pulls).where(eq(pulls.issueId, pull.id)))[0];
    };
    expect(await recorded(merger.id)).toMatchObject({ mergerId: merger.id, isClosed: true });
    // Recorded again it changes nothing.
    expect(await recorded()).toMatchObject({ mergerId: merger.id });
  });
});

describe("the events of a push", () => {
  it("list every updated ref in push order, 50 per event", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const refs = namesOf(120);
    const pushed = [...refs, "refs/heads/b0000/inside"];
    const commands = pushed.map((ref) => ({ ref, new: oid }));
    const { visit, batches } = countBatches();
    const answer = await pushCommands(owner, repo, commands, { pack: history.build(), visit });
    expect(answer.body).toContain("ng refs/heads/b0000/inside");
    // One batch for authentication and the repository, one for the events.
    expect(batches()).toBe(2);

    const recorded = await pushEventsOf(repo);
    expect(recorded.map(({ part, refCount, updates }) => [part, refCount, updates.length])).toEqual(
      [
        [0, 120, 50],
        [1, 120, 50],
        [2, 120, 20],
      ],
    );
    expect(recorded.flatMap(({ updates }) => updates.map(({ ref }) => ref))).toEqual(refs);
    expect(new Set(recorded.map(({ pushId }) => pushId)).size).toBe(1);
    expect(recorded[0]?.updates[0]).toMatchObject({ commitCount: 1 });

    const feed = `/repos/${repo.owner}/${repo.name}/activities/feeds`;
    const { ids, totals } = await readAll(feed, {}, { limit: 50 });
    expect([totals, ids.length, new Set(ids).size]).toEqual([[120], 120, 120]);
  });

  it("take two batches for thousands of refs, between pauses, and leave little to do", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const refs = namesOf(5000);
    const commands = refs.map((ref) => ({ ref, new: oid }));
    const { visit, batches } = countBatches();
    const pack = history.build();
    await expectPauses(20, () => pushCommands(owner, repo, commands, { pack, visit }));
    expect(batches()).toBe(2);
    const recorded = await pushEventsOf(repo);
    expect(recorded).toHaveLength(100);
    const updates = recorded.flatMap((each) => each.updates);
    expect(updates.map(({ ref }) => ref)).toEqual(refs);
    // Branches that add no commits are known to refer to no issue, so that no job reads them.
    const [first, ...others] = updates;
    expect(first).toMatchObject({ commitCount: 1 });
    expect(others.filter(({ hasNoReferences }) => hasNoReferences !== true)).toEqual([]);
  });

  // Without truncation, a name or an address could be as long as a commit object.
  it("truncate long messages, names and addresses of a commit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const long = "\u0001".repeat(20_000);
    const author = `${long} <${long}@example.com>`;
    const commands = namesOf(5).map((ref) => {
      let oid = history.commit({ author, message: long });
      for (let at = 1; at < 5; at++) {
        oid = history.commit({ author, message: long, parents: [oid] });
      }
      return { ref, new: oid };
    });
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const [recorded] = await pushEventsOf(repo);
    expect(recorded?.updates.map(({ commitCount }) => commitCount)).toEqual([5, 5, 5, 5, 5]);
    expect(JSON.stringify(recorded).length).toBeLessThan(1_000_000);
  });
});

describe("a push whose events could not be recorded", () => {
  it("is recorded later by maintenance, with its commits and root URL", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const first = history.commit({ message: "One\n" });
    const second = history.commit({ message: "Two\n", parents: [first] });
    const refs = ["refs/heads/main", ...namesOf(70)];
    const commands = refs.map((ref) => ({ ref, new: second }));
    const visit = doorsWith({}, { DB: withoutEvents });
    const pushed = await pushCommands(owner, repo, commands, { pack: history.build(), visit });
    expect(pushed.body).toContain("ok refs/heads/main");
    expect(await pushEventsOf(repo)).toEqual([]);
    // A later push must not replace its outbox entry.
    const third = new History();
    const oid = third.commit({ message: "Three\n" });
    await pushCommands(owner, repo, [{ ref: "refs/heads/x", new: oid }], { pack: third.build() });
    expect(await pushEventsOf(repo)).toHaveLength(1);

    for (let count = 0; count < 2; count++) {
      await maintainRepository(systemCtx({}, Date.now(), { ROOT_URL: "" }), repo);
    }
    const [, ...recorded] = await pushEventsOf(repo);
    expect(recorded.map(({ updates }) => updates.length)).toEqual([50, 21]);
    expect(recorded.flatMap(({ updates }) => updates.map(({ ref }) => ref))).toEqual(refs);
    expect(recorded[0]?.updates[0]).toMatchObject({
      after: second,
      commitCount: 2,
      commits: [{ message: "Two\n" }, { message: "One\n" }],
    });
    expect(recorded.map(({ rootUrl }) => rootUrl)).toEqual(Array(2).fill("https://forge.example"));
    expect(await env.REPOSITORY.getByName(repo.objectName).listOutbox()).toEqual([]);
  });
});
