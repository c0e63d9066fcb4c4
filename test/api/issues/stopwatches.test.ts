import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  stopwatches,
  timelineEntries,
  trackedTimes,
  type Issue,
  type User,
} from "../../../src/db/schema/index.ts";
import { DEFAULT_ISSUE_SETTINGS } from "../../../src/domain/repos/repository/default-settings.ts";
import { makeRandom } from "../../git/support/random.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeIssue, makeStopwatch } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const FOR_ALL = { ...DEFAULT_ISSUE_SETTINGS, allowOnlyContributorsToTrackTime: false };
const OFF = { ...DEFAULT_ISSUE_SETTINGS, enableTimeTracker: false };

async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  return { owner, repo, issue: await makeIssue(repo) };
}

type Act = "start" | "stop" | "delete";

const act = (what: Act, repo: TestRepo, { number }: Issue, as?: TestUser) =>
  call(
    what === "delete" ? "DELETE" : "POST",
    `/repos/${repo.owner}/${repo.name}/issues/${number}/stopwatch/${what}`,
    { ...(as && { as }) },
  );

const timesOf = ({ id }: User) =>
  db.select().from(trackedTimes).where(eq(trackedTimes.userId, id)).orderBy(asc(trackedTimes.id));

async function timelineOf({ id }: Issue) {
  const rows = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, id))
    .orderBy(asc(timelineEntries.id));
  return rows.map(({ kind, body, timeId }) => ({ kind, body, timeId }));
}

const runningOf = async ({ id }: User) => {
  const rows = await db.select().from(stopwatches).where(eq(stopwatches.userId, id));
  return rows.map(({ issueId }) => issueId);
};

const listed = async (as: TestUser) => (await call("GET", "/user/stopwatches", { as })).body;

const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;

