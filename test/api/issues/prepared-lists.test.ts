import { beforeAll, describe, expect, it } from "vitest";

import {
  issueAssignees,
  issueLabels,
  issueMentions,
  type Issue,
  type Label,
  type Milestone,
  teamRepositories,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull, makeReview } from "../../support/pulls.ts";
import { logged } from "../../support/usage.ts";

/**
 * A repository of an organization with three issues and a pull request. Two of them differ in every
 * name and id.
 */
interface Scene {
  readonly owner: TestUser;
  readonly org: string;
  readonly team: string;
  readonly repo: TestRepo;
  /** Who opened, is assigned to and is mentioned in the first issue. */
  readonly people: readonly [TestUser, TestUser, TestUser];
  readonly labels: readonly [Label, Label, Label];
  readonly milestones: readonly [Milestone, Milestone];
  readonly base: string;
  readonly word: string;
  /** A second between the updates of the first issue and of the others. */
  readonly second: number;
}

const timeOf = (second: number) => new Date(second * 1000).toISOString();

async function makeScene(second: number): Promise<Scene> {
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const team = await make.team(org, { all: false });
  await db.insert(teamRepositories).values({ teamId: team.id, repoId: repo.id });
  const people = [await make.user(), await make.user(), await make.user()] as const;
  const makeNamed = () => makeLabel({ repo }, { name: freshName("label") });
  const labels = [await makeNamed(), await makeNamed(), await makeNamed()] as const;
  const makeTitled = () => makeMilestone(repo, { title: freshName("milestone") });
  const milestones = [await makeTitled(), await makeTitled()] as const;
  const [[a, b, c], [v1, v2], [poster, assignee, mentioned]] = [labels, milestones, people];
  const [base, word] = [freshName("base"), freshName("word")];

  const label = async (issue: Issue, ...given: Label[]) => {
    const { id: issueId, repoId, isPull, isClosed } = issue;
    const rows = given.map(({ id: labelId }) => ({ issueId, repoId, isPull, isClosed, labelId }));
    await db.insert(issueLabels).values(rows);
  };
  const first = await makeIssue(repo, {
    title: `${word} pie`,
    posterId: poster.id,
    milestoneId: v1.id,
    updatedAt: second * 1000 + 1,
  });
  await label(first, a, b);
  const rows = { issueId: first.id, repoId: repo.id };
  await db.insert(issueAssignees).values({ ...rows, userId: assignee.id, createdAt: 1 });
  await db.insert(issueMentions).values({ ...rows, userId: mentioned.id });
  const fields = { title: `${word} tart`, posterId: poster.id, milestoneId: v2.id };
  await label(await makeIssue(repo, fields), a);
  await label(await makeIssue(repo, { title: "other" }), a, c);
  const pull = await makePull(
    repo,
    { baseBranch: base },
    { title: "a pull", posterId: poster.id, milestoneId: v1.id },
  );
  await label(pull, a, b);
  await makeReview(pull, { reviewerId: assignee.id, state: "request_review" });
  await makeReview(pull, { reviewerId: mentioned.id, state: "approved" });
  return {
    owner,
    org: org.name,
    team: team.name,
    repo,
    people,
    labels,
    milestones,
    base,
    word,
    second,
  };
}

let scenes: readonly [Scene, Scene];
beforeAll(async () => {
  scenes = [await makeScene(2000), await makeScene(3000)];
});

type Query = Readonly<Record<string, string | number>>;
/** A query, what it is in a scene, and the numbers of the issues that it lists. */
type Case = [name: string, queryIn: (scene: Scene) => Query, numbers: readonly number[]];

const names = (...named: readonly { name: string }[]) => named.map(({ name }) => name).join(",");
const titles = (...titled: readonly { title: string }[]) =>
  titled.map(({ title }) => title).join(",");

