import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  issueLabels,
  issues,
  timelineEntries,
  type Issue,
  type TimelineEntry,
} from "../../../src/db/schema/index.ts";
import { makeRepoIn, SHARDS, shardOf } from "../../domain/notifications/sharded-scene.ts";
import type { Sending } from "../../support/call.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { withShards } from "../../support/copies.ts";

// Rows of the index are numbered by ids, and those of shards are large.

withShards();

const inShards = serviceWith({}, SHARDS);

/** Ids of the first database and of shards, at the edges of what half a row id and a marked one have room for. */
const MOVED_ISSUES = [7, 2 ** 30 - 1, 2 ** 30, 2 ** 36 + 1, 2047 * 2 ** 36 + 2 ** 36 - 1];
const MOVED_COMMENTS = [2 ** 32 - 1, 2 ** 32, 3 * 2 ** 36 + 7, 2 ** 36 + 7, 2 ** 30 - 1];

/** Ids from here on are given by no test. */
const NO_OTHERS = 2 ** 29 - 5;

interface Scene {
  readonly repo: TestRepo;
  readonly issues: readonly Issue[];
  readonly comments: readonly TimelineEntry[];
}

/** Five issues, each with a comment. */
async function fill(
  repo: TestRepo,
  ids: { issues?: readonly number[]; comments?: readonly number[] } = {},
): Promise<Scene> {
  const own = shardOf(repo.shard);
  const label = await makeLabel({ repo }, { name: "a" }, own);
  const milestone = await makeMilestone(repo, { title: "v1" }, own);
  const made: Issue[] = [];
  const comments: TimelineEntry[] = [];
  const fields: Partial<Issue>[] = [
    { title: "apple pie", body: "unusual word: zebra", updatedAt: 9000, deadlineAt: 5000 },
    { title: "banana", milestoneId: milestone.id, updatedAt: 2000 },
    { title: "cherry", updatedAt: 3000, deadlineAt: 4000 },
    { title: "Däte", isClosed: true, updatedAt: 4000, closedAt: 4000 },
    { title: "elderberry", isPull: true, updatedAt: 5000 },
  ];
  const words = ["grape juice", "more grape juice", "fig", "grape", "nothing"];
  for (const [at, each] of fields.entries()) {
    const id = ids.issues?.[at];
    const issue = await makeIssue(repo, { ...each, ...(id && { id }), createdAt: at + 1 }, own);
    made.push(issue);
    const commentId = ids.comments?.[at];
    const comment = { body: `${words[at]} fruit`, ...(commentId && { id: commentId }) };
    comments.push(await makeComment(issue, comment, own));
    const { id: issueId, repoId, isPull, isClosed } = issue;
    const labelled = { issueId, repoId, isPull, isClosed, labelId: label.id };
    if (at === 1 || at === 2) await own.insert(issueLabels).values(labelled);
  }
  return { repo, issues: made, comments };
}

let owner: TestUser;
/** In the first database; in a shard; and in a shard with ids of others. */
let scenes: Record<"first" | "own" | "moved", Scene>;

beforeAll(async () => {
  owner = await make.user();
  const [first, own, moved] = [
    await makeRepoIn(0, owner),
    await makeRepoIn(1, owner),
    await makeRepoIn(2, owner),
  ];
  scenes = {
    first: await fill(first),
    own: await fill(own),
    moved: await fill(moved, { issues: MOVED_ISSUES, comments: MOVED_COMMENTS }),
  };
});

// Other files have the same shards.
afterAll(async () => {
  for (const shard of [1, 2]) {
    const own = shardOf(shard);
    await own
      .delete(issues)
      .where(sql`repo_id in (select id from repositories where owner_id = ${owner.id})`);
    await own.run(sql`
      update sqlite_sequence set seq = ${shard * 2 ** 36}
      where name in ('issues', 'timeline_entries')`);
  }
});

const PLACES = ["first", "own", "moved"] as const;
const pathTo = ({ repo }: Scene, rest: string) => `/repos/${repo.owner}/${repo.name}/issues${rest}`;

