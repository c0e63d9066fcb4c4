import { beforeAll, describe, expect, it } from "vitest";

import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  repositories,
  type Label,
  type Milestone,
} from "../../../src/db/schema/index.ts";
import { eq } from "drizzle-orm";
import { ISSUE_SORTS, type IssueSort } from "../../../src/domain/issues/lists/issue-query.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

// A list under any combination of filters is what a loop over all issues gives, in its order, on
// each of its pages.

/** Numbers that look random and are the same in every run. */
function numbersFrom(seed: number) {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const oneOf = <T>(list: readonly T[]): T => list[next(list.length)] as T;
  return { next, oneOf, is: (share: number) => next(1000) < share * 1000 };
}

interface Model {
  number: number;
  isPull: boolean;
  isClosed: boolean;
  poster: string;
  assignees: string[];
  mentioned: string[];
  labels: string[];
  milestone: string | undefined;
  words: string[];
  updatedAt: number;
  deadlineAt: number | null;
  closedAt: number | null;
  comments: number;
}

const COUNT = 90;
const LABELS = ["rare", "some", "common", "twin"];
const MILESTONES = ["v1", "v2", "v3"];
const WORDS = ["amber", "basil", "cedar"];

let owner: TestUser;
let repo: TestRepo;
let names: string[];
const models: Model[] = [];

beforeAll(async () => {
  const { next, oneOf, is } = numbersFrom(7);
  owner = await make.user();
  const org = await make.org([owner]);
  repo = await make.repo(org);
  const users = [owner, await make.user(), await make.user()];
  names = users.map(({ name }) => name);
  const idOf = (name: string) => users.find((user) => user.name === name)?.id as number;
  const labels: Label[] = await Promise.all(LABELS.map((name) => makeLabel({ repo }, { name })));
  // A label of the organization has the same name as one of the repository, and another one a name
  // of its own.
  labels.push(
    await makeLabel({ org }, { name: "twin" }),
    await makeLabel({ org }, { name: "org" }),
  );
  const milestones: Milestone[] = await Promise.all(
    MILESTONES.map((title) => makeMilestone(repo, { title })),
  );
  for (let at = 0; at < COUNT; at += 1) {
    const chosen = labels.filter(({ name }) =>
      is({ rare: 0.04, some: 0.2, common: 0.6, twin: 0.2, org: 0.3 }[name] ?? 0),
    );
    const milestone = is(0.6) ? oneOf(milestones) : undefined;
    const model: Model = {
      number: at + 1,
      isPull: is(0.3),
      isClosed: is(0.4),
      poster: oneOf(names),
      assignees: names.filter(() => is(0.2)),
      mentioned: names.filter(() => is(0.2)),
      labels: [...new Set(chosen.map(({ name }) => name))],
      milestone: milestone?.title,
      words: WORDS.filter(() => is(0.3)),
      updatedAt: next(40) * 1000,
      deadlineAt: is(0.4) ? next(10) * 1000 : null,
      comments: next(3),
      closedAt: null,
    };
    if (model.isClosed) model.closedAt = next(40) * 1000;
    models.push(model);
    const { isPull, isClosed, updatedAt, deadlineAt, closedAt, number } = model;
    const repoId = repo.id;
    const [issue] = await db
      .insert(issues)
      .values({
        repoId,
        number,
        isPull,
        isClosed,
        updatedAt,
        deadlineAt,
        closedAt,
        createdAt: at,
        posterId: idOf(model.poster),
        title: `${model.words.join(" ")} title`,
        milestoneId: milestone?.id ?? null,
      })
      .returning();
    const issueId = issue?.id as number;
    if (chosen.length > 0) {
      const rows = chosen.map(({ id }) => ({ issueId, repoId, isPull, isClosed, labelId: id }));
      await db.insert(issueLabels).values(rows);
    }
    const people = (list: string[]) =>
      list.map((name) => ({ issueId, repoId, userId: idOf(name), createdAt: 1 }));
    if (model.assignees.length > 0) await db.insert(issueAssignees).values(people(model.assignees));
    if (model.mentioned.length > 0) await db.insert(issueMentions).values(people(model.mentioned));
    for (let comment = 0; comment < model.comments; comment += 1) {
      if (issue) await makeComment(issue, { body: "nothing" });
    }
  }
  await db.update(repositories).set({ lastIssueNumber: COUNT }).where(eq(repositories.id, repo.id));
});

const KEYS: Readonly<Record<IssueSort, (model: Model) => number>> = {
  newest: ({ number }) => -number,
  oldest: ({ number }) => number,
  recentupdate: ({ updatedAt }) => -updatedAt,
  leastupdate: ({ updatedAt }) => updatedAt,
  mostcomment: ({ comments }) => -comments,
  leastcomment: ({ comments }) => comments,
  nearduedate: ({ deadlineAt }) => deadlineAt ?? Number.MAX_SAFE_INTEGER,
  farduedate: ({ deadlineAt }) => -(deadlineAt ?? -1),
  recentclose: ({ closedAt }) => -(closedAt ?? -1),
};
const DESCENDING = new Set<IssueSort>([
  "newest",
  "recentupdate",
  "mostcomment",
  "farduedate",
  "recentclose",
]);

