import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pulls, repositories } from "../../../src/db/schema/index.ts";
import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { disableCode } from "../../support/disable-code.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/** What the base of the pull requests has. */
const BASE_FILES = {
  "a.txt": "one\ntwo\nthree\n",
  "gone.txt": "bye\n",
  "long.txt": Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(""),
  "spaces.txt": "a b\nc\n",
};

/**
 * A repository whose `main` moved on after `topic` was begun. Its pull request changes, removes,
 * renames and adds files in three commits.
 */
async function makeOpened(owner: TestUser, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const base = history.commit({ files: BASE_FILES, message: "Base\n" });
  const main = history.commit({ files: { ...BASE_FILES, other: "x\n" }, parents: [base] });
  const { "gone.txt": gone, ...kept } = BASE_FILES;
  const changed = { ...kept, "a.txt": "one\n2\nthree\nfour\n", "spaces.txt": "a  b\nc \n" };
  const first = history.commit({
    files: { ...changed, "gone.txt": gone },
    parents: [base],
    message: "First\n",
  });
  const second = history.commit({ files: changed, parents: [first], message: "Second\n" });
  const { "long.txt": long, ...others } = changed;
  const files = { ...others, "moved.txt": `${long}more\n`, "new.bin": "\0binary" };
  const head = history.commit({ files, parents: [second], message: "Third\n" });
  const note = history.commit({ files: { [first]: "Reviewed ✓\n" } });
  await pushCommands(
    owner,
    repo,
    [
      { ref: "refs/heads/main", new: main },
      { ref: "refs/heads/topic", new: head },
      { ref: "refs/notes/commits", new: note },
    ],
    { pack: history.build() },
  );
  return { repo, base, main, first, second, head, path: await open(owner, repo) };
}

/** Opens a pull request of `topic` into `main`, and returns its path. */
async function open(owner: TestUser, repo: TestRepo, head = "topic"): Promise<string> {
  const path = `/repos/${repo.owner}/${repo.name}/pulls`;
  const json = { title: "A topic", head, base: "main" };
  const { status, body } = await call("POST", path, { as: owner, json });
  expect(status).toBe(201);
  return `${path}/${body.number}`;
}

const namesOf = (body: { filename: string }[]) => body.map(({ filename }) => filename);

/** Runs the three reads of a pull request's changes, and returns their statuses. */
async function statuses(path: string, as?: TestUser): Promise<number[]> {
  const sending = as ? { as } : {};
  const paths = ["/files", "/commits", ".diff", ".patch"].map((each) => `${path}${each}`);
  const answers = await Promise.all([
    ...paths.map((each) => call("GET", each, sending)),
    ...paths.slice(2).map((each) => visit("GET", each.replace("/repos", ""), sending)),
  ]);
  return answers.map(({ status }) => status);
}

const READ = Array<number>(6).fill(200);
const MISSING = Array<number>(6).fill(404);

