import { and, asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  branchTips,
  events,
  issues,
  pulls,
  repositories,
  reviews,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import { only } from "../../../../src/lib/only.ts";
import { call } from "../../../support/call.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { failCalls, failing } from "../../../support/faults.ts";
import { git, readAllObjects } from "../../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makePull } from "../../../support/pulls.ts";
import { type Command, refsOf } from "../../../support/push.ts";

const MAIN = "refs/heads/main";
const TOPIC = "refs/heads/topic";

/**
 * The commits of the stories: `base` on main, `one` and then `two` on the topic, `other` instead,
 * `next` on main.
 */
function makeHistory() {
  const history = new History();
  const files = { file: "base\n" };
  const base = history.commit({ message: "base\n", files });
  const one = history.commit({ message: "one\n", parents: [base], files: { ...files, one: "1" } });
  const two = history.commit({ message: "two\n", parents: [one], files: { ...files, one: "2" } });
  const other = history.commit({ message: "o\n", parents: [base], files: { ...files, one: "o" } });
  const next = history.commit({ message: "n\n", parents: [base], files: { ...files, next: "n" } });
  const clash = history.commit({ message: "c\n", parents: [base], files: { ...files, one: "c" } });
  const merge = history.commit({
    message: "m\n",
    parents: [next, one],
    files: { ...files, one: "1", next: "n" },
  });
  const dev = history.commit({ message: "d\n", parents: [two], files: { ...files, two: "3" } });
  return { base, one, two, three: dev, other, next, clash, merge, pack: history.build() };
}

const { base, one, two, three, other, next, clash, merge, pack } = makeHistory();

const pathOf = (repo: Pick<TestRepo, "owner" | "name">): string =>
  `/repos/${repo.owner}/${repo.name}/pulls`;

async function open(as: TestUser, repo: TestRepo, head: string, into = "main"): Promise<number> {
  const json = { title: "Topic", head, base: into };
  const { status, body } = await call("POST", pathOf(repo), { as, json });
  expect(status).toBe(201);
  // The entries of the opening itself.
  await db.delete(timelineEntries).where(eq(timelineEntries.issueId, body.id as number));
  return body.number as number;
}

/** A repository with a pull request of its branch `topic`, at `one`, into `main`. */
async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  await move(owner, repo, [{ ref: MAIN, new: base }]);
  await move(owner, repo, [{ ref: TOPIC, new: one }]);
  const number = await open(owner, repo, "topic");
  await drawConsequences();
  return { owner, repo, number };
}

async function move(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  commands: readonly Command[],
): Promise<void> {
  const isDeletion = commands.every((command) => command.new === undefined);
  const report = await pushQuietly(as, repo, commands, isDeletion ? undefined : pack);
  for (const { ref } of commands) expect(report).toContain(`ok ${ref}`);
}

/** Stores the commit `one` as the head of pull requests. */
async function storeHeads(as: TestUser, repo: TestRepo, numbers: readonly number[]): Promise<void> {
  const { outcomes } = await git.repository(repo).commitPush({
    uploadId: null,
    id: crypto.randomUUID(),
    actorId: as.id,
    isConfined: false,
    rootUrl: "",
    at: Date.now(),
    packs: [],
    updates: numbers.map((number) => ({
      ref: `refs/pull/${number}/head`,
      oldOid: null,
      newOid: one,
      peeledOid: null,
    })),
    requiredRefs: [],
    visibility: { visibility: "public", isPrivate: false },
    isAtomic: true,
    defaultBranch: "main",
  });
  expect(outcomes.every(({ kind }) => kind === "updated")).toBe(true);
}

const pullOf = async ({ id }: TestRepo, number: number) => {
  const isOne = and(eq(issues.repoId, id), eq(issues.number, number));
  const joined = db.select().from(pulls).innerJoin(issues, eq(issues.id, pulls.issueId));
  return only(await joined.where(isOne));
};

const refOf = async (repo: TestRepo, name: string) =>
  (await refsOf(repo)).find((ref) => ref.name === name)?.oid;

/** The parents of the commit of a ref. */
async function parentsOf(repo: TestRepo, name: string): Promise<string[]> {
  const stored = git.repository(repo);
  const { graph } = await stored.open(await stored.snapshot());
  const node = graph.find((await refOf(repo, name)) ?? "");
  return [...graph.parents(node)].map((parent) => graph.oid(parent));
}