/** The numbers that a query lists, and the total. */
async function ask(scene: Scene, query: string, sending: Sending = {}) {
  const answer = await inShards("GET", pathTo(scene, query), sending);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return {
    numbers: answer.body.map((issue: { number: number }) => issue.number),
    total: Number(answer.headers.get("X-Total-Count")),
  };
}

/** The titles that a search finds, and the total. */
async function search(query: string, sending: Sending = {}) {
  const answer = await inShards("GET", `/repos/issues/search?${query}`, sending);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return {
    titles: answer.body.map((issue: { title: string }) => issue.title),
    total: Number(answer.headers.get("X-Total-Count")),
  };
}

it("has ids in shards that are beyond half a row id", () => {
  for (const { id } of [...scenes.own.issues, ...scenes.own.comments]) {
    expect(id).toBeGreaterThan(2 ** 36);
  }
});

describe.each(PLACES)("GET /repos/{owner}/{repo}/issues: %s", (place) => {
  it.each([
    ["?q=banana", [2]],
    ["?q=zebra", [1]],
    ["?q=grape", [2, 1]],
    ["?q=grape&state=all", [4, 2, 1]],
    ["?q=grape&state=closed", [4]],
    ["?q=CHERRY", [3]],
    ["?q=date&state=all", [4]],
    ["?q=fruit&state=all", [5, 4, 3, 2, 1]],
    ["?q=fruit&type=pulls", [5]],
    ["?q=fruit&type=issues", [3, 2, 1]],
    ["?q=fruit&labels=a", [3, 2]],
    ["?q=fruit&labels=nothere", [5, 3, 2, 1]],
    ["?q=fruit&milestones=v1", [2]],
    ["?q=fruit+-label:a", [5, 1]],
    ["?q=fruit+no:milestone+is:issue", [3, 1]],
    ["?q=fruit+sort:oldest", [1, 2, 3, 5]],
    ["?q=fruit+sort:recentupdate", [1, 5, 3, 2]],
    ["?q=fruit+sort:nearduedate+is:issue", [3, 1, 2]],
    ["?q=fruit&since=1970-01-01T00:00:05Z", [5, 1]],
    ["?q=3&state=all", [3]],
    ["?q=%22juice+grape%22", []],
    ["?q=%22grape+juice%22", [2, 1]],
    ["?q=in:title+zebra", []],
    ["?q=in:comment+grape", [2, 1]],
    ["?q=grape+apple", []],
    ["?q=xyzzy", []],
    ["?state=all", [5, 4, 3, 2, 1]],
    ["?labels=a", [3, 2]],
    ["?milestones=v1", [2]],
  ])("lists by %s", async (query, numbers) => {
    expect(await ask(scenes[place], query)).toEqual({ numbers, total: numbers.length });
  });

  it("pages with the total of all", async () => {
    const page = (at: number) => ask(scenes[place], `?q=fruit&state=all&limit=2&page=${at}`);
    expect(await page(1)).toEqual({ numbers: [5, 4], total: 5 });
    expect(await page(3)).toEqual({ numbers: [1], total: 5 });
    expect(await page(4)).toEqual({ numbers: [], total: 5 });
  });

  it("finds an edited issue by its new words alone, and a deleted one by none", async () => {
    const [old, changed] = [freshName("old"), freshName("changed")];
    const scene = scenes[place];
    const made = await inShards("POST", pathTo(scene, ""), {
      as: owner,
      json: { title: old, body: `${old} body` },
    });
    expect(made.status).toBe(201);
    const number: number = made.body.number;
    const found = async (word: string) => (await ask(scene, `?q=${word}`)).numbers;
    expect(await found(old)).toEqual([number]);
    const title = { as: owner, json: { title: changed } };
    await inShards("PATCH", pathTo(scene, `/${number}`), title);
    expect(await found(changed)).toEqual([number]);
    expect(await found(old)).toEqual([number]);
    await inShards("PATCH", pathTo(scene, `/${number}`), { as: owner, json: { body: "none" } });
    expect(await found(old)).toEqual([]);
    expect((await inShards("DELETE", pathTo(scene, `/${number}`), { as: owner })).status).toBe(204);
    expect(await found(changed)).toEqual([]);
  });

  it("finds comments that are written, edited and deleted", async () => {
    const [old, changed] = [freshName("old"), freshName("changed")];
    const scene = scenes[place];
    const found = async (word: string) => (await ask(scene, `?q=${word}`)).numbers;
    const made = await inShards("POST", pathTo(scene, "/1/comments"), {
      as: owner,
      json: { body: old },
    });
    const path = pathTo(scene, `/comments/${made.body.id}`);
    expect(await found(old)).toEqual([1]);
    await inShards("PATCH", path, { as: owner, json: { body: changed } });
    expect([await found(old), await found(changed)]).toEqual([[], [1]]);
    expect((await inShards("DELETE", path, { as: owner })).status).toBe(204);
    expect(await found(changed)).toEqual([]);
  });
});

