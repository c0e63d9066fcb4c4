import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands, storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string, status = 200): Promise<string> => {
  const answer = await visit("GET", path, PEOPLE);
  expect(answer.status, path).toBe(status);
  return String(answer.body);
};

/** A repository whose branches `main` and `topic/new` have one and two commits on a common base. */
async function makeForked(owner: TestUser, names: readonly string[] = []) {
  const repo = await make.repo(owner);
  const history = new History();
  const base = history.commit({ files: { a: "1\n" } });
  const main = history.commit({ files: { a: "2\n" }, parents: [base], message: "On main\n" });
  const older = history.commit({ files: { a: "1\n", b: "1\n" }, parents: [base] });
  const files = { a: "1\n", b: "2\n" };
  const topic = history.commit({ files, parents: [older], message: "On topic\n" });
  const orphan = history.commit({ files: { c: "c" } });
  const heads = { main, "topic/new": topic, same: topic, base, orphan };
  const refs = [...Object.entries(heads), ...names.map((name) => [name, main] as const)].map(
    ([name, oid]) => ({ ref: `refs/heads/${name}`, oid }),
  );
  await storeRefs(repo, refs, history.build());
  const root = `/${repo.owner}/${repo.name}`;
  return { repo, base, main, topic, root, path: `${root}/compare` };
}

/** A fork with a commit of its own on the branch `its`. */
async function makeFork({ owner, name }: TestRepo, as: TestUser, parent: string) {
  const { body } = await call("POST", `/repos/${owner}/${name}/forks`, { as, json: {} });
  const fork = { owner: as.name, name: String(body.name) };
  const history = new History();
  const files = { a: "1\n", own: "x\n" };
  const oid = history.commit({ files, parents: [parent], message: "In the fork\n" });
  const pushed = await pushCommands(as, fork, [{ ref: "refs/heads/its", new: oid }], {
    pack: history.build(),
  });
  expect(pushed.body).toContain("ok");
  return { id: Number(body.id), root: `/${fork.owner}/${fork.name}`, oid };
}

