import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  everyUnit,
  issueAssignees,
  timelineEntries,
  trackedTimes,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { DEFAULT_ISSUE_SETTINGS } from "../../../src/domain/repos/repository/default-settings.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeIssue, makeTime } from "../../support/issues.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const FOR_ALL = { ...DEFAULT_ISSUE_SETTINGS, allowOnlyContributorsToTrackTime: false };
const OFF = { ...DEFAULT_ISSUE_SETTINGS, enableTimeTracker: false };

async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, writer] = [await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, writer, 2);
  return { owner, writer, repo, issue: await makeIssue(repo) };
}

const pathOf = ({ owner, name }: TestRepo, { number }: Issue, rest = "") =>
  `/repos/${owner}/${name}/issues/${number}/times${rest}`;
const repoPathOf = ({ owner, name }: TestRepo, rest = "") => `/repos/${owner}/${name}/times${rest}`;

const timesOf = ({ id }: Issue) =>
  db.select().from(trackedTimes).where(eq(trackedTimes.issueId, id)).orderBy(asc(trackedTimes.id));

async function timelineOf({ id }: Issue) {
  const rows = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, id))
    .orderBy(asc(timelineEntries.id));
  return rows.map(({ kind, body, posterId, timeId }) => ({ kind, body, posterId, timeId }));
}

const secondsIn = (answer: { body: { time: number }[] }) => answer.body.map(({ time }) => time);