type Test = (model: Model) => boolean;

/** A random query with the condition that it means. */
function makeQuery(seed: number) {
  const { next, oneOf, is } = numbersFrom(seed * 7919 + 1);
  const query = new URLSearchParams();
  const terms: string[] = [];
  const tests: Test[] = [];
  const state = oneOf(["open", "closed", "all", "all", undefined]);
  if (state) query.set("state", state);
  if (state !== "all") tests.push(({ isClosed }) => isClosed === (state === "closed"));
  const type = oneOf(["issues", "pulls", undefined, undefined]);
  if (type) query.set("type", type);
  if (type) tests.push(({ isPull }) => isPull === (type === "pulls"));
  const known = [...LABELS, "org"];
  if (is(0.4)) {
    const given = [...known, "nothere"].filter(() => is(0.25));
    query.set("labels", given.join(","));
    const real = given.filter((name) => name !== "nothere");
    tests.push(({ labels }) => real.every((name) => labels.includes(name)));
  }
  if (is(0.3)) {
    const given = [...MILESTONES, "nothere"].filter(() => is(0.4));
    query.set("milestones", given.join(","));
    const real = given.filter((title) => title !== "nothere");
    tests.push(({ milestone }) => real.length === 0 || real.includes(milestone ?? ""));
  }
  const people = [
    ["created_by", ({ poster }: Model, name: string) => poster === name],
    ["assigned_by", ({ assignees }: Model, name: string) => assignees.includes(name)],
    ["mentioned_by", ({ mentioned }: Model, name: string) => mentioned.includes(name)],
  ] as const;
  for (const [key, has] of people) {
    if (!is(0.25)) continue;
    const name = oneOf(names);
    query.set(key, name);
    tests.push((model) => has(model, name));
  }
  if (is(0.25)) {
    const since = next(40) * 1000;
    query.set("since", new Date(since).toISOString());
    tests.push(({ updatedAt }) => updatedAt >= since);
  }
  if (is(0.15)) {
    const before = next(40) * 1000;
    query.set("before", new Date(before).toISOString());
    tests.push(({ updatedAt }) => updatedAt <= before);
  }
  if (is(0.2)) {
    const name = oneOf([...known, "nothere"]);
    terms.push(`label:${name}`);
    tests.push(({ labels }) => labels.includes(name));
  }
  if (is(0.2)) {
    const name = oneOf([...known, "nothere"]);
    terms.push(`-label:${name}`);
    tests.push(({ labels }) => !labels.includes(name));
  }
  if (is(0.15)) {
    const title = oneOf([...MILESTONES, "nothere"]);
    terms.push(`milestone:${title}`);
    tests.push(({ milestone }) => milestone === title);
  }
  if (is(0.15)) {
    terms.push("no:assignee");
    tests.push(({ assignees }) => assignees.length === 0);
  }
  if (is(0.2)) {
    const word = oneOf(WORDS);
    terms.push(word.toUpperCase());
    tests.push(({ words }) => words.includes(word));
  }
  if (terms.length > 0) query.set("q", terms.join(" "));
  const sort = oneOf(ISSUE_SORTS);
  if (is(0.7)) query.set("sort", sort);
  return { query, tests, sort: (query.get("sort") ?? "newest") as IssueSort, size: 1 + next(20) };
}

/** What the query means, by a loop. */
function expectedOf({ tests, sort }: Pick<ReturnType<typeof makeQuery>, "tests" | "sort">) {
  const direction = DESCENDING.has(sort) ? -1 : 1;
  return models
    .filter((model) => tests.every((test) => test(model)))
    .toSorted((a, b) => KEYS[sort](a) - KEYS[sort](b) || direction * (a.number - b.number))
    .map(({ number }) => number);
}

describe("a list under random filters", () => {
  it.each(Array.from({ length: 150 }, (_, seed) => [seed]))(
    "is that of a loop: %i",
    async (seed) => {
      const made = makeQuery(seed);
      const { query, size } = made;
      const expected = expectedOf(made);
      const listed: number[] = [];
      for (let page = 1; page === 1 || listed.length < expected.length; page += 1) {
        query.set("page", String(page));
        query.set("limit", String(size));
        const path = `/repos/${repo.owner}/${repo.name}/issues?${query}`;
        const answer = await call("GET", path, { as: owner });
        expect(answer.status, path).toBe(200);
        expect(answer.headers.get("X-Total-Count"), path).toBe(String(expected.length));
        const numbers = answer.body.map((issue: { number: number }) => issue.number);
        expect(numbers, path).toEqual(expected.slice((page - 1) * size, page * size));
        listed.push(...numbers);
        if (numbers.length === 0) break;
      }
      expect(listed).toEqual(expected);
    },
  );
});
