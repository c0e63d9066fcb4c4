import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  issueAssignees,
  issueLabels,
  issueMentions,
  repositories,
  teamRepositories,
  type Issue,
  type Label,
} from "../../../src/db/schema/index.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const addLabel = ({ id, repoId, isPull, isClosed }: Issue, label: Label) =>
  db.insert(issueLabels).values({ issueId: id, repoId, isPull, isClosed, labelId: label.id });

/** The titles that a query finds, and the total. */
async function ask(query: string, sending: Sending = {}) {
  const { status, body, headers } = await call("GET", `/repos/issues/search?${query}`, sending);
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    titles: body.map((issue: { title: string }) => issue.title),
    total: Number(headers.get("X-Total-Count")),
  };
}

const asOf = (user: TestUser | undefined): Sending => (user ? { as: user } : {});

let owner: TestUser;
let reader: TestUser;
let writer: TestUser;
let repo: TestRepo;
let hidden: TestRepo;

// The issues of the recording: a public repository with five, and a private one.
beforeAll(async () => {
  [owner, reader, writer] = await Promise.all([make.user(), make.user(), make.user()]);
  [repo, hidden] = [await make.repo(owner), await make.repo(owner, { isPrivate: true })];
  await make.collaborator(repo, writer, 2);
  const [a, b] = [
    await makeLabel({ repo }, { name: "a" }),
    await makeLabel({ repo }, { name: "b" }),
  ];
  const v1 = await makeMilestone(repo, { title: "v1" });
  const v2 = await makeMilestone(repo, { title: "v2" });
  const apple = await makeIssue(repo, { title: "apple", posterId: reader.id, updatedAt: 9000 });
  const banana = await makeIssue(repo, { title: "banana", milestoneId: v1.id, updatedAt: 2000 });
  const cherry = { milestoneId: v2.id, posterId: writer.id, updatedAt: 3000 };
  const third = await makeIssue(repo, { title: "cherry", ...cherry });
  const fourth = { title: "date", isClosed: true, posterId: writer.id, updatedAt: 4000 };
  await addLabel(await makeIssue(repo, fourth), b);
  await makeIssue(repo, { title: "elderberry", isPull: true, updatedAt: 5000 });
  for (const [issue, label] of [
    [banana, a],
    [third, a],
    [third, b],
  ] as const) {
    await addLabel(issue, label);
  }
  const repoId = repo.id;
  await db
    .insert(issueAssignees)
    .values({ issueId: banana.id, repoId, userId: writer.id, createdAt: 1 });
  await db.insert(issueMentions).values({ issueId: apple.id, repoId, userId: writer.id });
  await makeComment(apple, { body: "grape" });
  const secret = await makeIssue(hidden, { title: "hidden fruit", updatedAt: 6000 });
  await makeComment(secret, { body: "secretword" });
  await addLabel(secret, await makeLabel({ repo: hidden }, { name: "secretlabel" }));
});

const PUBLIC = ["elderberry", "cherry", "banana", "apple"];
const ALL = ["hidden fruit", ...PUBLIC];