describe("POST /repos/{owner}/{repo}/issues/{index}/times", () => {
  it("adds time, with an entry of the timeline and an event", async () => {
    const { writer, repo, issue } = await makeWorld();
    const json = { time: 3660, created: "2026-01-02T03:04:05+01:00", user_name: "" };
    const { status, body } = await call("POST", pathOf(repo, issue), { as: writer, json });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.any(Number),
      time: 3660,
      created: "2026-01-02T02:04:05Z",
      user_id: writer.id,
      user_name: writer.name,
      issue_id: issue.id,
      issue: { id: issue.id, number: issue.number, repository: { id: repo.id } },
    });
    expect(await timelineOf(issue)).toEqual([
      { kind: "add_time_manual", body: "1 hour 1 minute", posterId: writer.id, timeId: body.id },
    ]);
    const about = { issueId: issue.id, number: 1, isPull: false, userId: writer.id };
    expect(await eventsOf(repo)).toMatchObject([
      { type: "issue.time_added", actorId: writer.id, payload: { ...about, timeId: body.id } },
    ]);
  });

  it("takes the time that clients in Go send for none as now", async () => {
    const { owner, repo, issue } = await makeWorld();
    const json = { time: 1, created: "0001-01-01T00:00:00Z", user_name: owner.name };
    const { body } = await call("POST", pathOf(repo, issue), { as: owner, json });
    expect(Math.abs(Date.parse(body.created) - Date.now())).toBeLessThan(60_000);
  });

  it("lets administrators add time for others, which the timeline lists as theirs", async () => {
    const { owner, writer, repo, issue } = await makeWorld();
    const json = { time: 120, user_name: writer.name.toUpperCase() };
    const { status, body } = await call("POST", pathOf(repo, issue), { as: owner, json });
    expect(status).toBe(200);
    expect(body).toMatchObject({ user_id: writer.id, time: 120 });
    expect(await timelineOf(issue)).toMatchObject([{ body: "2 minutes", posterId: writer.id }]);
    expect(await eventsOf(repo)).toMatchObject([
      { actorId: owner.id, payload: { userId: writer.id } },
    ]);
    const own = { time: 5, user_name: writer.name };
    expect(await call("POST", pathOf(repo, issue), { as: writer, json: own })).toMatchObject({
      status: 200,
    });
  });

  const refused = [
    ["zero", { time: 0 }, 422],
    ["a negative time", { time: -5 }, 422],
    ["a fraction", { time: 1.5 }, 422],
    ["too long a time", { time: 2 ** 31 }, 422],
    ["no time", {}, 422],
    ["another type", { time: "1h" }, 422],
    ["a date that is none", { time: 1, created: "soon" }, 422],
    ["a date before 1970", { time: 1, created: "1969-01-01T00:00:00Z" }, 422],
    ["an unknown user", { time: 1, user_name: "nobody-at-all" }, 422],
  ] as const;
  it.each(refused)("refuses %s and writes nothing", async (_, json, status) => {
    const { owner, repo, issue } = await makeWorld();
    const answer = await call("POST", pathOf(repo, issue), { as: owner, json });
    expect(answer).toMatchObject({ status, body: { message: expect.any(String) } });
    await expectNothing(repo, issue);
  });

  it("refuses a writer who adds time for others, and others whom nobody admits", async () => {
    const { owner, writer, repo, issue } = await makeWorld();
    const stranger = await make.user();
    const post = (as: TestUser | undefined, json: object, where: [TestRepo, Issue]) =>
      call("POST", pathOf(...where), { ...(as && { as }), json });
    const here: [TestRepo, Issue] = [repo, issue];
    expect(await post(writer, { time: 5, user_name: owner.name }, here)).toMatchObject({
      status: 403,
    });
    // The refusal does not reveal whether the user exists.
    expect(await post(writer, { time: 5, user_name: "nobody-at-all" }, here)).toMatchObject({
      status: 403,
    });
    expect(await post(stranger, { time: 5 }, here)).toMatchObject({ status: 403 });
    expect(await post(undefined, { time: 5 }, here)).toMatchObject({ status: 401 });
    await expectNothing(repo, issue);
    const missing = { ...issue, number: 99 };
    expect(await post(writer, { time: 5 }, [repo, missing])).toMatchObject({ status: 404 });

    const hidden = await makeWorld({ isPrivate: true, issueSettings: FOR_ALL });
    expect(await post(stranger, { time: 5 }, [hidden.repo, hidden.issue])).toMatchObject({
      status: 404,
    });
    const forStranger = { time: 5, user_name: stranger.name };
    expect(await post(hidden.owner, forStranger, [hidden.repo, hidden.issue])).toMatchObject({
      status: 422,
    });
    await expectNothing(hidden.repo, hidden.issue);
  });

  it("admits assignees, and everybody where the repository lets everybody track time", async () => {
    const { repo, issue } = await makeWorld();
    const assignee = await make.user();
    await db
      .insert(issueAssignees)
      .values({ issueId: issue.id, repoId: repo.id, userId: assignee.id, createdAt: 1000 });
    const json = { time: 42 };
    expect(await call("POST", pathOf(repo, issue), { as: assignee, json })).toMatchObject({
      status: 200,
    });
    const open = await makeWorld({ issueSettings: FOR_ALL });
    const stranger = await make.user();
    const answer = await call("POST", pathOf(open.repo, open.issue), { as: stranger, json });
    expect(answer).toMatchObject({ status: 200, body: { user_name: stranger.name } });
  });

  it.each(["owner", "poster"] as const)("refuses whom the %s blocks", async (by) => {
    const { owner, repo } = await makeWorld({ issueSettings: FOR_ALL });
    const [poster, stranger] = [await make.user(), await make.user()];
    const issue = await makeIssue(repo, { posterId: poster.id });
    const { id: blockerId } = { owner, poster }[by];
    await db.insert(blocks).values({ blockerId, blockedId: stranger.id, createdAt: 1000 });
    const answer = await call("POST", pathOf(repo, issue), { as: stranger, json: { time: 1 } });
    expect(answer).toMatchObject({ status: 403, body: { message: "user is blocked" } });
    await expectNothing(repo, issue);
  });

  async function expectNothing(repo: TestRepo, issue: Issue) {
    expect(await timesOf(issue)).toEqual([]);
    expect(await timelineOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  }
});