const timelineOf = async (repo: TestRepo, number: number) => {
  const { issues: issue } = await pullOf(repo, number);
  const rows = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, issue.id))
    .orderBy(asc(timelineEntries.id));
  return rows.map(({ kind, body, oldValue, newValue, posterId }) => ({
    kind,
    text: body || [oldValue, newValue].filter(Boolean).join(">"),
    posterId,
  }));
};

const recordedOf = async (repo: TestRepo) =>
  (
    await db.select().from(events).where(eq(events.repoId, repo.id)).orderBy(asc(events.id))
  ).flatMap(({ type, payload, actorId }) =>
    type.startsWith("pull.") || /^issue\.(?:closed|reopened)/.test(type)
      ? [{ type, actorId, ...payload }]
      : [],
  );

/** Dispatches every event of the repository again. */
const redeliver = async ({ id }: TestRepo): Promise<void> => {
  await db
    .update(events)
    .set({ consequencesAt: 1, consequenceProgress: null })
    .where(and(eq(events.repoId, id), eq(events.type, "repository.pushed")));
  await drawConsequences();
};

describe("the head of a pull request", () => {
  it("follows its branch, and a push is announced once", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: TOPIC, old: one, new: two }]);
    await drawConsequences();
    await redeliver(repo);

    const { pulls: pull } = await pullOf(repo, number);
    expect(pull).toMatchObject({
      headOid: two,
      checkedHeadOid: two,
      checkedBaseOid: base,
      mergeState: "mergeable",
      aheadCount: 2,
    });
    expect(await refOf(repo, `refs/pull/${number}/head`)).toBe(two);
    expect(await timelineOf(repo, number)).toEqual([
      {
        kind: "pull_push",
        text: `{"is_force_push":false,"commit_ids":["${two}"]}`,
        posterId: owner.id,
      },
    ]);
    expect(await recordedOf(repo)).toMatchObject([
      {
        type: "pull.synchronized",
        actorId: owner.id,
        number,
        before: one,
        after: two,
        isForced: false,
        commitCount: 1,
      },
    ]);
  });

  it("names the former and the new commit of a forced push", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: TOPIC, old: one, new: other }]);
    await drawConsequences();
    expect(await timelineOf(repo, number)).toMatchObject([
      { text: `{"is_force_push":true,"commit_ids":["${one}","${other}"]}` },
    ]);
    expect(await recordedOf(repo)).toMatchObject([{ isForced: true, commitCount: 1 }]);
  });

  it("records each push with its own author, in order or not", async () => {
    const { owner, repo, number } = await makeWorld();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await move(owner, repo, [{ ref: TOPIC, old: one, new: two }]);
    await move(writer, repo, [{ ref: TOPIC, old: two, new: three }]);
    await drawConsequences();
    expect(await recordedOf(repo)).toMatchObject([
      { actorId: owner.id, before: one, after: two },
      { actorId: writer.id, before: two, after: three },
    ]);
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      headOid: three,
      checkedHeadOid: three,
      checkedBaseOid: base,
    });
    await redeliver(repo);
    expect(await recordedOf(repo)).toHaveLength(2);
  });

  it("follows the branch of a fork, and no byte is copied", async () => {
    const { repo } = await makeWorld();
    const forker = await make.user();
    const answer = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: forker,
      json: {},
    });
    expect(answer.status).toBe(202);
    const fork = { owner: forker.name, name: repo.name };
    const forkRow = only(
      await db.select().from(repositories).where(eq(repositories.ownerId, forker.id)),
    );
    const makeFeature = (count: number) => {
      const history = new History();
      const oids = [history.commit({ message: "base\n", files: { file: "base\n" } })];
      for (let at = 0; at < count; at++) {
        const files = { feature: `${at}\n` };
        oids.push(history.commit({ message: `f${at}\n`, parents: oids.slice(-1), files }));
      }
      return { tip: oids.at(-1) ?? "", pack: history.build() };
    };
    const [before, after] = [makeFeature(1), makeFeature(2)];
    const feat = { ref: "refs/heads/feat", new: before.tip };
    await pushQuietly(forker, fork, [feat], before.pack);
    const number = await open(forker, repo, `${forker.name}:feat`);
    await pushQuietly(
      forker,
      fork,
      [{ ref: feat.ref, old: before.tip, new: after.tip }],
      after.pack,
    );
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      headOid: after.tip,
      checkedHeadOid: after.tip,
      checkedBaseOid: base,
      mergeState: "mergeable",
    });
    expect(await refOf(repo, `refs/pull/${number}/head`)).toBe(after.tip);
    // What the fork lists, the base lists as well: the same packs.
    const [own, others] = await Promise.all([
      git.repository(repo).snapshot(),
      git.repository(forkRow).snapshot(),
    ]);
    const names = own.packs.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(others.packs.slice(-2).map(({ name }) => name)));

    // The commits stay when the fork goes, and the pull request closes.
    expect((await call("DELETE", `/repos/${fork.owner}/${fork.name}`, { as: forker })).status).toBe(
      204,
    );
    await drawConsequences();
    expect((await pullOf(repo, number)).issues.isClosed).toBe(true);
    expect(await refOf(repo, `refs/pull/${number}/head`)).toBe(after.tip);
    expect(await refOf(repo, `refs/pull/${number}/merge`)).toBeUndefined();
    await readAllObjects(repo);
  });

  it("closes with its branch, and comes back with it once it is reopened", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: TOPIC, old: one }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).issues.isClosed).toBe(true);
    expect(await refOf(repo, `refs/pull/${number}/head`)).toBe(one);
    expect(await refOf(repo, `refs/pull/${number}/merge`)).toBeUndefined();
    expect((await timelineOf(repo, number)).map(({ kind, text }) => [kind, text])).toEqual([
      ["close", ""],
      ["delete_branch", "topic"],
    ]);
    await move(owner, repo, [{ ref: TOPIC, new: one }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).issues.isClosed).toBe(true);
    const path = `/repos/${repo.owner}/${repo.name}/issues/${number}`;
    await call("PATCH", path, { as: owner, json: { state: "open" } });
    await move(owner, repo, [{ ref: TOPIC, old: one, new: two }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({ headOid: two, isClosed: false });
    expect(await refOf(repo, `refs/pull/${number}/merge`)).toBeDefined();
  });
});

