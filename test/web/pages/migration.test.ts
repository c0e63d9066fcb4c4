import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { type imports, repositories } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { findImportRow, makeImport } from "../../support/imports.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { commitsOn, makeRemote } from "../../support/remotes.ts";
import { rowsOfRepository } from "../../support/rows-of-repository.ts";

const BAD = `"><script>alert(1)</script>`;
const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let browser: Browser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  reader = await Browser.signedIn(await make.userWithPassword());
});

const reposOf = ({ id }: TestUser) =>
  db.select().from(repositories).where(eq(repositories.ownerId, id));

describe("the form of a migration", () => {
  it("takes a repository over, and leads to it", async () => {
    const remote = await makeRemote();
    await remote.git(["fast-import", "--quiet"], commitsOn("trunk", 3));
    await remote.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    const name = freshName("moved");
    const { status, headers } = await browser.submit("/repo/migrate", {
      service: "git",
      clone_addr: remote.url(),
      owner: owner.name,
      repo_name: name,
      description: "Moved",
      visibility: "private",
    });
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe(`/${owner.name}/${name}`);
    const row = (await reposOf(owner)).find((each) => each.name === name);
    expect(row).toMatchObject({ description: "Moved", isPrivate: true, isEmpty: false });
  });

  it("begins with what the address asks for", async () => {
    const { body } = await browser.get("/repo/migrate?service_type=2&issues=1&lfs=1");
    expect(body).toMatch(/<option value="github" selected/);
    expect(body).toMatch(/name="issues"[^>]*checked/);
    expect(body).toMatch(/name="lfs"[^>]*checked/);
    expect(body).not.toMatch(/name="labels"[^>]*checked/);
  });

  it.each([
    ["a local path", { clone_addr: "/etc" }, "clone_addr", 422],
    ["another protocol", { clone_addr: "ssh://example.com/a" }, "clone_addr", 422],
    ["a bad name", { repo_name: "a/b" }, "repo_name", 422],
    ["an unknown owner", { owner: "nobody-here" }, "owner", 422],
    ["a bad interval", { mirror: "on", mirror_interval: "often" }, "mirror_interval", 422],
    ["a bad address of LFS", { lfs: "on", lfs_endpoint: "x" }, "lfs_endpoint", 422],
  ])("refuses %s beside its field", async (_name, fields, field, expected) => {
    const before = await reposOf(owner);
    const { status, body } = await browser.submit("/repo/migrate", {
      clone_addr: (await makeRemote()).url(),
      owner: owner.name,
      repo_name: freshName("moved"),
      description: BAD,
      auth_token: "very-secret",
      ...fields,
    });
    expect(status).toBe(expected);
    expect(body).toMatch(new RegExp(`id="${field}-fault"`));
    expect(body).not.toContain(BAD);
    expect(body).not.toContain("very-secret");
    expect(await reposOf(owner)).toEqual(before);
  });

  it("asks anonymous readers to sign in", async () => {
    const { status, headers } = await visit("GET", "/repo/migrate", PEOPLE);
    expect([status, headers.get("Location")]).toEqual([
      303,
      "/user/login?redirect_to=%2Frepo%2Fmigrate",
    ]);
  });
});

describe("the page of a migration", () => {
  /** A migration at work on issues. */
  async function makeRunning(fields: Partial<typeof imports.$inferInsert> = {}) {
    const { repo, importId } = await makeImport(
      owner,
      await makeRemote(),
      {},
      {
        stage: "issues",
        progress: { git: { done: 3 }, issues: { done: 10, total: 40 } },
        notes: [`left out: ${BAD}`],
        ...fields,
      },
    );
    return { repo, importId, path: `/${owner.name}/${repo.name}` };
  }

  it("says how far it is, and is loaded again while it goes on", async () => {
    const { path } = await makeRunning();
    const { status, body, headers } = await browser.get(`${path}/-/migrate/status`);
    expect(status).toBe(200);
    expect(headers.get("Refresh")).toBe("5");
    expect(body).toMatch(/<progress value="10" max="40"/);
    expect(body).toContain("10 of 40");
    expect(body).not.toContain(BAD);
    const home = await browser.get(path);
    expect(home.body).toContain(`href="${path}/-/migrate/status"`);
    const seen = await visit("GET", path, PEOPLE);
    expect(seen.body).toContain("This repository is being migrated");
    expect(seen.body).not.toContain("/-/migrate/status");
  });

  it("is cancelled and continued", async () => {
    const { path, importId } = await makeRunning();
    const page = `${path}/-/migrate/status`;
    const cancelled = await browser.submit(page, {}, `${path}/-/migrate/cancel`);
    expect(cancelled.headers.get("Location")).toBe(page);
    expect((await findImportRow(importId)).state).toBe("cancelled");
    const { headers } = await browser.get(page);
    expect(headers.get("Refresh")).toBeNull();
    await browser.submit(page, {}, `${path}/-/migrate/retry`);
    expect((await findImportRow(importId)).state).not.toBe("cancelled");
  });

  it("refuses what is not possible any more, and writes nothing", async () => {
    const { path, repo } = await makeRunning({ state: "done", finishedAt: 5 });
    const page = await browser.get(`${path}/-/migrate/status`);
    const before = await rowsOfRepository(repo.id);
    const { status, body } = await browser.post(`${path}/-/migrate/cancel`, {
      _csrf: formTokenOf(page.body),
    });
    expect(status).toBe(409);
    expect(body).toContain("The migration has ended already");
    expect(await rowsOfRepository(repo.id)).toEqual(before);
  });

  it.each(["status", "cancel", "retry"])("is for administrators alone: %s", async (name) => {
    const { path, repo } = await makeRunning();
    const before = await rowsOfRepository(repo.id);
    const method = name === "status" ? "GET" : "POST";
    const answer =
      method === "GET"
        ? await reader.get(`${path}/-/migrate/${name}`)
        : await reader.post(`${path}/-/migrate/${name}`, {});
    expect([403, 404]).toContain(answer.status);
    expect((await visit(method, `${path}/-/migrate/${name}`, PEOPLE)).status).toBe(303);
    expect(await rowsOfRepository(repo.id)).toEqual(before);
  });

  it("is not there for a repository that was made here", async () => {
    const repo = await make.repo(owner);
    const { status } = await browser.get(`/${owner.name}/${repo.name}/-/migrate/status`);
    expect(status).toBe(404);
  });
});