describe("a repository that does not track time", () => {
  it("answers as Gitea, and writes nothing", async () => {
    const { owner, repo, issue } = await makeWorld({ issueSettings: OFF });
    const time = await makeTime(issue, owner);
    const attempts = [
      ["POST", pathOf(repo, issue), 400],
      ["GET", pathOf(repo, issue), 404],
      ["GET", repoPathOf(repo), 400],
      ["GET", repoPathOf(repo, `/${owner.name}`), 400],
      ["DELETE", pathOf(repo, issue), 400],
      ["DELETE", pathOf(repo, issue, `/${time.id}`), 400],
    ] as const;
    for (const [method, path, status] of attempts) {
      const sending = { as: owner, ...(method === "POST" && { json: { time: 5 } }) };
      expect(await call(method, path, sending), `${method} ${path}`).toMatchObject({ status });
    }
    expect(await timesOf(issue)).toEqual([time]);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/issues/{index}/times", () => {
  it("lists all times to writers, and only their own to others", async () => {
    const { owner, writer, repo, issue } = await makeWorld({ issueSettings: FOR_ALL });
    const stranger = await make.user();
    await makeTime(issue, writer, { seconds: 1 });
    await makeTime(issue, owner, { seconds: 2 });
    await makeTime(issue, stranger, { seconds: 3 });
    await makeTime(await makeIssue(repo), owner, { seconds: 4 });
    const list = async (as: TestUser, query = "") =>
      call("GET", `${pathOf(repo, issue)}${query}`, { as });
    expect(secondsIn(await list(owner))).toEqual([1, 2, 3]);
    expect(secondsIn(await list(writer))).toEqual([1, 2, 3]);
    expect(secondsIn(await list(stranger))).toEqual([3]);
    expect(secondsIn(await list(stranger, `?user=${stranger.name}`))).toEqual([3]);
    expect(secondsIn(await list(writer, `?user=${owner.name.toUpperCase()}`))).toEqual([2]);
    expect(await list(stranger, `?user=${owner.name}`)).toMatchObject({ status: 403 });
    expect(await list(stranger, "?user=nobody-at-all")).toMatchObject({ status: 403 });
    expect(await list(owner, "?user=nobody-at-all")).toMatchObject({ status: 404 });
    expect(await list(owner, "?since=x")).toMatchObject({ status: 422 });
    expect(await call("GET", pathOf(repo, issue))).toMatchObject({ status: 401 });
    const { pages, totals } = await readAll(pathOf(repo, issue), { as: owner }, { limit: 2 });
    expect(pages.map((each) => each.length)).toEqual([2, 1]);
    expect(totals).toEqual([3]);
  });

  it("filters by the moment of the booking, not by when the work was done", async () => {
    const { owner, repo, issue } = await makeWorld();
    await makeTime(issue, owner, { seconds: 1, createdAt: 1000, bookedAt: 50_000 });
    await makeTime(issue, owner, { seconds: 2, createdAt: 70_000, bookedAt: 60_000 });
    const list = async (query: string) =>
      secondsIn(await call("GET", `${pathOf(repo, issue)}?${query}`, { as: owner }));
    expect(await list("since=1970-01-01T00:01:00Z")).toEqual([2]);
    expect(await list("before=1970-01-01T00:00:50Z")).toEqual([1]);
    expect(await list("since=1970-01-01T00:00:50Z&before=1970-01-01T00:01:00Z")).toEqual([1, 2]);
  });

  it("hides what the caller can't read", async () => {
    const { owner, repo, issue } = await makeWorld({ isPrivate: true });
    await makeTime(issue, owner);
    const stranger = await make.user();
    for (const path of [
      pathOf(repo, issue),
      repoPathOf(repo),
      repoPathOf(repo, `/${stranger.name}`),
    ]) {
      expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404 });
    }
    const missing = { ...issue, number: 99 };
    expect(await call("GET", pathOf(repo, missing), { as: owner })).toMatchObject({ status: 404 });
  });
});

