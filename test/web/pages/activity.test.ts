import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { storeRefs } from "../../support/push.ts";
import { makeRelease } from "../../support/releases.ts";

const HOSTILE = '"><script>alert(1)</script>';
const DAY_MS = 24 * 60 * 60 * 1000;
const daysAgo = (days: number): number => Date.now() - days * DAY_MS;

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, { headers: { Accept: "text/html" } });
  expect(status, path).toBe(200);
  const page = String(body);
  expect(page).not.toContain("<script>alert");
  return page;
};

/** A public repository, with its path. */
async function makeRepo(owner?: TestUser) {
  const repo = await make.repo(owner ?? (await make.user()));
  return { repo, path: `/${repo.owner}/${repo.name}` };
}

/** Stores commits of these ages on `main`, the oldest first, each by an author. */
async function commitAll(
  repo: Awaited<ReturnType<typeof make.repo>>,
  commits: readonly (readonly [author: string, days: number])[],
) {
  const history = new History();
  let parents: string[] = [];
  for (const [author, days] of commits) {
    history.at(daysAgo(days) / 1000);
    parents = [history.commit({ author, parents })];
  }
  await storeRefs(repo, [{ ref: "refs/heads/main", oid: parents[0] ?? "" }], history.build());
}

describe("the page of the activity", () => {
  it("shows what happened in the period, and nothing from before", async () => {
    const { repo, path } = await makeRepo();
    const at = daysAgo(2);
    const closed = { isClosed: true, closedAt: at, createdAt: daysAgo(100) };
    await makeIssue(repo, { title: `opened ${HOSTILE}`, createdAt: at });
    await makeIssue(repo, { title: "closed now", ...closed });
    await makeIssue(repo, { title: "closed then", ...closed, closedAt: daysAgo(40) });
    await makePull(repo, {}, { title: "proposed now", createdAt: at });
    await makePull(repo, { mergedAt: at }, { title: "merged now", ...closed });
    await makePull(repo, {}, { title: "closed unmerged", ...closed });
    await makeRelease(repo, { title: "released now", tagName: "v<1>", publishedAt: at });
    await makeRelease(repo, { title: "a draft", isDraft: true });
    await makeRelease(repo, { title: "released then", publishedAt: daysAgo(40) });
    const page = await read(`${path}/activity`);
    for (const title of [
      "1 pull request merged",
      "1 pull request proposed",
      "1 issue closed",
      "1 issue opened",
      "1 release published",
    ]) {
      expect(page).toContain(`>${title}<`);
    }
    for (const title of ["closed now", "proposed now", "merged now", "released now"]) {
      expect(page).toContain(`>${title}</a>`);
    }
    expect(page).toContain(`${path}/releases/tag/v%3C1%3E`);
    for (const title of ["closed then", "closed unmerged", "a draft", "released then"]) {
      expect(page).not.toContain(title);
    }
    expect(await read(`${path}/activity/daily`)).not.toContain("closed now");
    expect(await read(`${path}/activity/quarterly`)).toContain("closed then");
    expect(await read(`${path}/activity/no-period`)).toContain("Period: 1 week");
  });

  it("says that there may be more where not all were examined", async () => {
    const { repo, path } = await makeRepo();
    await db
      .update(repositories)
      .set({ lastIssueNumber: 2000 })
      .where(eq(repositories.id, repo.id));
    await makeIssue({ ...repo, lastIssueNumber: 2000 }, { createdAt: daysAgo(1) });
    expect(await read(`${path}/activity`)).toContain(">1 or more issues opened<");
  });

  it("shows no unit that the reader may not see", async () => {
    const { repo, path } = await makeRepo();
    const at = daysAgo(1);
    await commitAll(repo, [["Ann <ann@nobody.example>", 1]]);
    await makeIssue(repo, { title: "an issue", createdAt: at });
    await makePull(repo, {}, { title: "a pull", createdAt: at });
    await makeRelease(repo, { title: "a release", publishedAt: at });
    const parts = { hasIssues: "an issue", hasPullRequests: "a pull", hasReleases: "a release" };
    for (const [unit, title] of Object.entries({ ...parts, hasCode: "Ann" })) {
      expect(await read(`${path}/activity`), unit).toContain(title);
      await db
        .update(repositories)
        .set({ [unit]: false })
        .where(eq(repositories.id, repo.id));
      expect(await read(`${path}/activity`), unit).not.toContain(title);
    }
  });

  it("counts the commits of the period by their authors, without merges", async () => {
    const owner = await make.user();
    const { repo, path } = await makeRepo(owner);
    await commitAll(repo, [
      ["Old <old@nobody.example>", 40],
      [`Owner <${owner.email.toUpperCase()}>`, 3],
      [`${HOSTILE.replaceAll(/[<>]/g, "&")} <ann@nobody.example>`, 2],
      [`Owner <${owner.email}>`, 1],
    ]);
    const page = await read(`${path}/activity`);
    expect(page).toMatch(/2 authors<\/strong> wrote <a[^>]*>3 commits<\/a> on main/);
    expect(page).toMatch(new RegExp(`href="/${owner.name}"[^]*?2 commits[^]*?1 commit<`));
    expect(await read(`${path}/activity/quarterly`)).toContain(">4 commits</a>");
  });
});

describe("the page of contributors", () => {
  it("lists authors with their commits, the most first, with their accounts", async () => {
    const owner = await make.user();
    const { repo, path } = await makeRepo(owner);
    await commitAll(repo, [
      [`Owner <${owner.email}>`, 400],
      [`Owner <${owner.email}>`, 200],
      ["Ann <ann@nobody.example>", 2],
    ]);
    const page = await read(`${path}/activity/contributors`);
    expect(page).toMatch(new RegExp(`href="/${owner.name}"[^]*?2 commits[^]*?>Ann<[^]*?1 commit<`));
    expect(page.match(/<svg class="columns"/g)).toHaveLength(3);
    expect(page).not.toContain("style=");
  });

  it("is there for empty repositories, and not for readers without the code", async () => {
    const { repo, path } = await makeRepo();
    expect(await read(`${path}/activity/contributors`)).toContain("has no commits yet");
    await db.update(repositories).set({ hasCode: false }).where(eq(repositories.id, repo.id));
    const { status } = await visit("GET", `${path}/activity/contributors`);
    expect(status).toBe(404);
  });
});
