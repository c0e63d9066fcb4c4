import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { commitStatuses, type JobPermissions, repositories } from "../../../src/db/schema/index.ts";
import { takeTask } from "../../../src/domain/actions/tasks/take-task.ts";
import { actionsCtx, makeJob, makeRun, makeRunner } from "../../support/actions.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { storePush } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;

/** A repository with two branches, one with a slash in its name, and a tag. */
async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const history = new History();
  const first = history.commit({ files: { a: repo.name } });
  const second = history.commit({ files: { a: "b" }, parents: [first] });
  const pack = history.build();
  await storePush(repo, "refs/heads/main", second, pack);
  await storePush(repo, "refs/heads/feature/x", first, pack);
  await storePush(repo, "refs/tags/v1", first, pack);
  return { owner, repo, first, second };
}

const statusRows = (repo: { id: number }) =>
  db.select().from(commitStatuses).where(eq(commitStatuses.repoId, repo.id));

/** The token of a job that runs in a repository. */
async function makeJobToken(repo: TestRepo, permissions: JobPermissions): Promise<string> {
  await makeJob(await makeRun(repo), repo, { permissions });
  const runner = await makeRunner({ repoId: repo.id });
  const ctx = actionsCtx();
  const { task } = await takeTask(ctx, runner.credential, 0);
  await ctx.settled();
  return String(task?.context["token"]);
}

