import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  repositories,
  type Issue,
  type Label,
  type Milestone,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const addLabel = ({ id, repoId, isPull, isClosed }: Issue, label: Label) =>
  db.insert(issueLabels).values({ issueId: id, repoId, isPull, isClosed, labelId: label.id });

let owner: TestUser;
let reader: TestUser;
let writer: TestUser;
let repo: TestRepo;
let labels: Label[];
let milestones: Milestone[];

// Five issues like those of the recording: a pull request, a closed one, labels, milestones and
// people.
beforeAll(async () => {
  [owner, reader, writer] = await Promise.all([make.user(), make.user(), make.user()]);
  repo = await make.repo(owner);
  labels = [await makeLabel({ repo }, { name: "a" }), await makeLabel({ repo }, { name: "b" })];
  milestones = [
    await makeMilestone(repo, { title: "v1" }),
    await makeMilestone(repo, { title: "v2" }),
  ];
  const [a, b] = labels as [Label, Label];
  const [v1, v2] = milestones as [Milestone, Milestone];
  const first = await makeIssue(repo, {
    title: "apple pie",
    body: "unusual word: zebra",
    posterId: reader.id,
    updatedAt: 9000,
    deadlineAt: 5000,
  });
  const second = await makeIssue(repo, { title: "banana", milestoneId: v1.id, updatedAt: 2000 });
  const third = await makeIssue(repo, {
    title: "cherry",
    milestoneId: v2.id,
    posterId: writer.id,
    updatedAt: 3000,
    deadlineAt: 4000,
  });
  const fourth = await makeIssue(repo, {
    title: "Däte",
    isClosed: true,
    posterId: writer.id,
    updatedAt: 4000,
  });
  await makeIssue(repo, { title: "elderberry", isPull: true, updatedAt: 5000 });
  await addLabel(second, a);
  await addLabel(third, a);
  await addLabel(third, b);
  await addLabel(fourth, b);
  const { id: issueId, repoId } = second;
  await db.insert(issueAssignees).values({ issueId, repoId, userId: writer.id, createdAt: 1 });
  await db.insert(issueMentions).values([
    { issueId: third.id, repoId, userId: reader.id },
    { issueId: first.id, repoId, userId: writer.id },
  ]);
  await makeComment(first, { body: "grape juice" });
  await makeComment(first, { body: "more grape juice" });
  await makeComment(third, { body: "nothing" });
});

const pathTo = ({ owner: name, name: repoName }: TestRepo, query: string) =>
  `/repos/${name}/${repoName}/issues${query}`;

/** The numbers that a query lists, and the total. */
async function ask(query: string, as?: TestUser, at: TestRepo = repo) {
  const { status, body, headers } = await call("GET", pathTo(at, query), as ? { as } : {});
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    numbers: body.map((issue: { number: number }) => issue.number),
    total: Number(headers.get("X-Total-Count")),
  };
}
const listed = async (query: string) => (await ask(query)).numbers;