describe("a stopwatch", () => {
  it("starts and stops, and books the time in between", async () => {
    const { owner, repo, issue } = await makeWorld();
    expect(await act("start", repo, issue, owner)).toMatchObject({ status: 201, body: "" });
    expect(await act("start", repo, issue, owner)).toMatchObject({ status: 409 });
    expect(await listed(owner)).toMatchObject([
      { issue_index: issue.number, issue_title: issue.title, repo_name: repo.name },
    ]);
    await db
      .update(stopwatches)
      .set({ createdAt: hoursAgo(1.5) })
      .where(eq(stopwatches.userId, owner.id));
    expect(await listed(owner)).toMatchObject([
      { duration: "1 hour 30 minutes", repo_owner_name: owner.name },
    ]);

    expect(await act("stop", repo, issue, owner)).toMatchObject({ status: 201, body: "" });
    expect(await act("stop", repo, issue, owner)).toMatchObject({ status: 409 });
    expect(await listed(owner)).toEqual([]);
    const [time, ...more] = await timesOf(owner);
    expect(more).toEqual([]);
    expect(time).toMatchObject({ issueId: issue.id, repoId: repo.id, userId: owner.id });
    expect(Math.floor((time?.seconds ?? 0) / 60)).toBe(90);
    expect(Number.isInteger(time?.seconds)).toBe(true);
    expect(await timelineOf(issue)).toEqual([
      { kind: "start_tracking", body: "", timeId: null },
      { kind: "stop_tracking", body: "1 hour 30 minutes", timeId: time?.id },
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "issue.stopwatch_started", payload: { userId: owner.id, issueId: issue.id } },
      { type: "issue.time_added", payload: { userId: owner.id, timeId: time?.id } },
    ]);
  });

  it("books a second where it stops at once: booked time is positive", async () => {
    const { owner, repo, issue } = await makeWorld();
    await act("start", repo, issue, owner);
    await act("stop", repo, issue, owner);
    const [time] = await timesOf(owner);
    expect(time?.seconds).toBeGreaterThanOrEqual(1);
  });

  it("is discarded without booking", async () => {
    const { owner, repo, issue } = await makeWorld();
    await makeStopwatch(issue, owner);
    expect(await act("delete", repo, issue, owner)).toMatchObject({ status: 204 });
    expect(await act("delete", repo, issue, owner)).toMatchObject({ status: 409 });
    expect(await timesOf(owner)).toEqual([]);
    expect(await timelineOf(issue)).toEqual([{ kind: "cancel_tracking", body: "", timeId: null }]);
    expect(typesOf(await eventsOf(repo))).toEqual(["issue.stopwatch_cancelled"]);
  });

  it("stops the one that runs on another issue, and books its time there", async () => {
    const [one, two] = [await makeWorld(), await makeWorld({ isPrivate: true })];
    const { owner } = two;
    await make.collaborator(one.repo, owner, 2);
    await makeStopwatch(one.issue, owner, hoursAgo(2));
    expect(await act("start", two.repo, two.issue, owner)).toMatchObject({ status: 201 });
    expect(await runningOf(owner)).toEqual([two.issue.id]);
    const times = await timesOf(owner);
    expect(times).toMatchObject([{ issueId: one.issue.id, repoId: one.repo.id }]);
    expect(await timelineOf(one.issue)).toEqual([
      { kind: "stop_tracking", body: "2 hours", timeId: times[0]?.id },
    ]);
    expect(await timelineOf(two.issue)).toMatchObject([{ kind: "start_tracking" }]);
    expect(typesOf(await eventsOf(one.repo))).toEqual(["issue.time_added"]);
  });

  // SECURITY: who lost a repository writes nothing there, and sees none of its titles.
  it("is discarded by the next one, and not listed, where access was lost", async () => {
    const [one, two] = [await makeWorld({ isPrivate: true }), await makeWorld()];
    const { owner: user } = two;
    await make.collaborator(one.repo, user, 2);
    await makeStopwatch(one.issue, user, hoursAgo(2));
    expect(await listed(user)).toHaveLength(1);
    await db.delete(collaborations).where(eq(collaborations.userId, user.id));
    const answer = await call("GET", "/user/stopwatches", { as: user });
    expect(answer.body).toEqual([]);
    expect(answer.headers.get("X-Total-Count")).toBe("0");
    expect(await act("stop", one.repo, one.issue, user)).toMatchObject({ status: 404 });
    expect(await act("start", two.repo, two.issue, user)).toMatchObject({ status: 201 });
    expect(await runningOf(user)).toEqual([two.issue.id]);
    expect(await timesOf(user)).toEqual([]);
    expect(await timelineOf(one.issue)).toEqual([]);
    expect(await eventsOf(one.repo)).toEqual([]);
  });

  it("is refused to those who may not track time, and nothing is written", async () => {
    const { repo, issue } = await makeWorld();
    const stranger = await make.user();
    for (const what of ["start", "stop", "delete"] as const) {
      expect(await act(what, repo, issue, stranger)).toMatchObject({ status: 403 });
      expect(await act(what, repo, issue)).toMatchObject({ status: 401 });
      expect(await act(what, repo, { ...issue, number: 99 }, stranger)).toMatchObject({
        status: 404,
      });
    }
    const off = await makeWorld({ issueSettings: OFF });
    expect(await act("start", off.repo, off.issue, off.owner)).toMatchObject({ status: 403 });
    expect(await runningOf(stranger)).toEqual([]);
    expect(await runningOf(off.owner)).toEqual([]);
    expect(await timelineOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("is refused to whom the owner blocks, and theirs books nothing any more", async () => {
    const { owner, repo, issue } = await makeWorld({ issueSettings: FOR_ALL });
    const stranger = await make.user();
    await db
      .insert(blocks)
      .values({ blockerId: owner.id, blockedId: stranger.id, createdAt: 1000 });
    expect(await act("start", repo, issue, stranger)).toMatchObject({ status: 403 });
    await makeStopwatch(issue, stranger);
    expect(await act("stop", repo, issue, stranger)).toMatchObject({ status: 403 });
    expect(await runningOf(stranger)).toEqual([issue.id]);
    expect(await timelineOf(issue)).toEqual([]);
    const own = await makeWorld();
    await make.collaborator(own.repo, stranger, 2);
    expect(await act("start", own.repo, own.issue, stranger)).toMatchObject({ status: 201 });
    expect(await runningOf(stranger)).toEqual([own.issue.id]);
    expect(await timesOf(stranger)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("closing an issue", () => {
  const patch = (repo: TestRepo, { number }: Issue, as: TestUser, state: string) =>
    call("PATCH", `/repos/${repo.owner}/${repo.name}/issues/${number}`, { as, json: { state } });

  it("stops the stopwatch of who closes it, and nobody else's", async () => {
    const { owner, repo, issue } = await makeWorld();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await makeStopwatch(issue, owner, hoursAgo(1));
    await makeStopwatch(issue, writer, hoursAgo(3));
    expect(await patch(repo, issue, owner, "closed")).toMatchObject({ status: 201 });
    expect(await runningOf(owner)).toEqual([]);
    expect(await runningOf(writer)).toEqual([issue.id]);
    expect(await timelineOf(issue)).toMatchObject([
      { kind: "stop_tracking", body: "1 hour" },
      { kind: "close" },
    ]);
    expect(typesOf(await eventsOf(repo))).toEqual(["issue.time_added", "issue.closed"]);
    // One that starts on a closed issue runs on when it is closed again, which changes nothing.
    expect(await act("start", repo, issue, owner)).toMatchObject({ status: 201 });
    expect(await patch(repo, issue, owner, "closed")).toMatchObject({ status: 201 });
    expect(await runningOf(owner)).toEqual([issue.id]);
    expect(await timesOf(owner)).toHaveLength(1);
  });
});

describe("stopwatches under concurrent requests", () => {
  it("book once, however often they are stopped at the same time", async () => {
    const { owner, repo, issue } = await makeWorld();
    await makeStopwatch(issue, owner, hoursAgo(1));
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => act("stop", repo, issue, owner)),
    );
    const count = (expected: number) => answers.filter(({ status }) => status === expected).length;
    expect([count(201), count(409)]).toEqual([1, 5]);
    expect(await timesOf(owner)).toHaveLength(1);
    expect(typesOf(await eventsOf(repo))).toEqual(["issue.time_added"]);
  });

  it("run one at a time, whatever is started, stopped and discarded", async () => {
    const { owner, repo, issue } = await makeWorld();
    const all = [issue, await makeIssue(repo), await makeIssue(repo)];
    const acts: Act[] = ["start", "start", "stop", "delete"];
    const done: Record<Act, number> = { start: 0, stop: 0, delete: 0 };
    const random = makeRandom(7);
    for (let round = 0; round < 12; round++) {
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          const what = random.pick(acts);
          const { status } = await act(what, repo, random.pick(all), owner);
          expect([201, 204, 409]).toContain(status);
          if (status !== 409) done[what] += 1;
        }),
      );
      expect((await runningOf(owner)).length).toBeLessThanOrEqual(1);
    }
    // Each start ended in one booking, was discarded, or runs.
    const [times, running] = [await timesOf(owner), await runningOf(owner)];
    expect(times.length + done.delete + running.length).toBe(done.start);
    const entries = (await Promise.all(all.map(timelineOf))).flat();
    const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
    expect(count("start_tracking")).toBe(done.start);
    expect(count("cancel_tracking")).toBe(done.delete);
    const booked = entries
      .filter(({ kind }) => kind === "stop_tracking")
      .map(({ timeId }) => timeId);
    expect(new Set(booked)).toEqual(new Set(times.map(({ id }) => id)));
    expect(booked).toHaveLength(times.length);
  });
});
