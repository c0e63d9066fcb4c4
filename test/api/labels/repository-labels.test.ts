import { and, asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, issueLabels, labels, timelineEntries } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { attachLabel, makeIssue, makeLabel } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const pathOf = ({ owner, name }: TestRepo, rest = "") => `/repos/${owner}/${name}/labels${rest}`;

const labelsOf = ({ id }: TestRepo) =>
  db.select().from(labels).where(eq(labels.repoId, id)).orderBy(asc(labels.id));

const typesOf = async ({ id }: TestRepo) =>
  (
    await db
      .select({ type: events.type })
      .from(events)
      .where(and(eq(events.repoId, id)))
      .orderBy(asc(events.id))
  ).map(({ type }) => type);

async function makeScene(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  return { owner, repo };
}

const namesOf = ({ body }: { body: unknown }) =>
  (body as { name: string }[]).map(({ name }) => name);

/** Fields that no label can have, with the message. */
const REFUSED: [object, string][] = [
  [{ name: "a", color: "" }, "invalid color: "],
  [{ name: "a", color: "red" }, "invalid color: red"],
  [{ name: "a", color: "#12345" }, "invalid color: #12345"],
  [{ name: "a", color: "##123456" }, "invalid color: ##123456"],
  [{ name: "a", color: "#1234567" }, "invalid color: #1234567"],
  [{ name: "a", color: "#00000g" }, "invalid color: #00000g"],
  [{ name: "a", color: "#".repeat(17) }, "[color]: must have at most 16 characters"],
  [{ name: "", color: "#ffffff" }, "[name]: must not be empty"],
  [{ name: "a\nb", color: "#ffffff" }, "[name]: must not contain control characters"],
  [{ name: "a\0", color: "#ffffff" }, "[name]: must not contain control characters"],
  [{ name: "x".repeat(256), color: "#ffffff" }, "[name]: must have at most 255 characters"],
  [{ name: 5, color: "#ffffff" }, "[name]: must be a string"],
  [{ name: "a", color: "#ffffff", exclusive: "yes" }, "[exclusive]: must be true or false"],
  [{ name: "a", color: "#ffffff", is_archived: 1 }, "[is_archived]: must be true or false"],
  [
    { name: "a", color: "#ffffff", description: "x".repeat(2049) },
    "[description]: must have at most 2048 characters",
  ],
];

describe("POST /repos/{owner}/{repo}/labels", () => {
  it("creates a label, and announces it", async () => {
    const { owner, repo } = await makeScene();
    const json = { name: "prio/high", color: "#EE0701", description: "Soon", exclusive: true };
    const created = await call("POST", pathOf(repo), { as: owner, json });
    const [row] = await labelsOf(repo);
    expect(created).toMatchObject({
      status: 201,
      body: {
        id: row?.id,
        name: "prio/high",
        color: "ee0701",
        description: "Soon",
        exclusive: true,
        is_archived: false,
        url: `https://forge.example/api/v1${pathOf(repo, `/${row?.id}`)}`,
      },
    });
    expect(await typesOf(repo)).toEqual(["label.created"]);
  });

  it.each([
    ["#EE0701", "ee0701"],
    ["84B6EB", "84b6eb"],
    ["#fA0", "ffaa00"],
    ["abc", "aabbcc"],
    [" #00ff00 ", "00ff00"],
  ])("reads the colour %j", async (color, stored) => {
    const { owner, repo } = await makeScene();
    const created = await call("POST", pathOf(repo), { as: owner, json: { name: "a", color } });
    expect(created).toMatchObject({ status: 201, body: { color: stored } });
  });

  it.each<[object, string]>([
    [{ name: "a" }, "[color]: is required"],
    [{ color: "#ffffff" }, "[name]: is required"],
    ...REFUSED,
  ])("refuses %j, and stores nothing", async (json, message) => {
    const { owner, repo } = await makeScene();
    expect(await call("POST", pathOf(repo), { as: owner, json })).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await labelsOf(repo)).toEqual([]);
    expect(await typesOf(repo)).toEqual([]);
  });

  it("allows a name twice, and keeps names as they are sent", async () => {
    const { owner, repo } = await makeScene();
    const names = ["bug", "bug", " around ", "  ", "<b>x</b>", "emoji 🎉", "a,b"];
    for (const name of names) {
      const json = { name, color: "#000" };
      expect((await call("POST", pathOf(repo), { as: owner, json })).body.name).toBe(name);
    }
    expect((await labelsOf(repo)).map(({ name }) => name)).toEqual(names);
  });
});

