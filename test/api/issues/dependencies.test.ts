import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  events,
  issueDependencies,
  repositories,
  timelineEntries,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { BLOCKERS_MAX } from "../../../src/domain/issues/dependencies/add-dependency.ts";
import { makeRandom } from "../../git/support/random.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { serviceWith } from "../../support/service.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const pathOf = (repo: TestRepo, { number }: Issue, rest: "dependencies" | "blocks"): string =>
  `/repos/${repo.owner}/${repo.name}/issues/${number}/${rest}`;
const nameOf = (repo: TestRepo, { number }: Issue) => ({
  owner: repo.owner,
  repo: repo.name,
  index: number,
});

/** Sends a request about two issues, the second one in the body. */
const send = (
  method: "POST" | "DELETE",
  as: TestUser,
  rest: "dependencies" | "blocks",
  [repo, issue]: readonly [TestRepo, Issue],
  [otherRepo, other]: readonly [TestRepo, Issue],
) => call(method, pathOf(repo, issue, rest), { as, json: nameOf(otherRepo, other) });

async function makeWorld(count = 3) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const list: Issue[] = [];
  for (let at = 0; at < count; at++) list.push(await makeIssue(repo, { createdAt: 1000 + at }));
  const [a, b, c] = list as [Issue, Issue, Issue];
  return { owner, repo, list, a, b, c };
}

const addWriter = async (repo: TestRepo): Promise<TestUser> => {
  const user = await make.user();
  const row = { repoId: repo.id, userId: user.id, access: 2 as const, createdAt: 1 };
  await db.insert(collaborations).values(row);
  return user;
};

const entriesOf = async ({ id }: Issue) =>
  (
    await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, id))
      .orderBy(asc(timelineEntries.id))
  ).map(({ kind, otherIssueId }) => [kind, otherIssueId]);

const eventsOf = async ({ id }: TestRepo) =>
  (await db.select().from(events).where(eq(events.repoId, id)).orderBy(asc(events.id))).map(
    ({ type, payload }) => [type, payload["issueId"], payload["blockerId"]],
  );
const linksOf = async ({ id }: Issue) =>
  (await db.select().from(issueDependencies).where(eq(issueDependencies.issueId, id))).map(
    ({ blockerId }) => blockerId,
  );

/** Asserts that nothing about an issue was written. */
async function expectUntouched(...list: Issue[]): Promise<void> {
  for (const issue of list) {
    expect(await linksOf(issue)).toEqual([]);
    expect(await entriesOf(issue)).toEqual([]);
  }
}

