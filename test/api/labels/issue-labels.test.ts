import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  issueLabels,
  issues,
  labels,
  timelineEntries,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { attachLabel, makeIssue, makeLabel } from "../../support/issues.ts";
import { make, type TestRepo } from "../../support/make.ts";

const pathOf = ({ owner, name }: TestRepo, issue: Issue, rest = "") =>
  `/repos/${owner}/${name}/issues/${issue.number}/labels${rest}`;

const namesOf = ({ body }: { body: unknown }) =>
  (body as { name: string }[]).map(({ name }) => name);

/** The label entries of a timeline, with a sign for added and removed. */
async function timelineOf(issue: Issue): Promise<string[]> {
  const rows = await db
    .select({ body: timelineEntries.body, name: labels.name })
    .from(timelineEntries)
    .innerJoin(labels, eq(labels.id, timelineEntries.labelId))
    .where(and(eq(timelineEntries.issueId, issue.id), eq(timelineEntries.kind, "label")))
    .orderBy(asc(timelineEntries.id));
  return rows.map(({ body, name }) => (body === "1" ? `+${name}` : `-${name}`));
}

const eventsOf = async (repo: TestRepo) =>
  db
    .select({ type: events.type, payload: events.payload })
    .from(events)
    .where(
      and(
        eq(events.repoId, repo.id),
        inArray(events.type, ["issue.labeled", "issue.labels_cleared"]),
      ),
    )
    .orderBy(asc(events.id));

async function makeLabeled() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const issue = await makeIssue(repo);
  const label = (name: string, fields: Parameters<typeof makeLabel>[1] = {}) =>
    makeLabel({ repo }, { name, isExclusive: name.includes("/"), ...fields });
  const send = (method: string, sent: unknown, rest = "") =>
    call(method, pathOf(repo, issue, rest), {
      as: owner,
      ...(sent !== undefined && { json: sent as object }),
    });
  return { owner, repo, issue, label, send };
}

