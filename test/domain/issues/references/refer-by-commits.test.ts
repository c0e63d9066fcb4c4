import { and, asc, eq, isNotNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  events,
  issueDependencies,
  issues,
  repositories,
  timelineEntries,
  trackedTimes,
  type Issue,
} from "../../../../src/db/schema/index.ts";
import { only } from "../../../../src/lib/only.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { countJob } from "../../../support/count-work.ts";
import { db } from "../../../support/db.ts";
import { failCalls, failing } from "../../../support/faults.ts";
import { makeIssue } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makeEmptyPack } from "../../../support/push.ts";

const MAIN = "refs/heads/main";

/** A repository with an issue and one commit on its default branch. */
async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const issue = await makeIssue(repo);
  const history = new History();
  const base = history.commit({ message: "start\n" });
  await pushQuietly(owner, repo, [{ ref: MAIN, new: base }], history.build());
  return { owner, repo, issue, base };
}

/** Pushes commits with the given messages on top of `from`, and returns their ids. */
async function pushMessages(
  as: TestUser,
  repo: TestRepo,
  from: string,
  messages: readonly string[],
  ref = MAIN,
  old: string | null = from,
): Promise<string[]> {
  const history = new History();
  // The same first commit as in the repository, so that the others build on it.
  history.commit({ message: "start\n" });
  const oids: string[] = [];
  for (const message of messages) {
    oids.push(history.commit({ message, parents: [oids.at(-1) ?? from], files: { a: message } }));
  }
  const command = { ref, new: oids.at(-1) ?? from, ...(old !== null && { old }) };
  expect(await pushQuietly(as, repo, [command], history.build())).toContain(`ok ${ref}`);
  return oids;
}

const entriesOf = async (issue: Pick<Issue, "id">) =>
  (
    await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, issue.id))
      .orderBy(asc(timelineEntries.id))
  ).map(({ kind, commitOid }) => [kind, commitOid]);

const isClosed = async ({ id }: Pick<Issue, "id">): Promise<boolean> =>
  only(await db.select().from(issues).where(eq(issues.id, id))).isClosed;

/** The events of an issue that was closed or reopened. */
const stateEventsOf = async ({ id, repoId }: Issue) =>
  (await db.select().from(events).where(eq(events.repoId, repoId)).orderBy(asc(events.id))).flatMap(
    ({ type, payload, actorId }) =>
      payload["issueId"] === id && /closed|reopened/.test(type)
        ? [{ type, commitOid: payload["commitOid"], actorId }]
        : [],
  );

