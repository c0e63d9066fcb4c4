import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  auditEvents,
  type WorkflowRun,
  workflowRuns,
  workflows,
} from "../../../src/db/schema/index.ts";
import { makeJob, makeRun, makeRunner } from "../../support/actions.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { jobsOf, makePushed, reach, runsOf } from "../../support/workflow-runs.ts";

const FILE = `
name: Checks
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: make }] }
  test:
    needs: build
    runs-on: [linux, gpu]
    steps: [{ run: "make test" }]
`;
const BY_HAND = `
name: Release
on:
  workflow_dispatch:
    inputs:
      version: { description: Version, required: true }
      kind: { type: choice, options: [minor, major], default: minor }
      dry: { type: boolean, default: true }
      count: { type: number }
jobs: { build: { runs-on: linux, steps: [{ run: make }] } }
`;

/** A repository whose owner is signed in, with the runs of its first push. */
async function makeSite(files: Readonly<Record<string, string>>) {
  const { repo, oid, owner: pusher } = await makePushed(files);
  const browser = new Browser();
  const owner = await signIn(browser, pusher);
  const path = `/${owner.name}/${repo.name}`;
  const [run] = await runsOf(repo);
  return { repo, oid, owner, browser, path, run: run as WorkflowRun };
}

/** Gives a user a password, and signs them in. */
async function signIn(browser: Browser, user: TestUser): Promise<TestUser> {
  const other = await make.userWithPassword({ isAdmin: true });
  const password = "a long password 123";
  await call("PATCH", `/admin/users/${user.name}`, {
    as: other,
    json: { password, login_name: user.name, source_id: 0, must_change_password: false },
  });
  const named = { ...user, password };
  await browser.signIn(named);
  return named;
}

const bodyOf = async (path: string, browser = new Browser()): Promise<string> => {
  const answer = await browser.get(path);
  expect(answer.status, path).toBe(200);
  return String(answer.body);
};

const rowOf = async ({ id }: { readonly id: number }) =>
  (await db.select().from(workflowRuns).where(eq(workflowRuns.id, id)))[0];

let site: Awaited<ReturnType<typeof makeSite>>;
beforeAll(async () => {
  site = await makeSite({ ".gitea/workflows/ci.yml": FILE, ".gitea/workflows/by.yml": BY_HAND });
});

describe("the list of runs", () => {
  it("shows runs newest first, with state, event, branch, commit and actor", async () => {
    const { path, oid, owner, run } = site;
    const body = await bodyOf(`${path}/actions`);
    expect(body).toContain(`href="${path}/actions/runs/${run.number}"`);
    expect(body).toContain("Add files");
    expect(body).toContain(`Checks #${run.number}`);
    expect(body).toContain(`href="${path}/src/branch/main"`);
    expect(body).toContain(oid.slice(0, 10));
    expect(body).toContain(`href="/${owner.name}"`);
    expect(body).toContain(`href="${path}/actions?workflow=ci.yml"`);
    expect(body).toContain('aria-current="page">Actions');
  });

  it("is narrowed by workflow, state, event, branch and actor", async () => {
    const repo = await make.repo(await make.user());
    const path = `/${repo.owner}/${repo.name}`;
    const other = await make.user();
    await makeRun(repo, { title: "First run", state: "failure", event: "schedule", actorId: 0 });
    await makeRun(repo, {
      title: "Second run",
      file: "b.yml",
      headBranch: "next",
      actorId: other.id,
    });
    for (const [query, title] of [
      ["workflow=b.yml", "Second run"],
      ["status=failure", "First run"],
      ["event=schedule", "First run"],
      ["branch=next", "Second run"],
      [`actor=${other.name.toUpperCase()}`, "Second run"],
    ] as const) {
      const body = await bodyOf(`${path}/actions?${query}`);
      const shown = ["First run", "Second run"].filter((each) => body.includes(each));
      expect(shown, query).toEqual([title]);
    }
    expect(await bodyOf(`${path}/actions?workflow=c.yml`)).toContain("No run is like that.");
  });

  it("has pages and a total", async () => {
    const repo = await make.repo(await make.user());
    for (let count = 0; count < 31; count++) await makeRun(repo, { title: `Number ${count}.` });
    const path = `/${repo.owner}/${repo.name}/actions`;
    const first = await bodyOf(path);
    expect(first).toContain('<span class="label">31</span>');
    expect(first).toContain("Page 1 of 2");
    expect(first).not.toContain("Number 0.");
    expect(await bodyOf(`${path}?page=2`)).toContain("Number 0.");
  });

  it("escapes what workflows and pushers name", async () => {
    const repo = await make.repo(await make.user());
    await makeRun(repo, { title: "<script>1</script>", name: "<b>", headBranch: '"><img>' });
    const body = await bodyOf(`/${repo.owner}/${repo.name}/actions`);
    expect(body).not.toContain("<script>1");
    expect(body).not.toContain("<img>");
  });

  it("says how to begin where there is no workflow", async () => {
    const repo = await make.repo(await make.user());
    expect(await bodyOf(`/${repo.owner}/${repo.name}/actions`)).toContain('href="/docs/actions"');
  });

  it("is not found, and has no tab, where actions are switched off", async () => {
    const { browser, path, owner, repo } = await makeSite({ ".gitea/workflows/ci.yml": FILE });
    const at = `/repos/${owner.name}/${repo.name}`;
    await call("PATCH", at, { as: owner, json: { has_actions: false } });
    expect((await browser.get(`${path}/actions`)).status).toBe(404);
    expect((await browser.get(`${path}/actions/runs/1`)).status).toBe(404);
    expect(await bodyOf(path, browser)).not.toContain(`${path}/actions`);
  });
});