describe("a dependency", () => {
  it("is seen from both issues, listed in both timelines, and removed again", async () => {
    const { owner, repo, a, b, c } = await makeWorld();
    expect(await send("POST", owner, "dependencies", [repo, a], [repo, b])).toMatchObject({
      status: 201,
      body: { number: a.number },
    });
    expect(await send("POST", owner, "blocks", [repo, c], [repo, a])).toMatchObject({
      status: 201,
      body: { number: c.number },
    });
    const numbers = async (issue: Issue, rest: "dependencies" | "blocks") => {
      const { body, headers } = await call("GET", pathOf(repo, issue, rest));
      return [headers.get("X-Total-Count"), ...body.map(({ number }: Issue) => number)];
    };
    expect(await numbers(a, "dependencies")).toEqual(["2", c.number, b.number]);
    expect(await numbers(b, "blocks")).toEqual(["1", a.number]);
    expect(await numbers(c, "blocks")).toEqual(["1", a.number]);
    expect(await numbers(b, "dependencies")).toEqual(["0"]);
    expect(await numbers(a, "blocks")).toEqual(["0"]);

    expect((await send("DELETE", owner, "dependencies", [repo, a], [repo, b])).status).toBe(201);
    expect((await send("DELETE", owner, "blocks", [repo, c], [repo, a])).status).toBe(201);
    expect(await numbers(a, "dependencies")).toEqual(["0"]);
    expect(await entriesOf(a)).toEqual([
      ["add_dependency", b.id],
      ["add_dependency", c.id],
      ["remove_dependency", b.id],
      ["remove_dependency", c.id],
    ]);
    expect(await entriesOf(b)).toEqual([
      ["add_dependency", a.id],
      ["remove_dependency", a.id],
    ]);
    expect(await eventsOf(repo)).toEqual([
      ["issue.dependency_added", a.id, b.id],
      ["issue.dependency_added", a.id, c.id],
      ["issue.dependency_removed", a.id, b.id],
      ["issue.dependency_removed", a.id, c.id],
    ]);
  });

  it("is listed by page", async () => {
    const { owner, repo, list, a } = await makeWorld(4);
    for (const each of list.slice(1)) {
      await send("POST", owner, "dependencies", [repo, a], [repo, each]);
    }
    const answer = await call("GET", `${pathOf(repo, a, "dependencies")}?page=2&limit=1`);
    expect(answer.headers.get("X-Total-Count")).toBe("3");
    expect(answer.body.map(({ number }: Issue) => number)).toEqual([list[2]?.number]);
    const past = await call("GET", `${pathOf(repo, a, "dependencies")}?page=9&limit=1`);
    expect(past.body).toEqual([]);
  });

  it("can't be added twice, to the issue itself, or in a circle of any length", async () => {
    const { owner, repo, a, b, c } = await makeWorld();
    await send("POST", owner, "dependencies", [repo, a], [repo, b]);
    await send("POST", owner, "dependencies", [repo, b], [repo, c]);
    const before = await eventsOf(repo);
    for (const [rest, from, to, status] of [
      ["dependencies", a, b, 409],
      ["blocks", b, a, 409],
      ["dependencies", a, a, 422],
      ["blocks", a, a, 422],
      ["dependencies", b, a, 422],
      ["dependencies", c, a, 422],
      ["blocks", a, c, 422],
    ] as const) {
      const answer = await send("POST", owner, rest, [repo, from], [repo, to]);
      expect([rest, answer.status]).toEqual([rest, status]);
      expect(answer.body.message).not.toBe("");
    }
    expect(await eventsOf(repo)).toEqual(before);
    expect(await linksOf(c)).toEqual([]);
    expect(await entriesOf(c)).toHaveLength(1);
  });

  it("is one of a hundred at most", async () => {
    const { owner, repo, list, a } = await makeWorld(BLOCKERS_MAX + 2);
    for (const each of list.slice(1, -1)) {
      await db
        .insert(issueDependencies)
        .values({ issueId: a.id, blockerId: each.id, createdAt: 1000 });
    }
    const last = list.at(-1) as Issue;
    const answer = await send("POST", owner, "dependencies", [repo, a], [repo, last]);
    expect(answer.status).toBe(422);
    expect(await linksOf(a)).toHaveLength(BLOCKERS_MAX);
  });

  it("that does not exist can't be removed", async () => {
    const { owner, repo, a, b } = await makeWorld();
    await send("POST", owner, "dependencies", [repo, a], [repo, b]);
    const entries = await entriesOf(a);
    expect((await send("DELETE", owner, "dependencies", [repo, b], [repo, a])).status).toBe(404);
    expect((await send("DELETE", owner, "blocks", [repo, a], [repo, b])).status).toBe(404);
    expect(await entriesOf(a)).toEqual(entries);
    expect(await linksOf(a)).toEqual([b.id]);
  });

  it.each([{}, { index: 2 }, { owner: "x", repo: "y" }, { owner: "x", repo: "y", index: 0 }])(
    "on an issue that is not named wholly is not found: %j",
    async (json) => {
      const { owner, repo, a } = await makeWorld();
      for (const rest of ["dependencies", "blocks"] as const) {
        for (const method of ["POST", "DELETE"] as const) {
          expect((await call(method, pathOf(repo, a, rest), { as: owner, json })).status).toBe(404);
        }
      }
      await expectUntouched(a);
    },
  );

  it("on an issue that is not named by an integer is refused", async () => {
    const { owner, repo, a } = await makeWorld();
    const json = { owner: repo.owner, repo: repo.name, index: "2" };
    const answer = await call("POST", pathOf(repo, a, "dependencies"), { as: owner, json });
    expect(answer.status).toBe(422);
    await expectUntouched(a);
  });
});