describe("GET /repos/{owner}/{repo}/pulls/{index}/files", () => {
  it("lists what differs between the merge base and the head", async () => {
    const owner = await make.user();
    const { repo, base, head, path } = await makeOpened(owner);
    const { answer, line } = await logged(() => call("GET", `${path}/files`));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject([
      { filename: "a.txt", status: "changed", additions: 2, deletions: 1, changes: 3 },
      { filename: "gone.txt", status: "deleted", additions: 0, deletions: 1, changes: 1 },
      {
        filename: "moved.txt",
        previous_filename: "long.txt",
        status: "renamed",
        additions: 1,
        deletions: 0,
      },
      { filename: "new.bin", status: "added", additions: 0, deletions: 0, changes: 0 },
      { filename: "spaces.txt", status: "changed", additions: 2, deletions: 2, changes: 4 },
    ]);
    const [changed, deleted] = answer.body;
    const at = `${repo.owner}/${repo.name}`;
    expect(changed.html_url).toContain(`/${at}/src/commit/${head}/a.txt`);
    expect(deleted.raw_url).toContain(`/${at}/raw/commit/${base}/gone.txt`);
    expect(line).toMatchObject({ d1Rounds: 1, objectCalls: 1 });
  });

  it("has pages, of which page and limit choose one", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const all = await call("GET", `${path}/files`);
    expect(Object.fromEntries(all.headers)).toMatchObject({
      "x-total-count": "5",
      "x-page": "1",
      "x-perpage": "30",
      "x-pagecount": "1",
      "x-hasmore": "false",
    });
    expect(all.headers.has("Link")).toBe(false);
    const second = await call("GET", `${path}/files?page=2&limit=2`);
    expect(namesOf(second.body)).toEqual(["moved.txt", "new.bin"]);
    expect(Object.fromEntries(second.headers)).toMatchObject({
      "x-total-count": "5",
      "x-page": "2",
      "x-perpage": "2",
      "x-pagecount": "3",
      "x-hasmore": "true",
    });
    expect(second.headers.get("Link")).toMatch(/page=3>; rel="next".*page=1>; rel="prev"/);
    expect((await call("GET", `${path}/files?limit=2`)).body).toHaveLength(2);
    expect(await call("GET", `${path}/files?page=9&limit=2`)).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it("begins at the file of skip-to", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const skip = (to: string) => call("GET", `${path}/files?skip-to=${encodeURIComponent(to)}`);
    const skipped = await skip("moved.txt");
    expect(namesOf(skipped.body)).toEqual(["moved.txt", "new.bin", "spaces.txt"]);
    expect(skipped.headers.get("X-Total-Count")).toBe("3");
    expect(namesOf((await skip("gone.txt")).body)[0]).toBe("gone.txt");
    for (const unknown of ["no-such-file", "long.txt", "../a.txt", "\0", "é"]) {
      expect(await skip(unknown), unknown).toMatchObject({
        status: 422,
        body: { message: "[skip-to]: must be the path of a changed file" },
      });
    }
    expect((await call("GET", `${path}/files?skip-to=`)).body).toHaveLength(5);
  });

  it("counts lines without white space, and leaves out files without other changes", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const count = async (whitespace: string) => {
      const { status, headers, body } = await call("GET", `${path}/files?whitespace=${whitespace}`);
      expect(status, whitespace).toBe(200);
      expect(headers.get("X-Total-Count"), whitespace).toBe(String(body.length));
      const spaces = body.find(({ filename }: { filename: string }) => filename === "spaces.txt");
      return spaces?.changes;
    };
    expect(await count("ignore-all")).toBeUndefined();
    expect(await count("ignore-change")).toBeUndefined();
    expect(await count("ignore-eol")).toBe(2);
    expect(await count("show-all")).toBe(4);
    expect(await count("whatever")).toBe(4);
    expect(await count("")).toBe(4);
  });

  it("answers 413 for more than 3000 files, and lists 3000 with their counts", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const base = history.commit({ files: { a: "a\n" } });
    const make3000 = (count: number) =>
      history.commit({
        files: {
          a: "a\n",
          ...Object.fromEntries(
            Array.from({ length: count }, (_, at) => [`d${at % 60}/f${at}`, `${at}\n${at}\n`]),
          ),
        },
        parents: [base],
      });
    const [most, more] = [make3000(3000), make3000(3001)];
    await pushCommands(
      owner,
      repo,
      [
        { ref: "refs/heads/main", new: base },
        { ref: "refs/heads/most", new: most },
        { ref: "refs/heads/more", new: more },
      ],
      { pack: history.build() },
    );
    const path = await open(owner, repo, "most");
    const answer = await call("GET", `${path}/files?page=60&limit=50`);
    expect(answer.headers.get("X-Total-Count")).toBe("3000");
    expect(answer.headers.has("X-Gitea-Warning")).toBe(false);
    expect(answer.body).toHaveLength(50);
    expect(answer.body.map(({ additions }: { additions: number }) => additions)).toEqual(
      Array(50).fill(2),
    );
    const { body } = await call("GET", `${path}.diff`);
    expect(body.match(/^diff --git/gm)).toHaveLength(3000);

    const beyond = await open(owner, repo, "more");
    for (const each of [`${beyond}/files`, `${beyond}.diff`]) {
      expect((await call("GET", each)).status, each).toBe(413);
    }
  });
});