describe("commits on the default branch", () => {
  it("are read together for the branches of a push", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    await drawConsequences();
    // Those that other tests left and that are not due yet would be counted below.
    await db.update(events).set({ consequencesAt: null }).where(isNotNull(events.consequencesAt));
    const history = new History();
    history.commit({ message: "start\n" });
    const tip = history.commit({ message: `see #${issue.number}\n`, parents: [base] });
    const plain = Array.from({ length: 40 }, (_, at) => ({ ref: `refs/heads/b${at}`, new: base }));
    const commands = [...plain, { ref: "refs/heads/last", new: tip }];
    await pushQuietly(owner, repo, commands, history.build());
    const { d1Calls } = await countJob(() => drawConsequences());

    expect(await entriesOf(issue)).toEqual([["commit_ref", tip]]);
    expect(d1Calls).toBeLessThan(20);
  });

  // SECURITY: the event is handled with the rights of the account, which are wider.
  it.each([
    ["bound to the repository", ({ repo }: { repo: TestRepo }) => ({ repos: [repo] })],
    ["for public data", () => ({ scopes: "public-only,all" })],
  ])("reaches no other repository by a token %s", async (_, fields) => {
    const { owner, repo, issue, base } = await makeWorld();
    const other = await make.repo(owner);
    const elsewhere = await makeIssue(other);
    const token = await make.token(owner, fields({ repo }));
    const own = `${repo.owner}/${repo.name}#${issue.number}`;
    const foreign = `${other.owner}/${other.name}#${elsewhere.number}`;
    await pushMessages({ ...owner, token }, repo, base, [`closes ${own}, closes ${foreign}\n`]);
    await drawConsequences();

    expect(await isClosed(issue)).toBe(true);
    expect(await isClosed(elsewhere)).toBe(false);
    expect(await entriesOf(elsewhere)).toEqual([]);
  });

  it("close and reopen issues, once, by an event with the commit", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const [closing = ""] = await pushMessages(owner, repo, base, [`fixes #${issue.number}\n`]);
    await drawConsequences();
    await drawConsequences();
    expect(await isClosed(issue)).toBe(true);
    expect(await entriesOf(issue)).toEqual([
      ["commit_ref", closing],
      ["close", closing],
    ]);
    expect(await stateEventsOf(issue)).toEqual([
      { type: "issue.closed", commitOid: closing, actorId: owner.id },
    ]);
    const history = new History();
    history.commit({ message: "start\n" });
    history.commit({
      message: `fixes #${issue.number}\n`,
      parents: [base],
      files: { a: `fixes #${issue.number}\n` },
    });
    const reopening = history.commit({ message: `reopens: #${issue.number}`, parents: [closing] });
    await pushQuietly(owner, repo, [{ ref: MAIN, old: closing, new: reopening }], history.build());
    await drawConsequences();
    expect(await isClosed(issue)).toBe(false);
    expect(await stateEventsOf(issue)).toHaveLength(2);
  });

  it("refer to issues by their title, as HTML that nobody can inject into", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const title = `<script>x</script> "&" about #${issue.number}`;
    const [oid = ""] = await pushMessages(owner, repo, base, [`${title}\n\nmore\n`]);
    await drawConsequences();
    const entry = only(
      await db.select().from(timelineEntries).where(eq(timelineEntries.issueId, issue.id)),
    );
    expect(entry).toMatchObject({
      kind: "commit_ref",
      commitOid: oid,
      posterId: owner.id,
      commitRepoId: repo.id,
    });
    expect(entry.body).toMatch(
      new RegExp(
        `^<a href="/${repo.owner}/${repo.name}/commit/${oid}">&lt;script&gt;x&lt;/script&gt; `,
      ),
    );
    expect(entry.body).not.toContain("more");
    expect(await isClosed(issue)).toBe(false);
  });

  it("do what each of them says, in their order", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const other = await makeIssue(repo);
    const n = issue.number;
    const oids = await pushMessages(owner, repo, base, [
      `fix #${n}, see #${other.number}\n`,
      `reopen #${n}\n`,
      `close #${n}; reopens #${n}\n`,
      `resolved #${n} and Closes: #${other.number}\n`,
    ]);
    await drawConsequences();
    expect(await isClosed(issue)).toBe(true);
    expect(await isClosed(other)).toBe(true);
    expect(
      (await stateEventsOf(issue)).map(({ type, commitOid }) => [
        type,
        oids.indexOf(String(commitOid)),
      ]),
    ).toEqual([
      ["issue.closed", 0],
      ["issue.reopened", 1],
      ["issue.closed", 2],
      ["issue.reopened", 2],
      ["issue.closed", 3],
    ]);
    expect((await entriesOf(other)).map(([kind]) => kind)).toEqual([
      "commit_ref",
      "commit_ref",
      "close",
    ]);
  });

  it("book the time that they state, once, where the repository tracks time", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const [oid = ""] = await pushMessages(owner, repo, base, [`fixes #${issue.number} @1h30m\n`]);
    await drawConsequences();
    await db.update(events).set({ consequencesAt: 1 }).where(eq(events.repoId, repo.id));
    await drawConsequences();
    expect(
      await db.select().from(trackedTimes).where(eq(trackedTimes.issueId, issue.id)),
    ).toMatchObject([{ userId: owner.id, seconds: 5400 }]);
    expect(await entriesOf(issue)).toEqual([
      ["commit_ref", oid],
      ["add_time_manual", oid],
      ["close", oid],
    ]);

    const off = await makeWorld();
    const { issueSettings } = off.repo;
    await db
      .update(repositories)
      .set({ issueSettings: { ...issueSettings, enableTimeTracker: false } })
      .where(eq(repositories.id, off.repo.id));
    await pushMessages(off.owner, off.repo, off.base, [`fixes #${off.issue.number} @1h30m\n`]);
    await drawConsequences();
    expect((await entriesOf(off.issue)).map(([kind]) => kind)).toEqual(["commit_ref", "close"]);
  });

  it("leave issues open that wait for others, and do not close pull requests", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const blocker = await makeIssue(repo);
    const pull = await makeIssue(repo, { isPull: true });
    await db
      .insert(issueDependencies)
      .values({ issueId: issue.id, blockerId: blocker.id, createdAt: 1 });
    const message = `fixes #${issue.number}, fixes !${pull.number}\n`;
    const [oid = ""] = await pushMessages(owner, repo, base, [message]);
    await drawConsequences();
    for (const each of [issue, pull]) {
      expect(await entriesOf(each)).toEqual([["commit_ref", oid]]);
      expect(await isClosed(each)).toBe(false);
    }
  });
});

