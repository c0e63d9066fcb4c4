import { and, asc, eq, gt } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, issues, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { entriesOf, eventsOf, issueStateOf } from "../../support/issue-state.ts";
import { makeIssue } from "../../support/issues.ts";
import { makePull } from "../../support/pulls.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRandom } from "../../git/support/random.ts";

const pathOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;

/** The numbers of the pinned issues, in the order of the list; their positions must be 1, 2, 3. */
async function pinnedIn(repo: TestRepo): Promise<number[]> {
  const { body } = await call("GET", pathOf(repo, "issues/pinned"));
  const pinned = body as { number: number; pin_order: number }[];
  expect(pinned.map((each) => each.pin_order)).toEqual(pinned.map((_, at) => at + 1));
  return pinned.map(({ number }) => number);
}

async function makeWithIssues(count: number, owner?: TestUser) {
  const user = owner ?? (await make.user());
  const repo = await make.repo(user);
  for (let at = 0; at < count; at++) await makeIssue(repo);
  return { owner: user, repo };
}

describe("pins", () => {
  it("are three, in the order of pinning, with entries and events", async () => {
    const { owner, repo } = await makeWithIssues(4);
    const pin = (number: number) =>
      call("POST", pathOf(repo, `issues/${number}/pin`), { as: owner });
    for (const number of [2, 1, 3]) expect((await pin(number)).status).toBe(204);
    const before = await issueStateOf(repo);
    expect(await pin(4)).toMatchObject({
      status: 400,
      body: { message: "at most 3 can be pinned" },
    });
    expect((await pin(1)).status).toBe(409);
    expect(await issueStateOf(repo)).toEqual(before);
    expect(await pinnedIn(repo)).toEqual([2, 1, 3]);
    expect(await eventsOf(repo)).toEqual(["issue.pinned", "issue.pinned", "issue.pinned"]);

    const unpin = () => call("DELETE", pathOf(repo, "issues/2/pin"), { as: owner });
    expect([(await unpin()).status, (await unpin()).status]).toEqual([204, 204]);
    expect(await pinnedIn(repo)).toEqual([1, 3]);
    const [, second] = await db
      .select()
      .from(issues)
      .where(eq(issues.repoId, repo.id))
      .orderBy(asc(issues.number));
    const entries = await entriesOf(second?.id ?? 0);
    expect(entries.map(({ kind }) => kind)).toEqual(["pin", "unpin"]);
    expect((await eventsOf(repo)).at(-1)).toBe("issue.unpinned");
    // A closed issue stays where it is.
    await call("PATCH", pathOf(repo, "issues/1"), { as: owner, json: { state: "closed" } });
    expect(await pinnedIn(repo)).toEqual([1, 3]);
  });

  it("are three at most, without a gap, when many are pinned at once", async () => {
    const { owner, repo } = await makeWithIssues(8);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        call("POST", pathOf(repo, `issues/${at + 1}/pin`), { as: owner }),
      ),
    );
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5);
    expect(await pinnedIn(repo)).toHaveLength(3);
  });

  it("of issues and of pull requests are counted apart", async () => {
    const { owner, repo } = await makeWithIssues(3);
    for (const pinOrder of [3, 1, 2]) await makePull(repo, {}, { pinOrder });
    const allowed = async () => (await call("GET", pathOf(repo, "new_pin_allowed"))).body;
    expect(await allowed()).toEqual({ issues: true, pull_requests: false });
    expect(await pinnedIn(repo)).toEqual([]);
    expect(await call("GET", pathOf(repo, "pulls/pinned"))).toMatchObject({
      status: 200,
      body: [1, 2, 3].map((pin_order) => ({ pin_order, head: { label: "topic" } })),
    });
    for (const number of [1, 2, 3]) {
      await call("POST", pathOf(repo, `issues/${number}/pin`), { as: owner });
    }
    expect(await allowed()).toEqual({ issues: false, pull_requests: false });
  });

  it("move to a position, or behind the last one", async () => {
    const { owner, repo } = await makeWithIssues(4);
    for (const number of [1, 2, 3]) {
      await call("POST", pathOf(repo, `issues/${number}/pin`), { as: owner });
    }
    const move = (number: number, position: number | string) =>
      call("PATCH", pathOf(repo, `issues/${number}/pin/${position}`), { as: owner });
    for (const [number, position, order] of [
      [3, 1, [3, 1, 2]],
      [3, 9, [1, 2, 3]],
      [1, 2, [2, 1, 3]],
      [1, 2, [2, 1, 3]],
      [3, 2, [2, 3, 1]],
    ] as const) {
      expect((await move(number, position)).status).toBe(204);
      expect(await pinnedIn(repo)).toEqual(order);
    }
    const before = await issueStateOf(repo);
    expect((await move(4, 1)).status).toBe(409);
    expect((await move(3, 0)).status).toBe(404);
    expect((await move(3, -1)).status).toBe(404);
    expect((await move(3, "first")).status).toBe(404);
    expect(await issueStateOf(repo)).toEqual(before);
  });

  // The order of a list that is changed by position alone: any gap or double would stay for ever.
  it.each([7, 8])("are 1 to n after random changes at once, seed %i", async (seed) => {
    const { owner, repo } = await makeWithIssues(6);
    const random = makeRandom(seed);
    for (let round = 0; round < 12; round++) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => {
          const path = `issues/${1 + random.below(6)}/pin`;
          const kind = random.below(3);
          if (kind === 0) return call("POST", pathOf(repo, path), { as: owner });
          if (kind === 1) return call("DELETE", pathOf(repo, path), { as: owner });
          const position = 1 + random.below(4);
          return call("PATCH", pathOf(repo, `${path}/${position}`), { as: owner });
        }),
      );
      for (const { status } of answers) expect([204, 400, 409]).toContain(status);
      const pinned = await db
        .select({ pinOrder: issues.pinOrder })
        .from(issues)
        .where(and(eq(issues.repoId, repo.id), gt(issues.pinOrder, 0)))
        .orderBy(asc(issues.pinOrder));
      expect(pinned.map(({ pinOrder }) => pinOrder)).toEqual(pinned.map((_, at) => at + 1));
      expect(pinned.length).toBeLessThanOrEqual(3);
    }
  });

  it("are changed by administrators of the repository, in one that is not archived", async () => {
    const { owner, repo } = await makeWithIssues(1);
    const [writer, stranger] = [await make.user(), await make.user()];
    await make.collaborator(repo, writer, ACCESS.write);
    const before = await issueStateOf(repo);
    const requests = [
      ["POST", "issues/1/pin"],
      ["DELETE", "issues/1/pin"],
      ["PATCH", "issues/1/pin/1"],
    ] as const;
    for (const [method, path] of requests) {
      expect((await call(method, pathOf(repo, path))).status).toBe(401);
      expect((await call(method, pathOf(repo, path), { as: stranger })).status).toBe(403);
      expect((await call(method, pathOf(repo, path), { as: writer })).status).toBe(403);
      const unknown = path.replace("issues/1", "issues/9");
      expect((await call(method, pathOf(repo, unknown), { as: owner })).status).toBe(404);
    }
    expect(await issueStateOf(repo)).toEqual(before);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    for (const [method, path] of requests) {
      expect((await call(method, pathOf(repo, path), { as: owner })).status).toBe(423);
    }
  });

  it("of a disabled unit and of a private repository are hidden", async () => {
    const owner = await make.user();
    const off = await make.repo(owner, { hasIssues: false });
    const secret = await make.repo(owner, { isPrivate: true });
    for (const repo of [off, secret]) {
      await makeIssue(repo, { pinOrder: 1 });
      const as = await make.user();
      expect((await call("GET", pathOf(repo, "issues/pinned"), { as })).status).toBe(404);
    }
    expect((await call("GET", pathOf(secret, "new_pin_allowed"))).status).toBe(404);
  });
});