describe("the graph of dependencies", () => {
  it(
    "never has a circle, whatever is added and removed at once",
    { timeout: 120_000 },
    async () => {
      const { owner, repo, list } = await makeWorld(7);
      const second = await make.repo(owner);
      const all: [TestRepo, Issue][] = list.map((issue) => [repo, issue]);
      for (let at = 0; at < 3; at++) all.push([second, await makeIssue(second)]);
      const random = makeRandom(7);
      const statuses = new Set<number>();
      for (let round = 0; round < 12; round++) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => {
            const [from, to] = [random.pick(all), random.pick(all)];
            const method = random.below(4) === 0 ? "DELETE" : "POST";
            const rest = random.below(2) === 0 ? "dependencies" : "blocks";
            return send(method, owner, rest, from, to);
          }),
        );
        for (const { status } of answers) statuses.add(status);
        const ids = new Set(all.map(([, { id }]) => id));
        const links = (await db.select().from(issueDependencies)).filter(({ issueId }) =>
          ids.has(issueId),
        );
        expect(findCircle(links)).toBeUndefined();
      }
      expect([...statuses].toSorted((x, y) => x - y)).toEqual([201, 404, 409, 422]);
    },
  );

  it("refuses one of two links that close a circle at the same moment", async () => {
    for (let round = 0; round < 10; round++) {
      const { owner, repo, a, b, c } = await makeWorld();
      const answers = await Promise.all([
        send("POST", owner, "dependencies", [repo, a], [repo, b]),
        send("POST", owner, "dependencies", [repo, b], [repo, c]),
        send("POST", owner, "dependencies", [repo, c], [repo, a]),
      ]);
      const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
      expect(statuses).toEqual([201, 201, 422]);
    }
  });
});

/** An issue that waits for itself, directly or not. */
function findCircle(links: readonly { issueId: number; blockerId: number }[]): number | undefined {
  const blockers = Map.groupBy(links, ({ issueId }) => issueId);
  const reaches = (from: number, target: number, seen: Set<number>): boolean =>
    (blockers.get(from) ?? []).some(({ blockerId }) => {
      if (blockerId === target) return true;
      if (seen.has(blockerId)) return false;
      seen.add(blockerId);
      return reaches(blockerId, target, seen);
    });
  return [...blockers.keys()].find((id) => reaches(id, id, new Set()));
}