describe("commits on other branches", () => {
  it("refer to issues, and close them when they reach the default branch", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const [oid = ""] = await pushMessages(
      owner,
      repo,
      base,
      [`fixes #${issue.number}\n`],
      "refs/heads/side",
      null,
    );
    await drawConsequences();
    expect(await entriesOf(issue)).toEqual([["commit_ref", oid]]);
    await pushQuietly(owner, repo, [{ ref: MAIN, old: base, new: oid }], makeEmptyPack());
    await drawConsequences();
    expect(await entriesOf(issue)).toEqual([
      ["commit_ref", oid],
      ["close", oid],
    ]);
  });

  it("close the issues that name the branch, which the default branch does not", async () => {
    const { owner, repo, base } = await makeWorld();
    const [ofSide, ofMain] = [
      await makeIssue(repo, { ref: "refs/heads/side" }),
      await makeIssue(repo, { ref: "main" }),
    ];
    const message = `fixes #${ofSide.number}, fixes #${ofMain.number}\n`;
    await pushMessages(owner, repo, base, [message], "refs/heads/side", null);
    await drawConsequences();
    expect([await isClosed(ofSide), await isClosed(ofMain)]).toEqual([true, false]);

    const other = await makeWorld();
    const named = await makeIssue(other.repo, { ref: "side" });
    const tagged = await makeIssue(other.repo, { ref: "refs/tags/v1" });
    await pushMessages(other.owner, other.repo, other.base, [
      `fixes #${named.number}, fixes #${tagged.number}\n`,
    ]);
    await drawConsequences();
    expect([await isClosed(named), await isClosed(tagged)]).toEqual([false, true]);
  });

  it("do nothing again when the branch is moved away by force and back", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const [oid = ""] = await pushMessages(owner, repo, base, [`fixes #${issue.number}\n`]);
    await drawConsequences();
    await db.update(issues).set({ isClosed: false, closedAt: null }).where(eq(issues.id, issue.id));
    await pushQuietly(owner, repo, [{ ref: MAIN, old: oid, new: base }]);
    await pushQuietly(owner, repo, [{ ref: MAIN, old: base, new: oid }], makeEmptyPack());
    await drawConsequences();
    expect(await isClosed(issue)).toBe(false);
    expect(await stateEventsOf(issue)).toHaveLength(1);
  });
});

