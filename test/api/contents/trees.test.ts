import { describe, expect, it } from "vitest";

import { encodeText, encodeUtf8 } from "../../../src/git/byte-text.ts";
import {
  formatTree,
  MODE_EXECUTABLE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  MODE_TREE,
} from "../../../src/git/object/tree.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../../../src/storage/codec.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { makeCommit, push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const LINKED = "1".repeat(40);

const FILES = {
  "README.md": "# read me",
  "docs/deep/one.txt": "one",
  "docs/grüße.txt": "hello",
  "docs.txt": "beside",
  "lib/linked": { mode: MODE_SUBMODULE, content: LINKED },
  link: { mode: MODE_SYMLINK, content: "README.md" },
  "run.sh": { mode: MODE_EXECUTABLE, content: "#!/bin/sh\n" },
};

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(FILES);
  expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
  return { owner, repo, made };
}

const treesOf = ({ owner, name }: TestRepo): string => `/repos/${owner}/${name}/git/trees`;

interface Entry {
  path: string;
  mode: string;
  type: string;
  size: number;
  sha: string;
  url: string;
}
const formatEntries = (body: { tree: Entry[] }): string[] =>
  body.tree.map(({ mode, type, sha, path }) => `${mode} ${type} ${sha} ${path}`);

describe("GET /repos/{owner}/{repo}/git/trees/{sha}", () => {
  it("lists a tree in git order, by branch, commit or tree id", async () => {
    const { owner, repo, made } = await makePushed();
    await pushCommands(owner, repo, [{ ref: "refs/heads/a/b", new: made.oid }], {
      pack: new PackBuilder(codec).build(),
    });
    const names = ["main", "a/b", "a%2Fb", "refs/heads/main", made.oid, made.oid.slice(0, 8)];
    for (const name of names.concat(made.treeOid)) {
      const { status, body } = await call("GET", `${treesOf(repo)}/${name}`);
      expect([name, status]).toEqual([name, 200]);
      expect(body).toMatchObject({
        sha: made.treeOid,
        url: `https://forge.example/api/v1${treesOf(repo)}/${made.treeOid}`,
        truncated: false,
        page: 1,
        total_count: 6,
      });
      expect(formatEntries(body)).toEqual([
        `100644 blob ${made.oids["README.md"]} README.md`,
        `100644 blob ${made.oids["docs.txt"]} docs.txt`,
        `040000 tree ${made.oids["docs"]} docs`,
        `040000 tree ${made.oids["lib"]} lib`,
        `120000 blob ${made.oids["link"]} link`,
        `100755 blob ${made.oids["run.sh"]} run.sh`,
      ]);
    }
  });

  it("lists recursively, each subtree before its entries, with sizes and URLs", async () => {
    const { repo, made } = await makePushed();
    const { body } = await call("GET", `${treesOf(repo)}/main?recursive=1`);
    expect(body.tree.map(({ path, size }: Entry) => [path, size])).toEqual([
      ["README.md", 9],
      ["docs.txt", 6],
      ["docs", 0],
      ["docs/deep", 0],
      ["docs/deep/one.txt", 3],
      ["docs/grüße.txt", 5],
      ["lib", 0],
      ["lib/linked", 0],
      ["link", 9],
      ["run.sh", 10],
    ]);
    const git = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/git`;
    expect(body.tree[2].url).toBe(`${git}/trees/${made.oids["docs"]}`);
    expect(body.tree[4].url).toBe(`${git}/blobs/${made.oids["docs/deep/one.txt"]}`);
    expect(body.tree[7]).toMatchObject({ mode: "160000", type: "commit", sha: LINKED, url: "" });
  });

  it("returns pages that together are the complete list", async () => {
    const { repo } = await makePushed();
    const complete = await call("GET", `${treesOf(repo)}/main?recursive=true`);
    for (const size of [1, 2, 3, 7, 10]) {
      const found: Entry[] = [];
      for (let number = 1; found.length < 10; number++) {
        const query = `?recursive=true&per_page=${size}&page=${number}`;
        const { body } = await call("GET", `${treesOf(repo)}/main${query}`);
        found.push(...body.tree);
        expect(body).toMatchObject({ page: number, total_count: 10 });
        expect(body.truncated).toBe(found.length < 10);
      }
      expect(found).toEqual(complete.body.tree);
    }
    const beyond = await call("GET", `${treesOf(repo)}/main?page=99&per_page=9999999`);
    expect(beyond.body).toMatchObject({ tree: [], truncated: false, page: 99, total_count: 6 });
  });

  // SECURITY: a few hundred bytes expand to a trillion entries.
  it("pages through a tree that contains the next one ten times, at every level", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const builder = new PackBuilder(codec);
    let entry = { mode: 0o100644, oid: builder.add("blob", encodeUtf8("bomb")) };
    for (let level = 0; level < 12; level++) {
      const entries = Array.from({ length: 10 }, (_, at) => ({
        ...entry,
        name: encodeText(String(at)),
      }));
      entry = { mode: MODE_TREE, oid: builder.add("tree", formatTree(entries)) };
    }
    const who = "A <a@example.com> 1700000000 +0000";
    const text = `tree ${entry.oid}\nauthor ${who}\ncommitter ${who}\n\nbomb\n`;
    const oid = builder.add("commit", encodeUtf8(text));
    expect((await push(owner, repo, oid, builder.build())).body).toContain("unpack ok");
    const query = "?recursive=1&per_page=2&page=999999999";
    const { status, body } = await call("GET", `${treesOf(repo)}/main${query}`);
    expect([status, body.total_count]).toEqual([200, 1_111_111_111_110]);
    expect(body.tree).toHaveLength(2);
  });

  it("answers 400 with one message, whatever the reason that a name has no tree", async () => {
    const { repo, made } = await makePushed();
    const names = ["nothing", "0".repeat(40), made.oids["README.md"], LINKED, "-1"];
    for (const name of names.concat("x".repeat(5000))) {
      const { status, body } = await call("GET", `${treesOf(repo)}/${name}`);
      expect([name, status, body.message]).toEqual([name, 400, "sha not found"]);
    }
    const empty = await make.repo(await make.user());
    expect((await call("GET", `${treesOf(empty)}/main`)).status).toBe(400);
  });

  // SECURITY: forks share packs, and force-pushed objects stay stored for a while.
  it("returns no tree that is unreachable from the repository's own refs", async () => {
    const { owner, repo } = await makePushed();
    const forker = await make.user();
    const forked = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: forker,
      json: { name: freshName("fork") },
    });
    const fork = { owner: forker.name, name: forked.body.name } as TestRepo;
    const secret = makeCommit(freshName("secret"));
    await push(forker, fork, secret.oid, secret.pack, "refs/heads/secret");
    for (const id of [secret.oid, secret.treeOid]) {
      expect((await call("GET", `${treesOf(fork)}/${id}`, { as: forker })).status).toBe(200);
      expect((await call("GET", `${treesOf(repo)}/${id}`, { as: owner })).status).toBe(400);
    }
    await pushCommands(forker, fork, [{ ref: "refs/heads/secret", old: secret.oid }]);
    for (const id of [secret.oid, secret.treeOid]) {
      expect((await call("GET", `${treesOf(fork)}/${id}`, { as: forker })).status).toBe(400);
    }
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    const path = `${treesOf(repo)}/main`;
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
    const token = await make.token(owner, { scopes: "read:user" });
    expect((await call("GET", path, { token })).status).toBe(403);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
    await disableCode(repo);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
  });

  it("costs two D1 round trips, one Durable Object call, and no bucket read when cached", async () => {
    const { repo } = await makePushed();
    const path = `${treesOf(repo)}/main?recursive=1`;
    await call("GET", path);
    const { line } = await logged(() => call("GET", path));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });
});