describe("the switch of a workflow", () => {
  it("disables and enables it, once", async () => {
    const { browser, path, repo } = site;
    const list = `${path}/actions?workflow=ci.yml`;
    const isDisabled = async () =>
      (await db.select().from(workflows).where(eq(workflows.repoId, repo.id))).filter(
        (each) => each.isDisabled,
      ).length;
    for (const [action, count] of [
      ["disable", 1],
      ["enable", 0],
    ] as const) {
      const token = tokenIn(await bodyOf(list, browser));
      const answer = await browser.post(`${path}/actions/${action}?workflow=ci.yml`, token);
      expect(answer.status).toBe(303);
      expect(await isDisabled()).toBe(count);
      expect((await browser.post(`${path}/actions/${action}?workflow=ci.yml`, token)).status).toBe(
        303,
      );
    }
    const audited = await db.select().from(auditEvents).where(eq(auditEvents.repoId, repo.id));
    expect(audited.filter(({ kind }) => kind === "workflow.edited")).toHaveLength(2);
  });

  it("is for writers", async () => {
    const { path, repo } = site;
    const reader = await Browser.signedIn(await make.userWithPassword());
    const body = await bodyOf(`${path}/actions?workflow=ci.yml`, reader);
    expect(body).not.toContain("/actions/disable");
    const sent = await reader.post(`${path}/actions/disable?workflow=ci.yml`, tokenIn(body));
    expect(sent.status).toBe(404);
    const rows = await db.select().from(workflows).where(eq(workflows.repoId, repo.id));
    expect(rows.every((row) => !row.isDisabled)).toBe(true);
  });
});

const tokenIn = (body: string): Record<string, string> => ({
  _csrf: /name="_csrf" value="([^"]*)"/.exec(body)?.[1] ?? "",
});

const fieldsIn = (body: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name) => [name, new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? ""]),
  );

describe("the form that starts a workflow", () => {
  const form = "/actions/run?workflow=by.yml";

  it("has the inputs as fields, and starts one run however often it is sent", async () => {
    const { browser, path, repo, owner } = site;
    const body = await bodyOf(path + form, browser);
    expect(body).toMatch(/<input id="input-version"[^>]*required/);
    expect(body).toMatch(/<option value="minor" selected/);
    expect(body).toMatch(/name="input-dry"[^>]*checked/);
    const fields = {
      ...fieldsIn(body, ["_csrf", "key"]),
      "input-version": "1.2",
      "input-kind": "major",
      "input-count": "3",
    };
    const before = (await runsOf(repo)).length;
    const answer = await browser.post(`${path}${form}&ref=main`, fields);
    expect(answer.status).toBe(303);
    const again = await browser.post(`${path}${form}&ref=main`, fields);
    expect(again.headers.get("location")).toBe(answer.headers.get("location"));
    const runs = await runsOf(repo);
    expect(runs).toHaveLength(before + 1);
    expect(runs.at(-1)).toMatchObject({ event: "workflow_dispatch", actorId: owner.id });
    expect(JSON.parse(runs.at(-1)?.payload ?? "{}").inputs).toEqual({
      version: "1.2",
      kind: "major",
      dry: "false",
      count: "3",
    });
  });

  it("says at the field why it was refused, and keeps what was typed", async () => {
    const { browser, path, repo } = site;
    const before = (await runsOf(repo)).length;
    const body = await bodyOf(path + form, browser);
    const answer = await browser.post(`${path}${form}`, {
      ...fieldsIn(body, ["_csrf", "key"]),
      "input-version": "1.2",
      "input-kind": "minor",
      "input-count": "many",
    });
    expect(answer.status).toBe(422);
    expect(String(answer.body)).toMatch(/id="input-count-fault"[^>]*>[^<]*must be a number/);
    expect(String(answer.body)).toContain('value="1.2"');
    expect(await runsOf(repo)).toHaveLength(before);
  });

  it("says where the workflow can't be started", async () => {
    const { browser, path } = site;
    expect(await bodyOf(`${path}${form}&ref=nothing`, browser)).toContain("is not there");
    expect(await bodyOf(`${path}/actions/run?workflow=ci.yml`, browser)).toContain(
      "no workflow_dispatch trigger",
    );
  });

  it("is for writers, and others sign in first", async () => {
    const { path } = site;
    const reader = await Browser.signedIn(await make.userWithPassword());
    expect((await reader.get(path + form)).status).toBe(404);
    const anonymous = await visit("GET", path + form, { headers: { Accept: "text/html" } });
    expect(anonymous.headers.get("location")).toContain("/user/login");
  });
});