describe("POST /repos/{owner}/{repo}/issues/{index}/labels", () => {
  it("adds labels by id and by name, and records them once", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    const [bug, docs] = [await label("bug"), await label("docs")];
    const added = await send("POST", { labels: [bug.id] });
    expect(added).toMatchObject({
      status: 200,
      body: [{ id: bug.id, name: "bug", exclusive: false, is_archived: false }],
    });
    expect(namesOf(await send("POST", { labels: ["docs", "docs"] }))).toEqual(["bug", "docs"]);
    expect(namesOf(await send("POST", { Labels: [docs.id, bug.id] }))).toEqual(["bug", "docs"]);

    expect(await timelineOf(issue)).toEqual(["+bug", "+docs"]);
    const of = { issueId: issue.id, number: issue.number, isPull: false };
    expect(await eventsOf(repo)).toEqual([
      { type: "issue.labeled", payload: { ...of, added: [bug.id], removed: [] } },
      { type: "issue.labeled", payload: { ...of, added: [docs.id], removed: [] } },
    ]);
    const [row] = await db.select().from(issues).where(eq(issues.id, issue.id));
    expect(row?.updatedAt).toBeGreaterThan(issue.updatedAt);
    expect(await db.select().from(labels).where(eq(labels.id, bug.id))).toMatchObject([
      { openIssueCount: 1, closedIssueCount: 0 },
    ]);
  });

  it("lets an exclusive label take the others of its scope off, which the timeline shows", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    const low = await label("prio/low");
    const high = await label("prio/high");
    await label("bug");
    await send("POST", { labels: ["prio/low", "bug"] });
    expect(namesOf(await send("POST", { labels: ["prio/high"] }))).toEqual(["bug", "prio/high"]);
    expect(await timelineOf(issue)).toEqual(["+bug", "+prio/low", "-prio/low", "+prio/high"]);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      payload: { added: [high.id], removed: [low.id] },
    });
  });

  it.each([
    ["the scope is what precedes the last slash", ["a/b/c"], ["a/d"], ["a/b/c", "a/d"]],
    ["a deep scope evicts its own", ["a/b/c", "a/d"], ["a/b/x"], ["a/b/x", "a/d"]],
    ["a slash at the end is no scope", ["a/"], ["a/b", "a/"], ["a/", "a/b"]],
    ["a slash at the start is no scope", ["/a"], ["/b"], ["/a", "/b"]],
    ["a name of slashes has a scope as others", ["//a"], ["//b"], ["//b"]],
    ["scopes differ in case", ["A/a"], ["a/a"], ["A/a", "a/a"]],
    ["a prefix of the scope is another scope", ["ab/x"], ["a/x"], ["a/x", "ab/x"]],
    ["letters beyond ASCII", ["größe/klein"], ["größe/groß"], ["größe/groß"]],
    ["patterns of SQL are text", ["%/a"], ["_/a", "x/a"], ["%/a", "_/a", "x/a"]],
  ])("finds scopes: %s", async (_, first, second, left) => {
    const { label, send } = await makeLabeled();
    for (const name of new Set([...first, ...second])) await label(name);
    await send("POST", { labels: first });
    expect(namesOf(await send("POST", { labels: second }))).toEqual(left);
  });

  it("keeps the last one by name of several of one scope, in any order of the request", async () => {
    const { issue, label, send } = await makeLabeled();
    const [high, low] = [await label("prio/high"), await label("prio/low")];
    for (const names of [
      [high.id, low.id],
      [low.id, high.id],
    ]) {
      await send("PUT", { labels: [] });
      expect(namesOf(await send("POST", { labels: names }))).toEqual(["prio/low"]);
    }
    expect(await timelineOf(issue)).toEqual(["+prio/low", "-prio/low", "+prio/low"]);
  });

  it("keeps the newer one of two exclusive labels of one name", async () => {
    const { label, send } = await makeLabeled();
    const [older, newer] = [await label("prio/a"), await label("prio/a")];
    expect((await send("POST", { labels: ["prio/a"] })).body).toMatchObject([{ id: newer.id }]);
    expect((await send("POST", { labels: [older.id] })).body).toMatchObject([{ id: older.id }]);
  });

  it("evicts no label that is not exclusive, nor by one that is not", async () => {
    const { label, send } = await makeLabeled();
    await label("prio/a", { isExclusive: false });
    await label("prio/b");
    await label("prio/c", { isExclusive: false });
    await send("POST", { labels: ["prio/a"] });
    await send("POST", { labels: ["prio/b"] });
    expect(namesOf(await send("POST", { labels: ["prio/c"] }))).toEqual([
      "prio/a",
      "prio/b",
      "prio/c",
    ]);
  });

  it("takes what became exclusive later off with the next label of the scope", async () => {
    const { issue, label, send } = await makeLabeled();
    const [one, two] = [await label("prio/a"), await label("prio/b")];
    await attachLabel(issue, one, two);
    expect(namesOf(await send("POST", { labels: ["prio/a"] }))).toEqual(["prio/a"]);
    expect(await timelineOf(issue)).toEqual(["-prio/b"]);
  });

  it("adds labels of the repository's organization, all of a name, and one of a scope in both", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const issue = await makeIssue(repo);
    const ofOrg = await makeLabel({ org }, { name: "kind/a", isExclusive: true });
    const ofRepo = await makeLabel({ repo }, { name: "kind/a" });
    await makeLabel({ repo }, { name: "kind/b", isExclusive: true });
    const add = (label: unknown) =>
      call("POST", pathOf(repo, issue), { as: owner, json: { labels: [label] } });
    expect((await add("kind/a")).body).toMatchObject([
      { id: ofOrg.id, url: expect.stringContaining(`/orgs/${org.name}/labels/${ofOrg.id}`) },
      { id: ofRepo.id },
    ]);
    expect(namesOf(await add("kind/b"))).toEqual(["kind/a", "kind/b"]);
  });

  // SECURITY: a label of others must not become readable by attaching it.
  it("ignores unknown labels, and those of other repositories and organizations", async () => {
    const { owner, repo, issue, send } = await makeLabeled();
    const elsewhere = await make.repo(owner);
    const org = await make.org([owner]);
    const foreign = await makeLabel({ repo: elsewhere }, { name: "foreign" });
    const ofOrg = await makeLabel({ org }, { name: "others" });
    for (const given of [
      [foreign.id, ofOrg.id, 99_999_999, 0, -1, 1.5, 1e300],
      ["foreign", "others", "", "x'; drop table labels; --", "\0"],
    ]) {
      expect(await send("POST", { labels: given })).toMatchObject({ status: 200, body: [] });
      expect(await send("PUT", { labels: given })).toMatchObject({ status: 200, body: [] });
    }
    expect(await timelineOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("adds archived labels", async () => {
    const { label, send } = await makeLabeled();
    await label("old", { archivedAt: 1000 });
    expect((await send("POST", { labels: ["old"] })).body).toMatchObject([{ is_archived: true }]);
  });

  it.each([
    [400, { labels: ["bug", 1] }, "labels should be an array of strings or integers"],
    [400, { labels: [{ id: 1 }] }, "a label must be an integer or a string"],
    [400, { labels: [true] }, "a label must be an integer or a string"],
    [400, { labels: [null] }, "a label must be an integer or a string"],
    [422, { labels: "bug" }, "[labels]: must be a list"],
    [422, { labels: Array(101).fill("bug") }, "[labels]: must have at most 100 items"],
  ])("refuses with %i: %j", async (status, sent, message) => {
    const { issue, label, send } = await makeLabeled();
    await label("bug");
    for (const method of ["POST", "PUT"]) {
      expect(await send(method, sent)).toMatchObject({ status, body: { message } });
    }
    expect(await timelineOf(issue)).toEqual([]);
  });

  it("refuses a label above the maximum of an issue, also by a name that many have", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    await db.run(sql`
      insert into labels (repo_id, name, color, created_at, updated_at)
      select ${repo.id}, 'same', 'ffffff', 1000, 1000
      from json_each(${JSON.stringify(Array(101).fill(0))})`);
    const message = "an issue can have 100 labels at most";
    expect(await send("POST", { labels: ["same"] })).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await timelineOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
    const ids = (await db.select().from(labels).where(eq(labels.repoId, repo.id))).map(
      ({ id }) => id,
    );
    expect((await send("PUT", { labels: ids.slice(1) })).body).toHaveLength(100);
    expect(await send("POST", { labels: ids.slice(0, 1) })).toMatchObject({ status: 422 });
    await label("one");
    expect((await send("PUT", { labels: ["one"] })).body).toHaveLength(1);
  });

  it("refuses those who may not write, the poster too, and writes nothing", async () => {
    const { repo, label, send } = await makeLabeled();
    const bug = await label("bug");
    const poster = await make.user();
    const issue = await makeIssue(repo, { posterId: poster.id });
    await attachLabel(issue, bug);
    const requests = [
      ["POST", "", { labels: ["bug"] }],
      ["PUT", "", { labels: [] }],
      ["DELETE", "", undefined],
      ["DELETE", `/${bug.id}`, undefined],
    ] as const;
    for (const [method, rest, json] of requests) {
      const path = pathOf(repo, issue, rest);
      const refused = await call(method, path, { as: poster, ...(json && { json }) });
      expect(refused).toMatchObject({
        status: 403,
        body: { message: "write permission is required" },
      });
      expect(await call(method, path, { ...(json && { json }) })).toMatchObject({ status: 401 });
    }
    expect(await db.select().from(issueLabels).where(eq(issueLabels.issueId, issue.id))).toEqual([
      expect.objectContaining({ labelId: bug.id }),
    ]);
    expect(await timelineOf(issue)).toEqual([]);
    expect((await send("POST", { labels: [] })).status).toBe(200);
  });

  it("asks for the unit of the issue or pull request itself", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true });
    const member = await make.user();
    const team = await make.team(org, { units: { issues: 1, pulls: 2 } });
    await make.member(org, team, member);
    await makeLabel({ repo }, { name: "bug" });
    const issue = await makeIssue(repo);
    const pull = await makeIssue(repo, { isPull: true });
    const add = async (to: Issue) =>
      (await call("POST", pathOf(repo, to), { as: member, json: { labels: ["bug"] } })).status;
    expect([await add(issue), await add(pull)]).toEqual([403, 200]);
    const stranger = await make.user();
    expect((await call("GET", pathOf(repo, pull), { as: stranger })).status).toBe(404);
  });

  it("finds no unknown issue, and none of a disabled unit", async () => {
    const { owner, repo, send } = await makeLabeled();
    const off = await make.repo(owner, { hasIssues: false });
    const hidden = await makeIssue(off);
    const reader = await make.user();
    expect((await call("GET", pathOf(off, hidden), { as: reader })).status).toBe(404);
    expect((await call("GET", pathOf(off, hidden), { as: owner })).status).toBe(200);
    const unknown = pathOf(repo, { ...hidden, number: 99 });
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const json = method === "POST" || method === "PUT" ? { json: { labels: [] } } : {};
      expect((await call(method, unknown, { as: owner, ...json })).status, method).toBe(404);
    }
    expect((await send("GET", undefined)).status).toBe(200);
  });
});