describe("GET /repos/{owner}/{repo}/times", () => {
  it("shows of each unit what the caller's mode there allows", async () => {
    const org = await make.org([await make.user()]);
    const repo = await make.repo(org, { isPrivate: true });
    const member = await make.user();
    const units = { ...everyUnit(0), issues: 1, pulls: 2 } as const;
    await make.member(org, await make.team(org, { units }), member);
    const other = await make.user();
    const [issue, pull] = [await makeIssue(repo), await makeIssue(repo, { isPull: true })];
    await makeTime(issue, other, { seconds: 1 });
    await makeTime(issue, member, { seconds: 2 });
    await makeTime(pull, other, { seconds: 3 });
    const list = (rest = "") => call("GET", repoPathOf(repo, rest), { as: member });
    expect(secondsIn(await list())).toEqual([2, 3]);
    expect(secondsIn(await list(`?user=${other.name}`))).toEqual([3]);
    expect(
      await call("GET", pathOf(repo, issue, `?user=${other.name}`), { as: member }),
    ).toMatchObject({ status: 403 });

    const reader = await make.user();
    const onlyPulls = { ...everyUnit(0), pulls: 2 } as const;
    await make.member(org, await make.team(org, { units: onlyPulls }), reader);
    expect(secondsIn(await call("GET", repoPathOf(repo), { as: reader }))).toEqual([3]);
    expect(await call("GET", pathOf(repo, issue), { as: reader })).toMatchObject({ status: 404 });
  });

  it("lists one user's times to the user and to administrators only", async () => {
    const { owner, writer, repo, issue } = await makeWorld();
    await makeTime(issue, writer, { seconds: 1 });
    await makeTime(issue, owner, { seconds: 2 });
    const list = (as: TestUser, name: string) => call("GET", repoPathOf(repo, `/${name}`), { as });
    expect(secondsIn(await list(owner, writer.name))).toEqual([1]);
    expect(secondsIn(await list(writer, writer.name))).toEqual([1]);
    expect(await list(writer, owner.name)).toMatchObject({ status: 403 });
    expect(await list(writer, "nobody-at-all")).toMatchObject({ status: 403 });
    expect(await list(owner, "nobody-at-all")).toMatchObject({ status: 404 });
    const stranger = await make.user();
    expect(secondsIn(await call("GET", repoPathOf(repo), { as: stranger }))).toEqual([]);
  });
});

describe("GET /user/times", () => {
  it("lists the caller's times of all repositories, each with its issue", async () => {
    const [one, two] = [await makeWorld(), await makeWorld({ isPrivate: true })];
    const { writer } = one;
    await make.collaborator(two.repo, writer, 1);
    await makeTime(one.issue, writer, { seconds: 1 });
    await makeTime(two.issue, writer, { seconds: 2 });
    await makeTime(one.issue, one.owner, { seconds: 3 });
    await makeTime(one.issue, writer, { seconds: 4, bookedAt: 90_000 });
    const { body } = await call("GET", "/user/times", { as: writer });
    expect(body).toMatchObject([
      { time: 1, issue: { id: one.issue.id, repository: { full_name: expect.any(String) } } },
      { time: 2, issue: { id: two.issue.id, repository: { name: two.repo.name } } },
      { time: 4, issue: { id: one.issue.id } },
    ]);
    const later = await call("GET", "/user/times?since=1970-01-01T00:01:30Z", { as: writer });
    expect(secondsIn(later)).toEqual([4]);
    const second = await call("GET", "/user/times?page=2&limit=1", { as: writer });
    expect(secondsIn(second)).toEqual([2]);
    expect(second.headers.get("X-Total-Count")).toBe("3");
  });

  // SECURITY: the titles of issues must not outlive the access to them.
  it("shows nothing of a repository after access to it, or to its issues, was lost", async () => {
    const { owner, writer, issue } = await makeWorld({ isPrivate: true });
    await makeTime(issue, writer);
    const list = async (as: TestUser) => {
      const answer = await call("GET", "/user/times", { as });
      return [answer.body.length, answer.headers.get("X-Total-Count")];
    };
    expect(await list(writer)).toEqual([1, "1"]);
    const { body } = await call("GET", "/user/times", {
      token: await make.token(writer, { scopes: "read:user,public-only" }),
    });
    expect(body).toEqual([]);
    await db.delete(collaborations).where(eq(collaborations.userId, writer.id));
    expect(await list(writer)).toEqual([0, "0"]);
    expect(await list(owner)).toEqual([0, "0"]);

    const off = await makeWorld({ hasIssues: false });
    await makeTime(off.issue, off.writer);
    expect(await list(off.writer)).toEqual([0, "0"]);
  });
});