describe("the page of a run", () => {
  it("shows jobs in columns, with state, duration and what they wait for", async () => {
    const { path, repo, run } = await makeSite({ ".gitea/workflows/ci.yml": FILE });
    const page = `${path}/actions/runs/${run.number}`;
    expect(await bodyOf(page)).toContain("No runner is online");
    await makeRunner({ repoId: repo.id, labels: ["Linux"], lastOnlineAt: Date.now() });
    const body = await bodyOf(page);
    expect(body).toContain("Waits for a runner that is free");
    expect(body).toContain("Needs build");
    expect(body.indexOf(`${page}/jobs/0`)).toBeLessThan(body.indexOf(`${page}/jobs/1`));
    await reach(run, "build", "running", 1_000_000);
    await reach(run, "build", "success", 1_065_000);
    const later = await bodyOf(page);
    expect(later).toContain("1m5s");
    expect(later).toContain("No runner that is online has all labels: linux, gpu");
  });

  it("shows why a file can't be run, with the way to its line", async () => {
    const { path, run, oid } = await makeSite({
      ".gitea/workflows/ci.yml":
        "on: push\njobs:\n  a: { needs: b, runs-on: x, steps: [{run: a}] }\n",
    });
    const body = await bodyOf(`${path}/actions/runs/${run.number}`);
    expect(body).toContain("can&#39;t be run");
    expect(body).toContain(`${path}/src/commit/${oid}/.gitea/workflows/ci.yml#L3`);
  });

  it("names the run that goes first in its group", async () => {
    const repo = await make.repo(await make.user());
    const first = await makeRun(repo, { title: "First", concurrencyGroup: "g", state: "running" });
    const second = await makeRun(repo, { concurrencyGroup: "g", state: "blocked" });
    await makeJob(second, repo, { state: "blocked", readySequence: 0 });
    const body = await bodyOf(`/${repo.owner}/${repo.name}/actions/runs/${second.number}`);
    expect(body).toContain(`First #${first.number}`);
  });

  it("is not found by another number, or in another repository", async () => {
    const { path, run } = site;
    const other = await make.repo(await make.user());
    for (const at of [
      `${path}/actions/runs/999`,
      `${path}/actions/runs/x`,
      `${path}/actions/runs/01`,
      `${path}/actions/runs/${run.number}/jobs/9`,
      `/${other.owner}/${other.name}/actions/runs/${run.number}`,
    ]) {
      expect((await visit("GET", at)).status, at).toBe(404);
    }
  });
});