describe("commits in other repositories", () => {
  const reference = (repo: TestRepo, { number }: Issue): string =>
    `fixes ${repo.owner}/${repo.name}#${number}\n`;

  /** Pushes a commit that closes `issue` to a repository of `as`. */
  async function pushElsewhere(as: TestUser, repo: TestRepo, issue: Issue): Promise<void> {
    const own = await make.repo(as);
    const history = new History();
    const oid = history.commit({ message: reference(repo, issue) });
    await pushQuietly(as, own, [{ ref: MAIN, new: oid }], history.build());
    await drawConsequences();
  }
  const kindsOf = async (issue: Issue) => (await entriesOf(issue)).map(([kind]) => kind);

  it("close issues that the pusher may write to, or opened", async () => {
    const { repo, issue } = await makeWorld();
    const [writer, poster] = [await make.user(), await make.user()];
    await db
      .insert(collaborations)
      .values({ repoId: repo.id, userId: writer.id, access: 2, createdAt: 1 });
    const own = await makeIssue(repo, { posterId: poster.id });
    await pushElsewhere(writer, repo, issue);
    await pushElsewhere(poster, repo, own);
    expect(await kindsOf(issue)).toEqual(["commit_ref", "close"]);
    expect(await kindsOf(own)).toEqual(["commit_ref", "close"]);
  });

  it("only refer to issues that the pusher may read", async () => {
    const { repo, issue } = await makeWorld();
    await pushElsewhere(await make.user(), repo, issue);
    expect(await kindsOf(issue)).toEqual(["commit_ref"]);
    expect(await isClosed(issue)).toBe(false);
  });

  it("do nothing to issues that the pusher may not see", async () => {
    const { repo, issue } = await makeWorld({ isPrivate: true, visibility: "private" });
    await pushElsewhere(await make.user(), repo, issue);
    expect(await kindsOf(issue)).toEqual([]);
  });

  it("do nothing where the owner blocks the pusher, or the repository is archived", async () => {
    const { owner, repo, issue } = await makeWorld();
    const blocked = await make.user();
    await db
      .insert(blocks)
      .values({ blockerId: owner.id, blockedId: blocked.id, note: "", createdAt: 1 });
    await pushElsewhere(blocked, repo, issue);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    await pushElsewhere(owner, repo, issue);
    expect(await kindsOf(issue)).toEqual([]);
  });

  it("lose their effect with the rights of the pusher", async () => {
    const { repo, issue } = await makeWorld();
    const writer = await make.user();
    const row = { repoId: repo.id, userId: writer.id, access: 2 as const, createdAt: 1 };
    await db.insert(collaborations).values(row);
    const own = await make.repo(writer);
    const history = new History();
    const oid = history.commit({ message: reference(repo, issue) });
    await pushQuietly(writer, own, [{ ref: MAIN, new: oid }], history.build());
    await db
      .delete(collaborations)
      .where(and(eq(collaborations.repoId, repo.id), eq(collaborations.userId, writer.id)));
    await drawConsequences();
    expect(await kindsOf(issue)).toEqual(["commit_ref"]);
  });
});

describe("a push that refers to issues", () => {
  it(
    "has each of its consequences once if any call fails, or the Worker dies at it",
    {
      timeout: 240_000,
    },
    async () => {
      const callCount = await failCalls(async (fault) => {
        const { owner, repo, issue, base } = await makeWorld();
        await drawConsequences();
        const other = await makeIssue(repo);
        const n = issue.number;
        const oids = await pushMessages(owner, repo, base, [
          `fixes #${n} @1h\n`,
          `reopens #${n}, fixes #${other.number}\n`,
        ]);
        const faults = failing(fault);
        await drawConsequences(faults.bindings).catch(() => undefined);
        for (const hour of [1, 2]) {
          await drawConsequences(undefined, Date.now() + hour * 60 * 60 * 1000);
        }
        expect(await entriesOf(issue)).toEqual([
          ["commit_ref", oids[0]],
          ["add_time_manual", oids[0]],
          ["close", oids[0]],
          ["commit_ref", oids[1]],
          ["reopen", oids[1]],
        ]);
        expect((await entriesOf(other)).map(([kind]) => kind)).toEqual(["commit_ref", "close"]);
        expect(await stateEventsOf(issue)).toHaveLength(2);
        expect(await isClosed(issue)).toBe(false);
        return faults;
      });
      expect(callCount).toBeGreaterThan(8);
    },
  );

  it("of a long history is read in steps", async () => {
    const { owner, repo, issue, base } = await makeWorld();
    const messages = Array.from(
      { length: 250 },
      (_, at) => `${at === 249 ? "fixes" : "see"} #${issue.number} (${at})\n`,
    );
    const oids = await pushMessages(owner, repo, base, messages);
    await drawConsequences();
    expect(await entriesOf(issue)).toEqual([
      ...oids.map((oid) => ["commit_ref", oid]),
      ["close", oids.at(-1)],
    ]);
  });
});
