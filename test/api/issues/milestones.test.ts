import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { everyUnit, issues, milestones, timelineEntries } from "../../../src/db/schema/index.ts";
import { makeRandom } from "../../git/support/random.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeIssue, makeMilestone } from "../../support/issues.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestRepo } from "../../support/make.ts";

const pathOf = ({ owner, name }: TestRepo, rest: number | string = "") =>
  `/repos/${owner}/${name}/milestones${rest === "" ? "" : `/${rest}`}`;

async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner, fields) };
}

const rowsOf = ({ id }: TestRepo) => db.select().from(milestones).where(eq(milestones.repoId, id));

const titlesIn = (answer: { body: { title: string }[] }) => answer.body.map(({ title }) => title);

describe("POST /repos/{owner}/{repo}/milestones", () => {
  it("creates a milestone with its fields, and keeps the due date as it is sent", async () => {
    const { owner, repo } = await makeWorld();
    const json = { title: " v1 ", description: "first", due_on: "2030-01-02T03:04:05+02:00" };
    const { status, body } = await call("POST", pathOf(repo), { as: owner, json });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      title: "v1",
      description: "first",
      state: "open",
      open_issues: 0,
      closed_issues: 0,
      created_at: expect.any(String),
      updated_at: body.created_at,
      closed_at: null,
      due_on: "2030-01-02T01:04:05Z",
    });
    expect(await call("GET", pathOf(repo, body.id))).toMatchObject({ status: 200, body });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "milestone.created", payload: { milestoneId: body.id } },
    ]);
  });

  it.each([
    [{}, { title: "", state: "open", closed_at: null, due_on: null }],
    [
      { title: "a", state: "none" },
      { title: "a", state: "open" },
    ],
    [{ title: "a", due_on: "0001-01-01T00:00:00Z" }, { due_on: null }],
    [
      { title: "a", state: "closed" },
      { state: "closed", closed_at: expect.any(String) },
    ],
  ])("accepts %j as Gitea does", async (json, body) => {
    const { owner, repo } = await makeWorld();
    expect(await call("POST", pathOf(repo), { as: owner, json })).toMatchObject({
      status: 201,
      body,
    });
  });

  it.each([
    { title: 1 },
    { title: "x".repeat(256) },
    { description: "x".repeat(65_537) },
    { due_on: "soon" },
    { due_on: "1969-12-31T23:59:59Z" },
    { due_on: "9999-12-31T23:00:00-05:00" },
  ])("refuses %j and writes nothing", async (json) => {
    const { owner, repo } = await makeWorld();
    const answer = await call("POST", pathOf(repo), { as: owner, json });
    expect(answer).toMatchObject({ status: 422, body: { message: expect.any(String) } });
    expect(await rowsOf(repo)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("who may change milestones", () => {
  it("admits writers of the issues or the pull requests, and nobody else", async () => {
    const org = await make.org([await make.user()]);
    const repo = await make.repo(org);
    const writers = await Promise.all(
      (["issues", "pulls", "code"] as const).map(async (unit) => {
        const user = await make.user();
        const units = { ...everyUnit(0), [unit]: 2 } as const;
        await make.member(org, await make.team(org, { units }), user);
        return user;
      }),
    );
    const answers = await Promise.all(
      writers.map((as) => call("POST", pathOf(repo), { as, json: { title: "v" } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 403]);
    expect(await rowsOf(repo)).toHaveLength(2);
  });

  it("refuses readers, strangers and anonymous callers without a write", async () => {
    const { repo } = await makeWorld();
    const { owner: hidingOwner, repo: hidden } = await makeWorld({ isPrivate: true });
    const stranger = await make.user();
    const milestone = await makeMilestone(repo);
    const secret = await makeMilestone(hidden);
    const attempts = [
      [stranger, repo, milestone, 403],
      [undefined, repo, milestone, 401],
      [stranger, hidden, secret, 404],
    ] as const;
    for (const [as, where, { id }, status] of attempts) {
      const sending = { ...(as && { as }), json: { title: "mine", state: "closed" } };
      for (const [method, path] of [
        ["POST", pathOf(where)],
        ["PATCH", pathOf(where, id)],
        ["DELETE", pathOf(where, id)],
      ] as const) {
        expect(await call(method, path, sending), `${method} ${path}`).toMatchObject({ status });
      }
    }
    expect(await rowsOf(repo)).toEqual([milestone]);
    expect(await rowsOf(hidden)).toEqual([secret]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await call("GET", pathOf(hidden, secret.id), { as: stranger })).toMatchObject({
      status: 404,
    });
    expect(await call("GET", pathOf(hidden), { as: hidingOwner })).toMatchObject({ status: 200 });
  });

  it("hides the milestones of a repository whose issues and pull requests the caller can't read", async () => {
    const fields = { hasIssues: false, hasPullRequests: false };
    const { owner, repo } = await makeWorld(fields);
    const { id } = await makeMilestone(repo);
    for (const path of [pathOf(repo), pathOf(repo, id)]) {
      expect(await call("GET", path)).toMatchObject({ status: 404 });
      // Who can enable the units reads what they keep.
      expect(await call("GET", path, { as: owner })).toMatchObject({ status: 200 });
    }
    const attempt = { as: owner, json: { title: "x" } };
    expect(await call("PATCH", pathOf(repo, id), attempt)).toMatchObject({ status: 403 });
  });
});

describe("GET /repos/{owner}/{repo}/milestones", () => {
  it("lists those without a due date first, then the nearest, each by title", async () => {
    const { repo } = await makeWorld();
    const makeTitled = (title: string, deadlineAt: number | null = null, isClosed = false) =>
      makeMilestone(repo, { title, deadlineAt, isClosed });
    await makeTitled("late", 9000);
    await makeTitled("v2");
    await makeTitled("soon", 5000, true);
    await makeTitled("v10");
    await makeMilestone((await makeWorld()).repo);
    expect(titlesIn(await call("GET", pathOf(repo)))).toEqual(["v10", "v2", "soon", "late"]);
    const list = async (query: string) => titlesIn(await call("GET", `${pathOf(repo)}?${query}`));
    expect(await list("state=open")).toEqual(["v10", "v2", "late"]);
    expect(await list("state=closed")).toEqual(["soon"]);
    expect(await list("state=none")).toHaveLength(4);
    expect(await list("name=V1")).toEqual(["v10"]);
    expect(await list("name=%25")).toEqual([]);
    expect(await list("name=v&state=closed")).toEqual([]);
    expect(await list("limit=1")).toHaveLength(4);
    const { pages, totals } = await readAll(`${pathOf(repo)}?page=1`, {}, { limit: 3 });
    expect(pages.map((each) => each.length)).toEqual([3, 1]);
    expect(totals).toEqual([4]);
  });
});

describe("GET /repos/{owner}/{repo}/milestones/{id}", () => {
  it("finds an id before a title, and of equal titles the oldest", async () => {
    const { repo } = await makeWorld();
    const first = await makeMilestone(repo, { title: "v1.0" });
    await makeMilestone(repo, { title: "v1.0" });
    const digits = await makeMilestone(repo, { title: String(first.id) });
    const slashed = await makeMilestone(repo, { title: "a/b c" });
    const find = async (name: string | number) => (await call("GET", pathOf(repo, name))).body.id;
    expect(await find("v1.0")).toBe(first.id);
    expect(await find(first.id)).toBe(first.id);
    expect(await find(digits.id)).toBe(digits.id);
    expect(await find("a%2Fb%20c")).toBe(slashed.id);
    for (const name of ["V1.0", "0", "99999999", "-1", "99999999999999999999"]) {
      expect(await call("GET", pathOf(repo, name)), name).toMatchObject({ status: 404 });
    }
  });

  it("finds none of another repository, by no name", async () => {
    const { owner, repo } = await makeWorld();
    const other = await make.repo(owner);
    const { id, title } = await makeMilestone(other);
    for (const name of [id, title]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const sending = { as: owner, ...(method === "PATCH" && { json: { title: "x" } }) };
        expect(await call(method, pathOf(repo, name), sending)).toMatchObject({ status: 404 });
      }
    }
    expect(await rowsOf(other)).toMatchObject([{ id, title }]);
    expect(await eventsOf(other)).toEqual([]);
  });
});

describe("PATCH /repos/{owner}/{repo}/milestones/{id}", () => {
  it("changes what is sent, and moves a due date to the end of its day where it was set", async () => {
    const { owner, repo } = await makeWorld();
    const { id } = await makeMilestone(repo, { title: "v1", description: "first" });
    const json = { title: "v2", due_on: "2031-02-03T23:05:06-05:00", state: "closed" };
    const { status, body } = await call("PATCH", pathOf(repo, "v1"), { as: owner, json });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      title: "v2",
      description: "first",
      state: "closed",
      due_on: "2031-02-04T04:59:59Z",
      closed_at: expect.any(String),
    });
    expect(typesOf(await eventsOf(repo))).toEqual(["milestone.edited", "milestone.closed"]);
    const reopened = await call("PATCH", pathOf(repo, id), { as: owner, json: { state: "open" } });
    expect(reopened.body).toMatchObject({ state: "open", closed_at: null, title: "v2" });
    expect(typesOf(await eventsOf(repo)).slice(2)).toEqual(["milestone.reopened"]);
  });

  it.each([
    {},
    { title: "", state: "none" },
    { title: "  ", due_on: null },
    { title: "v1", description: "first", due_on: "2030-01-01T10:00:00Z", state: "closed" },
  ])("leaves everything as it is, and records nothing: %j", async (json) => {
    const { owner, repo } = await makeWorld();
    const milestone = await makeMilestone(repo, {
      title: "v1",
      description: "first",
      deadlineAt: Date.parse("2030-01-01T23:59:59Z"),
      isClosed: true,
      closedAt: 2000,
    });
    expect(await call("PATCH", pathOf(repo, milestone.id), { as: owner, json })).toMatchObject({
      status: 200,
      body: { title: "v1", state: "closed", updated_at: "1970-01-01T00:00:01Z" },
    });
    expect(await rowsOf(repo)).toEqual([milestone]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("removes a due date by the time that means none, and empties the description", async () => {
    const { owner, repo } = await makeWorld();
    const { id } = await makeMilestone(repo, { deadlineAt: 5000, description: "first" });
    const json = { due_on: "0001-01-01T00:00:00Z", description: "" };
    const { body } = await call("PATCH", pathOf(repo, id), { as: owner, json });
    expect(body).toMatchObject({ due_on: null, description: "" });
  });

  it("records one event for two equal edits at once", async () => {
    const { owner, repo } = await makeWorld();
    const { id } = await makeMilestone(repo);
    const edit = () =>
      call("PATCH", pathOf(repo, id), { as: owner, json: { state: "closed", title: "v9" } });
    const answers = await Promise.all([edit(), edit(), edit()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(typesOf(await eventsOf(repo))).toEqual(["milestone.edited", "milestone.closed"]);
  });
});

describe("DELETE /repos/{owner}/{repo}/milestones/{id}", () => {
  it("takes it from its issues, and leaves their timelines without its name", async () => {
    const { owner, repo } = await makeWorld();
    const { id: milestoneId } = await makeMilestone(repo);
    const issue = await makeIssue(repo, { milestoneId });
    const entry = { repoId: repo.id, issueId: issue.id, createdAt: 1000, updatedAt: 1000 };
    await db
      .insert(timelineEntries)
      .values({ ...entry, kind: "milestone", milestoneId, oldMilestoneId: milestoneId });

    const path = pathOf(repo, milestoneId);
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 404 });
    expect(await rowsOf(repo)).toEqual([]);
    const shown = await call("GET", `/repos/${repo.owner}/${repo.name}/issues/${issue.number}`);
    expect(shown).toMatchObject({ status: 200, body: { milestone: null } });
    const entries = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, issue.id));
    expect(entries).toMatchObject([{ kind: "milestone", milestoneId: null, oldMilestoneId: null }]);
    expect(typesOf(await eventsOf(repo))).toEqual(["milestone.deleted"]);
  });

  it("takes a milestone of many issues from them step by step", async () => {
    const { owner, repo } = await makeWorld();
    const { id: milestoneId } = await makeMilestone(repo);
    const numbers = JSON.stringify(Array.from({ length: 2500 }, (_, at) => at + 1));
    await db.run(sql`
      insert into issues (repo_id, number, title, milestone_id, created_at, updated_at)
      select ${repo.id}, value, 'one of many', ${milestoneId}, 1000, 1000 from json_each(${numbers})`);
    expect(await call("DELETE", pathOf(repo, milestoneId), { as: owner })).toMatchObject({
      status: 204,
    });
    expect(await rowsOf(repo)).toEqual([]);
    const left = await db.select().from(issues).where(eq(issues.repoId, repo.id));
    expect(new Set(left.map((issue) => issue.milestoneId))).toEqual(new Set([null]));
    expect(left).toHaveLength(2500);
    expect(typesOf(await eventsOf(repo))).toEqual(["milestone.deleted"]);
  });
});

describe("the counters of milestones", () => {
  it.each([1, 2, 3])("equal a recount after any operations, seed %i", async (seed) => {
    const random = makeRandom(seed);
    const { owner, repo } = await makeWorld();
    const open: number[] = [];
    for (let at = 0; at < 3; at++) open.push((await makeMilestone(repo)).id);
    const all: number[] = [];
    const pickFrom = (list: number[]) => list[random.below(list.length)];
    for (let step = 0; step < 120; step++) {
      const [id, milestoneId = null] = [pickFrom(all), pickFrom(open)];
      const isThis = eq(issues.id, id ?? 0);
      switch (random.below(7)) {
        case 0:
        case 1: {
          const fields = {
            milestoneId,
            isPull: random.below(2) === 1,
            isClosed: random.below(2) === 1,
          };
          all.push((await makeIssue(repo, fields)).id);
          break;
        }
        case 2:
          await db.update(issues).set({ milestoneId }).where(isThis);
          break;
        case 3:
          await db.update(issues).set({ milestoneId: null }).where(isThis);
          break;
        case 4:
          await db
            .update(issues)
            .set({ isClosed: random.below(2) === 1, milestoneId })
            .where(isThis);
          break;
        case 5:
          await db.delete(issues).where(isThis);
          break;
        default:
          if (random.below(8) > 0 || milestoneId === null) break;
          await call("DELETE", pathOf(repo, milestoneId), { as: owner });
          open.splice(open.indexOf(milestoneId), 1, (await makeMilestone(repo)).id);
      }
    }
    const left = await db.select().from(issues).where(eq(issues.repoId, repo.id));
    expect(left.length).toBeGreaterThan(5);
    const recounted = open.map((id) => {
      const own = left.filter(({ milestoneId }) => milestoneId === id);
      const closed = own.filter(({ isClosed }) => isClosed).length;
      return { id, open_issues: own.length - closed, closed_issues: closed };
    });
    const { body } = await call("GET", pathOf(repo));
    expect(body).toHaveLength(open.length);
    expect(body).toEqual(
      expect.arrayContaining(recounted.map((each) => expect.objectContaining(each))),
    );
  });
});