describe("DELETE /repos/{owner}/{repo}/issues/{index}/times/{id}", () => {
  it("deletes the caller's own time, and records how long it was", async () => {
    const { writer, repo, issue } = await makeWorld();
    const { id } = await makeTime(issue, writer, { seconds: 61 });
    const kept = await makeTime(issue, writer, { seconds: 7 });
    const path = pathOf(repo, issue, `/${id}`);
    expect(await call("DELETE", path, { as: writer })).toMatchObject({ status: 204 });
    expect(await call("DELETE", path, { as: writer })).toMatchObject({ status: 404 });
    expect(await timesOf(issue)).toEqual([kept]);
    expect(await timelineOf(issue)).toEqual([
      { kind: "delete_time_manual", body: "1 minute", posterId: writer.id, timeId: null },
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "issue.time_deleted", payload: { timeId: id, userId: writer.id } },
    ]);
  });

  it("lets administrators of the site delete any, and nobody else another user's", async () => {
    const { owner, writer, repo, issue } = await makeWorld({ issueSettings: FOR_ALL });
    const [stranger, admin] = [await make.user(), await make.admin()];
    const time = await makeTime(issue, writer);
    const path = pathOf(repo, issue, `/${time.id}`);
    for (const as of [owner, stranger]) {
      expect(await call("DELETE", path, { as })).toMatchObject({ status: 403 });
    }
    // SECURITY: an id is looked up together with the issue of the path.
    const other = pathOf(repo, await makeIssue(repo), `/${time.id}`);
    expect(await call("DELETE", other, { as: writer })).toMatchObject({ status: 404 });
    expect(await timesOf(issue)).toEqual([time]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await call("DELETE", path, { as: admin })).toMatchObject({ status: 204 });
    expect(await timesOf(issue)).toEqual([]);
  });
});

describe("DELETE /repos/{owner}/{repo}/issues/{index}/times", () => {
  it("deletes all of the caller's times as one entry", async () => {
    const { owner, writer, repo, issue } = await makeWorld();
    await makeTime(issue, writer, { seconds: 3600 });
    await makeTime(issue, writer, { seconds: 1800 });
    const kept = await makeTime(issue, owner);
    const elsewhere = await makeIssue(repo);
    const alsoKept = await makeTime(elsewhere, writer);
    const reset = () => call("DELETE", pathOf(repo, issue), { as: writer });
    expect(await reset()).toMatchObject({ status: 204 });
    expect(await reset()).toMatchObject({ status: 404 });
    expect(await timesOf(issue)).toEqual([kept]);
    expect(await timesOf(elsewhere)).toEqual([alsoKept]);
    expect(await timelineOf(issue)).toEqual([
      { kind: "delete_time_manual", body: "1 hour 30 minutes", posterId: writer.id, timeId: null },
    ]);
    expect(typesOf(await eventsOf(repo))).toEqual(["issue.times_reset"]);
  });

  it("refuses those who may not track time", async () => {
    const { writer, repo, issue } = await makeWorld();
    await makeTime(issue, writer);
    const stranger = await make.user();
    expect(await call("DELETE", pathOf(repo, issue), { as: stranger })).toMatchObject({
      status: 403,
    });
    expect(await timesOf(issue)).toHaveLength(1);
    expect(await timelineOf(issue)).toEqual([]);
  });
});