describe("PUT /repos/{owner}/{repo}/issues/{index}/labels", () => {
  it("replaces the labels", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    const [bug, docs, low] = [await label("bug"), await label("docs"), await label("prio/low")];
    await send("POST", { labels: [bug.id, low.id] });
    expect(namesOf(await send("PUT", { labels: [docs.id, low.id] }))).toEqual(["docs", "prio/low"]);
    expect(namesOf(await send("PUT", {}))).toEqual([]);
    expect(await timelineOf(issue)).toEqual([
      "+bug",
      "+prio/low",
      "-bug",
      "+docs",
      "-docs",
      "-prio/low",
    ]);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "issue.labeled",
      payload: { added: [], removed: [docs.id, low.id] },
    });
  });
});

describe("DELETE /repos/{owner}/{repo}/issues/{index}/labels", () => {
  it("removes all labels, and announces it once", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    await attachLabel(issue, await label("bug"), await label("docs"));
    expect((await send("DELETE", undefined)).status).toBe(204);
    expect((await send("DELETE", undefined)).status).toBe(204);
    expect((await send("GET", undefined)).body).toEqual([]);
    expect(await timelineOf(issue)).toEqual(["-bug", "-docs"]);
    expect(await eventsOf(repo)).toMatchObject([{ type: "issue.labels_cleared" }]);
  });
});

describe("DELETE /repos/{owner}/{repo}/issues/{index}/labels/{id}", () => {
  it("removes a label, and nothing where the issue does not have it", async () => {
    const { repo, issue, label, send } = await makeLabeled();
    const [bug, docs] = [await label("bug"), await label("docs")];
    await attachLabel(issue, bug, docs);
    const remove = () => send("DELETE", undefined, `/${bug.id}`);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    expect(namesOf(await send("GET", undefined))).toEqual(["docs"]);
    expect(await timelineOf(issue)).toEqual(["-bug"]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "issue.labeled", payload: { added: [], removed: [bug.id] } },
    ]);
  });

  // SECURITY: the answer does not reveal whether a label exists elsewhere.
  it("refuses a label that the repository does not have, whether or not it exists", async () => {
    const { owner, issue, label, send } = await makeLabeled();
    await attachLabel(issue, await label("bug"));
    const foreign = await makeLabel({ repo: await make.repo(owner) });
    for (const id of [foreign.id, 99_999_999, "bug", "0", "-1", "1e3"]) {
      expect((await send("DELETE", undefined, `/${id}`)).status, String(id)).toBe(422);
    }
    expect(await timelineOf(issue)).toEqual([]);
  });
});