describe("POST /repos/{owner}/{repo}/statuses/{sha}", () => {
  it("takes a status of a job whose workflow grants it, whatever it may do with the code", async () => {
    const { repo, second } = await makePushed({ visibility: "private", isPrivate: true });
    const elsewhere = await makePushed();
    const json = { state: "success", context: "deploy" };
    const post = (token: string, to: TestRepo, sha: string) =>
      call("POST", pathOf(to, `statuses/${sha}`), { token, json });
    const granted = await makeJobToken(repo, { statuses: "write" });
    expect(await post(granted, repo, second)).toMatchObject({
      status: 201,
      body: { context: "deploy", creator: { login: "gitea-actions" } },
    });
    expect((await post(granted, elsewhere.repo, elsewhere.second)).status).toBe(403);
    expect((await call("GET", pathOf(repo, "contents"), { token: granted })).status).toBe(404);
    for (const permissions of [{ contents: "write" }, { statuses: "read" }] as const) {
      const token = await makeJobToken(repo, permissions);
      expect((await post(token, repo, second)).status).toBe(403);
    }
    expect((await post(await makeJobToken(repo, {}), repo, second)).status).toBe(404);
    const ofCommit = (await statusRows(repo)).filter(({ commitOid }) => commitOid === second);
    expect(ofCommit).toMatchObject([{ context: "deploy" }]);
    expect(await statusRows(elsewhere.repo)).toEqual([]);
  });

  it("stores a status and records an event", async () => {
    const { owner, repo, second } = await makePushed();
    const before = (await eventsOf(repo)).length;
    const { answer, line } = await logged(() =>
      call("POST", pathOf(repo, `statuses/${second}`), {
        as: owner,
        json: {
          state: "success",
          context: " ci/build ",
          description: "All is well",
          target_url: "https://ci.example/1?a=b",
        },
      }),
    );
    const api = `https://forge.example/api/v1${pathOf(repo, "")}`;
    expect(answer).toMatchObject({
      status: 201,
      body: {
        id: 1,
        status: "success",
        context: "ci/build",
        description: "All is well",
        target_url: "https://ci.example/1?a=b",
        url: `${api}statuses/${second}`,
        creator: { login: owner.name },
      },
    });
    expect(answer.body.updated_at).toBe(answer.body.created_at);
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });
    expect((await eventsOf(repo)).slice(before)).toMatchObject([
      {
        type: "commit_status.created",
        actorId: owner.id,
        payload: { commitOid: second, number: 1, state: "success", context: "ci/build" },
      },
    ]);
    const again = await call("POST", pathOf(repo, `statuses/${second}`), {
      as: owner,
      json: { state: "pending" },
    });
    expect(again.body).toMatchObject({ id: 2, context: "", description: "", target_url: "" });
  });

  it("numbers the statuses of a commit consecutively, also concurrent ones", async () => {
    const { owner, repo, first, second } = await makePushed();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        call("POST", pathOf(repo, `statuses/${at < 10 ? second : first.slice(0, 7)}`), {
          as: owner,
          json: { state: "pending", context: `c${at}` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const numbers = answers.map(({ body }) => body.id as number);
    expect(numbers.slice(0, 10).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, at) => at + 1),
    );
    expect(numbers.slice(10).toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it("refuses an invalid status, and stores nothing", async () => {
    const { owner, repo, second } = await makePushed();
    const before = (await eventsOf(repo)).length;
    const wrong = [
      {},
      { state: "" },
      { state: "fine" },
      { state: "SUCCESS" },
      { state: 1 },
      { state: "success", target_url: "javascript:alert(1)" },
      { state: "success", target_url: "ftp://example.com" },
      { state: "success", target_url: "//example.com" },
      { state: "success", target_url: "https://" },
      { state: "success", context: "x".repeat(5000) },
      { state: "success", description: "x".repeat(5000) },
    ];
    for (const json of wrong) {
      const answer = await call("POST", pathOf(repo, `statuses/${second}`), { as: owner, json });
      expect([answer.status, Object.keys(answer.body)], JSON.stringify(json)).toEqual([
        422,
        ["message", "url"],
      ]);
    }
    expect(await statusRows(repo)).toEqual([]);
    expect(await eventsOf(repo)).toHaveLength(before);
  });

  it("refuses callers without write access, and stores nothing", async () => {
    const { owner, repo, second } = await makePushed();
    const reader = await make.user();
    await make.collaborator(repo, reader, 1);
    const narrow = await make.token(owner, { scopes: "read:repository" });
    const json = { state: "success" };
    const path = pathOf(repo, `statuses/${second}`);
    expect((await call("POST", path, { json })).status).toBe(401);
    expect((await call("POST", path, { as: reader, json })).status).toBe(403);
    expect((await call("POST", path, { token: narrow, json })).status).toBe(403);
    const { repo: hidden, second: theirs } = await makePushed({ isPrivate: true });
    const answer = await call("POST", pathOf(hidden, `statuses/${theirs}`), { as: reader, json });
    expect(answer).toMatchObject({ status: 404, body: "" });
    expect([...(await statusRows(repo)), ...(await statusRows(hidden))]).toEqual([]);
  });

  it("limits the statuses of a commit", async () => {
    const { owner, repo, second } = await makePushed();
    await db.insert(commitStatuses).values({
      repoId: repo.id,
      commitOid: second,
      number: 10_000,
      state: "success",
      context: "",
      description: "",
      targetUrl: "",
      createdAt: 1000,
    });
    const before = (await eventsOf(repo)).length;
    const path = pathOf(repo, `statuses/${second}`);
    const answer = await call("POST", path, { as: owner, json: { state: "success" } });
    expect(answer).toMatchObject({
      status: 422,
      body: { message: "a commit has 10000 statuses at most" },
    });
    expect(await eventsOf(repo)).toHaveLength(before);
    // A status whose creator's account was deleted has no creator.
    expect((await call("GET", path)).body).toMatchObject([{ id: 10_000, creator: null }]);
  });
});

/** A repository with a commit that has five statuses of three contexts. */
async function makeStatuses() {
  const made = await makePushed();
  const { owner, repo, first } = made;
  const list = [
    ["a", "pending"],
    ["b", "failure"],
    ["a", "success"],
    ["c", "warning"],
    ["b", "success"],
  ];
  for (const [context, state] of list) {
    await call("POST", pathOf(repo, `statuses/${first}`), { as: owner, json: { context, state } });
  }
  return made;
}

const idsOf = (body: { id: number }[]) => body.map(({ id }) => id);

describe("GET /repos/{owner}/{repo}/commits/{ref}/statuses", () => {
  it("lists all statuses of a commit, by any name that resolves to it", async () => {
    const { repo, first } = await makeStatuses();
    const names = [
      "feature/x",
      "feature%2Fx",
      "v1",
      first,
      first.slice(0, 7),
      "refs/heads/feature/x",
    ];
    for (const name of names) {
      const { status, body, headers } = await call("GET", pathOf(repo, `commits/${name}/statuses`));
      expect([status, status === 200 && idsOf(body)], name).toEqual([200, [5, 4, 3, 2, 1]]);
      expect(headers.get("X-Total-Count")).toBe("5");
    }
    const { answer, line } = await logged(() => call("GET", pathOf(repo, `statuses/${first}`)));
    expect(idsOf(answer.body)).toEqual([5, 4, 3, 2, 1]);
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });
    expect((await call("GET", pathOf(repo, "commits/main/statuses"))).body).toEqual([]);
  });

  it("sorts, filters and paginates", async () => {
    const { repo, first } = await makeStatuses();
    const cases = [
      ["sort=oldest", [1, 2, 3, 4, 5]],
      ["sort=leastupdate", [1, 2, 3, 4, 5]],
      ["sort=highestindex", [1, 2, 3, 4, 5]],
      ["sort=recentupdate", [5, 4, 3, 2, 1]],
      ["sort=leastindex", [5, 4, 3, 2, 1]],
      ["sort=constructor&state=nothing", [5, 4, 3, 2, 1]],
      ["state=success", [5, 3]],
      ["state=success&sort=oldest", [3, 5]],
      ["state=skipped", []],
      ["page=2&limit=2", [3, 2]],
      ["page=9&limit=2", []],
    ] as const;
    for (const [query, ids] of cases) {
      const { body } = await call("GET", pathOf(repo, `statuses/${first}?${query}`));
      expect(idsOf(body), query).toEqual(ids);
    }
    const path = pathOf(repo, `commits/feature/x/statuses?page=2&limit=2`);
    const { headers } = await call("GET", path);
    expect(headers.get("X-Total-Count")).toBe("5");
    expect(headers.get("Link")).toContain(
      `/commits/feature/x/statuses?limit=2&page=3>; rel="next"`,
    );
  });

  it("answers 404 for names that are not commits of the repository", async () => {
    const { owner, repo } = await makeStatuses();
    const { second: elsewhere } = await makePushed();
    const removed = new History();
    const gone = removed.commit({ files: { a: `gone from ${repo.name}` } });
    await storePush(repo, "refs/notes/x", gone, removed.build());
    const wrong = ["nothing", "%ff", "0".repeat(40), "x".repeat(5000), elsewhere];
    for (const name of wrong) {
      for (const rest of [
        `commits/${name}/statuses`,
        `commits/${name}/status`,
        `statuses/${name}`,
      ]) {
        expect(await call("GET", pathOf(repo, rest)), rest).toMatchObject({
          status: 404,
          body: "",
        });
      }
      const path = pathOf(repo, `statuses/${name}`);
      const answer = await call("POST", path, { as: owner, json: { state: "success" } });
      expect(answer.status, name).toBe(404);
    }
    expect(await statusRows(repo)).toHaveLength(5);
  });

  it("resolves a ref name that ends like the path", async () => {
    const { owner, repo, first } = await makeStatuses();
    const json = { new_branch_name: "a/status", old_ref_name: first };
    expect((await call("POST", pathOf(repo, "branches"), { as: owner, json })).status).toBe(201);
    const all = await call("GET", pathOf(repo, "commits/a/status/statuses"));
    expect(idsOf(all.body)).toHaveLength(5);
    const combined = await call("GET", pathOf(repo, "commits/a/status/status"));
    expect(combined.body).toMatchObject({ sha: first, total_count: 3 });
    expect((await call("GET", pathOf(repo, "commits/a%2Fstatus"))).status).toBe(404);
  });
});