describe("GET /repos/{owner}/{repo}/pulls/{index}/commits", () => {
  it("lists the commits of the head, latest first", async () => {
    const owner = await make.user();
    const { first, second, head, path } = await makeOpened(owner);
    const { answer, line } = await logged(() => call("GET", `${path}/commits`));
    expect(answer.body).toMatchObject([
      {
        sha: head,
        commit: { message: "Third\n", verification: { verified: false } },
        stats: { additions: 1, deletions: 0, total: 1 },
        files: [{ filename: "long.txt" }, { filename: "moved.txt" }, { filename: "new.bin" }],
      },
      { sha: second, files: [{ filename: "gone.txt", status: "removed" }] },
      { sha: first, stats: { additions: 4, deletions: 3 } },
    ]);
    expect(answer.body[0]).not.toHaveProperty("note");
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });

    const light = await call("GET", `${path}/commits?files=false&verification=false`);
    expect(light.body[0]).toMatchObject({
      files: null,
      stats: { total: 1 },
      commit: { verification: null },
    });
    const page = await call("GET", `${path}/commits?page=2&limit=2`);
    expect(page.body).toMatchObject([{ sha: first }]);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "x-total-count": "3",
      "x-page": "2",
      "x-perpage": "2",
      "x-hasmore": "false",
    });
  });

  it("shows git notes if asked to, with one read of their tree for the page", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const light = "files=false&verification=false";
    const plain = await logged(() => call("GET", `${path}/commits?${light}`));
    const { answer, line } = await logged(() => call("GET", `${path}/commits?notes=true&${light}`));
    expect(answer.body).toMatchObject([{ note: null }, { note: null }, { note: "Reviewed ✓\n" }]);
    expect(line.d1Calls).toBe(plain.line.d1Calls);
    expect(line.objectCalls).toBe(plain.line.objectCalls);
  });

  it("finds notes in directories of the notes tree, and none without a tree", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const base = history.commit({ files: { a: "a" } });
    const commits = [base];
    for (let at = 0; at < 5; at++) {
      commits.push(history.commit({ files: { a: `${at}` }, parents: [commits.at(-1) as string] }));
    }
    const [, flat = "", deep = "", deeper = "", both = "", large = ""] = commits;
    const split = (oid: string, ...at: number[]) =>
      at.reduceRight((name, each) => `${name.slice(0, each)}/${name.slice(each)}`, oid);
    const note = history.commit({
      files: {
        [flat]: "flat",
        [split(deep, 2)]: "deep",
        [split(deeper, 2, 4)]: "deeper",
        [split(both, 2)]: "in the directory",
        [both]: "beside it",
        [large]: "x".repeat(256 * 1024 + 1),
        [`${base.slice(0, 2)}/other`]: "not a note",
      },
    });
    const refs = [
      { ref: "refs/heads/main", new: base },
      { ref: "refs/heads/topic", new: large },
    ];
    await pushCommands(owner, repo, refs, { pack: history.build() });
    const path = await open(owner, repo);
    const notes = async () =>
      (await call("GET", `${path}/commits?notes=true`)).body.map(
        (each: { note: unknown }) => each.note,
      );
    expect(await notes()).toEqual([null, null, null, null, null]);
    await pushCommands(owner, repo, [{ ref: "refs/notes/commits", new: note }], {
      pack: history.build(),
    });
    expect(await notes()).toEqual([null, "in the directory", "deeper", "deep", "flat"]);
  });

  it("shows of a merged pull request what was merged", async () => {
    const owner = await make.user();
    const { repo, base, main, head, path } = await makeOpened(owner);
    const history = new History();
    const merged = history.commit({ files: { merged: "x" }, parents: [main, head] });
    const later = history.commit({ files: { later: "x" }, parents: [merged] });
    const update = [{ ref: "refs/heads/main", old: main, new: later }];
    await pushCommands(owner, repo, update, { pack: history.build() });
    const before = await call("GET", `${path}/commits`);
    expect(before.body).toEqual([]);
    await db
      .update(pulls)
      .set({ mergedAt: 1, mergeBaseOid: base, mergedBaseOid: main, mergeCommitOid: merged })
      .where(eq(pulls.repoId, repo.id));
    expect((await call("GET", `${path}/commits`)).body).toMatchObject([{ sha: head }, {}, {}]);
    expect((await call("GET", `${path}/files`)).body).toHaveLength(5);
    expect((await call("GET", `${path}.diff`)).body).toContain("rename to moved.txt");
    expect((await call("GET", `${path}.patch`)).body.match(/^Subject: /gm)).toHaveLength(3);
    // A base that already had the head when it was recorded.
    await db.update(pulls).set({ mergedBaseOid: merged }).where(eq(pulls.repoId, repo.id));
    expect((await call("GET", `${path}/commits`)).body).toMatchObject([{ sha: head }, {}, {}]);
  });

  it(
    "lists pages of 10,000 commits, and sends them as one patch",
    { timeout: 120_000 },
    async () => {
      const owner = await make.user();
      const repo = await make.repo(owner);
      const history = new History();
      const base = history.commit({ files: { a: "base\n" } });
      let head = base;
      for (let at = 0; at < 10_000; at++) {
        head = history.commit({ files: { a: `${at}\n` }, parents: [head], message: `${at}\n` });
      }
      const refs = [
        { ref: "refs/heads/main", new: base },
        { ref: "refs/heads/topic", new: head },
      ];
      await pushCommands(owner, repo, refs, { pack: history.build() });
      const path = await open(owner, repo);
      const page = await logged(() => call("GET", `${path}/commits?page=200&limit=50`));
      expect(page.answer.headers.get("X-Total-Count")).toBe("10000");
      expect(page.answer.body).toHaveLength(50);
      expect(page.answer.body.at(-1).commit.message).toBe("0\n");
      const patch = await logged(() => call("GET", `${path}.patch`));
      expect(patch.answer.status).toBe(200);
      expect(patch.answer.body.match(/^Subject: /gm)).toHaveLength(10_000);
      expect(patch.answer.body).toContain("[PATCH 10000/10000] 9999");
      expect(page.line.steps).toBeLessThan(80_000_000);
    },
  );
});