describe("the page of a comparison", () => {
  it("shows the commits of the head, and the files since the common commit", async () => {
    const { path, root, base, main, topic } = await makeForked(await make.user());
    const page = await read(`${path}/main...topic/new`);
    expect(page).toContain(`<title>Comparing ${main.slice(0, 10)}...${topic.slice(0, 10)} - `);
    expect(page).toContain("topic/new is 2 commits ahead and ");
    expect(page).toContain(`href="${path}/topic/new...main">1 commit behind</a>`);
    expect(page).toContain("On topic");
    expect(page).not.toContain("On main");
    expect(page).toContain("1 changed file ");
    expect(page).toContain('aria-label="b"');
    expect(page).toContain(`href="${root}/src/commit/${topic}/b"`);
    expect(page).not.toContain(base.slice(0, 10));
  });

  it("compares the files of both with two dots", async () => {
    const { path } = await makeForked(await make.user());
    const page = await read(`${path}/main..topic/new`);
    expect(page).toContain("2 changed files ");
    expect(page).toMatch(/name="direct" checked/);
    expect(page).toMatch(/<title>Comparing [0-9a-f]{10}\.\.[0-9a-f]/);
  });

  it("takes a single name as the head, and none as the default branch with itself", async () => {
    const { path } = await makeForked(await make.user());
    expect(await read(`${path}/topic/new`)).toContain("topic/new is 2 commits ahead");
    expect(await read(path)).toContain("nothing to compare");
    expect(await read(`${path}/topic/new...`)).toContain("main is 1 commit ahead");
  });

  it.each([
    ["topic/new...same", "Both are the same commit"],
    ["main...base", "main has all commits of base, and "],
    ["main...orphan", "no commit in common"],
  ])("says so where there is little to compare: %s", async (basehead, text) => {
    const { path } = await makeForked(await make.user());
    const page = await read(`${path}/${basehead}`);
    expect(page).toContain(text);
    expect(page).not.toContain("diff-file");
  });

  it("compares the files of unrelated histories with two dots", async () => {
    const { path } = await makeForked(await make.user());
    expect(await read(`${path}/main...orphan`)).toContain(`href="${path}/main..orphan"`);
    const direct = await read(`${path}/main..orphan`);
    expect(direct).toContain("2 changed files ");
    expect(direct).toContain("1 commit");
  });

  it("leads to what its form names", async () => {
    const { path } = await makeForked(await make.user());
    const form = await read(`${path}/main...topic/new`);
    expect(form).toContain('name="base" value="main"');
    expect(form).toContain('name="head" value="topic/new"');
    expect(form).toContain('<option value="orphan">');
    for (const [query, to] of [
      ["base=main&head=topic%2Fnew", "main...topic/new"],
      ["base=main&head=ada:x/y&direct=on", "main..ada%3Ax/y"],
      ["base=&head=topic%2Fnew", "...topic/new"],
    ]) {
      const { status, headers } = await visit("GET", `${path}?${query}`, PEOPLE);
      expect([status, headers.get("Location")], query).toEqual([303, `${path}/${to}`]);
    }
    expect(await read(`${path}/...topic/new`)).toContain("topic/new is 2 commits ahead");
    const pushed = await visit("GET", path.replace(/compare$/, "pulls/new/topic/new"), PEOPLE);
    expect([pushed.status, pushed.headers.get("Location")]).toEqual([
      303,
      `${path}/main...topic/new?expand=1`,
    ]);
    const zero = await visit("GET", `${path}/${"0".repeat(40)}...topic/new`, PEOPLE);
    expect([zero.status, zero.headers.get("Location")]).toEqual([303, `${path}/topic/new`]);
  });

  it("keeps what was typed where there is no such name", async () => {
    const { path } = await makeForked(await make.user());
    for (const head of ["none", "HEAD~1", "nobody:main", "a b"]) {
      const page = await read(`${path}/main...${encodeURIComponent(head)}`, 404);
      expect(page, head).toContain("There is no such branch, tag or commit");
      expect(page, head).toContain(`name="head" value="${head}"`);
    }
  });

  it("is linked by the pages of branches and of history", async () => {
    const { root, path } = await makeForked(await make.user());
    for (const rest of ["/branches", "/commits/branch/topic/new"]) {
      expect(await read(root + rest), rest).toContain(`href="${path}/main...topic/new"`);
    }
  });

  // SECURITY: names of branches are chosen by people who push.
  it("shows names as text", async () => {
    const bad = `"><img/src=x`;
    const { path } = await makeForked(await make.user(), [bad]);
    const name = bad.split("/").map(encodeURIComponent).join("/");
    for (const basehead of [`main...${name}`, `${name}...topic/new`, `${name}...none`]) {
      const answer = await visit("GET", `${path}/${basehead}`, PEOPLE);
      expect(answer.body, basehead).toContain("&quot;&gt;&lt;img/src=x");
      expect(answer.body, basehead).not.toContain("<img/src");
    }
  });
});

describe("the page of a comparison across forks", () => {
  it("shows commits and files of the fork, at its addresses", async () => {
    const [owner, ada] = [await make.user(), await make.user()];
    const { repo, base, path, root } = await makeForked(owner);
    const fork = await makeFork(repo, ada, base);
    for (const head of [`${ada.name}:its`, `${fork.root.slice(1)}:its`]) {
      const page = await read(`${path}/base...${head}`);
      expect(page).toContain(`${head} is 1 commit ahead`);
      expect(page).toContain("In the fork");
      expect(page).toContain(`href="${fork.root}/commit/${fork.oid}"`);
      expect(page).toContain(`href="${fork.root}/src/commit/${fork.oid}/own"`);
      const back = `${fork.root}/compare/its...${root.slice(1)}%3Abase`;
      expect(page).toContain(`href="${back}"`);
      expect(await read(back)).toContain("has all commits of");
    }
    const ofFork = await read(`${fork.root}/compare/base...its`);
    expect(ofFork).toContain(`href="${path}/main...${fork.root.slice(1)}%3Aits"`);
  });

  // SECURITY: a fork that the reader may not see is the same as none.
  it("does not show which private forks there are", async () => {
    const [owner, ada] = [await make.user(), await make.user()];
    const { repo, base, path } = await makeForked(owner);
    const fork = await makeFork(repo, ada, base);
    await read(`${path}/base...${ada.name}:its`);
    const hide = { isPrivate: true, visibility: "private" } as const;
    await db.update(repositories).set(hide).where(eq(repositories.id, fork.id));
    const hidden = await read(`${path}/base...${ada.name}:its`, 404);
    const absent = await read(`${path}/base...${owner.name}x:its`, 404);
    expect(hidden.replaceAll(ada.name, "?")).toBe(absent.replaceAll(`${owner.name}x`, "?"));
  });
});
