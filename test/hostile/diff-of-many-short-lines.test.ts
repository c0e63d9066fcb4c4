import { and, eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { pulls } from "../../src/db/schema/index.ts";
import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import { call, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";
import { pushCommands } from "../support/push.ts";
import { logged } from "../support/usage.ts";
import { sampleOf } from "../support/sample.ts";

/**
 * Lines of two letters in an order without a pattern, so that a line has many equal lines and no
 * good match.
 */
function makeLines(count: number, seed: number): string {
  let state = seed;
  let text = "";
  for (let line = 0; line < count; line++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += `${String.fromCharCode(97 + (state >>> 28), 97 + ((state >>> 23) & 15))}x\n`;
  }
  return text;
}

/**
 * A public repository with a commit that replaces 400,000 lines, 1.6 MB, and changes a line of
 * another file.
 */
async function makeRepo() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const before = history.commit({ files: { long: makeLines(400_000, 1), short: "1\n" } });
  const files = { long: makeLines(400_000, 2), short: "2\n" };
  const head = history.commit({ files, parents: [before] });
  const pack = history.build();
  const branches = [
    { ref: "refs/heads/main", new: head },
    { ref: "refs/heads/before", new: before },
  ];
  await pushCommands(owner, repo, branches, { pack });
  return { owner, path: `/repos/${repo.owner}/${repo.name}`, before, head };
}

/** A pull request that offers the commit to the branch without it. */
async function makePull() {
  const { owner, path } = await makeRepo();
  const json = { title: "Long", head: "main", base: "before" };
  const { answer, line } = await logged(() => call("POST", `${path}/pulls`, { as: owner, json }));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return { path: `${path}/pulls/${answer.body.number}`, openingSteps: line.steps };
}

const get = (path: string) => logged(() => call("GET", path));

// A busy machine takes long for so many lines.
vi.setConfig({ testTimeout: 120_000 });

describe("a change of 400,000 short lines", () => {
  it("is shown as replaced whole once the budget of a diff is used up", async () => {
    const { path, head } = await makeRepo();
    const { answer, line } = await get(`${path}/git/commits/${head}.diff`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("X-Gitea-Warning")).toBe("too much work, incomplete: diff");
    const [long = "", short] = answer.body.split(/^(?=diff --git )/m);
    expect(long.slice(0, 200)).toMatch(
      /^diff --git a\/long b\/long\ndissimilarity index 100%\nindex .*\n.*\n.*\n@@ -1,400000 \+1,400000 @@\n-/,
    );
    expect(long.split("\n")).toHaveLength(6 + 800_000 + 1);
    expect(short).toContain("@@ -1 +1 @@\n-1\n+2\n");
    expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);

    // Found in the cache, with its mark.
    const again = await get(`${path}/git/commits/${head}.diff`);
    expect(again.answer.body).toBe(answer.body);
    expect(again.answer.headers.get("X-Gitea-Warning")).toBe("too much work, incomplete: diff");
    expect(again.line.steps).toBeLessThan(10_000);
  });

  it("is as incomplete in a patch that is found in the cache", async () => {
    const { path, head } = await makeRepo();
    const [made, again] = [
      await get(`${path}/git/commits/${head}.patch`),
      await get(`${path}/git/commits/${head}.patch`),
    ];
    expect(made.line.steps).toBeGreaterThan(RESULT_STEPS_MAX / 2);
    expect(again.answer.body).toBe(made.answer.body);
    expect(again.answer.headers.get("X-Gitea-Warning")).toBe("too much work, incomplete: patch");
    expect(again.line.steps).toBeLessThan(10_000);
  });

  const DETAILS: [string, (head: string) => string][] = [
    ["patch", (head) => `/git/commits/${head}.patch`],
    ["differences", (head) => `/git/commits/${head}`],
    ["differences", () => "/commits"],
  ];
  it.each(sampleOf(DETAILS, 1, "details of a commit"))(
    "bounds the work of its %s",
    async (kind, pathOf) => {
      const { path, head } = await makeRepo();
      const { answer, line } = await get(path + pathOf(head));
      expect(answer.status).toBe(200);
      expect(answer.headers.get("X-Gitea-Warning")).toBe(`too much work, incomplete: ${kind}`);
      expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
    },
  );

  it("bounds the work of a comparison, and counts the lines of the other file", async () => {
    const { path, before, head } = await makeRepo();
    const { answer, line } = await get(`${path}/compare/${before}...${head}?stat=false`);
    expect(answer.body.files).toMatchObject([
      { filename: "long", additions: 400_000, deletions: 400_000 },
      { filename: "short", additions: 1, deletions: 1 },
    ]);
    expect(answer.headers.get("X-Gitea-Warning")).toBe("too much work, incomplete: files");
    expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
  });
});

/**
 * A pull request of which both sides replaced 60,000 lines, as it is after a push that no job has
 * looked at yet.
 */
async function makeUnchecked() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const start = history.commit({ files: { long: makeLines(60_000, 1) } });
  const [base, head] = [2, 3].map((seed) =>
    history.commit({ files: { long: makeLines(60_000, seed) }, parents: [start] }),
  ) as [string, string];
  const branches = [
    { ref: "refs/heads/main", new: base },
    { ref: "refs/heads/topic", new: head },
  ];
  await pushCommands(owner, repo, branches, { pack: history.build() });
  const path = `/repos/${repo.owner}/${repo.name}/pulls`;
  const json = { title: "Long", head: "topic", base: "main" };
  const { status, body } = await call("POST", path, { as: owner, json });
  expect(status).toBe(201);
  const isIt = and(eq(pulls.repoId, repo.id), eq(pulls.headBranch, "topic"));
  await db.update(pulls).set({ mergeState: "checking" }).where(isIt);
  return `${path}/${body.number}`;
}

const PARTS = [
  "",
  "/files",
  "/files?whitespace=ignore-all",
  "/files?whitespace=ignore-change",
  "/files?whitespace=ignore-eol",
  "/commits",
];

describe("a pull request that changes 400,000 short lines", () => {
  it("is opened within the budget", async () => {
    expect((await makePull()).openingSteps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
  });

  it.each(sampleOf(PARTS, 1, "parts of a pull request"))(
    "bounds the work of pulls/{index}%s",
    async (rest) => {
      const { path } = await makePull();
      const { answer, line } = await get(path + rest);
      expect(answer.status).toBeLessThan(300);
      expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
    },
  );

  it("is tried to merge within a budget, too", async () => {
    const { answer, line } = await get(await makeUnchecked());
    expect(answer).toMatchObject({ status: 200, body: { state: "open", mergeable: false } });
    // The differences were found when it was opened: these are the steps of the merge.
    expect(line.steps).toBeGreaterThan(RESULT_STEPS_MAX / 2);
    expect(line.steps).toBeLessThan(0.7 * RESULT_STEPS_MAX);
  });

  it.each(sampleOf(["diff", "patch"], 1, "texts of a pull request"))(
    "bounds the work of its %s, by API and on the page",
    async (type) => {
      const { path } = await makePull();
      const [byApi, onPage] = [
        await get(`${path}.${type}`),
        await logged(() => visit("GET", `${path.replace("/repos", "")}.${type}`)),
      ];
      expect(byApi.answer.status).toBe(200);
      expect(byApi.answer.body).toContain("dissimilarity index 100%");
      expect(onPage.answer.body).toBe(byApi.answer.body);
      for (const { line } of [byApi, onPage]) {
        expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
      }
    },
  );
});
