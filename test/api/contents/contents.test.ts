import { describe, expect, it } from "vitest";

import { MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { makeCommit, makeEmptyPack, push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const LINKED = "1".repeat(40);
const MODULES = `[submodule "a"]\n\tpath = lib/linked\n\turl = https://example.com/a.git\n`;

const FILES = {
  ".gitmodules": MODULES,
  "README.md": "# read me",
  "docs/deep/one.txt": "one",
  "docs/grüße und #1?.txt": "hello",
  "docs.txt": "beside",
  "lib/linked": { mode: MODE_SUBMODULE, content: LINKED },
  link: { mode: MODE_SYMLINK, content: "README.md" },
  "to-docs": { mode: MODE_SYMLINK, content: "docs" },
};

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const first = makeFiles(FILES);
  await push(owner, repo, first.oid, first.pack);
  const files = { ...FILES, "docs/deep/one.txt": "another" };
  const made = makeFiles(files, { seconds: 1_700_000_100, before: first });
  await pushCommands(owner, repo, [{ ref: "refs/heads/main", old: first.oid, new: made.oid }], {
    pack: made.pack,
  });
  return { owner, repo, first, made };
}

const pathOf = ({ owner, name }: TestRepo, noun = "contents"): string =>
  `/repos/${owner}/${name}/${noun}`;

describe("GET /repos/{owner}/{repo}/contents/{filepath}", () => {
  it("returns a file with its content and the commit that last changed it", async () => {
    const { repo, first, made } = await makePushed();
    const name = "docs/gr%C3%BC%C3%9Fe%20und%20%231%3F.txt";
    const html = `https://forge.example/${repo.owner}/${repo.name}`;
    const api = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}`;
    const sha = made.oids["docs/grüße und #1?.txt"];
    const links = {
      self: `${api}/contents/${name}?ref=main`,
      git: `${api}/git/blobs/${sha}`,
      html: `${html}/src/branch/main/${name}`,
    };
    for (const path of [name, name.replace("/", "%2F")]) {
      const { status, body } = await call("GET", `${pathOf(repo)}/${path}`);
      expect([status, body]).toEqual([
        200,
        {
          name: "grüße und #1?.txt",
          path: "docs/grüße und #1?.txt",
          sha,
          last_commit_sha: first.oid,
          last_committer_date: "2023-11-14T22:13:20Z",
          last_author_date: "2023-11-14T22:13:20Z",
          type: "file",
          size: 5,
          encoding: "base64",
          content: btoa("hello"),
          target: null,
          url: links.self,
          html_url: links.html,
          git_url: links.git,
          download_url: `${html}/raw/branch/main/${name}`,
          submodule_git_url: null,
          _links: links,
        },
      ]);
    }
    const changed = await call("GET", `${pathOf(repo)}/docs/deep/one.txt`);
    expect(changed.body).toMatchObject({
      content: btoa("another"),
      last_commit_sha: made.oid,
      last_committer_date: "2023-11-14T22:15:00Z",
    });
  });

  it("lists a directory in tree order, without contents", async () => {
    const { repo, first, made } = await makePushed();
    const rows = [
      [".gitmodules", "file", MODULES.length, first.oid],
      ["README.md", "file", 9, first.oid],
      ["docs.txt", "file", 6, first.oid],
      ["docs", "dir", 0, made.oid],
      ["lib", "dir", 0, first.oid],
      ["link", "symlink", 9, first.oid],
      ["to-docs", "symlink", 4, first.oid],
    ];
    for (const path of ["contents", "contents/", "contents?ref=refs/heads/main"]) {
      const { status, body } = await call("GET", pathOf(repo, path));
      expect(status).toBe(200);
      expect(
        (body as Record<string, unknown>[]).map((each) => [
          each["path"],
          each["type"],
          each["size"],
          each["last_commit_sha"],
        ]),
      ).toEqual(rows);
      for (const each of body) expect([each.content, each.encoding]).toEqual([null, null]);
      expect(body[3].download_url).toBeNull();
      expect(body[3].git_url).toContain(`/git/trees/${made.oids["docs"]}`);
    }
    const below = await call("GET", `${pathOf(repo)}/docs/deep/`);
    expect(below.body).toMatchObject([{ path: "docs/deep/one.txt", name: "one.txt" }]);
  });

  it("reads at a branch, a tag or a commit, and links to the same one", async () => {
    const { owner, repo, first, made } = await makePushed();
    await pushCommands(
      owner,
      repo,
      [
        { ref: "refs/heads/old/one", new: first.oid },
        { ref: "refs/tags/v1", new: first.oid },
      ],
      { pack: makeEmptyPack() },
    );
    const cases = [
      ["old/one", "branch/old/one", "one"],
      ["v1", "tag/v1", "one"],
      [first.oid, `commit/${first.oid}`, "one"],
      [made.oid.slice(0, 10), `commit/${made.oid}`, "another"],
    ] as const;
    for (const [ref, urlPart, text] of cases) {
      const path = `${pathOf(repo)}/docs/deep/one.txt?ref=${encodeURIComponent(ref)}`;
      const { body } = await call("GET", path);
      expect(body).toMatchObject({
        content: btoa(text),
        html_url: `https://forge.example/${repo.owner}/${repo.name}/src/${urlPart}/docs/deep/one.txt`,
      });
    }
  });

  it("returns symlink targets and submodule URLs, and follows neither", async () => {
    const { repo, made } = await makePushed();
    const link = await call("GET", `${pathOf(repo)}/link`);
    expect(link.body).toMatchObject({
      type: "symlink",
      target: "README.md",
      sha: made.oids["link"],
      content: null,
    });
    const linked = await call("GET", `${pathOf(repo)}/lib/linked`);
    expect(linked.body).toMatchObject({
      type: "submodule",
      sha: LINKED,
      submodule_git_url: "https://example.com/a.git",
      git_url: null,
      html_url: null,
      download_url: null,
    });
    for (const path of ["to-docs/deep/one.txt", "to-docs/deep", "lib/linked/x", "README.md/x"]) {
      expect((await call("GET", `${pathOf(repo)}/${path}`)).status).toBe(404);
    }
  });

  it("answers 404 for invalid paths and unknown commits", async () => {
    const { repo } = await makePushed();
    const paths = [
      "none",
      "readme.md",
      ".git",
      ".git/config",
      "docs%2F..%2FREADME.md",
      "..%2FREADME.md",
      "docs/%2E%2E%2FREADME.md",
      "docs%5Cdeep",
      "%252e%252e%252fREADME.md",
      "README.md%00",
      "%00",
      "%FF%FE",
      "x".repeat(5000),
      "a/".repeat(2500),
    ];
    for (const path of paths) {
      const answer = await call("GET", `${pathOf(repo)}/${path}`);
      expect([path, answer.status, answer.body]).toEqual([path, 404, ""]);
    }
    for (const ref of ["none", "0".repeat(40), LINKED, "-1", "x".repeat(5000)]) {
      expect([ref, (await call("GET", `${pathOf(repo)}?ref=${ref}`)).status]).toEqual([ref, 404]);
    }
  });

  it("has an empty root in a repository without commits", async () => {
    const repo = await make.repo(await make.user());
    for (const path of ["contents", "contents/"]) {
      expect(await call("GET", pathOf(repo, path))).toMatchObject({ status: 200, body: [] });
    }
    expect((await call("GET", `${pathOf(repo)}/file`)).status).toBe(404);
    expect((await call("GET", `${pathOf(repo)}?ref=main`)).status).toBe(404);
  });

  it("omits the content above 10 MiB, and includes the LFS object id and size of a pointer", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const oid = "cd".repeat(32);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 7\n`;
    const made = makeFiles({ large: new Uint8Array(10 * 1024 * 1024 + 1), pointer });
    await push(owner, repo, made.oid, made.pack);
    const large = await call("GET", `${pathOf(repo)}/large`);
    expect(large.body).toMatchObject({ size: 10_485_761, content: null, encoding: null });
    const { body } = await call("GET", `${pathOf(repo)}/pointer`);
    expect(body).toMatchObject({ lfs_oid: oid, lfs_size: 7, content: btoa(pointer) });
  });

  // SECURITY: forks share packs, and force-pushed objects stay stored for a while.
  it("reads at no commit that is unreachable from the repository's own refs", async () => {
    const { owner, repo } = await makePushed();
    const forker = await make.user();
    const answer = await call("POST", pathOf(repo, "forks"), {
      as: forker,
      json: { name: freshName("fork") },
    });
    const fork = { owner: forker.name, name: answer.body.name } as TestRepo;
    const secret = makeCommit(freshName("secret"));
    await push(forker, fork, secret.oid, secret.pack, "refs/heads/secret");
    const at = async (of: TestRepo) =>
      (await call("GET", `${pathOf(of)}/file?ref=${secret.oid}`, { as: owner })).status;
    expect([await at(fork), await at(repo)]).toEqual([200, 404]);
    await pushCommands(forker, fork, [{ ref: "refs/heads/secret", old: secret.oid }]);
    expect(await at(fork)).toBe(404);
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    const stranger = await make.user();
    const token = await make.token(owner, { scopes: "read:user" });
    for (const path of ["contents", "contents/", "contents/README.md", "contents-ext/"]) {
      const at = pathOf(repo, path);
      expect((await call("GET", at)).status).toBe(404);
      expect((await call("GET", at, { as: stranger })).status).toBe(404);
      expect((await call("GET", at, { token })).status).toBe(403);
      expect((await call("GET", at, { as: owner })).status).toBe(200);
    }
    await disableCode(repo);
    expect((await call("GET", pathOf(repo))).status).toBe(404);
    expect((await call("GET", pathOf(repo), { as: owner })).status).toBe(200);
  });

  it("costs one Durable Object call, and no bucket read when cached", async () => {
    const { repo } = await makePushed();
    const path = `${pathOf(repo)}/docs/deep/one.txt`;
    const cold = await logged(() => call("GET", path));
    expect(cold.line).toMatchObject({ objectCalls: 1 });
    const { line } = await logged(() => call("GET", path));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });
});

describe("GET /repos/{owner}/{repo}/contents-ext/{filepath}", () => {
  it("includes the requested parts of a file", async () => {
    const { repo, first } = await makePushed();
    const path = `${pathOf(repo, "contents-ext")}/README.md`;
    const bare = await call("GET", path);
    expect(Object.keys(bare.body)).toEqual(["file_contents"]);
    expect(bare.body.file_contents).toMatchObject({ size: 9, content: null });
    expect(bare.body.file_contents).not.toHaveProperty("last_commit_sha");
    const { body } = await call("GET", `${path}?includes=file_content,commit_message`);
    expect(body.file_contents).toMatchObject({
      content: btoa("# read me"),
      last_commit_sha: first.oid,
      last_commit_message: "at 1700000000\n",
    });
  });

  it("lists a directory, and the root as `.` or an empty path", async () => {
    const { repo } = await makePushed();
    const path = pathOf(repo, "contents-ext");
    const { body } = await call("GET", `${path}/docs?includes=commit_metadata`);
    expect(Object.keys(body)).toEqual(["dir_contents"]);
    expect(body.dir_contents).toMatchObject([
      { name: "deep", type: "dir", last_committer_date: "2023-11-14T22:15:00Z" },
      { name: "grüße und #1?.txt", last_committer_date: "2023-11-14T22:13:20Z" },
    ]);
    for (const root of [`${path}/`, `${path}/.`]) {
      const { status, body: listing } = await call("GET", root);
      expect([status, listing.dir_contents.length]).toEqual([200, 7]);
    }
  });

  it("refuses unknown includes", async () => {
    const { repo } = await makePushed();
    for (const includes of ["everything", "file_content,x", "constructor", "__proto__"]) {
      const path = `${pathOf(repo, "contents-ext")}/README.md?includes=${includes}`;
      expect([includes, (await call("GET", path)).status]).toEqual([includes, 400]);
    }
    expect((await call("GET", `${pathOf(repo, "contents-ext")}/none`)).status).toBe(404);
  });
});