describe("GET /repos/{owner}/{repo}/issues", () => {
  it.each([
    ["", [5, 3, 2, 1]],
    ["?state=open", [5, 3, 2, 1]],
    ["?state=closed", [4]],
    ["?state=all", [5, 4, 3, 2, 1]],
    ["?state=x", [5, 3, 2, 1]],
    ["?type=issues&state=all", [4, 3, 2, 1]],
    ["?type=pulls&state=all", [5]],
    ["?type=x", [5, 3, 2, 1]],
    ["?labels=a", [3, 2]],
    ["?labels=a,b", [3]],
    ["?labels=b&state=all", [4, 3]],
    ["?labels=nothere", [5, 3, 2, 1]],
    ["?labels=a,nothere", [3, 2]],
    ["?labels=-a", [5, 3, 2, 1]],
    ["?milestones=v1", [2]],
    ["?milestones=v1,v2", [3, 2]],
    ["?milestones=nothere", [5, 3, 2, 1]],
    ["?labels=a&milestones=v2", [3]],
    ["?q=banana", [2]],
    ["?q=zebra", [1]],
    ["?q=grape", [1]],
    ["?q=ban", []],
    ["?q=CHERRY", [3]],
    ["?q=date&state=all", [4]],
    ["?q=xyzzy", []],
    ["?q=3&state=all", [3]],
    ["?q=%233&state=all", [3]],
    ["?q=!!!", []],
    ["?q=%00", []],
    ["?q=grape+more", [1]],
    ["?q=%22juice+grape%22", []],
    ["?q=%22grape+juice%22", [1]],
    ["?q=grape+apple", []],
    ["?q=in:title+zebra", []],
    ["?q=in:body+zebra", [1]],
    ["?q=label:a", [3, 2]],
    ["?q=label:a+label:b", [3]],
    ["?q=label:nothere", []],
    ["?q=label:a+label:nothere", []],
    ["?q=-label:a", [5, 1]],
    ["?q=-label:nothere", [5, 3, 2, 1]],
    ["?q=milestone:v1", [2]],
    ["?q=milestone:nothere", []],
    ["?q=milestone:v1+milestone:v2", []],
    ["?q=is:closed", [4]],
    ["?q=is:pr", [5]],
    ["?q=is:issue", [3, 2, 1]],
    ["?q=no:label+is:issue", [1]],
    ["?q=no:milestone+no:assignee", [5, 1]],
    ["?q=author:nobody-here", []],
    ["?q=label:a+banana", [2]],
    ["?q=sort:oldest", [1, 2, 3, 5]],
    ["?q=grape&labels=a", []],
    ["?since=2100-01-01T00:00:00Z&state=all", []],
    ["?before=1960-01-01T00:00:00Z&state=all", []],
    ["?since=1970-01-01T00:00:04Z&state=all", [5, 4, 1]],
    ["?before=1970-01-01T00:00:03Z&state=all", [3, 2]],
    ["?since=1970-01-01T00:00:04Z&sort=recentupdate", [1, 5]],
    ["?state=all&sort=oldest", [1, 2, 3, 4, 5]],
    ["?state=all&sort=newest", [5, 4, 3, 2, 1]],
    ["?state=all&sort=recentupdate", [1, 5, 4, 3, 2]],
    ["?state=all&sort=leastupdate", [2, 3, 4, 5, 1]],
    ["?state=all&sort=mostcomment", [1, 3, 5, 4, 2]],
    ["?state=all&sort=leastcomment", [2, 4, 5, 3, 1]],
    ["?state=all&sort=nearduedate", [3, 1, 2, 4, 5]],
    ["?state=all&sort=farduedate", [1, 3, 5, 4, 2]],
    ["?labels=a&sort=oldest", [2, 3]],
    ["?labels=a&sort=leastupdate", [2, 3]],
    ["?labels=a&sort=mostcomment", [3, 2]],
    ["?q=juice+sort:oldest", [1]],
  ] as const)("lists by %s", async (query, numbers) => {
    expect(await ask(query)).toEqual({ numbers, total: numbers.length });
  });

  it("lists by the people of an issue, in any case of their names", async () => {
    expect(await listed(`?created_by=${reader.name}&state=all`)).toEqual([1]);
    expect(await listed(`?created_by=${writer.name.toUpperCase()}&state=all`)).toEqual([4, 3]);
    expect(await listed(`?assigned_by=${writer.name}`)).toEqual([2]);
    expect(await listed(`?mentioned_by=${reader.name}`)).toEqual([3]);
    expect(await listed(`?mentioned_by=${writer.name}`)).toEqual([1]);
    expect(await listed(`?created_by=${owner.name}&labels=a`)).toEqual([2]);
    expect(await listed(`?created_by=${writer.name}&mentioned_by=${reader.name}`)).toEqual([3]);
    expect(await listed(`?q=author:${writer.name}+is:closed`)).toEqual([4]);
    expect(await listed(`?q=assignee:${writer.name}+mentions:${writer.name}`)).toEqual([]);
    expect((await ask("?q=author:@me+state:all", writer)).numbers).toEqual([4, 3]);
    expect((await ask("?q=author:@me+state:all")).numbers).toEqual([]);
  });

  it("lists by the ids of milestones, unless one has the id for a title", async () => {
    const [v1, v2] = milestones as [Milestone, Milestone];
    expect(await listed(`?milestones=${v1.id}`)).toEqual([2]);
    expect(await listed(`?milestones=${v1.id},v2`)).toEqual([3, 2]);
    const named = await makeMilestone(repo, { title: String(v2.id) });
    expect(await listed(`?milestones=${v2.id}`)).toEqual([]);
    const other = await make.repo(owner);
    await makeIssue(other);
    expect(await ask(`?milestones=${v1.id},${named.id}`, owner, other)).toEqual({
      numbers: [1],
      total: 1,
    });
  });

  it("finds the labels of the organization, and counts the repository's issues only", async () => {
    const org = await make.org([owner]);
    const [one, other] = [await make.repo(org), await make.repo(org)];
    const label = await makeLabel({ org }, { name: "kind/b" });
    await makeIssue(one);
    const twin = await makeLabel({ repo: one }, { name: "kind/b" });
    for (const each of [one, other]) await addLabel(await makeIssue(each), label);
    await addLabel(await makeIssue(one), twin);
    expect(await ask("?labels=kind/b", owner, one)).toEqual({ numbers: [3, 2], total: 2 });
    expect(await ask("?labels=kind/b", owner, other)).toEqual({ numbers: [1], total: 1 });
    expect(await ask("?q=label:kind/b", owner, one)).toEqual({ numbers: [3, 2], total: 2 });
  });

  it("refuses a user that does not exist, or is hidden from the caller", async () => {
    const hidden = await make.user({ visibility: "private" });
    for (const key of ["created_by", "assigned_by", "mentioned_by"]) {
      for (const name of ["nobody-here", hidden.name]) {
        const answer = await call("GET", pathTo(repo, `?${key}=${name}`));
        expect(answer).toMatchObject({ status: 404, body: "" });
      }
    }
  });

  it("refuses a time that is none", async () => {
    for (const query of ["?since=yesterday", "?before=1", "?since=2020-13-01T00:00:00Z"]) {
      const answer = await call("GET", pathTo(repo, query));
      expect(answer.status).toBe(422);
      expect(answer.body.message).toContain("must be a time in RFC 3339");
    }
  });

  it("pages with an honest total, also past the end", async () => {
    const answer = await call("GET", pathTo(repo, "?state=all&page=2&limit=2"));
    expect(answer.body.map(({ number }: Issue) => number)).toEqual([3, 2]);
    expect(answer.headers.get("X-Total-Count")).toBe("5");
    expect(answer.headers.get("Link")).toMatch(/page=3&state=all>; rel="next"/);
    expect(await ask("?state=all&page=9&limit=2")).toEqual({ numbers: [], total: 5 });
    expect(await ask("?labels=a&page=2&limit=1")).toEqual({ numbers: [2], total: 2 });
    expect(await ask("?q=juice&page=2&limit=1")).toEqual({ numbers: [], total: 1 });
    expect((await ask("?state=all&limit=0")).numbers).toHaveLength(5);
  });

  it("follows edits, deletions and changes of state", async () => {
    const other = await make.repo(owner);
    const [first, second] = [
      await makeIssue(other, { title: "orange", body: "round" }),
      await makeIssue(other, { title: "pear" }),
    ];
    await makeComment(second, { body: "orange too" });
    const label = await makeLabel({ repo: other }, { name: "fruit" });
    await addLabel(first, label);
    const { id: issueId, repoId } = first;
    await db.insert(issueAssignees).values({ issueId, repoId, userId: writer.id, createdAt: 1 });
    const found = async (query: string) => (await ask(query, owner, other)).numbers;
    expect(await found("?q=orange")).toEqual([2, 1]);
    await db.update(issues).set({ body: "green", isClosed: true }).where(eq(issues.id, first.id));
    expect(await found("?q=round&state=all")).toEqual([]);
    expect(await found("?q=green&state=closed")).toEqual([1]);
    expect(await found("?labels=fruit")).toEqual([]);
    expect(await found("?labels=fruit&state=closed")).toEqual([1]);
    expect(await found(`?assigned_by=${writer.name}&state=closed`)).toEqual([1]);
    expect(await found(`?assigned_by=${writer.name}`)).toEqual([]);
    await db.delete(issues).where(eq(issues.id, first.id));
    expect(await found("?q=green&state=all")).toEqual([]);
    expect(await found("?q=orange")).toEqual([2]);
  });

  it("has nothing of a unit that is off or not granted", async () => {
    const off = await make.repo(owner);
    await makeIssue(off);
    await makeIssue(off, { isPull: true });
    const set = (fields: Partial<typeof repositories.$inferInsert>) =>
      db.update(repositories).set(fields).where(eq(repositories.id, off.id));
    await set({ hasIssues: false });
    for (const as of [owner, reader]) {
      expect(await ask("", as, off)).toEqual({ numbers: [2], total: 1 });
      expect(await ask("?type=issues", as, off)).toEqual({ numbers: [], total: 0 });
      expect(await ask("?q=is:issue", as, off)).toEqual({ numbers: [], total: 0 });
    }
    await set({ hasPullRequests: false });
    expect(await ask("", owner, off)).toEqual({ numbers: [], total: 0 });
    const org = await make.org([owner]);
    const mine = await make.repo(org, { isPrivate: true });
    await makeIssue(mine);
    await makeIssue(mine, { isPull: true });
    const team = await make.team(org, { access: 0, units: { pulls: 1 } });
    await make.member(org, team, reader);
    expect(await ask("", reader, mine)).toEqual({ numbers: [2], total: 1 });
    expect(await ask("", owner, mine)).toEqual({ numbers: [2, 1], total: 2 });
  });

  it("hides a private repository", async () => {
    const hidden = await make.repo(owner, { isPrivate: true });
    await makeIssue(hidden);
    expect(await call("GET", pathTo(hidden, ""))).toMatchObject({ status: 404, body: "" });
    expect(await call("GET", pathTo(hidden, ""), { as: reader })).toMatchObject({ status: 404 });
    expect((await ask("", owner, hidden)).numbers).toEqual([1]);
  });

  it("searches words of one repository only", async () => {
    const other = await make.repo(owner);
    await makeIssue(other, { title: "apple of another repository" });
    expect(await ask("?q=apple")).toEqual({ numbers: [1], total: 1 });
    expect(await ask(`?q=r${other.id}`)).toEqual({ numbers: [], total: 0 });
  });
});