describe("the forms of a run", () => {
  /** A run that has ended, of a repository whose owner is signed in. */
  async function makeEnded(state: "failure" | "running" = "failure") {
    const own = await makeSite({ ".gitea/workflows/ci.yml": FILE });
    await reach(own.run, "build", state);
    return { ...own, page: `${own.path}/actions/runs/${own.run.number}` };
  }

  it("cancels a run", async () => {
    const { browser, page, run } = await makeEnded("running");
    const token = tokenIn(await bodyOf(page, browser));
    const answer = await browser.post(`${page}/cancel`, token);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
    expect((await rowOf(run))?.state).toBe("cancelled");
  });

  it.each(["rerun", "rerun-failed"])("runs jobs again: %s", async (action) => {
    const { browser, page, run } = await makeEnded();
    const token = tokenIn(await bodyOf(page, browser));
    expect((await browser.post(`${page}/${action}`, token)).status).toBe(303);
    expect(await rowOf(run)).toMatchObject({ state: "waiting", attempt: 2 });
    // It has not ended since: the same form is refused.
    const again = await browser.post(`${page}/${action}`, token);
    expect(again.status).toBe(400);
    expect(String(again.body)).toContain("not done");
    expect((await rowOf(run))?.attempt).toBe(2);
  });

  it("runs one job again", async () => {
    const { browser, page, run, repo } = await makeEnded();
    const other = await makeJob(run, repo, { state: "success" });
    const token = tokenIn(await bodyOf(page, browser));
    expect((await browser.post(`${page}/jobs/0/rerun`, token)).status).toBe(303);
    expect((await jobsOf(run)).find(({ id }) => id === other.id)?.state).toBe("success");
    expect((await rowOf(run))?.attempt).toBe(2);
    const absent = await browser.post(`${page}/jobs/999/rerun`, token);
    expect(absent.status).toBe(404);
  });

  it("approves a run", async () => {
    const { browser, path, repo, owner } = site;
    const run = await makeRun(repo, { number: 5001, state: "blocked", needsApproval: true });
    await makeJob(run, repo, { state: "blocked", readySequence: 0 });
    const page = `${path}/actions/runs/${run.number}`;
    const body = await bodyOf(page, browser);
    expect(body).toContain("waits for an approval");
    expect((await browser.post(`${page}/approve`, tokenIn(body))).status).toBe(303);
    expect(await rowOf(run)).toMatchObject({
      needsApproval: false,
      approverId: owner.id,
      state: "waiting",
    });
  });

  it("deletes a run that has ended, after a question", async () => {
    const { browser, page, run, path } = await makeEnded();
    const body = await bodyOf(page, browser);
    expect(body).toContain(`Delete run ${run.number}`);
    const answer = await browser.post(`${page}/delete`, tokenIn(body));
    expect(answer.headers.get("location")).toBe(`${path}/actions`);
    expect(await rowOf(run)).toBeUndefined();
    expect(await jobsOf(run)).toEqual([]);
  });

  it("are refused to readers, to other sites and without a session", async () => {
    const { browser, page, run } = await makeEnded();
    const before = await rowOf(run);
    const reader = await Browser.signedIn(await make.userWithPassword());
    const body = await bodyOf(page, reader);
    expect(body).not.toContain(`action="${page}/`);
    const own = tokenIn(await bodyOf(page, browser));
    for (const action of ["cancel", "approve", "rerun", "rerun-failed", "delete", "jobs/0/rerun"]) {
      const at = `${page}/${action}`;
      expect((await reader.post(at, tokenIn(body))).status, action).toBe(404);
      expect((await browser.post(at, {})).status, action).toBe(403);
      expect((await browser.post(at, own, { Origin: "https://other.example" })).status).toBe(403);
      const anonymous = await new Browser().post(at, {}, { Accept: "text/html" });
      expect(anonymous.headers.get("location"), action).toContain("/user/login");
    }
    expect(await rowOf(run)).toEqual(before);
  });
});

describe("the badge of a workflow", () => {
  async function badgeOf(repo: TestRepo, query = ""): Promise<string> {
    const path = `/${repo.owner}/${repo.name}/actions/workflows/ci.yml/badge.svg${query}`;
    const answer = await visit("GET", path);
    expect(answer.headers.get("content-type")).toContain("image/svg+xml");
    return String(answer.body);
  }

  it("shows the state of the last run on the default branch, or as it is asked", async () => {
    const repo = await make.repo(await make.user());
    expect(await badgeOf(repo)).toContain("ci.yml: no runs");
    await makeRun(repo, { state: "failure", event: "schedule" });
    await makeRun(repo, { state: "success" });
    await makeRun(repo, { state: "running", headBranch: "next" });
    await makeRun(repo, { state: "failure", file: "b.yml" });
    expect(await badgeOf(repo)).toContain("CI: passing");
    expect(await badgeOf(repo, "?branch=next")).toContain("CI: running");
    expect(await badgeOf(repo, "?event=schedule")).toContain("CI: failing");
    expect(await badgeOf(repo, "?style=flat-square")).toContain('rx="0"');
  });

  it("escapes the name of the workflow", async () => {
    const repo = await make.repo(await make.user());
    await makeRun(repo, { name: "<script>alert(1)</script>" });
    expect(await badgeOf(repo)).not.toContain("<script");
  });

  it("is not found in a repository that the reader may not see", async () => {
    const repo = await make.repo(await make.user(), { isPrivate: true });
    await makeRun(repo, {});
    const path = `/${repo.owner}/${repo.name}/actions/workflows/ci.yml/badge.svg`;
    expect((await visit("GET", path)).status).toBe(404);
  });
});
