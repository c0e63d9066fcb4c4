import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import {
  MODE_EXECUTABLE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  parseTree,
} from "../../../src/git/object/tree.ts";
import { collapseSlashes } from "../../../src/lib/request-path.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeFiles } from "../../support/files.ts";
import { git, placeOf, readBranch } from "../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, push, refsOf } from "../../support/push.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const FILES = {
  "README.md": "# read me\n",
  "docs/one.txt": "one\n",
  "docs/deep/two.txt": "two\n",
  "run.sh": { mode: MODE_EXECUTABLE, content: "#!/bin/sh\n" },
  link: { mode: MODE_SYMLINK, content: "README.md" },
  "to-docs": { mode: MODE_SYMLINK, content: "docs" },
  linked: { mode: MODE_SUBMODULE, content: "1".repeat(40) },
};

/** A repository whose `main` has one commit. */
async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user({ fullName: "Ada Lovelace" });
  const repo = await make.repo(owner, fields);
  const first = makeFiles(FILES);
  await push(owner, repo, first.oid, first.pack);
  return { owner, repo, first };
}

const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">, path?: string): string =>
  `/repos/${owner}/${name}/contents${path === undefined ? "" : `/${path}`}`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const create = (repo: TestRepo, as: Pick<TestUser, "token">, path: string, json: object) =>
  call("POST", pathOf(repo, path), { as, json: { content: base64("new\n"), ...json } });
const batch = (repo: TestRepo, as: Pick<TestUser, "token">, files: object[], json: object = {}) =>
  call("POST", pathOf(repo), { as, json: { files, ...json } });

const tipOf = async (repo: TestRepo) =>
  (await refsOf(repo)).find(({ name }) => name === "refs/heads/main")?.oid;

/** Lists all files of a branch, as `mode content` by path. */
async function listBranch(repo: TestRepo, branch = "main"): Promise<Record<string, string>> {
  const stored = git.repository(await placeOf(repo.id));
  const snapshot = await stored.snapshot();
  const { graph, objects } = await stored.open(snapshot);
  const ref = snapshot.refs.find(({ name }) => name === `refs/heads/${branch}`);
  const found: Record<string, string> = {};
  const list = async (oid: string, above: string): Promise<void> => {
    const tree = await objects.readObject(oid);
    for (const entry of parseTree(tree?.content ?? new Uint8Array())) {
      const path = `${above}${entry.name}`;
      const mode = entry.mode.toString(8);
      const content = mode === "160000" ? undefined : await objects.readObject(entry.oid);
      if (content?.kind === "tree") await list(entry.oid, `${path}/`);
      else found[path] = `${mode} ${Buffer.from(content?.content ?? []).toString()}`;
    }
  };
  await list(graph.rootOid(graph.find(ref?.oid ?? "")) ?? "", "");
  return found;
}

/**
 * Sends a request that must be refused, and asserts that refs, events and stored files are
 * unchanged.
 */
async function refused(repo: TestRepo, send: () => Promise<{ status: number; body: unknown }>) {
  const snapshot = async () => ({
    refs: await refsOf(repo),
    events: (await eventsOf(repo)).length,
    files: (await filesOf(repo)).length,
  });
  const before = await snapshot();
  const answer = await send();
  expect(await snapshot()).toEqual(before);
  return answer;
}