const LISTS: Case[] = [
  ["a label", ({ labels: [a] }) => ({ labels: a.name }), [4, 3, 2, 1]],
  ["labels", ({ labels: [a, b] }) => ({ labels: names(a, b) }), [4, 1]],
  ["an unknown label", ({ word }) => ({ labels: word, type: "issues" }), [3, 2, 1]],
  ["a required label", ({ labels: [, b] }) => ({ q: `label:${b.name}` }), [4, 1]],
  [
    "required labels",
    ({ labels: [a, , c] }) => ({ q: `label:${a.name} label:${c.name}`, sort: "oldest" }),
    [3],
  ],
  [
    "labels of both kinds",
    ({ labels: [a, b] }) => ({ labels: a.name, q: `label:${b.name}`, type: "issues" }),
    [1],
  ],
  [
    "an excluded label",
    ({ labels: [a, b] }) => ({ labels: a.name, q: `-label:${b.name}` }),
    [3, 2],
  ],
  ["excluded labels", ({ labels: [, b, c] }) => ({ q: `-label:${b.name} -label:${c.name}` }), [2]],
  [
    "milestones by title",
    ({ milestones: [v1, v2] }) => ({ milestones: titles(v1, v2) }),
    [4, 2, 1],
  ],
  ["milestones by id", ({ milestones: [, v2] }) => ({ milestones: v2.id }), [2]],
  ["a required milestone", ({ milestones: [v1] }) => ({ q: `milestone:${v1.title}` }), [4, 1]],
  [
    "required milestones, of which no issue has two",
    ({ milestones: [v1, v2] }) => ({ q: `milestone:${v1.title} milestone:${v2.title}` }),
    [],
  ],
  [
    "people",
    ({ people: [poster, assignee, mentioned] }) => ({
      created_by: poster.name,
      assigned_by: assignee.name.toUpperCase(),
      mentioned_by: mentioned.name,
    }),
    [1],
  ],
  [
    "two users of one role",
    ({ people: [poster, assignee] }) => ({
      q: `assignee:${assignee.name} assignee:${poster.name}`,
    }),
    [],
  ],
  ["an update since", ({ second }) => ({ since: timeOf(second) }), [1]],
  [
    "an update before",
    ({ second, labels: [a] }) => ({ before: timeOf(second), labels: a.name }),
    [4, 3, 2],
  ],
  ["words with a label", ({ word, labels: [, b] }) => ({ q: `${word} label:${b.name}` }), [1]],
  [
    "a requested review",
    ({ people: [, assignee] }) => ({ q: `review-requested:${assignee.name}` }),
    [4],
  ],
  ["a review", ({ people: [, , mentioned] }) => ({ q: `reviewed-by:${mentioned.name}` }), [4]],
  ["a base", ({ base }) => ({ q: `base:${base} no:assignee` }), [4]],
];

const SEARCHES: Case[] = [
  ["labels", ({ labels: [, b, c] }) => ({ labels: names(b, c) }), [4, 3, 1]],
  [
    "labels, milestones and an owner",
    ({ org: owner, labels: [a], milestones: [v1] }) => ({
      owner,
      labels: a.name,
      milestones: v1.title,
    }),
    [4, 1],
  ],
  [
    "labels and a team",
    ({ org: owner, team, labels: [, b, c] }) => ({ owner, team, labels: names(b, c) }),
    [4, 3, 1],
  ],
  [
    "users",
    ({ people: [poster, assignee] }) => ({ q: `author:${poster.name} assignee:${assignee.name}` }),
    [1],
  ],
  ["words with a label", ({ word, labels: [a] }) => ({ q: `${word} label:${a.name}` }), [2, 1]],
  [
    "an excluded label",
    ({ org: owner, labels: [, b] }) => ({ owner, q: `-label:${b.name}` }),
    [3, 2],
  ],
  [
    "milestones and a team",
    ({ org: owner, team, milestones: [v1] }) => ({ owner, team, milestones: v1.title }),
    [4, 1],
  ],
  [
    "labels, milestones and a team",
    ({ org: owner, team, labels, milestones: [v1] }) => ({
      owner,
      team,
      labels: names(...labels),
      milestones: v1.title,
    }),
    [4, 1],
  ],
];