describe("access to a repository's labels", () => {
  const json = { name: "x", color: "#ffffff" };
  const statuses = async (repo: TestRepo, id: number, as?: TestUser) => {
    const caller = as ? { as } : {};
    const send = async (method: string, rest = "", sent?: object) =>
      (await call(method, pathOf(repo, rest), { ...caller, ...(sent && { json: sent }) })).status;
    return [
      await send("GET"),
      await send("GET", `/${id}`),
      await send("POST", "", json),
      await send("PATCH", `/${id}`, json),
      await send("DELETE", `/${id}`),
    ];
  };

  it("is to read for who sees issues or pull requests, and to write for who writes to either", async () => {
    const { repo } = await makeScene();
    const label = await makeLabel({ repo });
    expect(await statuses(repo, label.id)).toEqual([200, 200, 401, 401, 401]);
    expect(await statuses(repo, label.id, await make.user())).toEqual([200, 200, 403, 403, 403]);
    expect(await labelsOf(repo)).toEqual([label]);
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    expect(await statuses(repo, label.id, writer)).toEqual([200, 200, 201, 200, 204]);
  });

  it.each([
    [{ issues: 2, pulls: 0 }, [200, 200, 201, 200, 204]],
    [{ issues: 1, pulls: 2 }, [200, 200, 201, 200, 204]],
    [{ issues: 1, code: 2 }, [200, 200, 403, 403, 403]],
    [{ code: 2, wiki: 2 }, [404, 404, 404, 404, 404]],
  ] as const)("follows the units of a team: %j", async (units, expected) => {
    const org = await make.org([await make.user()]);
    const repo = await make.repo(org, { isPrivate: true });
    const member = await make.user();
    await make.member(org, await make.team(org, { units }), member);
    const label = await makeLabel({ repo });
    expect(await statuses(repo, label.id, member)).toEqual(expected);
  });

  it("hides the labels of private repositories, and of repositories with neither unit", async () => {
    const hidden = await makeScene({ isPrivate: true });
    const off = await makeScene({ hasIssues: false, hasPullRequests: false });
    const none = [404, 404, 404, 404, 404];
    for (const { repo } of [hidden, off]) {
      const label = await makeLabel({ repo });
      expect(await statuses(repo, label.id, await make.user())).toEqual(none);
      expect((await call("GET", pathOf(repo))).status).toBe(404);
      expect(await labelsOf(repo)).toEqual([label]);
    }
    const pullsOnly = await makeScene({ hasIssues: false });
    expect((await call("GET", pathOf(pullsOnly.repo))).status).toBe(200);
  });

  it("is to read in an archived repository", async () => {
    const { owner, repo } = await makeScene({ archivedAt: 1000 });
    const label = await makeLabel({ repo });
    const issue = await makeIssue(repo);
    await attachLabel(issue, label);
    expect(await statuses(repo, label.id, owner)).toEqual([200, 200, 423, 423, 423]);
    expect(await statuses(repo, label.id, await make.user())).toEqual([200, 200, 403, 403, 403]);
    const path = `/repos/${repo.owner}/${repo.name}/issues/1/labels`;
    const sent = { as: owner, json: { labels: [] } };
    expect((await call("GET", path)).status).toBe(200);
    expect((await call("POST", path, sent)).status).toBe(423);
    expect((await call("PUT", path, sent)).status).toBe(423);
    expect((await call("DELETE", path, { as: owner })).status).toBe(423);
    expect((await call("DELETE", `${path}/${label.id}`, { as: owner })).status).toBe(423);
    expect(await labelsOf(repo)).toMatchObject([{ id: label.id, openIssueCount: 1 }]);
    expect(await typesOf(repo)).toEqual([]);
  });

  // SECURITY: each id is looked up together with its repository.
  it("reaches no label of another repository or of the organization", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const [repo, other] = [await make.repo(org), await make.repo(org)];
    const kept = [await makeLabel({ repo: other }), await makeLabel({ org })];
    for (const label of kept) {
      const at = pathOf(repo, `/${label.id}`);
      expect((await call("GET", at, { as: owner })).status).toBe(404);
      expect((await call("GET", pathOf(repo, `/${label.name}`), { as: owner })).status).toBe(404);
      expect((await call("PATCH", at, { as: owner, json })).status).toBe(404);
      expect((await call("DELETE", at, { as: owner })).status).toBe(204);
      expect(await db.select().from(labels).where(eq(labels.id, label.id))).toEqual([label]);
    }
    expect(await typesOf(repo)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/labels", () => {
  it("lists them in the order that is asked for, all or by page", async () => {
    const { repo } = await makeScene();
    const counts = { openIssueCount: 1, closedIssueCount: 1 };
    await makeLabel({ repo }, { name: "b", ...counts });
    await makeLabel({ repo }, { name: "B" });
    await makeLabel({ repo }, { name: "c", openIssueCount: 1 });
    await makeLabel({ repo }, { name: "a", closedIssueCount: 3 });
    const list = (query = "") => call("GET", pathOf(repo, query));
    expect(namesOf(await list())).toEqual(["B", "a", "b", "c"]);
    expect(namesOf(await list("?sort=nonsense"))).toEqual(["B", "a", "b", "c"]);
    expect(namesOf(await list("?sort=reversealphabetically"))).toEqual(["c", "b", "a", "B"]);
    expect(namesOf(await list("?sort=mostissues"))).toEqual(["a", "b", "c", "B"]);
    expect(namesOf(await list("?sort=leastissues"))).toEqual(["B", "c", "b", "a"]);
    expect(namesOf(await list("?limit=1"))).toHaveLength(4);
    const second = await list("?page=2&limit=3&sort=mostissues");
    expect(namesOf(second)).toEqual(["B"]);
    expect(second.headers.get("X-Total-Count")).toBe("4");
    expect(second.headers.get("Link")).toContain("sort=mostissues");
    expect(namesOf(await list("?page=9"))).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/labels/{id}", () => {
  it("finds a label by its id, or by its exact name, the oldest of several", async () => {
    const { repo } = await makeScene();
    const first = await makeLabel({ repo }, { name: "prio/high" });
    await makeLabel({ repo }, { name: "prio/high" });
    const digits = await makeLabel({ repo }, { name: "2026" });
    for (const id of [first.id, "prio%2Fhigh"]) {
      expect(await call("GET", pathOf(repo, `/${id}`))).toMatchObject({
        status: 200,
        body: { id: first.id, name: "prio/high" },
      });
    }
    expect((await call("GET", pathOf(repo, `/${digits.id}`))).body.name).toBe("2026");
    for (const id of ["2026", "PRIO%2FHIGH", "nothere", "99999999999999999999", "%00"]) {
      expect((await call("GET", pathOf(repo, `/${id}`))).status, id).toBe(404);
    }
  });
});

describe("PATCH /repos/{owner}/{repo}/labels/{id}", () => {
  it("changes what is sent, and announces a change once", async () => {
    const { owner, repo } = await makeScene();
    const label = await makeLabel({ repo }, { name: "bug", description: "old" });
    const edit = (json: object) => call("PATCH", pathOf(repo, `/${label.id}`), { as: owner, json });
    const json = { name: "defect", color: "#123456", exclusive: true, is_archived: true };
    const before = Date.now();
    const answer = {
      status: 200,
      body: { ...json, color: "123456", description: "old", id: label.id },
    };
    expect(await edit(json)).toMatchObject(answer);
    expect(await edit(json)).toMatchObject(answer);
    expect(await typesOf(repo)).toEqual(["label.edited"]);
    const [row] = await labelsOf(repo);
    expect(row?.archivedAt).toBeGreaterThanOrEqual(before);
    expect(row?.updatedAt).toBeGreaterThan(label.updatedAt);

    expect(await edit({ description: "" })).toMatchObject({ body: { description: "" } });
    // A partial edit does not bring a label back from the archive, as Gitea's does.
    expect(await edit({})).toMatchObject({ status: 200, body: { is_archived: true } });
    expect(await edit({ is_archived: false })).toMatchObject({ body: { is_archived: false } });
    expect(await typesOf(repo)).toEqual(["label.edited", "label.edited", "label.edited"]);
  });

  it.each(REFUSED)("refuses %j, and changes nothing", async (json, message) => {
    const { owner, repo } = await makeScene();
    const label = await makeLabel({ repo });
    const path = pathOf(repo, `/${label.id}`);
    expect(await call("PATCH", path, { as: owner, json })).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await labelsOf(repo)).toEqual([label]);
    expect(await typesOf(repo)).toEqual([]);
  });

  it("finds labels by id only", async () => {
    const { owner, repo } = await makeScene();
    const label = await makeLabel({ repo }, { name: "bug" });
    for (const id of ["bug", 99_999_999]) {
      const json = { description: "x" };
      expect((await call("PATCH", pathOf(repo, `/${id}`), { as: owner, json })).status).toBe(404);
      const expected = id === "bug" ? 404 : 204;
      expect((await call("DELETE", pathOf(repo, `/${id}`), { as: owner })).status).toBe(expected);
    }
    expect(await labelsOf(repo)).toEqual([label]);
    expect(await typesOf(repo)).toEqual([]);
  });
});

describe("DELETE /repos/{owner}/{repo}/labels/{id}", () => {
  it("takes the label off its issues and out of their timelines, and leaves the others", async () => {
    const { owner, repo } = await makeScene();
    const [bug, docs] = [await makeLabel({ repo }), await makeLabel({ repo })];
    const issue = await makeIssue(repo);
    await attachLabel(issue, bug);
    const json = { labels: [docs.id] };
    await call("PUT", `/repos/${repo.owner}/${repo.name}/issues/1/labels`, { as: owner, json });
    const remove = () => call("DELETE", pathOf(repo, `/${bug.id}`), { as: owner });
    await attachLabel(issue, bug);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    expect(await labelsOf(repo)).toMatchObject([{ id: docs.id, openIssueCount: 1 }]);
    const isOf = eq(timelineEntries.issueId, issue.id);
    expect(await db.select().from(timelineEntries).where(isOf)).toMatchObject([
      { labelId: docs.id, body: "1" },
    ]);
    expect(await typesOf(repo)).toEqual(["issue.labeled", "label.deleted"]);
  });

  it("deletes a label of many issues in steps", async () => {
    const { owner, repo } = await makeScene();
    const label = await makeLabel({ repo });
    const count = 2500;
    const numbers = JSON.stringify(Array.from({ length: count }, (_, at) => at + 1));
    await db.run(`insert into issues (repo_id, number, title, created_at, updated_at)
      select ${repo.id}, value, 'a', 1, 1 from json_each('${numbers}')`);
    await db.run(`insert into issue_labels (issue_id, label_id, repo_id, is_pull, is_closed)
      select id, ${label.id}, repo_id, 0, 0 from issues where repo_id = ${repo.id}`);
    await db.run(`insert into timeline_entries
      (repo_id, issue_id, kind, body, label_id, created_at, updated_at)
      select repo_id, id, 'label', '1', ${label.id}, 1, 1 from issues where repo_id = ${repo.id}`);
    expect((await labelsOf(repo))[0]?.openIssueCount).toBe(count);
    expect((await call("DELETE", pathOf(repo, `/${label.id}`), { as: owner })).status).toBe(204);
    expect(await labelsOf(repo)).toEqual([]);
    const isOfLabel = eq(issueLabels.labelId, label.id);
    expect(await db.select().from(issueLabels).where(isOfLabel)).toEqual([]);
    expect(await typesOf(repo)).toEqual(["label.deleted"]);
  });
});