describe("the base of a pull request", () => {
  it("moves, and its merge is checked and stored again", async () => {
    const { owner, repo, number } = await makeWorld();
    const mergeRef = `refs/pull/${number}/merge`;
    expect(await parentsOf(repo, mergeRef)).toEqual([base, one]);
    await move(owner, repo, [{ ref: MAIN, old: base, new: next }]);
    await drawConsequences();
    const second = await refOf(repo, mergeRef);
    expect(await parentsOf(repo, mergeRef)).toEqual([next, one]);
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      checkedBaseOid: next,
      behindCount: 1,
      mergeState: "mergeable",
    });
    await redeliver(repo);
    expect(await refOf(repo, mergeRef)).toBe(second);

    await move(owner, repo, [{ ref: MAIN, old: next, new: clash }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      mergeState: "conflict",
      conflictPaths: ["one"],
    });
    expect(await refOf(repo, mergeRef)).toBeUndefined();
    expect(await recordedOf(repo)).toEqual([]);
    await readAllObjects(repo);
  });

  it("is renamed, and so is a head: pull requests follow, closed ones too", async () => {
    const { owner, repo, number } = await makeWorld();
    const path = `/repos/${repo.owner}/${repo.name}`;
    const closed = await open(owner, repo, "main", "topic");
    const as = owner;
    await call("PATCH", `${path}/issues/${closed}`, { as, json: { state: "closed" } });
    await drawConsequences();
    for (const [from, name] of [
      ["main", "trunk"],
      ["topic", "work"],
    ]) {
      const answer = await call("PATCH", `${path}/branches/${from}`, { as, json: { name } });
      expect(answer.status).toBe(204);
    }
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      baseBranch: "trunk",
      headBranch: "work",
      isClosed: false,
      checkedBaseOid: base,
    });
    expect((await pullOf(repo, closed)).pulls).toMatchObject({
      baseBranch: "work",
      headBranch: "trunk",
    });
    await move(owner, repo, [{ ref: "refs/heads/work", old: one, new: two }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls.headOid).toBe(two);
    const tips = await db.select().from(branchTips).where(eq(branchTips.repoId, repo.id));
    expect(Object.fromEntries(tips.map(({ branch, oid }) => [branch, oid]))).toMatchObject({
      work: two,
      trunk: base,
    });
  });

  it("is not renamed by a push that leaves open which branch became which", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: "refs/heads/second", new: one }]);
    await move(owner, repo, [
      { ref: TOPIC, old: one },
      { ref: "refs/heads/second", old: one },
      { ref: "refs/heads/third", new: one },
    ]);
    await drawConsequences();
    const found = await pullOf(repo, number);
    expect(found.pulls.headBranch).toBe("topic");
    expect(found.issues.isClosed).toBe(true);
  });

  it("is deleted, and its pull requests close", async () => {
    const { owner, repo } = await makeWorld();
    await move(owner, repo, [{ ref: "refs/heads/dev", new: base }]);
    const number = await open(owner, repo, "topic", "dev");
    await move(owner, repo, [{ ref: "refs/heads/dev", old: base }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).issues.isClosed).toBe(true);
    expect((await timelineOf(repo, number)).map(({ kind, text }) => [kind, text])).toEqual([
      ["close", ""],
      ["delete_branch", "dev"],
    ]);
    expect(await refOf(repo, TOPIC)).toBe(one);
  });

  it("is deleted, and also those close that were opened again without their head", async () => {
    const { owner, repo } = await makeWorld();
    await move(owner, repo, [{ ref: "refs/heads/dev", new: base }]);
    await move(owner, repo, [{ ref: "refs/heads/gone", new: two }]);
    const first = await open(owner, repo, "gone", "dev");
    const second = await open(owner, repo, "topic", "dev");
    await move(owner, repo, [{ ref: "refs/heads/gone", old: two }]);
    await drawConsequences();
    const path = `/repos/${repo.owner}/${repo.name}/issues/${first}`;
    await call("PATCH", path, { as: owner, json: { state: "open" } });
    await move(owner, repo, [{ ref: "refs/heads/dev", old: base }]);
    await drawConsequences();
    expect((await pullOf(repo, first)).issues.isClosed).toBe(true);
    expect((await pullOf(repo, second)).issues.isClosed).toBe(true);
  });

  it("is deleted once it was merged, and its pull requests move to where it went", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: "refs/heads/child", new: two }]);
    const child = await open(owner, repo, "child", "topic");
    const { pulls: parent } = await pullOf(repo, number);
    const { id: reviewerId } = owner;
    const { issueId } = (await pullOf(repo, child)).pulls;
    const fields = { repoId: repo.id, issueId, reviewerId, createdAt: 1, updatedAt: 1 };
    await db.insert(reviews).values({ ...fields, state: "approved", commitOid: two });
    const merged = { mergedAt: 1, mergeCommitOid: one };
    await db.update(pulls).set(merged).where(eq(pulls.issueId, parent.issueId));
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, parent.issueId));
    await move(owner, repo, [{ ref: TOPIC, old: one }]);
    await drawConsequences();
    expect((await pullOf(repo, child)).pulls).toMatchObject({
      baseBranch: "main",
      isClosed: false,
      mergeState: "mergeable",
      aheadCount: 2,
    });
    expect(await timelineOf(repo, child)).toContainEqual(
      expect.objectContaining({ kind: "change_target_branch", text: "topic>main" }),
    );
    // SECURITY: an approval was given for the other base.
    const [review] = await db.select().from(reviews).where(eq(reviews.repoId, repo.id));
    expect(review?.isDismissed).toBe(true);
  });
});