describe("dependencies across repositories", () => {
  it("need write access to the blocked issue, and read access to the other", async () => {
    const { owner, repo, a } = await makeWorld();
    const stranger = await make.user();
    const own = await make.repo(stranger);
    const theirs = await makeIssue(own);
    expect((await send("POST", stranger, "dependencies", [repo, a], [own, theirs])).status).toBe(
      404,
    );
    expect((await send("POST", stranger, "blocks", [own, theirs], [repo, a])).status).toBe(404);
    expect((await send("POST", owner, "blocks", [repo, a], [own, theirs])).status).toBe(404);
    await expectUntouched(a, theirs);
    expect((await send("POST", stranger, "dependencies", [own, theirs], [repo, a])).status).toBe(
      201,
    );
    const listed = await call("GET", pathOf(repo, a, "blocks"));
    expect(listed.body).toMatchObject([
      { id: theirs.id, repository: { full_name: `${stranger.name}/${own.name}` } },
    ]);
    expect((await send("DELETE", owner, "blocks", [repo, a], [own, theirs])).status).toBe(404);
    expect(await linksOf(theirs)).toEqual([a.id]);
  });

  it("are refused for posters without write access", async () => {
    const { repo, b } = await makeWorld();
    const poster = await make.user();
    const issue = await makeIssue(repo, { posterId: poster.id });
    expect((await send("POST", poster, "dependencies", [repo, issue], [repo, b])).status).toBe(404);
    await expectUntouched(issue, b);
  });

  it("hide what the reader may not see, and show the rest", async () => {
    const { owner, repo, a, b } = await makeWorld();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const secret = await makeIssue(hidden, { title: "a secret", isClosed: true });
    await send("POST", owner, "dependencies", [repo, a], [hidden, secret]);
    await send("POST", owner, "dependencies", [hidden, secret], [repo, b]);
    const writer = await addWriter(repo);
    for (const as of [undefined, writer, await make.user()]) {
      const answer = await call("GET", pathOf(repo, a, "dependencies"), as ? { as } : {});
      expect(answer.headers.get("X-Total-Count")).toBe("1");
      expect(answer.body).toMatchObject([
        { id: 0, number: 0, title: "HIDDEN", state: "open", repository: null, user: null, url: "" },
      ]);
      expect(JSON.stringify(answer.body)).not.toMatch(/secret/);
      const blocked = await call("GET", pathOf(repo, b, "blocks"), as ? { as } : {});
      expect([blocked.headers.get("X-Total-Count"), blocked.body]).toEqual(["0", []]);
    }
    const seen = await call("GET", pathOf(repo, a, "dependencies"), { as: owner });
    expect(seen.body).toMatchObject([{ id: secret.id, title: "a secret", state: "closed" }]);
    expect((await call("GET", pathOf(repo, b, "blocks"), { as: owner })).body).toHaveLength(1);
  });

  it("can't name an issue that the caller may not see", async () => {
    const { owner, repo, a, b } = await makeWorld();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const secret = await makeIssue(hidden);
    const writer = await addWriter(repo);
    const missing = { ...secret, number: 99 };
    for (const [rest, method] of [
      ["dependencies", "POST"],
      ["blocks", "POST"],
      ["dependencies", "DELETE"],
      ["blocks", "DELETE"],
    ] as const) {
      const answers = await Promise.all([
        send(method, writer, rest, [repo, a], [hidden, secret]),
        send(method, writer, rest, [repo, a], [hidden, missing]),
      ]);
      expect(answers.map(({ status, body }) => [status, body])).toEqual([
        [404, answers[0].body],
        [404, answers[0].body],
      ]);
    }
    await expectUntouched(a, b, secret);
  });

  it("of a unit that is off are not shown", async () => {
    const { owner, repo, a } = await makeWorld();
    const other = await make.repo(owner);
    const issue = await makeIssue(other);
    await send("POST", owner, "dependencies", [repo, a], [other, issue]);
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, other.id));
    const answer = await call("GET", pathOf(repo, a, "dependencies"));
    expect(answer.body).toMatchObject([{ id: 0, title: "HIDDEN" }]);
    expect((await call("GET", pathOf(other, issue, "blocks"))).status).toBe(404);
    expect((await call("GET", pathOf(repo, a, "dependencies"), { as: owner })).body).toMatchObject([
      { id: issue.id },
    ]);
  });

  it("are refused where the service does not allow them", async () => {
    const { owner, repo, a, b } = await makeWorld();
    const other = await make.repo(owner);
    const issue = await makeIssue(other);
    const callStrict = serviceWith({ ALLOW_CROSS_REPOSITORY_DEPENDENCIES: "false" });
    const path = pathOf(repo, a, "dependencies");
    const refused = await callStrict("POST", path, { as: owner, json: nameOf(other, issue) });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: "CrossRepositoryDependencies not enabled" },
    });
    await expectUntouched(a, issue);
    const answer = await callStrict("POST", path, { as: owner, json: nameOf(repo, b) });
    expect(answer.status).toBe(201);
  });

  it("are refused where the other owner blocks the caller", async () => {
    const { owner, repo, a } = await makeWorld();
    const stranger = await make.user();
    const own = await make.repo(stranger);
    const theirs = await makeIssue(own);
    const row = { blockerId: owner.id, blockedId: stranger.id, note: "", createdAt: 1 };
    await db.insert(blocks).values(row);
    expect((await send("POST", stranger, "dependencies", [own, theirs], [repo, a])).status).toBe(
      403,
    );
    await expectUntouched(a, theirs);
  });
});