describe("POST /repos/{owner}/{repo}/contents/{filepath}", () => {
  it.each([
    ["GIT_OBJECT_MAX_BYTES", "an object of 1200 bytes: one may have 1024 at most"],
    ["GIT_PACK_MAX_INFLATED_BYTES", "more than 1024 bytes together"],
  ])("refuses a file beyond %s as a push of it, and stores nothing", async (name, message) => {
    const { owner, repo, first } = await makePushed();
    const before = await filesOf(repo);
    const small = serviceWith({ [name]: "1024" });
    const json = { content: base64("x".repeat(1200)) };
    const answer = await small("POST", pathOf(repo, "large.txt"), { as: owner, json });
    expect(answer).toMatchObject({ status: 422 });
    expect(JSON.stringify(answer.body)).toContain(message);
    expect([await tipOf(repo), await filesOf(repo)]).toEqual([first.oid, before]);
    expect((await create(repo, owner, "large.txt", json)).status).toBe(201);
  });

  it("creates a file in a commit by the caller, and records a push", async () => {
    const { owner, repo, first } = await makePushed();
    const { answer, line } = await logged(() => create(repo, owner, "docs/new/file.txt", {}));
    const api = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}`;
    const html = `https://forge.example/${repo.owner}/${repo.name}`;
    const oid = await tipOf(repo);
    const person = { name: "Ada Lovelace", email: owner.email };
    expect(answer).toMatchObject({
      status: 201,
      body: {
        content: {
          name: "file.txt",
          path: "docs/new/file.txt",
          sha: "3e757656cf36eca53338e520d134963a44f793f8",
          type: "file",
          size: 4,
          encoding: "base64",
          content: base64("new\n"),
          last_commit_sha: oid,
          url: `${api}/contents/docs/new/file.txt?ref=main`,
          html_url: `${html}/src/branch/main/docs/new/file.txt`,
          download_url: `${html}/raw/branch/main/docs/new/file.txt`,
        },
        commit: {
          sha: oid,
          url: `${api}/git/commits/${oid}`,
          html_url: `${html}/commit/${oid}`,
          author: person,
          committer: person,
          message: "Add docs/new/file.txt\n",
          parents: [{ sha: first.oid, url: `${api}/git/commits/${first.oid}` }],
        },
        verification: { verified: false, reason: "gpg.error.not_signed_commit" },
      },
    });
    // Three calls write the new pack. The one before is open already, since this isolate stored it.
    // The third Durable Object call is deferred: it marks the push as recorded.
    expect(line).toMatchObject({ objectCalls: 3, d1Rounds: 2, r2Calls: 3 });
    const got = await call("GET", pathOf(repo, "docs/new/file.txt"));
    expect(got.body).toEqual(answer.body.content);
    expect(await listBranch(repo)).toMatchObject({
      "docs/new/file.txt": "100644 new\n",
      "docs/one.txt": "100644 one\n",
      "run.sh": "100755 #!/bin/sh\n",
      link: "120000 README.md",
      linked: "160000 ",
    });
    const recorded = (await eventsOf(repo)).at(-1);
    expect(recorded).toMatchObject({
      type: "repository.pushed",
      actorId: owner.id,
      payload: { updates: [{ ref: "refs/heads/main", before: first.oid, after: oid }] },
    });
  });

  it("creates the first commit of an empty repository on any branch", async () => {
    const owner = await make.user();
    for (const [json, branch] of [
      [{}, "main"],
      [{ branch: "trunk" }, "trunk"],
      [{ branch: "trunk", new_branch: "other" }, "other"],
    ] as const) {
      const repo = await make.repo(owner);
      const answer = await create(repo, owner, "a/b", json);
      expect([answer.status, answer.body.commit.parents]).toEqual([201, []]);
      const { head, oid } = await readBranch(repo.id, branch);
      expect([oid, head]).toEqual([answer.body.commit.sha, `refs/heads/${branch}`]);
      const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}`);
      expect(body).toMatchObject({ empty: false, default_branch: branch });
    }
  });

  it("commits with the author, committer, dates and message of the request", async () => {
    const { owner, repo } = await makePushed();
    const author = { name: "Grace <Hopper>", email: "grace@example.com" };
    const dates = { author: "2001-02-03T04:05:06+05:30", committer: "2002-03-04T05:06:07Z" };
    const message = "\n Words\n\nReviewed-by: X <x@example.com>\n\n";
    const json = { message, author, dates, signoff: true };
    const { status, body } = await create(repo, owner, "x", json);
    expect([status, body.commit]).toMatchObject([
      201,
      {
        author: { ...author, name: "Grace Hopper", date: "2001-02-03T04:05:06+05:30" },
        committer: { ...author, name: "Grace Hopper", date: "2002-03-04T05:06:07Z" },
        created: "2002-03-04T05:06:07Z",
        message:
          "Words\n\nReviewed-by: X <x@example.com>\nSigned-off-by: Grace Hopper <grace@example.com>\n",
      },
    ]);
    const committer = { name: "", email: "c@example.com" };
    const other = await create(repo, owner, "y", {
      Committer: committer,
      Dates: { author: "0001-01-01T00:00:00Z", committer: "" },
    });
    expect(other.body.commit).toMatchObject({
      author: { name: "Ada Lovelace", email: "c@example.com" },
      committer: { name: "Ada Lovelace", email: "c@example.com" },
    });
    const made = Date.parse(other.body.commit.author.date);
    expect(Math.abs(made - Date.now())).toBeLessThan(60_000);
  });

  it("commits with a no-reply address for a caller with a hidden address", async () => {
    const owner = await make.user({ isEmailHidden: true });
    const repo = await make.repo(owner);
    const { body } = await create(repo, owner, "x", { signoff: true });
    const email = `${owner.name}@noreply.forge.example`;
    expect(body.commit.author.email).toBe(email);
    expect(body.commit.message).toBe(`Add x\n\nSigned-off-by: ${owner.name} <${email}>\n`);
  });

  it("commits to a new branch, and overwrites an existing one only with force", async () => {
    const { owner, repo, first } = await makePushed();
    const made = await create(repo, owner, "a", { new_branch: "feature/a" });
    expect(made).toMatchObject({
      status: 201,
      body: { content: { url: expect.stringContaining("?ref=feature%2Fa") } },
    });
    expect(await tipOf(repo)).toBe(first.oid);
    const again = { new_branch: "feature/a" };
    expect(await refused(repo, () => create(repo, owner, "b", again))).toMatchObject({
      status: 422,
      body: { message: "branch already exists [name: feature/a]" },
    });
    const forced = await create(repo, owner, "b", { ...again, force_push: true });
    expect([forced.status, forced.body.commit.parents[0].sha]).toEqual([201, first.oid]);
    expect(Object.keys(await listBranch(repo, "feature/a"))).not.toContain("a");
    const other = await create(repo, owner, "c", { branch: "feature/a" });
    expect(other.body.commit.parents[0].sha).toBe(forced.body.commit.sha);
  });

  // SECURITY: path traversal and `.git` disguises. A path is decoded once, by the router, and
  // validated literally.
  it.each([
    "..",
    ".",
    "../x",
    "a/../x",
    "a/./x",
    "a/..",
    "%2e%2e/x",
    "a%2f..%2f..%2fx",
    "a//x",
    "a/",
    "%2fx",
    "a%5cx",
    "..%5cx",
    ".git",
    ".git/config",
    ".GIT/config",
    "a/.Git/x",
    "git~1/config",
    "GIT~1",
    ".git%20/x",
    ".git./x",
    ".g%E2%80%8Cit/x",
    ".git::$INDEX_ALLOCATION/x",
    "x%00y",
    "x".repeat(256),
    "x/".repeat(2100) + "x",
    "y".repeat(5000),
  ])("refuses the path %s", async (path) => {
    const { owner, repo } = await makePushed();
    const name = decodeURIComponent(path);
    const sha = await shaOf(repo, "README.md");
    for (const file of [
      { operation: "create", path: name, content: "" },
      { operation: "upload", path: name, content: "" },
      { operation: "rename", path: name, from_path: "README.md", sha },
    ]) {
      const answer = await refused(repo, () => batch(repo, owner, [file]));
      const message = expect.stringMatching(/malformed path|must have at most 4096/);
      expect(answer).toMatchObject({ status: 422, body: { message } });
    }
    // A client resolves dot segments itself, and the service doubled slashes: that is a request for
    // another path.
    const { pathname } = new URL(`https://forge.example/${path}`);
    if (collapseSlashes(pathname) !== `/${path}`) return;
    const { status } = await refused(repo, () => create(repo, owner, path, {}));
    expect([404, 422]).toContain(status);
  });

  it("accepts doubly encoded names literally, and other unusual names", async () => {
    const { owner, repo } = await makePushed();
    for (const [path, name] of [
      ["%252e%252e", "%2e%2e"],
      ["a%252fb", "a%2fb"],
      ["...", "..."],
      [".gitignore", ".gitignore"],
      [".github/x", ".github/x"],
      ["%F0%9F%98%80.txt", "\u{1F600}.txt"],
      ["-rf", "-rf"],
    ] as const) {
      const { status, body } = await create(repo, owner, path, {});
      expect([status, body.content?.path]).toEqual([201, name]);
    }
  });

  it.each([
    ["an existing file", "README.md", "repository file already exists [path: README.md]"],
    ["a directory", "docs", "a directory exists where you're trying to create a file [path: docs]"],
    [
      "a path below a file",
      "README.md/x",
      "a file exists where you're trying to create a subdirectory [path: README.md]",
    ],
    // SECURITY: writing through a symlink could change a file at another path.
    [
      "a path below a symlink",
      "to-docs/x",
      "a symbolic link exists where you're trying to create a subdirectory [path: to-docs]",
    ],
    [
      "a symlink",
      "link",
      "a symbolic link exists where you're trying to create a file [path: link]",
    ],
    [
      "a path below a submodule",
      "linked/x",
      "a submodule exists where you're trying to create a subdirectory [path: linked]",
    ],
  ])("refuses %s", async (_, path, message) => {
    const { owner, repo } = await makePushed();
    const answer = await refused(repo, () => create(repo, owner, path, {}));
    expect(answer).toMatchObject({ status: 422, body: { message } });
  });

  it.each([
    [{ content: "a" }, "[content]: must be base64"],
    [{ content: "ab=c" }, "[content]: must be base64"],
    [{ content: "YQ" }, "[content]: must be base64"],
    [{ content: "YQ-_" }, "[content]: must be base64"],
    [{ content: null }, "[content]: is required"],
    [
      { new_branch: "a..b" },
      "[new_branch]: must be a name that git allows, no object id, without a leading dash and control characters",
    ],
    [
      { new_branch: "-x" },
      "[new_branch]: must be a name that git allows, no object id, without a leading dash and control characters",
    ],
    [{ message: "a\u0000b" }, "[message]: must be Unicode text without NUL"],
    [{ author: { name: "<>" } }, "[author.name]: must contain letters or digits, as Unicode text"],
    [
      { committer: { email: "\n" } },
      "[committer.email]: must contain letters or digits, as Unicode text",
    ],
    [
      { dates: { author: "yesterday" } },
      "[dates.author]: must be a time in RFC 3339, such as 2026-01-31T08:15:00Z",
    ],
    [
      { dates: { author: "1969-12-31T23:59:59Z" } },
      "[dates.author]: must be 1970-01-01T00:00:00Z or later",
    ],
    [{ author: "me" }, "[author]: must be an object"],
  ])("refuses %j", async (json, message) => {
    const { owner, repo } = await makePushed();
    const answer = await refused(repo, () => create(repo, owner, "x", json));
    expect(answer).toMatchObject({ status: 422, body: { message } });
  });

  it("accepts base64 with line breaks", async () => {
    const { owner, repo } = await makePushed();
    const { status, body } = await create(repo, owner, "x", { content: "bm\r\nV3Cg\n==\n" });
    expect([status, body.content.content]).toEqual([201, "bmV3Cg=="]);
  });

  it("refuses a file that git would not check out, with git's reason", async () => {
    const { owner, repo } = await makePushed();
    const text = '[submodule "../x"]\n\tpath = x\n\turl = https://example.com/x\n';
    const json = { content: base64(text) };
    const answer = await refused(repo, () => create(repo, owner, ".gitmodules", json));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ message: expect.stringContaining("gitmodulesName") });
  });

  it("answers 404 for a branch that does not exist, including tags and commit ids", async () => {
    const { owner, repo, first } = await makePushed();
    for (const branch of ["none", first.oid, "refs/heads/main", "HEAD", "x".repeat(900)]) {
      expect((await refused(repo, () => create(repo, owner, "x", { branch }))).status).toBe(404);
    }
  });

  it("requires write access to the code, and a token that grants it", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    const reader = await make.user();
    await make.collaborator(repo, reader, 1);
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const send = (sending: object) =>
      refused(repo, () => call("POST", pathOf(repo, "x"), { ...sending, json: { content: "" } }));
    expect((await send({})).status).toBe(404);
    expect((await send({ as: await make.user() })).status).toBe(404);
    expect((await send({ as: reader })).status).toBe(403);
    for (const scopes of ["read:repository", "write:issue", "public-only,all"]) {
      const token = await make.token(owner, { scopes });
      expect([403, 404], scopes).toContain((await send({ token })).status);
    }
    expect((await create(repo, writer, "x", {})).status).toBe(201);

    const visible = await makePushed();
    const json = { content: "" };
    const anonymous = await refused(visible.repo, () =>
      call("POST", pathOf(visible.repo, "x"), { json }),
    );
    expect(anonymous.status).toBe(401);
  });

  it("refuses changes to an archive, to a mirror, and with the code unit disabled", async () => {
    const { owner, repo } = await makePushed();
    for (const [set, status] of [
      [{ archivedAt: 1000 }, 423],
      [{ archivedAt: null, isMirror: true }, 403],
      [{ isMirror: false, hasCode: false }, 403],
    ] as const) {
      await db.update(repositories).set(set).where(eq(repositories.id, repo.id));
      expect((await refused(repo, () => create(repo, owner, "x", {}))).status).toBe(status);
      const files = [{ operation: "create", path: "x", content: "" }];
      expect((await refused(repo, () => batch(repo, owner, files))).status).toBe(status);
    }
  });

  it("accepts a file of several megabytes, and refuses a body over the limit", async () => {
    const { owner, repo } = await makePushed();
    const content = base64("0123456789abcde\n".repeat(300_000));
    const made = await create(repo, owner, "large", { content });
    expect([made.status, made.body.content.size]).toEqual([201, 4_800_000]);
    const tooMuch = { content: "A".repeat(8 * 1024 * 1024) };
    expect((await refused(repo, () => create(repo, owner, "x", tooMuch))).status).toBe(413);
    const wide = await call("POST", `/repos/${repo.owner}/${repo.name}/tags`, {
      as: owner,
      json: { tag_name: "x", message: "A".repeat(2_000_000) },
    });
    expect(wide.status).toBe(413);
  });
});