describe("GET /repos/{owner}/{repo}/commits/{ref}/status", () => {
  it("returns the latest status of each context and the combined state", async () => {
    const { owner, repo, first } = await makeStatuses();
    const { answer, line } = await logged(() =>
      call("GET", pathOf(repo, "commits/feature/x/status")),
    );
    const api = `https://forge.example/api/v1${pathOf(repo, "")}`;
    expect(answer.body).toMatchObject({
      state: "success",
      sha: first,
      total_count: 3,
      statuses: [
        { id: 5, context: "b", status: "success" },
        { id: 4, context: "c", status: "warning" },
        { id: 3, context: "a", status: "success" },
      ],
      repository: { id: repo.id },
      commit_url: `${api}git/commits/${first}`,
      url: `${api}commits/${first}/status`,
    });
    expect(answer.headers.get("X-Total-Count")).toBe("3");
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });

    const steps = [
      ["d", "skipped", "success"],
      ["d", "pending", "pending"],
      ["e", "error", "failure"],
      ["e", "success", "pending"],
      ["d", "success", "success"],
      ["a", "failure", "failure"],
    ] as const;
    for (const [context, state, combined] of steps) {
      const json = { context, state };
      await call("POST", pathOf(repo, `statuses/${first}`), { as: owner, json });
      const { body } = await call("GET", pathOf(repo, `commits/${first}/status?page=2&limit=4`));
      expect(body.state).toBe(combined);
      expect(body.total_count).toBe(context === "d" && state !== "success" ? 4 : 5);
      expect(body.statuses).toHaveLength(body.total_count - 4);
    }
  });

  it("returns an empty state for a commit without statuses", async () => {
    const { repo, second } = await makeStatuses();
    const { body } = await call("GET", pathOf(repo, "commits/main/status"));
    expect(body).toMatchObject({ state: "", sha: second, statuses: null, total_count: 0 });
  });
});

describe("statuses", () => {
  it("require access to the code, are not copied to forks, and are deleted with the repository", async () => {
    const { owner, repo, first } = await makeStatuses();
    const friend = await make.user();
    const fork = await call("POST", pathOf(repo, "forks"), { as: friend, json: {} });
    expect(fork.status).toBe(202);
    const theirs = `/repos/${friend.name}/${repo.name}/commits/feature/x`;
    expect((await call("GET", `${theirs}/statuses`)).body).toEqual([]);
    expect((await call("GET", `${theirs}/status`)).body.state).toBe("");

    const paths = [`statuses/${first}`, "commits/v1/statuses", "commits/v1/status"];
    const isThisRepo = eq(repositories.id, repo.id);
    await db.update(repositories).set({ hasCode: false }).where(isThisRepo);
    for (const path of paths) expect((await call("GET", pathOf(repo, path))).status).toBe(404);
    const json = { state: "success" };
    const refused = await call("POST", pathOf(repo, paths[0] ?? ""), { as: owner, json });
    expect(refused.status).toBe(403);
    await db.update(repositories).set({ hasCode: true, isPrivate: true }).where(isThisRepo);
    for (const path of paths) {
      expect((await call("GET", pathOf(repo, path), { as: friend })).status).toBe(404);
      expect((await call("GET", pathOf(repo, path), { as: owner })).status).toBe(200);
    }
    expect(await statusRows(repo)).toHaveLength(5);
    expect((await call("DELETE", pathOf(repo, "").slice(0, -1), { as: owner })).status).toBe(204);
    expect(await statusRows(repo)).toEqual([]);
  });
});