describe("many pull requests of one base", () => {
  it("are checked together: their calls do not grow with their number", async () => {
    const { owner, repo } = await makeWorld();
    const fields = { headOid: one, mergeBaseOid: base, checkedBaseOid: base };
    const numbers: number[] = [];
    for (let at = 0; at < 120; at++) {
      numbers.push((await makePull(repo, { ...fields, headBranch: `b${at}` })).number);
    }
    await storeHeads(owner, repo, numbers);
    await move(owner, repo, [{ ref: MAIN, old: base, new: next }]);
    const faults = failing({ at: Infinity, isDone: false, isDeath: false });
    await drawConsequences(faults.bindings);

    const rows = await db.select().from(pulls).where(eq(pulls.repoId, repo.id));
    expect(rows).toHaveLength(121);
    for (const row of rows) {
      expect(row).toMatchObject({ checkedBaseOid: next, mergeState: "mergeable", behindCount: 1 });
    }
    const refs = await refsOf(repo);
    expect(refs.filter(({ name }) => name.endsWith("/merge"))).toHaveLength(121);
    expect(faults.calls.length).toBeLessThan(121);
  });

  it("are left to the last of several pushes", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: MAIN, old: base, new: next }]);
    await move(owner, repo, [{ ref: MAIN, old: next, new: clash }]);
    const objectCalls = async (): Promise<string[]> => {
      const faults = failing({ at: Infinity, isDone: false, isDeath: false });
      await drawConsequences(faults.bindings);
      return faults.calls.filter((name) => name === "object.commitPush");
    };
    expect((await objectCalls()).length).toBeLessThan(2);
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      checkedBaseOid: clash,
      mergeState: "conflict",
    });
  });
});