// What was in the index under an id is taken from it under the same one.
describe("rows with ids of another database", () => {
  it.each([0, 1, 2, 3, 4])("are found by their present words: issue %i", async (at) => {
    const { repo, issues: made, comments } = scenes.moved;
    const own = shardOf(repo.shard);
    const { id } = made[at] as Issue;
    const { id: commentId } = comments[at] as TimelineEntry;
    const [title, body] = [freshName("title"), freshName("comment")];
    const before = await ask(scenes.moved, "?q=fruit&state=all");
    await own.update(issues).set({ title, body: "" }).where(eq(issues.id, id));
    await own.update(timelineEntries).set({ body }).where(eq(timelineEntries.id, commentId));
    const found = async (word: string) => (await ask(scenes.moved, `?q=${word}&state=all`)).numbers;
    expect(await found(title)).toEqual([at + 1]);
    expect(await found(body)).toEqual([at + 1]);
    const left = before.numbers.filter((number: number) => number !== at + 1);
    expect(await found("fruit")).toEqual(left);
    await own.delete(timelineEntries).where(eq(timelineEntries.id, commentId));
    expect(await found(body)).toEqual([]);
    await own.delete(issues).where(eq(issues.id, id));
    expect(await found(title)).toEqual([]);
  });

  it("keep their words apart from those of the database's own", async () => {
    const word = freshName("word");
    const repo = await makeRepoIn(2, owner);
    const own = shardOf(2);
    // The lower half of the row ids would be the same.
    const ids = [0, 1, 2].map((shard) => shard * 2 ** 36 + NO_OTHERS);
    const made: Issue[] = [];
    for (const id of ids) made.push(await makeIssue(repo, { id, title: word }, own));
    for (const [at, issue] of made.entries()) {
      await makeComment(issue, { id: at * 2 ** 36 + NO_OTHERS, body: `${word} comment` }, own);
    }
    const scene = { repo, issues: made, comments: [] };
    expect((await ask(scene, `?q=${word}`)).numbers).toEqual([3, 2, 1]);
    await own.delete(issues).where(eq(issues.id, 2 ** 36 + NO_OTHERS));
    expect((await ask(scene, `?q=${word}`)).numbers).toEqual([3, 1]);
    expect((await ask(scene, `?q=in:comment+${word}`)).numbers).toEqual([3, 1]);
  });
});

