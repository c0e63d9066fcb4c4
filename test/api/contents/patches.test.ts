import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { makeFiles } from "../../support/files.ts";
import { readBranch } from "../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, push, refsOf } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const first = makeFiles({ "a.txt": "1\n2\n3\n", gone: "x\n", "d\u00fc": "u\n" });
  await push(owner, repo, first.oid, first.pack);
  return { owner, repo, first };
}

const send = (repo: TestRepo, as: Pick<TestUser, "token"> | undefined, json: unknown) =>
  call("POST", `/repos/${repo.owner}/${repo.name}/diffpatch`, { ...(as && { as }), json });

async function refused(repo: TestRepo, run: () => ReturnType<typeof call>) {
  const snapshot = async () => [await refsOf(repo), await eventsOf(repo), await filesOf(repo)];
  const before = await snapshot();
  const answer = await run();
  expect(await snapshot()).toEqual(before);
  return answer;
}

const head = (name: string): string =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;
const HUNK = "@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n";
const creation = (name: string): string =>
  `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+y\n`;

describe("POST /repos/{owner}/{repo}/diffpatch", () => {
  it("applies a patch in a commit by the caller, and records a push", async () => {
    const { owner, repo, first } = await makePushed();
    const deletion =
      "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    const rename = 'diff --git "a/d\\303\\274" b/e\nrename from "d\\303\\274"\nrename to e\n';
    const content = `Subject: words\n\n${head("a.txt")}${HUNK}${deletion}${creation("x")}${rename}-- \n2.39\n`;
    const json = { content, author: { name: "Ada", email: "ada@example.com" } };
    const { answer, line } = await logged(() => send(repo, owner, json));
    const { oid, files } = await readBranch(repo.id, "main");
    expect(answer).toMatchObject({
      status: 201,
      body: {
        content: null,
        commit: {
          sha: oid,
          message: "apply-patch\n",
          author: { name: "Ada", email: "ada@example.com" },
          parents: [{ sha: first.oid }],
        },
        verification: { verified: false },
      },
    });
    expect(files).toEqual({ "a.txt": "1\nzwei\n3\n", e: "u\n", x: "y\n" });
    expect(line).toMatchObject({ objectCalls: 3, d1Rounds: 2 });
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "repository.pushed",
      actorId: owner.id,
      payload: { updates: [{ ref: "refs/heads/main", before: first.oid, after: oid }] },
    });
  });

  it("applies to an empty repository, and to a new branch", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    expect((await send(repo, owner, { content: creation("x") })).status).toBe(201);
    const json = { content: creation("y"), new_branch: "other", message: "Words", signoff: true };
    const { status, body } = await send(repo, owner, json);
    expect([status, body.commit.message]).toEqual([
      201,
      `Words\n\nSigned-off-by: ${owner.name} <${owner.email}>\n`,
    ]);
    expect((await readBranch(repo.id, "other")).files).toEqual({ x: "y\n", y: "y\n" });
    expect((await readBranch(repo.id, "main")).files).toEqual({ x: "y\n" });
  });

  it.each([
    [
      head("a.txt") + HUNK.replace(" 3", " 4"),
      "patch failed: a.txt:1: a.txt: patch does not apply",
    ],
    [(head("a.txt") + HUNK).slice(0, -1), "corrupt patch at line 8"],
    ["just words", "No valid patches in input"],
    [head("none") + HUNK, "none: does not exist in index"],
    [creation("a.txt"), "a.txt: already exists in index"],
    [creation("a.txt/x"), "affected file 'a.txt/x' has something else in its way"],
    [
      'diff --git "a/\\303\\274" "b/\\303\\274"\n--- "a/\\303\\274"\n+++ "b/\\303\\274"\n' + HUNK,
      "\u00fc: does not exist in index",
    ],
  ])("refuses a patch that does not apply, with git's own message: %j", async (patch, message) => {
    const { owner, repo } = await makePushed();
    const answer = await refused(repo, () => send(repo, owner, { content: patch }));
    expect(answer).toMatchObject({ status: 422, body: { message } });
    // The valid part of a patch is not applied either.
    const content = creation("x") + (patch === "just words" ? HUNK : patch);
    expect((await refused(repo, () => send(repo, owner, { content }))).status).toBe(422);
  });

  // SECURITY: path traversal, absolute paths and `.git` disguises.
  it.each([
    "../x",
    ".git/config",
    ".GIT/x",
    "a/.git",
    "GIT~1/x",
    "a//../x",
    "/etc/x",
    "a\\\\x",
    "./x",
  ])("refuses to write to %s", async (name) => {
    const { owner, repo } = await makePushed();
    const quoted = creation(name).replaceAll(/([ab])\/(\S+)(?=\s)/g, '"$1/$2"');
    for (const content of [creation(name), quoted, rename(name)]) {
      const answer = await refused(repo, () => send(repo, owner, { content }));
      expect(answer.status).toBe(422);
    }
  });

  it("refuses a body without a patch, and one that is too large", async () => {
    const { owner, repo } = await makePushed();
    for (const json of [{}, { content: "" }, { content: 7 }, { content: null }, []]) {
      expect((await refused(repo, () => send(repo, owner, json))).status).toBe(422);
    }
    const content = "x".repeat(8 * 1024 * 1024);
    expect((await refused(repo, () => send(repo, owner, { content }))).status).toBe(413);
    const branch = { content: creation("x"), branch: "none" };
    expect((await refused(repo, () => send(repo, owner, branch))).status).toBe(404);
  });

  it("requires write access to the code, and a token that grants it", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    const [reader, stranger] = [await make.user(), await make.user()];
    await make.collaborator(repo, reader, 1);
    const json = { content: creation("x") };
    expect((await refused(repo, () => send(repo, undefined, json))).status).toBe(404);
    expect((await refused(repo, () => send(repo, stranger, json))).status).toBe(404);
    expect((await refused(repo, () => send(repo, reader, json))).status).toBe(403);
    const narrow = { token: await make.token(owner, { scopes: "read:repository" }) };
    expect((await refused(repo, () => send(repo, narrow, json))).status).toBe(403);
    for (const [set, status] of [
      [{ archivedAt: 1000 }, 423],
      [{ archivedAt: null, isMirror: true }, 403],
      [{ isMirror: false, hasCode: false }, 403],
    ] as const) {
      await db.update(repositories).set(set).where(eq(repositories.id, repo.id));
      expect((await refused(repo, () => send(repo, owner, json))).status).toBe(status);
    }
  });

  it("loses no commit when patches are applied concurrently", async () => {
    const { owner, repo } = await makePushed();
    const names = ["p", "q", "r"];
    const answers = await Promise.all(
      names.map((name) => send(repo, owner, { content: creation(name) })),
    );
    const winners = names.filter((_, at) => answers[at]?.status === 201);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const { files } = await readBranch(repo.id, "main");
    expect(names.filter((name) => name in files)).toEqual(winners);
    expect(winners.length).toBeGreaterThan(0);
  });
});

const rename = (name: string): string =>
  `diff --git a/a.txt b/x\nrename from a.txt\nrename to ${name}\n`;