const ANY = "1".repeat(40);

/** The blob id at a path of `main`. */
const shaOf = async (repo: TestRepo, path: string): Promise<string> =>
  (await call("GET", pathOf(repo, path))).body.sha;

describe("PUT /repos/{owner}/{repo}/contents/{filepath}", () => {
  it("updates a file and keeps its mode", async () => {
    const { owner, repo } = await makePushed();
    const sha = await shaOf(repo, "run.sh");
    const json = { content: base64("#!/bin/bash\n"), sha };
    const answer = await call("PUT", pathOf(repo, "run.sh"), { as: owner, json });
    expect(answer).toMatchObject({
      status: 200,
      body: { commit: { message: "Update run.sh\n" }, content: { path: "run.sh" } },
    });
    expect((await listBranch(repo))["run.sh"]).toBe("100755 #!/bin/bash\n");
  });

  it("moves a file, and removes directories that become empty", async () => {
    const { owner, repo } = await makePushed();
    const sha = await shaOf(repo, "docs/deep/two.txt");
    const json = { content: base64("2\n"), sha, from_path: "docs/deep/two.txt" };
    const answer = await call("PUT", pathOf(repo, "x/y/z"), { as: owner, json });
    expect(answer.status).toBe(200);
    const after = await listBranch(repo);
    expect(after).toMatchObject({ "x/y/z": "100644 2\n", "docs/one.txt": "100644 one\n" });
    expect(after).not.toHaveProperty("docs/deep/two.txt");
    expect((await call("GET", pathOf(repo, "docs/deep"))).status).toBe(404);
  });

  it("creates a file if the request has no blob id", async () => {
    const { owner, repo } = await makePushed();
    const answer = await call("PUT", pathOf(repo, "x"), { as: owner, json: { content: "" } });
    expect([answer.status, answer.body.commit.message]).toEqual([201, "Add x\n"]);
    const json = { content: "", sha: "" };
    const taken = await refused(repo, () => call("PUT", pathOf(repo, "x"), { as: owner, json }));
    expect(taken).toMatchObject({
      status: 422,
      body: { message: "repository file already exists [path: x]" },
    });
  });

  // A client that saves an unchanged file still finds its commit in the log, as with
  // `git commit --allow-empty`.
  it("commits an update without changes", async () => {
    const { owner, repo, first } = await makePushed();
    const sha = await shaOf(repo, "README.md");
    const json = { content: base64("# read me\n"), sha };
    const { status, body } = await call("PUT", pathOf(repo, "README.md"), { as: owner, json });
    expect([status, body.commit.parents[0].sha]).toEqual([200, first.oid]);
    expect(body.commit.sha).not.toBe(first.oid);
    const old = await call("GET", `/repos/${repo.owner}/${repo.name}/git/commits/${first.oid}`);
    expect(body.commit.tree.sha).toBe(old.body.commit.tree.sha);
  });

  it("refuses a blob id that is not the file's current one, and paths that are not files", async () => {
    const { owner, repo } = await makePushed();
    const wrong = "1".repeat(40);
    const put = (path: string, json: object) =>
      refused(repo, () =>
        call("PUT", pathOf(repo, path), { as: owner, json: { content: "", ...json } }),
      );
    const sha = await shaOf(repo, "README.md");
    expect(await put("README.md", { sha: wrong })).toMatchObject({
      status: 422,
      body: { message: `sha does not match [given: ${wrong}, expected: ${sha}]` },
    });
    const missing = "a SHA or commit ID must be proved when updating a file";
    expect(await put("x", { from_path: "README.md" })).toMatchObject({
      status: 422,
      body: { message: missing },
    });
    const exists = { sha, from_path: "README.md" };
    expect(await put("run.sh", exists)).toMatchObject({
      status: 422,
      body: { message: "repository file already exists [path: run.sh]" },
    });
    for (const path of ["none", "docs", "docs/none", "README.md/x", "to-docs/one.txt"]) {
      expect((await put(path, { sha })).status, path).toBe(404);
    }
    const linkSha = await shaOf(repo, "link");
    expect(await put("link", { sha: linkSha })).toMatchObject({
      status: 422,
      body: { message: "a symbolic link or submodule has no content [path: link]" },
    });
    expect((await put("x", { sha: linkSha, from_path: "link" })).status).toBe(422);
  });
});