describe("GET /repos/issues/search with words", () => {
  it("finds issues of all databases, in one order", async () => {
    const word = freshName("word");
    const label = freshName("label");
    const repos = await Promise.all([0, 1, 2].map((shard) => makeRepoIn(shard, owner)));
    for (const [at, repo] of repos.entries()) {
      const own = shardOf(repo.shard);
      const { id } = await makeLabel({ repo }, { name: label }, own);
      const title = `${word} ${at}`;
      const issue = await makeIssue(repo, { title, createdAt: 5000 + at }, own);
      const { id: issueId, repoId, isPull, isClosed } = issue;
      if (at > 0) {
        const labelled = { issueId, repoId, isPull, isClosed, labelId: id };
        await own.insert(issueLabels).values(labelled);
      }
      const titled = { title: `other ${at}`, createdAt: 6000 + at, isClosed: true };
      await makeComment(await makeIssue(repo, titled, own), { body: `a ${word}` }, own);
    }
    const open = [`${word} 2`, `${word} 1`, `${word} 0`];
    const closed = ["other 2", "other 1", "other 0"];
    const found = (query: string) => search(`q=${word}${query}`);
    expect(await found("")).toEqual({ titles: open, total: 3 });
    expect(await found("&state=closed")).toEqual({ titles: closed, total: 3 });
    expect(await found("&state=all&limit=2&page=2")).toEqual({
      titles: ["other 0", `${word} 2`],
      total: 6,
    });
    expect(await found("+sort:oldest")).toEqual({ titles: open.toReversed(), total: 3 });
    expect(await found(`&labels=${label}`)).toEqual({ titles: open.slice(0, 2), total: 2 });
    expect(await found(`+label:${label}`)).toEqual({ titles: open.slice(0, 2), total: 2 });
    expect(await found(`&owner=${owner.name}`)).toEqual({ titles: open, total: 3 });
    expect(await found("+in:title&state=all")).toEqual({ titles: open, total: 3 });
    expect(await search(`q=${word}&created=true`, { as: owner })).toEqual({
      titles: open,
      total: 3,
    });
  });

  // Unknown names are ignored: of labels, and of milestones, of all databases.
  it.each(["", "owner=OWNER"])("knows a name that one database has, with %s", async (scope) => {
    const [by, word] = [await make.user(), freshName("word")];
    const repos = await Promise.all([0, 1, 2].map((shard) => makeRepoIn(shard, by)));
    const label = await makeLabel({ repo: repos[1] as TestRepo }, {}, shardOf(1));
    const milestone = await makeMilestone(repos[2] as TestRepo, {}, shardOf(2));
    for (const repo of repos) {
      const own = shardOf(repo.shard);
      await makeIssue(repo, { title: `${word} plain`, createdAt: 2000 + repo.shard }, own);
      const milestoneId = repo.shard === 2 ? milestone.id : null;
      const fields = { title: `${word} ${repo.shard}`, createdAt: 3000 + repo.shard, milestoneId };
      const { id: issueId, repoId, isPull, isClosed } = await makeIssue(repo, fields, own);
      const labelled = { issueId, repoId, isPull, isClosed, labelId: label.id };
      if (repo.shard === 1) await own.insert(issueLabels).values(labelled);
    }
    const [labels, milestones] = [`&labels=${label.name}`, `&milestones=${milestone.title}`];
    const found = (query: string) =>
      search(`${scope.replace("OWNER", by.name)}&q=${word}${query}`, { as: by });
    const all = await found("");
    expect(all.titles.slice(0, 3)).toEqual([`${word} 2`, `${word} 1`, `${word} 0`]);
    expect(all.total).toBe(6);
    expect(await found(labels)).toEqual({ titles: [`${word} 1`], total: 1 });
    expect(await found(milestones)).toEqual({ titles: [`${word} 2`], total: 1 });
    expect(await found(`${labels},${freshName("none")}`)).toEqual({
      titles: [`${word} 1`],
      total: 1,
    });
    expect(await found(labels + milestones)).toEqual({ titles: [], total: 0 });
    expect(await found(`&labels=${freshName("none")}`)).toEqual(all);
    expect(await found(`${labels}&milestones=${freshName("none")}`)).toEqual({
      titles: [`${word} 1`],
      total: 1,
    });
  });

  // The index has comments of a shard after its issues, and more of them than are looked at.
  it("lists the newest issue first, before older ones with newer comments", async () => {
    const word = freshName("word");
    const repo = await makeRepoIn(1, owner);
    const own = shardOf(1);
    const older = await makeIssue(repo, { title: "older" }, own);
    const newer = await makeIssue(repo, { title: `newer ${word}` }, own);
    await own.run(sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 10001)
      insert into timeline_entries (repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
      select ${repo.id}, ${older.id}, 'comment', ${owner.id}, ${word}, 1000, 1000 from numbers`);
    const scene = { repo, issues: [older, newer], comments: [] };
    expect(await ask(scene, `?q=${word}`)).toEqual({ numbers: [2, 1], total: 2 });
    expect(await search(`q=${word}&limit=1`)).toEqual({ titles: [newer.title], total: 2 });
  });
});
