import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call } from "../../support/call.ts";
import { eventsOf } from "../../support/events.ts";
import { attachLabel, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { logged } from "../../support/usage.ts";

let owner: TestUser;
let writer: TestUser;
let reader: TestUser;
const browsers = new Map<TestUser, Browser>();
beforeAll(async () => {
  [owner, writer, reader] = [
    await make.userWithPassword(),
    await make.userWithPassword(),
    await make.userWithPassword(),
  ];
  for (const user of [owner, writer, reader]) browsers.set(user, await Browser.signedIn(user));
});

async function makeRepo() {
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  const [first, second] = [await makeIssue(repo), await makeIssue(repo)];
  return { repo, path: `/${owner.name}/${repo.name}`, first, second };
}

/** Sends the form of a list with a user's own token. */
async function send(
  at: string,
  numbers: readonly number[],
  fields: Record<string, string>,
  by = writer,
) {
  const browser = browsers.get(by) as Browser;
  const page = String((await browser.get("/notifications")).body);
  const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
  const selected = Object.fromEntries(numbers.map((number) => [`issue-${number}`, "on"]));
  return browser.post(at, { _csrf: token, ...selected, ...fields });
}

const read = async (at: string, by = writer): Promise<string> =>
  String((await (browsers.get(by) as Browser).get(at)).body);

const issueAt = async ({ name }: TestRepo, number: number) =>
  (await call("GET", `/repos/${owner.name}/${name}/issues/${number}`, { as: owner })).body;

const timelineAt = async ({ name }: TestRepo, number: number): Promise<string[]> => {
  const at = `/repos/${owner.name}/${name}/issues/${number}/timeline`;
  return (await call("GET", at, { as: owner })).body.map(({ type }: { type: string }) => type);
};

describe("what is selected in a list", () => {
  it("is closed and reopened, each with its entry and its event, in three round trips", async () => {
    const { repo, path, first, second } = await makeRepo();
    const third = await makeIssue(repo);
    const list = `${path}/issues?sort=oldest&q=is%3Aopen`;
    expect(await read(list)).toContain(`name="issue-${first.number}"`);
    const { line, answer } = await logged(() =>
      send(list, [first.number, second.number], { change: "close" }),
    );
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(list);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    for (const { number } of [first, second]) {
      expect(await issueAt(repo, number)).toMatchObject({ state: "closed" });
      expect(await timelineAt(repo, number)).toEqual(["close"]);
    }
    expect(await issueAt(repo, third.number)).toMatchObject({ state: "open" });
    const closed = (await eventsOf(repo)).filter(({ type }) => type === "issue.closed");
    expect(closed).toMatchObject([
      { actorId: writer.id, payload: { issueId: first.id } },
      { actorId: writer.id, payload: { issueId: second.id } },
    ]);
    // Sent twice, it changes nothing more.
    await send(list, [first.number, second.number], { change: "close" });
    expect(await timelineAt(repo, first.number)).toEqual(["close"]);
    await send(list, [second.number], { change: "reopen" });
    expect(await issueAt(repo, second.number)).toMatchObject({ state: "open" });
    expect(await issueAt(repo, first.number)).toMatchObject({ state: "closed" });
  });

  it("gets and loses labels, a milestone and assignees, and keeps its other ones", async () => {
    const { repo, path, first, second } = await makeRepo();
    const [bug, other] = [
      await makeLabel({ repo }, { name: '"><b>' }),
      await makeLabel({ repo }, { name: "other" }),
    ];
    const milestone = await makeMilestone(repo, { title: "1.0" });
    await attachLabel(first, other);
    const list = `${path}/issues`;
    expect(await read(list)).toContain(`<option value="${bug.id}">&quot;&gt;&lt;b&gt;</option>`);
    const both = [first.number, second.number];
    for (const fields of [
      { change: "add-label", label: String(bug.id) },
      { change: "milestone", milestone: String(milestone.id) },
      { change: "assign", assignee: owner.name },
      { change: "assign", assignee: writer.name },
    ]) {
      expect((await send(list, both, fields)).status, JSON.stringify(fields)).toBe(303);
    }
    const named = { milestone: { title: "1.0" } };
    const people = [{ login: owner.name }, { login: writer.name }];
    expect(await issueAt(repo, first.number)).toMatchObject({
      ...named,
      labels: [{ name: '"><b>' }, { name: "other" }],
      assignees: people,
    });
    expect(await timelineAt(repo, second.number)).toEqual([
      "label",
      "milestone",
      "assignees",
      "assignees",
    ]);
    for (const fields of [
      { change: "remove-label", label: String(bug.id) },
      { change: "milestone", milestone: "0" },
      { change: "unassign", assignee: owner.name.toUpperCase() },
    ]) {
      expect((await send(list, [first.number], fields)).status).toBe(303);
    }
    expect(await issueAt(repo, first.number)).toMatchObject({
      labels: [{ name: "other" }],
      milestone: null,
      assignees: [{ login: writer.name }],
    });
    expect(await issueAt(repo, second.number)).toMatchObject({ ...named, assignees: people });
  });

  it("is refused as a whole, with what was selected", async () => {
    const { repo, path, first, second } = await makeRepo();
    const milestone = await makeMilestone(repo, { title: "Old", isClosed: true });
    const foreign = await makeIssue(await make.repo(owner));
    const pull = await makePull(repo, { headBranch: "a", mergedAt: 5 }, { isClosed: true });
    const api = `/repos${path}/issues/${second.number}/dependencies`;
    const json = { owner: owner.name, repo: repo.name, index: first.number };
    expect((await call("POST", api, { as: owner, json })).status).toBe(201);
    const before = await eventsOf(repo);
    const [issues, pulls] = [`${path}/issues`, `${path}/pulls`];
    const some = [first.number, second.number];
    const blocked = await send(issues, some, { change: "close" });
    expect(blocked.status).toBe(412);
    expect(String(blocked.body)).toContain(`in the way of: #${second.number}`);
    expect(String(blocked.body)).toMatch(
      new RegExp(`name="issue-${first.number}" value="on" checked`),
    );
    const merged = await send(`${pulls}?state=closed`, [pull.number], { change: "reopen" });
    expect(merged.status).toBe(412);
    expect(String(merged.body)).toContain(`these are merged: #${pull.number}`);
    const many = Array.from({ length: 51 }, (_, at) => at + 1);
    for (const [at, numbers, fields, by, status] of [
      [issues, [], { change: "close" }, writer, 422],
      [issues, many, { change: "close" }, writer, 422],
      [issues, some, { change: "none" }, writer, 422],
      [issues, some, { change: "milestone", milestone: String(milestone.id) }, writer, 422],
      [issues, some, { change: "add-label", label: "99999999" }, writer, 422],
      [issues, some, { change: "assign", assignee: "nobody-of-this-name" }, writer, 422],
      [issues, [first.number, foreign.number + 1000], { change: "close" }, writer, 412],
      // A pull request is none of the list of issues.
      [issues, [first.number, pull.number], { change: "close" }, writer, 412],
      [issues, [first.number], { change: "close" }, reader, 403],
    ] as const) {
      const answer = await send(at, numbers, fields, by);
      expect(answer.status, `${JSON.stringify(fields)} ${numbers.length}`).toBe(status);
    }
    const gone = await send(issues, [first.number, 4711], { change: "close" });
    expect(String(gone.body)).toMatch(/role="alert"[^]*do not exist any more: #4711[^]*selection/);
    const anonymous = await new Browser().post(issues, { change: "close", "issue-1": "on" });
    expect([401, 403]).toContain(anonymous.status);
    await call("PATCH", `/repos${path}`, { as: owner, json: { archived: true } });
    expect((await send(issues, [first.number], { change: "close" })).status).toBe(423);
    expect(await read(issues)).not.toContain(`name="issue-${first.number}"`);
    const after = await eventsOf(repo);
    expect(after.filter(({ type }) => type.startsWith("issue."))).toEqual(
      before.filter(({ type }) => type.startsWith("issue.")),
    );
    expect(await issueAt(repo, first.number)).toMatchObject({ state: "open", assignees: [] });
  });

  it("is for those who may write", async () => {
    const { path } = await makeRepo();
    for (const kind of ["issues", "pulls"]) {
      expect(await read(`${path}/${kind}`, reader)).not.toContain('id="selection"');
    }
    expect(await read(`${path}/issues`)).toContain('id="selection"');
  });
});

describe("what is selected in a list over repositories", () => {
  it("is closed and reopened, of several repositories, in three round trips", async () => {
    const [one, two] = [await makeRepo(), await makeRepo()];
    const pull = await makePull(one.repo, { headBranch: "selected" });
    const list = "/issues?type=created_by&sort=oldest";
    const page = await read("/issues", owner);
    for (const { id } of [one.first, two.first]) expect(page).toContain(`name="issue-${id}"`);
    expect(await read("/pulls", owner)).toContain(`name="issue-${pull.id}"`);
    const ids = [one.first.id, two.second.id];
    const { line, answer } = await logged(() => send(list, ids, { change: "close" }));
    expect([answer.status, answer.headers.get("location")]).toEqual([303, list]);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    for (const [{ repo }, { number }] of [
      [one, one.first],
      [two, two.second],
    ] as const) {
      expect(await issueAt(repo, number)).toMatchObject({ state: "closed" });
      expect(await timelineAt(repo, number)).toEqual(["close"]);
      expect((await eventsOf(repo)).filter(({ type }) => type === "issue.closed")).toHaveLength(1);
    }
    expect(await issueAt(one.repo, one.second.number)).toMatchObject({ state: "open" });
    await send(list, ids, { change: "reopen" });
    expect(await issueAt(two.repo, two.second.number)).toMatchObject({ state: "open" });
  });

  it("stays as it is if one refuses it", async () => {
    const { repo, first, second } = await makeRepo();
    const hidden = await makeIssue(await make.repo(owner, { isPrivate: true }));
    const readable = await makeIssue(await make.repo(owner));
    const archived = await make.repo(owner);
    await make.collaborator(archived, writer, 2);
    const kept = await makeIssue(archived);
    await call("PATCH", `/repos/${owner.name}/${archived.name}`, {
      as: owner,
      json: { archived: true },
    });
    const api = `/repos/${owner.name}/${repo.name}/issues/${second.number}/dependencies`;
    const json = { owner: owner.name, repo: repo.name, index: first.number };
    expect((await call("POST", api, { as: owner, json })).status).toBe(201);
    const named = `${owner.name}/${repo.name}#${second.number}`;
    const absent = "one of them does not exist any more";
    for (const [ids, change, status, words] of [
      [[], "close", 422, "Nothing is selected"],
      [Array.from({ length: 51 }, (_, at) => at + 1), "close", 422, "At most 50"],
      [[first.id], "milestone", 422, "must be one of the choices"],
      [[first.id, 987_654_321], "close", 412, absent],
      // One that is hidden is as one that does not exist.
      [[first.id, hidden.id], "close", 412, absent],
      [[first.id, readable.id], "close", 412, "you may not change these"],
      [[first.id, kept.id], "close", 412, "archived repositories"],
      [[second.id], "close", 412, `in the way of: ${named}`],
    ] as const) {
      const fields = { change, milestone: "0" };
      const { status: answered, body } = await send("/issues", ids, fields);
      expect(answered, `${change} ${ids.length}`).toBe(status);
      expect(String(body)).toContain(words);
    }
    for (const { number } of [first, second]) {
      expect(await issueAt(repo, number)).toMatchObject({ state: "open" });
    }
    expect((await eventsOf(repo)).filter(({ type }) => type === "issue.closed")).toEqual([]);
    const anonymous = await new Browser().post("/issues", { change: "close" });
    expect(anonymous.headers.get("location")).toBe("/user/login");
  });

  it("is what the reader may write", async () => {
    const { first } = await makeRepo();
    const own = await makeIssue(await make.repo(owner), { posterId: reader.id });
    const page = await read("/issues?type=created_by", reader);
    expect(page).toContain(`/issues/${own.number}"`);
    expect(page).not.toContain(`name="issue-${own.id}"`);
    expect(page).not.toContain('id="selection"');
    expect(await read("/issues", owner)).toContain(`name="issue-${first.id}"`);
  });
});