describe("GET /repos/issues/search", () => {
  it.each([
    ["", ALL],
    ["&state=all", ["hidden fruit", "elderberry", "date", "cherry", "banana", "apple"]],
    ["&state=closed", ["date"]],
    ["&type=pulls", ["elderberry"]],
    ["&type=issues", ["hidden fruit", "cherry", "banana", "apple"]],
    ["&labels=a", ["cherry", "banana"]],
    ["&labels=a,b", ["cherry", "banana"]],
    ["&labels=b&state=all", ["date", "cherry"]],
    ["&labels=nothere", ALL],
    ["&labels=nothere,b", ["cherry"]],
    ["&milestones=v1", ["banana"]],
    ["&milestones=v1,v2", ["cherry", "banana"]],
    ["&milestones=nothere", ALL],
    ["&labels=b&milestones=v1", []],
    ["&q=banana", ["banana"]],
    ["&q=grape", ["apple"]],
    ["&q=3", ["cherry"]],
    ["&q=1", ["hidden fruit", "apple"]],
    ["&q=label:a", ["cherry", "banana"]],
    ["&q=-label:a", ["hidden fruit", "elderberry", "apple"]],
    ["&q=label:nothere", []],
    ["&q=milestone:v2", ["cherry"]],
    ["&q=is:pr", ["elderberry"]],
    ["&q=!!!", []],
    ["&q=banana&labels=b", []],
    ["&since=2100-01-01T00:00:00Z", []],
    ["&since=1970-01-01T00:00:05Z", ["hidden fruit", "elderberry", "apple"]],
    ["&sort=oldest", ["apple", "banana", "cherry", "elderberry", "hidden fruit"]],
    ["&sort=recentupdate", ["apple", "hidden fruit", "elderberry", "cherry", "banana"]],
    ["&sort=mostcomment", ["hidden fruit", "apple", "elderberry", "cherry", "banana"]],
    ["&q=sort:leastupdate+is:issue", ["banana", "cherry", "hidden fruit", "apple"]],
    ["&created=true&type=issues", ["hidden fruit", "banana"]],
    ["&review_requested=true", []],
    ["&reviewed=true", []],
  ] as const)("searches the repositories of an owner by %s", async (query, titles) => {
    const found = await ask(`owner=${owner.name}${query}`, { as: owner });
    expect(found).toEqual({ titles, total: titles.length });
  });

  it("finds what the caller opened, is assigned to, or is mentioned in", async () => {
    const as = writer;
    expect((await ask("created=true&state=all", { as })).titles).toEqual(["date", "cherry"]);
    expect((await ask("assigned=true", { as })).titles).toEqual(["banana"]);
    expect((await ask("mentioned=true", { as })).titles).toEqual(["apple"]);
    expect(await ask("assigned=true&created=true&state=all", { as })).toEqual({
      titles: [],
      total: 0,
    });
    expect(await ask(`owner=${reader.name}&created=true`, { as })).toEqual({
      titles: [],
      total: 0,
    });
    expect((await ask("created=false&assigned=true", { as })).titles).toEqual(["banana"]);
    expect((await ask(`q=author:${writer.name}+state:all`)).titles).toEqual(["date", "cherry"]);
    expect((await ask("q=assignee:@me", { as })).titles).toEqual(["banana"]);
  });

  it("ignores for anonymous callers what asks for their own issues", async () => {
    const found = await ask(`owner=${owner.name}&created=true&reviewed=true`);
    expect(found).toEqual({ titles: PUBLIC, total: 4 });
  });

  // Neither in results nor in totals, nor by a name that only a private repository has.
  it.each([
    ["", PUBLIC],
    ["&q=secretword", []],
    ["&q=hidden", []],
    ["&q=1", ["apple"]],
    ["&labels=secretlabel", PUBLIC],
    ["&labels=secretlabel,a", ["cherry", "banana"]],
    ["&q=label:secretlabel", []],
    ["&priority_repo_id=HIDDEN", PUBLIC],
    ["&sort=recentupdate", ["apple", "elderberry", "cherry", "banana"]],
  ] as const)("hides a private repository from others: %s", async (rest, titles) => {
    const query = rest.replace("HIDDEN", String(hidden.id));
    const publicOnly = await make.token(owner, { scopes: "public-only,all" });
    const bound = await make.token(owner, { repos: [repo] });
    const callers: Sending[] = [{}, { as: reader }, { as: writer }, { token: publicOnly }];
    for (const caller of [...callers, { token: bound }]) {
      expect(await ask(`owner=${owner.name}${query}`, caller)).toEqual({
        titles,
        total: titles.length,
      });
      const { titles: everywhere } = await ask(`limit=50&${query}`, caller);
      expect(everywhere).not.toContain("hidden fruit");
    }
  });

  it("knows the labels of a private repository for its readers", async () => {
    const found = await ask(`owner=${owner.name}&labels=secretlabel`, { as: owner });
    expect(found).toEqual({ titles: ["hidden fruit"], total: 1 });
    expect((await ask("labels=secretlabel", { as: owner })).titles).toEqual(["hidden fruit"]);
  });

  it("finds issues of all repositories, those of private ones for who was granted them", async () => {
    const word = freshName("word");
    const friend = await make.user();
    const restricted = await make.user({ isRestricted: true });
    const open = await make.repo(owner);
    const closed = await make.repo(owner, { isPrivate: true });
    await make.collaborator(closed, friend, 1);
    await make.collaborator(closed, restricted, 1);
    // Newer than what other files leave, so that they are on the first page of everything.
    const createdAt = Date.now();
    await makeIssue(open, { title: `${word} open`, createdAt });
    await makeIssue(closed, { title: `${word} closed`, createdAt: createdAt + 1000 });
    const [o, c] = [`${word} open`, `${word} closed`];
    const found = async (as?: TestUser) => (await ask(`q=${word}`, asOf(as))).titles;
    expect(await found()).toEqual([o]);
    expect(await found(reader)).toEqual([o]);
    expect(await found(friend)).toEqual([c, o]);
    expect(await found(restricted)).toEqual([c]);
    expect(await found(await make.admin())).toEqual([c, o]);
    const listed = async (as?: TestUser) =>
      (await ask("limit=50", asOf(as))).titles.filter((title: string) => title.startsWith(word));
    expect(await listed()).toEqual([o]);
    expect(await listed(friend)).toEqual([c, o]);
    expect(await listed(restricted)).toEqual([c]);
  });

  it("forgets issues once the caller lost the repository", async () => {
    const word = freshName("word");
    const mine = await make.repo(owner);
    const issue = await makeIssue(mine, { title: word, posterId: reader.id });
    await db
      .insert(issueAssignees)
      .values({ issueId: issue.id, repoId: mine.id, userId: reader.id, createdAt: 1 });
    const queries = [`q=${word}`, "created=true", "assigned=true&limit=50"];
    const has = async (query: string) => (await ask(query, { as: reader })).titles.includes(word);
    for (const query of queries) expect(await has(query), query).toBe(true);
    await call("PATCH", `/repos/${mine.owner}/${mine.name}`, {
      as: owner,
      json: { private: true },
    });
    for (const query of queries) expect(await has(query), query).toBe(false);
  });

  it("shows nothing of a unit that is off or not granted", async () => {
    const word = freshName("word");
    const org = await make.org([owner]);
    const ours = await make.repo(org, { isPrivate: true });
    const team = await make.team(org, { access: 0, units: { pulls: 1 } });
    await make.member(org, team, reader);
    await makeIssue(ours, { title: `${word} issue` });
    await makeIssue(ours, { title: `${word} pull`, isPull: true });
    for (const query of [`q=${word}`, `owner=${org.name}`, `owner=${org.name}&q=${word}`]) {
      const found = await ask(query, { as: reader });
      expect(found, query).toEqual({ titles: [`${word} pull`], total: 1 });
      expect((await ask(query, { as: owner })).total, query).toBe(2);
    }
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, ours.id));
    for (const query of [`q=${word}`, `owner=${org.name}`]) {
      expect(await ask(query, { as: reader })).toEqual({ titles: [], total: 0 });
      expect(await ask(query, { as: owner })).toEqual({ titles: [`${word} issue`], total: 1 });
    }
  });

  it("searches the repositories of a team, for those who know of it", async () => {
    const org = await make.org([owner]);
    const [one, two] = [await make.repo(org), await make.repo(org)];
    const team = await make.team(org, { all: false, name: freshName("team") });
    await make.member(org, team, reader);
    await db.insert(teamRepositories).values({ teamId: team.id, repoId: one.id });
    await makeIssue(one, { title: "of the team" });
    await makeIssue(two, { title: "of no team" });
    const label = await makeLabel({ org }, { name: "org/label" });
    await addLabel(await makeIssue(one, { title: "labelled" }), label);
    const path = `owner=${org.name}&team=${team.name}`;
    for (const as of [owner, reader]) {
      expect(await ask(path, { as })).toEqual({ titles: ["labelled", "of the team"], total: 2 });
      expect(await ask(`${path}&labels=org/label`, { as })).toEqual({
        titles: ["labelled"],
        total: 1,
      });
    }
    expect(await ask(`owner=${org.name}&labels=org/label`)).toEqual({
      titles: ["labelled"],
      total: 1,
    });
    const message = "team does not exist";
    for (const caller of [{}, { as: writer }]) {
      expect(await call("GET", `/repos/issues/search?${path}`, caller)).toMatchObject({
        status: 400,
        body: { message },
      });
    }
  });

  it.each([
    ["owner=nobody-here", "user does not exist"],
    ["team=x", "Owner organisation is required for filtering on team"],
    ["owner=OWNER&team=x", "team does not exist"],
  ])("refuses %s", async (query, message) => {
    const path = `/repos/issues/search?${query.replace("OWNER", owner.name)}`;
    const { status, body } = await call("GET", path, { as: reader });
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  it("refuses an owner that is hidden from the caller, and a time that is none", async () => {
    const secret = await make.user({ visibility: "private" });
    const answer = await call("GET", `/repos/issues/search?owner=${secret.name}`);
    expect(answer.status).toBe(400);
    expect((await call("GET", "/repos/issues/search?since=x")).status).toBe(422);
  });

  it("pages with a total, 20 of them where the query does not say", async () => {
    const other = await make.user();
    const many = await make.repo(other);
    for (let at = 0; at < 23; at += 1) await makeIssue(many, { title: `number ${at}` });
    const first = await ask(`owner=${other.name}`);
    expect(first.titles).toHaveLength(20);
    expect(first.total).toBe(23);
    const second = await ask(`owner=${other.name}&page=2&limit=20`);
    expect(second).toEqual({ titles: ["number 2", "number 1", "number 0"], total: 23 });
    expect(await ask(`owner=${other.name}&page=9`)).toEqual({ titles: [], total: 23 });
    expect((await ask(`owner=${other.name}&q=number&page=2&limit=20`)).total).toBe(23);
  });

  it("lists a repository first that the query names, if the caller sees it", async () => {
    const found = await ask(`owner=${owner.name}&priority_repo_id=${repo.id}`, { as: owner });
    const { titles } = found;
    expect(titles.indexOf("apple")).toBeLessThan(titles.indexOf("hidden fruit"));
    const all = await ask(`priority_repo_id=${repo.id}&limit=4`);
    expect(all.titles).toEqual(PUBLIC);
  });

  it("takes two rounds, and one for an anonymous caller", async () => {
    const [{ line }, anonymous] = [
      await logged(() => call("GET", "/repos/issues/search?q=banana&labels=a", { as: owner })),
      await logged(() => call("GET", "/repos/issues/search?labels=a")),
    ];
    expect(line).toMatchObject({ d1Rounds: 2 });
    expect(anonymous.line).toMatchObject({ d1Rounds: 1 });
  });

  // D1 binds 100 values and takes 100 KB of a statement at most.
  it.each([
    "",
    "&q=banana",
    "&created=true&assigned=true&mentioned=true",
    "&q=author:a+assignee:b+mentions:c+label:d+label:e+-label:f+milestone:g+no:label+no:assignee",
  ])("takes every filter at once%s", async (rest) => {
    const callers: Sending[] = [
      {},
      { as: owner },
      { as: await make.user({ isRestricted: true }) },
      { token: await make.token(owner, { repos: [repo] }) },
      { token: await make.token(owner, { scopes: "public-only,all" }) },
    ];
    const query =
      `labels=a,b&milestones=v1,v2&state=all&since=1970-01-01T00:00:00Z` +
      `&before=2100-01-01T00:00:00Z&priority_repo_id=${repo.id}${rest}`;
    for (const caller of callers) {
      for (const scope of ["", `&owner=${owner.name}`]) await ask(`${query}${scope}`, caller);
    }
    const names = [owner, reader, writer].map(({ name }) => name);
    const people = `created_by=${names[0]}&assigned_by=${names[1]}&mentioned_by=${names[2]}`;
    const path = `/repos/${repo.owner}/${repo.name}/issues?${people}&${query}&sort=mostcomment`;
    expect((await call("GET", path)).status).toBe(200);
  });

  it("is limited for anonymous callers only", async () => {
    const counted: string[] = [];
    const limit = ({ key }: { key: string }) => {
      counted.push(key);
      return Promise.resolve({ success: false });
    };
    const limited = serviceWith({}, { ANONYMOUS_SEARCHES: { limit } });
    const headers = { "CF-Connecting-IP": "203.0.113.9" };
    expect((await limited("GET", "/repos/issues/search", { headers })).status).toBe(429);
    const signedIn = { as: owner, headers };
    expect((await limited("GET", "/repos/issues/search", signedIn)).status).toBe(200);
    expect(counted).toHaveLength(1);
  });
});
