import { beforeAll, describe, expect, it } from "vitest";

import { repositories, type Label, type Milestone } from "../../../src/db/schema/index.ts";
import { eq } from "drizzle-orm";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { attachLabel, makeComment, makeLabel, makeMilestone } from "../../support/issues.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { makeRandom } from "../../git/support/random.ts";

// A list under any combination of filters is what a loop over all pull requests gives, in its
// order, on each page.

const COUNT = 60;
const BRANCHES = ["main", "dev", "release"];

interface Model {
  readonly number: number;
  readonly isClosed: boolean;
  readonly closedAt: number;
  readonly updatedAt: number;
  readonly comments: number;
  readonly poster: string;
  readonly base: string;
  readonly head: string;
  readonly labels: readonly number[];
  readonly milestone: number | undefined;
}

let owner: TestUser;
let repo: TestRepo;
let names: string[];
let labels: Label[];
let milestones: Milestone[];
const models: Model[] = [];

beforeAll(async () => {
  const random = makeRandom(5);
  const is = (share: number) => random.below(1000) < share * 1000;
  const oneOf = <T>(list: readonly T[]): T => random.pick(list);
  owner = await make.user();
  const org = await make.org([owner]);
  repo = await make.repo(org);
  const users = [owner, await make.user()];
  names = users.map(({ name }) => name);
  labels = [
    await makeLabel({ repo }),
    await makeLabel({ repo }),
    await makeLabel({ org }),
    // It exists, but in another repository.
    await makeLabel({ repo: await make.repo(owner) }),
  ];
  milestones = [await makeMilestone(repo), await makeMilestone(repo)];
  for (let number = 1; number <= COUNT; number += 1) {
    if (is(0.2)) {
      await makeIssue(repo);
      continue;
    }
    const isClosed = is(0.5);
    const poster = oneOf(users);
    const milestone = is(0.5) ? oneOf(milestones) : undefined;
    const chosen = labels.slice(0, 3).filter(() => is(0.4));
    const model: Model = {
      number,
      isClosed,
      closedAt: isClosed ? 1000 * (1 + random.below(20)) : 0,
      updatedAt: random.below(20) * 1000,
      comments: random.below(3),
      poster: poster.name,
      base: oneOf(BRANCHES),
      head: oneOf(BRANCHES),
      labels: chosen.map(({ id }) => id),
      milestone: milestone?.id,
    };
    models.push(model);
    const pull = await makePull(
      repo,
      { baseBranch: model.base, headBranch: model.head },
      {
        number,
        isClosed,
        closedAt: model.closedAt || null,
        updatedAt: model.updatedAt,
        posterId: poster.id,
        milestoneId: milestone?.id ?? null,
      },
    );
    if (chosen.length > 0) await attachLabel(pull, ...chosen);
    for (let comment = 0; comment < model.comments; comment += 1) await makeComment(pull);
  }
  await db.update(repositories).set({ lastIssueNumber: COUNT }).where(eq(repositories.id, repo.id));
});

const KEYS: Readonly<Record<string, (model: Model) => number>> = {
  newest: ({ number }) => -number,
  priority: ({ number }) => -number,
  oldest: ({ number }) => number,
  recentupdate: ({ updatedAt }) => -updatedAt,
  leastupdate: ({ updatedAt }) => updatedAt,
  mostcomment: ({ comments }) => -comments,
  leastcomment: ({ comments }) => comments,
  recentclose: ({ closedAt }) => -closedAt,
};
const ASCENDING = new Set(["oldest", "leastupdate", "leastcomment"]);

/** A random query with the numbers that it means. */
function makeQuery(seed: number) {
  const random = makeRandom(seed * 7919 + 1);
  const is = (share: number) => random.below(1000) < share * 1000;
  const oneOf = <T>(list: readonly T[]): T => random.pick(list);
  const query = new URLSearchParams();
  const tests: ((model: Model) => boolean)[] = [];
  const state = oneOf(["open", "closed", "all", "all", ""]);
  if (state) query.set("state", state);
  if (state !== "all") tests.push(({ isClosed }) => isClosed === (state === "closed"));
  const labelIds = labels.map(({ id }) => id).filter((_, at) => is(at === 3 ? 0.05 : 0.2));
  for (const id of labelIds) query.append("labels", String(id));
  tests.push((model) => labelIds.every((id) => model.labels.includes(id)));
  if (is(0.25)) {
    const { id } = oneOf(milestones);
    query.set("milestone", String(id));
    tests.push(({ milestone }) => milestone === id);
  }
  if (is(0.25)) {
    const name = oneOf(names);
    query.set("poster", name.toUpperCase());
    tests.push(({ poster }) => poster === name);
  }
  if (is(0.3)) {
    const branch = oneOf([...BRANCHES, "nothere"]);
    query.set("base_branch", branch);
    tests.push(({ base }) => base === branch);
  }
  if (is(0.2)) {
    const branch = oneOf(BRANCHES);
    query.set("head_branch", branch);
    tests.push(({ head }) => head === branch);
  }
  const sort = oneOf(Object.keys(KEYS));
  if (is(0.8)) query.set("sort", sort);
  const key = query.get("sort") ?? "newest";
  const direction = ASCENDING.has(key) ? 1 : -1;
  const keyOf = KEYS[key] as (model: Model) => number;
  const expected = models
    .filter((model) => tests.every((test) => test(model)))
    .toSorted((a, b) => keyOf(a) - keyOf(b) || direction * (a.number - b.number))
    .map(({ number }) => number);
  return { query, expected, size: 1 + random.below(20) };
}

describe("a list of pull requests under random filters", () => {
  it.each(Array.from({ length: 100 }, (_, seed) => [seed]))(
    "is that of a loop: %i",
    async (seed) => {
      const { query, expected, size } = makeQuery(seed);
      const listed: number[] = [];
      for (let page = 1; page === 1 || listed.length < expected.length; page += 1) {
        query.set("page", String(page));
        query.set("limit", String(size));
        const path = `/repos/${repo.owner}/${repo.name}/pulls?${query}`;
        const answer = await call("GET", path, { as: owner });
        expect(answer.status, path).toBe(200);
        expect(answer.headers.get("X-Total-Count"), path).toBe(String(expected.length));
        const numbers = answer.body.map((each: { number: number }) => each.number);
        expect(numbers, path).toEqual(expected.slice((page - 1) * size, page * size));
        if (numbers.length === 0) break;
        listed.push(...numbers);
      }
      expect(listed).toEqual(expected);
    },
  );
});