describe("GET /repos/{owner}/{repo}/pulls/{index}.{diffType}", () => {
  it("sends the diff to the merge base, in the API and at the URL of the record", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const { status, body, headers } = await call("GET", `${path}.diff`);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(body).toMatch(/^diff --git a\/a\.txt b\/a\.txt\nindex \w{7}\.\.\w{7} 100644\n/);
    expect(body).toContain("@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n");
    expect(body).toContain("rename from long.txt\nrename to moved.txt\n");
    expect(body).toContain("Binary files /dev/null and b/new.bin differ\n");
    expect(body).not.toContain("other");
    const { body: record } = await call("GET", path);
    const web = await visit("GET", new URL(record.diff_url).pathname);
    expect([web.status, web.headers.get("Content-Type"), web.body]).toEqual([
      200,
      "text/plain; charset=utf-8",
      body,
    ]);
    // Again, as it was remembered.
    expect((await call("GET", `${path}.diff`)).body).toBe(body);
  });

  it("encodes binary files on request", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    const { body } = await call("GET", `${path}.diff?binary=true`);
    expect(body).toMatch(/index 0{40}\.\.\w{40}\nGIT binary patch\nliteral 7\n/);
    expect(body).toContain("+four\n");
    for (const flag of ["true", "1", "on"]) {
      const page = await visit("GET", `${path.replace("/repos", "")}.diff?binary=${flag}`);
      expect(page.body, flag).toBe(body);
    }
    expect((await call("GET", `${path}.diff?binary=false`)).body).toContain("Binary files");
  });

  it("sends the commits as mails, oldest first", async () => {
    const owner = await make.user();
    const { first, path } = await makeOpened(owner);
    const { status, body } = await call("GET", `${path}.patch`);
    expect(status).toBe(200);
    expect(body.startsWith(`From ${first} Mon Sep 17 00:00:00 2001\n`)).toBe(true);
    expect(body.match(/^Subject: .*/gm)).toEqual([
      "Subject: [PATCH 1/3] First",
      "Subject: [PATCH 2/3] Second",
      "Subject: [PATCH 3/3] Third",
    ]);
    const { body: record } = await call("GET", path);
    expect((await visit("GET", new URL(record.patch_url).pathname)).body).toBe(body);
  });

  it("answers 304 to a client that has it, without formatting it", async () => {
    const owner = await make.user();
    const { repo, head, path } = await makeOpened(owner);
    for (const at of [`/api/v1${path}.diff`, `${path.replace("/repos", "")}.patch`]) {
      const etag = (await visit("GET", at)).headers.get("ETag") ?? "";
      expect(etag).toMatch(/^W\/"(?:diff|patch)-/);
      const headers = { "If-None-Match": etag };
      expect(await visit("GET", at, { headers })).toMatchObject({ status: 304, body: "" });
      expect((await visit("GET", `${at}?binary=true`, { headers })).status).toBe(
        at.endsWith(".diff") ? 200 : 304,
      );
    }
    const { status, body, headers } = await visit("HEAD", `${path.replace("/repos", "")}.diff`);
    expect([status, body, headers.has("ETag")]).toEqual([200, "", true]);

    const before = (await call("GET", `${path}.diff`)).headers.get("ETag");
    const history = new History();
    const next = history.commit({ files: { only: "this\n" }, parents: [head] });
    const commands = [{ ref: "refs/heads/topic", old: head, new: next }];
    await pushCommands(owner, repo, commands, { pack: history.build() });
    await db.update(pulls).set({ headOid: next }).where(eq(pulls.repoId, repo.id));
    const after = await call("GET", `${path}.diff`);
    expect(after.headers.get("ETag")).not.toBe(before);
    expect(after.body).toContain("+this\n");
  });

  it("knows no other endings", async () => {
    const owner = await make.user();
    const { path } = await makeOpened(owner);
    for (const ending of [".zip", ".diff.patch", ".", ".diffx", "x.diff", ".5.diff"]) {
      const { status } = await call("GET", `${path}${ending}`);
      expect([404, 422], ending).toContain(status);
      expect((await visit("GET", `${path.replace("/repos", "")}${ending}`)).status).toBe(404);
    }
  });
});