describe("a repository", () => {
  it("with dependencies switched off has none, and still lists what its issues block", async () => {
    const { owner, repo, a, b } = await makeWorld();
    const { issueSettings } = repo;
    await db
      .update(repositories)
      .set({ issueSettings: { ...issueSettings, enableIssueDependencies: false } })
      .where(eq(repositories.id, repo.id));
    expect((await call("GET", pathOf(repo, a, "dependencies"), { as: owner })).status).toBe(404);
    expect(await call("GET", pathOf(repo, a, "blocks"), { as: owner })).toMatchObject({
      status: 200,
      body: [],
    });
    for (const rest of ["dependencies", "blocks"] as const) {
      for (const method of ["POST", "DELETE"] as const) {
        expect((await send(method, owner, rest, [repo, a], [repo, b])).status).toBe(404);
      }
    }
    await expectUntouched(a, b);
  });

  it("that is archived changes nothing, and gets no entries of others", async () => {
    const { owner, repo, a, b } = await makeWorld();
    const archived = await make.repo(owner, { archivedAt: 1000 });
    const [old, older] = [await makeIssue(archived), await makeIssue(archived)];
    for (const rest of ["dependencies", "blocks"] as const) {
      for (const method of ["POST", "DELETE"] as const) {
        const answer = await send(method, owner, rest, [archived, old], [archived, older]);
        expect(answer.status).toBe(423);
      }
    }
    expect((await send("POST", owner, "blocks", [repo, a], [archived, old])).status).toBe(423);
    await expectUntouched(old, older, a);
    expect((await send("POST", owner, "dependencies", [repo, b], [archived, old])).status).toBe(
      201,
    );
    expect(await entriesOf(old)).toEqual([]);
    expect(await entriesOf(b)).toEqual([["add_dependency", old.id]]);
  });

  it("that is deleted takes its dependencies along", async () => {
    const { owner, repo, a } = await makeWorld();
    const other = await make.repo(owner);
    await send("POST", owner, "dependencies", [repo, a], [other, await makeIssue(other)]);
    await db.delete(repositories).where(eq(repositories.id, other.id));
    expect((await call("GET", pathOf(repo, a, "dependencies"))).body).toEqual([]);
    const timeline = await call(
      "GET",
      `/repos/${repo.owner}/${repo.name}/issues/${a.number}/timeline`,
    );
    expect(timeline.body).toEqual([]);
    // What is left of a deleted repository is removed in steps, and blocks nothing meanwhile.
    const path = `/repos/${repo.owner}/${repo.name}/issues/${a.number}`;
    const closed = await call("PATCH", path, { as: owner, json: { state: "closed" } });
    expect(closed.status).toBe(201);
  });

  it("does not close an issue before those that block it", async () => {
    const { owner, repo, a, b } = await makeWorld();
    await send("POST", owner, "dependencies", [repo, a], [repo, b]);
    const close = (issue: Issue) =>
      call("PATCH", `/repos/${repo.owner}/${repo.name}/issues/${issue.number}`, {
        as: owner,
        json: { state: "closed" },
      });
    expect((await close(a)).status).toBe(412);
    expect((await close(b)).status).toBe(201);
    expect((await close(a)).status).toBe(201);
  });
});