describe("a merge that was pushed", () => {
  const autodetect = async (repo: TestRepo, as: TestUser): Promise<void> => {
    const json = { allow_manual_merge: true, autodetect_manual_merge: true };
    const answer = await call("PATCH", `/repos/${repo.owner}/${repo.name}`, { as, json });
    expect(answer.status).toBe(200);
  };

  it("is found where the repository wants it, also if the push deletes the branch", async () => {
    const { owner, repo, number } = await makeWorld();
    await autodetect(repo, owner);
    const commands = [
      { ref: TOPIC, old: one },
      { ref: MAIN, old: base, new: merge },
    ];
    await move(owner, repo, commands);
    await drawConsequences();
    await redeliver(repo);
    const found = await pullOf(repo, number);
    expect(found.issues.isClosed).toBe(true);
    expect(found.pulls).toMatchObject({
      mergeCommitOid: merge,
      mergerId: owner.id,
      mergeKind: "manually-merged",
      mergeBaseOid: base,
      changedFiles: 1,
    });
    expect((await timelineOf(repo, number)).map(({ kind }) => kind)).toEqual(["merge_pull"]);
    expect(await recordedOf(repo)).toMatchObject([
      { type: "pull.merged", mergeCommitOid: merge, isAutomatic: true },
    ]);
    expect(await refOf(repo, `refs/pull/${number}/merge`)).toBeUndefined();
  });

  it("is found if a read came before the job", async () => {
    const { owner, repo, number } = await makeWorld();
    await autodetect(repo, owner);
    await move(owner, repo, [{ ref: MAIN, old: base, new: one }]);
    await call("GET", `${pathOf(repo)}/${number}`, { as: owner });
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      mergeCommitOid: one,
      mergeBaseOid: base,
    });
  });

  it("leaves the pull request open elsewhere", async () => {
    const { owner, repo, number } = await makeWorld();
    await move(owner, repo, [{ ref: MAIN, old: base, new: one }]);
    await drawConsequences();
    expect((await pullOf(repo, number)).pulls).toMatchObject({
      mergeState: "ancestor",
      mergedAt: null,
      isClosed: false,
    });
  });
});

describe("a Worker that ends between two calls", () => {
  it("leaves nothing undone, and does nothing twice", async () => {
    const { owner, repo, number } = await makeWorld();
    let [from, to] = [one, two];
    let stories = 0;
    const calls = await failCalls(async (fault) => {
      await move(owner, repo, [{ ref: TOPIC, old: from, new: to }]);
      const faults = failing(fault);
      await drawConsequences(faults.bindings).catch(() => undefined);
      await drawConsequences(undefined, Date.now() + 24 * 60 * 60 * 1000);

      stories++;
      expect((await pullOf(repo, number)).pulls).toMatchObject({
        headOid: to,
        checkedHeadOid: to,
        checkedBaseOid: base,
        mergeState: "mergeable",
      });
      expect(await refOf(repo, `refs/pull/${number}/head`)).toBe(to);
      expect(await parentsOf(repo, `refs/pull/${number}/merge`)).toEqual([base, to]);
      expect(await timelineOf(repo, number)).toHaveLength(stories);
      expect(await recordedOf(repo)).toHaveLength(stories);
      [from, to] = [to, from];
      return faults;
    });
    expect(calls).toBeGreaterThan(12);
  }, 300_000);
});