describe("the changes of a pull request", () => {
  it("are for those who may see pull requests and code", async () => {
    const owner = await make.user();
    const [stranger, reader] = [await make.user(), await make.user()];
    const { repo, path } = await makeOpened(owner, { isPrivate: true });
    await make.collaborator(repo, reader, 1);
    expect(await statuses(path, owner)).toEqual(READ);
    expect(await statuses(path, reader)).toEqual(READ);
    expect(await statuses(path, stranger)).toEqual(MISSING);
    expect(await statuses(path)).toEqual(MISSING);
    const token = await make.token(owner, { scopes: "read:issue" });
    expect((await call("GET", `${path}/files`, { token })).status).toBe(403);

    await db.update(repositories).set({ isPrivate: false }).where(eq(repositories.id, repo.id));
    expect(await statuses(path)).toEqual(READ);
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, repo.id));
    expect(await statuses(path, reader)).toEqual(MISSING);
    await db
      .update(repositories)
      .set({ hasPullRequests: true })
      .where(eq(repositories.id, repo.id));
    await disableCode(repo);
    expect(await statuses(path, reader)).toEqual(MISSING);
  });

  // The pull request is read together with the repository, before the caller's access to it is
  // known.
  it("do not reveal to a stranger whether a hidden repository has the pull request", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { path } = await makeOpened(owner, { isPrivate: true });
    expect((await call("GET", `${path}/files`, { as: owner })).status).toBe(200);

    const other = path.replace(/\d+$/, "999999");
    for (const as of [stranger, undefined]) {
      const answers = [];
      for (const each of [path, other]) {
        const { status, body } = await call("GET", `${each}/files`, as ? { as } : {});
        answers.push({ status, message: body.message });
      }
      expect(answers[0]).toMatchObject({ status: 404 });
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  it("are not found without a pull request, and stay readable in an archive", async () => {
    const owner = await make.user();
    const { repo, path } = await makeOpened(owner);
    expect(await statuses(path.replace(/\d+$/, "99"))).toEqual(MISSING);
    const issues = `/repos/${repo.owner}/${repo.name}/issues`;
    const { body } = await call("POST", issues, { as: owner, json: { title: "An issue" } });
    expect(await statuses(path.replace(/\d+$/, String(body.number)))).toEqual(MISSING);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect(await statuses(path)).toEqual(READ);
  });

  it("remain when the branches are deleted, and are all of an unrelated history", async () => {
    const owner = await make.user();
    const { repo, main, head, path } = await makeOpened(owner);
    const history = new History();
    const orphan = history.commit({ files: { alone: "1\n" } });
    await pushCommands(owner, repo, [{ ref: "refs/heads/orphan", new: orphan }], {
      pack: history.build(),
    });
    const unrelated = await open(owner, repo, "orphan");
    expect(namesOf((await call("GET", `${unrelated}/files`)).body)).toEqual(["alone"]);
    expect((await call("GET", `${unrelated}/commits`)).body).toMatchObject([{ sha: orphan }]);
    expect((await call("GET", `${unrelated}.diff`)).body).toContain("new file mode 100644");

    const gone = [{ ref: "refs/heads/topic", old: head }];
    await pushCommands(owner, repo, gone);
    await db
      .update(repositories)
      .set({ defaultBranch: "orphan" })
      .where(eq(repositories.id, repo.id));
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", old: main }]);
    expect(await statuses(path)).toEqual(READ);
    expect((await call("GET", `${path}/files`)).body).toHaveLength(5);
    expect((await call("GET", `${path}/commits`)).body).toHaveLength(3);
  });
});