describe("DELETE /repos/{owner}/{repo}/contents/{filepath}", () => {
  const remove = (repo: TestRepo, as: TestUser, path: string, json: object) =>
    call("DELETE", pathOf(repo, path), { as, json });

  it("deletes a file or symlink", async () => {
    const { owner, repo } = await makePushed();
    for (const path of ["docs/one.txt", "link"]) {
      const sha = await shaOf(repo, path);
      const answer = await remove(repo, owner, path, { sha });
      expect(answer).toMatchObject({
        status: 200,
        body: { content: null, commit: { message: `Delete ${path}\n` } },
      });
      expect(answer.body.verification).toBeTruthy();
      expect(await listBranch(repo)).not.toHaveProperty([path]);
    }
    expect(await listBranch(repo)).toHaveProperty(["README.md"]);
  });

  it("leaves an empty tree when the last file is deleted", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { body } = await create(repo, owner, "a/b", {});
    const answer = await remove(repo, owner, "a/b", { sha: body.content.sha });
    expect([answer.status, answer.body.commit.tree.sha]).toEqual([
      200,
      "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    ]);
    expect((await call("GET", pathOf(repo))).body).toEqual([]);
  });

  it("refuses paths that don't exist, directories, and a different blob id", async () => {
    const { owner, repo } = await makePushed();
    const sha = await shaOf(repo, "README.md");
    for (const path of ["none", "docs", "to-docs/one.txt", "..%2fREADME.md", "x%00", ".git"]) {
      const answer = await refused(repo, () => remove(repo, owner, path, { sha }));
      expect([path, answer.status]).toEqual([path, 404]);
    }
    for (const json of [{}, { sha: "" }, { sha: "1".repeat(40) }, { sha: "x" }]) {
      const answer = await refused(repo, () => remove(repo, owner, "README.md", json));
      expect(answer.status).toBe(422);
    }
    const empty = await make.repo(owner);
    const answer = await refused(empty, () => remove(empty, owner, "x", { sha }));
    expect(answer.status).toBe(404);
  });
});

describe("POST /repos/{owner}/{repo}/contents", () => {
  it("applies all operations in one commit, each on the result of the previous ones", async () => {
    const { owner, repo } = await makePushed();
    const [readme, script, one] = await Promise.all(
      ["README.md", "run.sh", "docs/one.txt"].map((path) => shaOf(repo, path)),
    );
    const { answer, line } = await logged(() =>
      batch(repo, owner, [
        { operation: "create", path: "a", content: base64("a") },
        { operation: "update", path: "README.md", content: base64("b"), sha: readme },
        { operation: "rename", path: "bin/run", from_path: "run.sh", sha: script },
        { operation: "delete", path: "docs/one.txt", sha: one },
        { operation: "upload", path: "docs/deep/two.txt", content: base64("22") },
        { operation: "upload", path: "docs/one.txt/now a directory", content: base64("c") },
        {
          operation: "rename",
          path: "b",
          from_path: "a",
          sha: "2e65efe2a145dda7ee51d1741299f848e5bf752e",
        },
      ]),
    );
    expect(answer.status).toBe(201);
    const { files, commit } = answer.body;
    expect(files.map((file: { path: string } | null) => file?.path ?? null)).toEqual([
      null,
      "README.md",
      "bin/run",
      null,
      "docs/deep/two.txt",
      "docs/one.txt/now a directory",
      "b",
    ]);
    expect(files[2]).toMatchObject({ content: base64("#!/bin/sh\n"), last_commit_sha: commit.sha });
    expect(commit.message).toBe(
      "Add a\nUpdate README.md, bin/run, docs/deep/two.txt, docs/one.txt/now a directory, b\nDelete docs/one.txt\n",
    );
    // The third Durable Object call is deferred: it marks the push as recorded.
    expect(line).toMatchObject({ objectCalls: 3, d1Rounds: 2, r2Calls: 3 });
    expect(await listBranch(repo)).toEqual({
      "README.md": "100644 b",
      b: "100644 a",
      "bin/run": "100755 #!/bin/sh\n",
      "docs/deep/two.txt": "100644 22",
      "docs/one.txt/now a directory": "100644 c",
      link: "120000 README.md",
      linked: "160000 ",
      "to-docs": "120000 docs",
    });
  });

  it("summarizes the operations if the message would be too long", async () => {
    const { owner, repo } = await makePushed();
    const name = "x".repeat(250);
    const files = Array.from({ length: 300 }, (_, at) => {
      return { operation: "create", path: `${name}${at}`, content: "" };
    });
    const { status, body } = await batch(repo, owner, files);
    expect([status, body.commit.message]).toEqual([201, "Change 300 files\n"]);
  });

  it("moves a symlink as a symlink", async () => {
    const { owner, repo } = await makePushed();
    const sha = await shaOf(repo, "link");
    const files = [{ operation: "rename", path: "docs/l", from_path: "link", sha, content: "" }];
    const answer = await batch(repo, owner, files);
    expect([answer.status, answer.body.files[0].type]).toEqual([201, "symlink"]);
    expect(await listBranch(repo)).toMatchObject({ "docs/l": "120000 README.md" });
  });

  it("applies no operation if one is invalid", async () => {
    const { owner, repo } = await makePushed();
    const good = { operation: "create", path: "good", content: "" };
    for (const [bad, status] of [
      [{ operation: "create", path: "good", content: "" }, 422],
      [{ operation: "create", path: "good/x", content: "" }, 422],
      [{ operation: "create", path: "x" }, 422],
      [{ operation: "update", path: "README.md", content: "" }, 422],
      [{ operation: "update", path: "none", content: "", sha: "x" }, 404],
      [{ operation: "rename", path: "x", sha: ANY }, 422],
      [{ operation: "rename", path: "x", from_path: "none", sha: ANY }, 404],
      [{ operation: "delete", path: "good" }, 422],
      [{ operation: "upload", path: "to-docs/one.txt", content: "" }, 422],
      [{ operation: "upload", path: "link", content: "" }, 422],
      [{ operation: "upload", path: "new", content: "", sha: "1".repeat(40) }, 422],
      [{ operation: "chmod", path: "good" }, 422],
      [{ operation: "create", path: "" }, 422],
      [{ path: "x" }, 422],
      [7, 422],
    ] as const) {
      const answer = await refused(repo, () => batch(repo, owner, [good, bad as object]));
      expect([bad, answer.status]).toEqual([bad, status]);
    }
    for (const files of [[], undefined, {}, Array.from({ length: 2001 }, () => good)]) {
      const answer = await refused(repo, () => batch(repo, owner, files as object[]));
      expect(answer.status).toBe(422);
    }
  });
});

describe("concurrent writers", () => {
  // The second writer has not seen the first one's commit, and must retry instead of overwriting
  // it.
  it("of one branch overwrite no commit: refused writers get a conflict", async () => {
    const { owner, repo, first } = await makePushed();
    const names = ["a", "b", "c", "d"];
    const answers = await Promise.all(names.map((name) => create(repo, owner, name, {})));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    const winners = names.filter((_, at) => statuses[at] === 201);
    expect(winners.length).toBeGreaterThan(0);
    expect(winners.length).toBeLessThan(names.length);
    const after = await listBranch(repo);
    expect(names.filter((name) => name in after)).toEqual(winners);
    const recorded = await eventsOf(repo);
    expect(typesOf(recorded).filter((type) => type === "repository.pushed")).toHaveLength(
      winners.length + 1,
    );
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      message: "refs/heads/main: fetch first",
      url: expect.any(String),
    });
    expect(first.oid).toBeTruthy();
  });

  it("of different branches all succeed", async () => {
    const { owner, repo } = await makePushed();
    const names = ["a", "b", "c"];
    const answers = await Promise.all(
      names.map((name) => create(repo, owner, name, { new_branch: name })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  });
});
