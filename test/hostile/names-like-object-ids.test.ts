import { beforeAll, describe, expect, it } from "vitest";

import { call, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import {
  makeCommit,
  makeEmptyPack,
  push,
  pushCommands,
  refsOf,
  storeRefs,
} from "../support/push.ts";

/**
 * Names for which a whole id could be mistaken, or which a command line or a terminal would
 * misread.
 */
const MISLEADING: [string, string][] = [
  ["40 hex digits", "0123456789abcdef0123456789abcdef01234567"],
  ["40 hex digits in capitals", "0123456789ABCDEF0123456789ABCDEF01234567"],
  ["64 hex digits", "0123456789abcdef".repeat(4)],
  ["a dash first", "-delete"],
  ["a control character of ASCII", "a\x1b[2J"],
  ["a control character of Latin-1", "a\u009b2J"],
  ["an override of the direction", "a\u202ecod.exe"],
  ["an isolate of a direction", "a\u2066b"],
  ["a mark of a direction", "a\u200fb"],
  ["an Arabic letter mark", "a\u061cb"],
];

/** Adds a file. */
const PATCH =
  "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";

const HARMLESS = [
  "0123456789abcdef0123456789abcdef0123456",
  "0123456789abcdef0123456789abcdef012345678",
  "v0123456789abcdef0123456789abcdef01234567",
  "fix/0123456789abcdef0123456789abcdef01234567",
  "a-b",
  "größe/日本語",
];

const pktOf = (line: string): string => (line.length + 4).toString(16).padStart(4, "0") + line;

/** The refs and the events of a repository: what a refusal must leave as it was. */
const stateOf = async (repo: TestRepo) => [await refsOf(repo), await eventsOf(repo)];

describe("a whole id in place of a revision", () => {
  let owner: TestUser;
  let repo: TestRepo;
  let first: string;
  let second: string;
  let path: string;

  // The refs are stored directly, as they may be in a repository of an earlier version of the
  // service.
  beforeAll(async () => {
    owner = await make.user();
    repo = await make.repo(owner);
    path = `/repos/${repo.owner}/${repo.name}`;
    const history = new History();
    first = history.commit({ files: { file: "true\n" }, message: "First\n" });
    second = history.commit({ files: { file: "false\n" }, parents: [first], message: "Second\n" });
    await storeRefs(
      repo,
      [
        { ref: "refs/heads/main", oid: second },
        { ref: `refs/heads/${first}`, oid: second },
        { ref: `refs/tags/${first}`, oid: second },
        { ref: `refs/heads/${"a".repeat(64)}`, oid: second },
        { ref: `refs/heads/${"b".repeat(40)}`, oid: second },
      ],
      history.build(),
    );
  });

  it("is the object where a file is read", async () => {
    const raws = [
      await call("GET", `${path}/raw/file?ref=${first}`, { as: owner }),
      await call("GET", `${path}/raw/${first}/file`, { as: owner }),
      await call("GET", `${path}/raw/${first.toUpperCase()}/file`, { as: owner }),
      await call("GET", `${path}/media/file?ref=${first}`, { as: owner }),
    ];
    for (const raw of raws) expect(raw).toMatchObject({ status: 200, body: "true\n" });
    const contents = await call("GET", `${path}/contents/file?ref=${first}`, { as: owner });
    expect(contents).toMatchObject({ status: 200, body: { last_commit_sha: first } });
  });

  it("is the object where trees, commits, archives and statuses are read", async () => {
    const get = (rest: string) => call("GET", `${path}${rest}`, { as: owner });
    const tree = await get(`/git/trees/${first}`);
    const treeOfFirst = (await get(`/git/commits/${first}`)).body.commit.tree.sha;
    expect(tree).toMatchObject({ status: 200, body: { sha: treeOfFirst } });
    expect((await get("/git/commits/main")).body.commit.tree.sha).not.toBe(treeOfFirst);
    expect(await get(`/git/commits/${first}`)).toMatchObject({ body: { sha: first } });
    expect((await get(`/commits?sha=${first}`)).body).toMatchObject([{ sha: first }]);
    expect((await get(`/git/commits/${first}.diff`)).body).toContain("+true");
    expect((await get(`/commits/${first}/status`)).body).toMatchObject({ sha: first });

    const archive = `/${repo.owner}/${repo.name}/archive/${first}.tar.gz`;
    const { headers } = await visit("GET", archive, { as: owner });
    expect(headers.get("etag")).toContain(first);
  });

  it("is the object in a comparison, and where a status is set", async () => {
    const compared = await call("GET", `${path}/compare/${first}...main`, { as: owner });
    expect(compared.body).toMatchObject({ total_commits: 1, commits: [{ sha: second }] });
    const status = { as: owner, json: { state: "success", context: "ci" } };
    expect((await call("POST", `${path}/statuses/${first}`, status)).status).toBe(201);
    const listed = await call("GET", `${path}/commits/${first}/statuses`, { as: owner });
    expect(listed.body).toMatchObject([{ url: expect.stringContaining(first) }]);
    expect((await call("GET", `${path}/commits/main/statuses`, { as: owner })).body).toEqual([]);
  });

  it("is the object where a tag, a branch or a move starts", async () => {
    const tag = { as: owner, json: { tag_name: "at-first", target: first } };
    expect((await call("POST", `${path}/tags`, tag)).body).toMatchObject({
      commit: { sha: first },
    });
    const branch = { as: owner, json: { new_branch_name: "at-first-too", old_ref_name: first } };
    const created = await call("POST", `${path}/branches`, branch);
    expect(created.body).toMatchObject({ commit: { id: first } });
    const moved = { as: owner, json: { new_commit_id: first, force: true } };
    await call("POST", `${path}/branches`, {
      as: owner,
      json: { new_branch_name: "moved", old_ref_name: "main" },
    });
    expect((await call("PUT", `${path}/branches/moved`, moved)).status).toBe(204);
    const read = await call("GET", `${path}/branches/moved`, { as: owner });
    expect(read.body).toMatchObject({ commit: { id: first } });
  });

  it("is no ref at which a shallow clone could be cut", async () => {
    const lines = [
      "command=fetch\n",
      "0001",
      `want ${second}\n`,
      `deepen-not ${first}\n`,
      "done\n",
    ];
    const body = `${lines.map((line) => (line === "0001" ? line : pktOf(line))).join("")}0000`;
    const headers = {
      "Content-Type": "application/x-git-upload-pack-request",
      "Git-Protocol": "version=2",
    };
    const fetchPath = `/${repo.owner}/${repo.name}.git/git-upload-pack`;
    const fetched = await visit("POST", fetchPath, { as: owner, headers, body });
    expect(fetched.body).toContain(`ERR unknown ref ${first}`);
  });

  // An id of SHA-256 names no object here, and neither does an unknown one.
  it.each(["a".repeat(64), "b".repeat(40)])("is nothing without an object: %s", async (id) => {
    const get = (rest: string) => call("GET", `${path}${rest}`, { as: owner });
    const fullName = `refs/heads/${id}`;
    expect((await get(`/raw/file?ref=${fullName}`)).body).toBe("false\n");
    for (const rest of [`/raw/file?ref=${id}`, `/raw/${id}/file`, `/commits?sha=${id}`]) {
      expect(await get(rest)).toMatchObject({ status: 404 });
    }
  });

  it("still lets the branch be read, renamed and deleted by its own name", async () => {
    const name = "a".repeat(64);
    const read = await call("GET", `${path}/branches/${name}`, { as: owner });
    expect(read).toMatchObject({ status: 200, body: { commit: { id: second } } });
    const renamed = { as: owner, json: { name: "sane" } };
    expect((await call("PATCH", `${path}/branches/${name}`, renamed)).status).toBe(204);
    const deletion = [{ ref: `refs/tags/${first}`, old: second }];
    expect((await pushCommands(owner, repo, deletion)).body).toContain(`ok refs/tags/${first}`);
    expect((await call("DELETE", `${path}/branches/${first}`, { as: owner })).status).toBe(204);
    const names = (await refsOf(repo)).map((ref) => ref.name);
    expect(names).toContain("refs/heads/sane");
    expect(names.join()).not.toContain(first);
  });
});

describe("a name with", () => {
  let owner: TestUser;
  let repo: TestRepo;
  let path: string;
  let oid: string;

  beforeAll(async () => {
    owner = await make.user();
    repo = await make.repo(owner);
    path = `/repos/${repo.owner}/${repo.name}`;
    const commit = makeCommit("names");
    ({ oid } = commit);
    await push(owner, repo, oid, commit.pack);
  });

  it.each(MISLEADING)("%s can't be pushed", async (_, name) => {
    const before = await stateOf(repo);
    for (const ref of [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]) {
      const { body } = await pushCommands(owner, repo, [{ ref, new: oid }], {
        pack: makeEmptyPack(),
      });
      expect(body).toContain(`ng ${ref} `);
    }
    expect(await stateOf(repo)).toEqual(before);
  });

  it.each(MISLEADING)("%s can't be given by API", async (_, name) => {
    const before = await stateOf(repo);
    const as = owner;
    const content = btoa("x");
    const refused = [
      await call("POST", `${path}/branches`, { as, json: { new_branch_name: name } }),
      await call("PATCH", `${path}/branches/main`, { as, json: { name } }),
      await call("POST", `${path}/tags`, { as, json: { tag_name: name } }),
      await call("POST", `${path}/tags`, { as, json: { tag_name: name, message: "annotated" } }),
      await call("PATCH", path, { as, json: { default_branch: name } }),
      await call("POST", `${path}/contents/new`, { as, json: { content, new_branch: name } }),
      await call("POST", `${path}/contents`, {
        as,
        json: { files: [{ operation: "create", path: "new", content }], new_branch: name },
      }),
      await call("POST", `${path}/releases`, { as, json: { tag_name: name } }),
      await call("POST", `${path}/diffpatch`, { as, json: { content: PATCH, new_branch: name } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 422));
    expect(await stateOf(repo)).toEqual(before);
    const row = await call("GET", path, { as });
    expect(row.body).toMatchObject({ default_branch: "main" });
  });

  it.each(MISLEADING)("%s can't be the default branch of a new repository", async (_, name) => {
    const user = await make.user();
    for (const auto_init of [true, false]) {
      const json = { name: "fresh", default_branch: name, auto_init };
      expect((await call("POST", "/user/repos", { as: user, json })).status).toBe(422);
    }
    expect((await call("GET", `/repos/${user.name}/fresh`, { as: user })).status).toBe(404);
  });

  it.each(HARMLESS)("nothing of this is accepted: %s", async (name) => {
    const refs = [`refs/heads/${name}`, `refs/tags/${name}`];
    const commands = refs.map((ref) => ({ ref, new: oid }));
    const { body } = await pushCommands(owner, repo, commands, { pack: makeEmptyPack() });
    for (const ref of refs) expect(body).toContain(`ok ${ref}`);
  });

  // Git names these refs by ids itself; no revision is looked up there.
  it("40 hex digits is accepted below refs/replace", async () => {
    const ref = `refs/replace/${oid}`;
    const { body } = await pushCommands(owner, repo, [{ ref, new: oid }], {
      pack: makeEmptyPack(),
    });
    expect(body).toContain(`ok ${ref}`);
  });
});