const PULLS: Case[] = [
  [
    "labels, a milestone, a poster and a base",
    ({ labels: [a, b], milestones: [v1], people: [poster], base }) => ({
      labels: `${a.id},${b.id}`,
      milestone: v1.id,
      poster: poster.name,
      base_branch: base,
    }),
    [4],
  ],
  ["a label", ({ labels: [, b] }) => ({ labels: b.id }), [4]],
  [
    "more labels than have sources",
    ({ labels: [a, b] }) => ({ labels: `${a.id},${b.id},90007,90008,90009` }),
    [],
  ],
];

/** Lists in both scenes; returns how often SQL was built in the second. */
async function buildsOfSecond(pathIn: (scene: Scene) => string, [, queryIn, numbers]: Case) {
  let builds = -1;
  for (const scene of scenes) {
    const text = Object.entries(queryIn(scene)).map(([key, value]) => [key, String(value)]);
    const path = `${pathIn(scene)}?${new URLSearchParams(text)}`;
    const { answer, line } = await logged(() => call("GET", path, { as: scene.owner }));
    expect(answer.status, path).toBe(200);
    expect(answer.headers.get("X-Total-Count"), path).toBe(String(numbers.length));
    expect(
      answer.body.map((issue: { number: number }) => issue.number),
      path,
    ).toEqual(numbers);
    builds = line.sqlBuilds;
  }
  return builds;
}

describe("the SQL of a list is built once for all values of", () => {
  it.each(LISTS)("%s", async (...each) => {
    expect(
      await buildsOfSecond(({ repo }) => `/repos/${repo.owner}/${repo.name}/issues`, each),
    ).toBe(0);
  });
});

describe("the SQL of a search is built once for all values of", () => {
  it.each(SEARCHES)("%s", async (...each) => {
    expect(await buildsOfSecond(() => "/repos/issues/search", each)).toBe(0);
  });

  it("the caller's own issues", async () => {
    const builds: number[] = [];
    for (const { people } of scenes) {
      for (const [query, as, count] of [
        ["created=true&state=all", people[0], 3],
        ["review_requested=true", people[1], 1],
        ["reviewed=true", people[2], 1],
      ] as const) {
        const path = `/repos/issues/search?${query}`;
        const { answer, line } = await logged(() => call("GET", path, { as }));
        expect(answer.body, path).toHaveLength(count);
        builds.push(line.sqlBuilds);
      }
    }
    expect(builds.slice(3)).toEqual([0, 0, 0]);
  });
});

describe("the SQL of a list of pull requests is built once for all values of", () => {
  it.each(PULLS)("%s", async (...each) => {
    expect(
      await buildsOfSecond(({ repo }) => `/repos/${repo.owner}/${repo.name}/pulls`, each),
    ).toBe(0);
  });
});

// The platform takes statements of 100,000 bytes: how many names a query has must not decide about
// their length.
it("lists by as many terms as a query may have", async () => {
  const [{ repo, owner }] = scenes;
  for (const keys of [
    ["author"],
    ["label"],
    ["author", "assignee", "mentions", "reviewed-by", "review-requested", "label", "-label"],
  ]) {
    const terms = Array.from({ length: 32 }, (_, at) => `${keys[at % keys.length]}:nobody${at}`);
    const query = new URLSearchParams({
      q: terms.join(" "),
      state: "all",
      sort: "nearduedate",
      since: timeOf(1),
      labels: "a,b",
      milestones: "c,d",
    });
    for (const path of [`/repos/${repo.owner}/${repo.name}/issues`, "/repos/issues/search"]) {
      const answer = await call("GET", `${path}?${query}`, { as: owner });
      expect(answer.status, path).toBe(200);
      expect(answer.body, path).toEqual([]);
    }
  }
});
