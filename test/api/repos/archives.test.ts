import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";

import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { encodeText, encodeUtf8 } from "../../../src/git/byte-text.ts";
import {
  formatTree,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  MODE_TREE,
} from "../../../src/git/object/tree.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../../../src/storage/codec.ts";
import { disableCode } from "../../support/disable-code.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, makeCommit, makeEmptyPack, push, pushCommands } from "../../support/push.ts";
import { makeTag } from "../../support/tag.ts";
import { logged } from "../../support/usage.ts";
import { call } from "../../support/call.ts";

const FILES: Record<string, TestFile> = {
  "README.md": "# read me\n",
  "src/run.sh": { mode: MODE_EXECUTABLE, content: "echo\n" },
  link: { mode: MODE_SYMLINK, content: "README.md" },
  lib: { mode: MODE_SUBMODULE, content: "1".repeat(40) },
  secret: "not for export",
  version: "$Format:%H %h %D$",
  ".gitattributes": "secret export-ignore\nversion export-subst\n",
};

async function makePushed(
  files: Record<string, TestFile> = FILES,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(files);
  expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
  return { owner, repo, made };
}

/** The paths of a repository's archive at both doors. */
const DOORS = [
  ["the API", ({ owner, name }: TestRepo) => `/api/v1/repos/${owner}/${name}/archive`],
  ["the pages", ({ owner, name }: TestRepo) => `/${owner}/${name}/archive`],
] as const;

const [[, apiOf]] = DOORS;

/** A response with its bytes. */
async function read(path: string, init: RequestInit & { as?: TestUser } = {}) {
  const headers = new Headers(init.headers);
  if (init.as) headers.set("Authorization", `token ${init.as.token}`);
  const request = new Request(`https://forge.example${path}`, {
    ...init,
    headers,
    redirect: "manual",
  });
  const answer = await exports.default.fetch(request);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** Names and contents of a tar file's entries. */
function readTar(bytes: Uint8Array): Record<string, string> {
  const tar = gunzipSync(bytes);
  const entries: Record<string, string> = {};
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const [name = ""] = textOf(tar.subarray(at, at + 100)).split("\0");
    const size = Number.parseInt(textOf(tar.subarray(at + 124, at + 135)), 8);
    entries[name] = textOf(tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

describe.each(DOORS)("an archive, through %s", (_, archiveOf) => {
  it("is a tar file of the commit's exported files", async () => {
    const { repo, made } = await makePushed(FILES, { name: freshName("Mixed-Case") });
    const { status, headers, bytes } = await read(`${archiveOf(repo)}/main.tar.gz`);
    expect(status).toBe(200);
    const top = repo.name.toLowerCase();
    expect(readTar(bytes)).toEqual({
      pax_global_header: `52 comment=${made.oid}\n`,
      [`${top}/`]: "",
      [`${top}/.gitattributes`]: FILES[".gitattributes"],
      [`${top}/README.md`]: FILES["README.md"],
      [`${top}/lib/`]: "",
      [`${top}/link`]: "",
      [`${top}/src/`]: "",
      [`${top}/src/run.sh`]: "echo\n",
      [`${top}/version`]: `${made.oid} ${made.oid.slice(0, 7)} HEAD -> main`,
    });
    const link = `https://forge.example${apiOf(repo)}/${made.oid}.tar.gz?rev=${made.oid}`;
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/gzip",
      "content-disposition": `attachment; filename="${repo.name}-main.tar.gz"; filename*=UTF-8''${repo.name}-main.tar.gz`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      link: `<${link}>; rel="immutable"`,
      "cache-control": "max-age=0, private, must-revalidate, no-transform",
    });
  });

  it("is found by a branch, a tag, and a full or abbreviated id", async () => {
    const { owner, repo, made } = await makePushed();
    const next = makeFiles({ a: "next" }, { before: made });
    const tag = makeTag(next.oid, "v1.0");
    const commands = [
      { ref: "refs/heads/feat/v1.zip", new: next.oid },
      { ref: "refs/heads/grüße", new: next.oid },
    ];
    await pushCommands(owner, repo, commands, { pack: next.pack });
    await pushCommands(owner, repo, [{ ref: "refs/tags/v1.0", new: tag.oid }], { pack: tag.pack });
    const refs = ["feat/v1.zip", "v1.0", next.oid, next.oid.slice(0, 9), "refs/heads/feat/v1.zip"];
    for (const ref of [...refs, "gr%C3%BC%C3%9Fe", "feat%2Fv1.zip"]) {
      const { status, headers, bytes } = await read(`${archiveOf(repo)}/${ref}.zip`);
      expect([ref, status, textOf(bytes.subarray(0, 4))]).toEqual([ref, 200, "PK\x03\x04"]);
      expect(textOf(bytes).endsWith(next.oid)).toBe(true);
      const shown = decodeURIComponent(ref).replaceAll("/", "-");
      expect(headers.get("Content-Disposition")).toContain(
        `filename*=UTF-8''${repo.name}-${encodeURIComponent(shown)}.zip`,
      );
    }
  });

  it("is a bundle with the history of a ref", async () => {
    const { owner, repo, made } = await makePushed();
    const tag = makeTag(made.oid, "v1");
    await pushCommands(owner, repo, [{ ref: "refs/tags/v1", new: tag.oid }], { pack: tag.pack });
    const cases = [
      ["main", `${made.oid} refs/heads/main`],
      ["v1", `${tag.oid} refs/tags/v1`],
      [made.oid, `${made.oid} refs/heads/bundle`],
    ] as const;
    for (const [ref, line] of cases) {
      const { status, headers, bytes } = await read(`${archiveOf(repo)}/${ref}.bundle`);
      const head = `# v2 git bundle\n${line}\n${made.oid} HEAD\n\nPACK`;
      expect([status, textOf(bytes.subarray(0, head.length))]).toEqual([200, head]);
      const digest = createHash("sha1")
        .update(bytes.subarray(head.length - 4, -20))
        .digest();
      expect(digest.equals(bytes.subarray(-20))).toBe(true);
      expect(headers.get("ETag")).toMatch(/^W\/"/);
      expect(headers.get("Link")).toBe(null);
    }
  });

  it("is identical for the same commit, and not sent to a client that has it", async () => {
    const { owner, repo, made } = await makePushed();
    for (const format of ["zip", "tar.gz", "bundle"]) {
      const path = `${archiveOf(repo)}/main.${format}`;
      const first = await read(path);
      const tag = first.headers.get("ETag") ?? "";
      expect(tag).toContain(made.oid);
      // A bundle contains the requested name.
      const again = await read(`${archiveOf(repo)}/${made.oid}.${format}`);
      const isSame = again.headers.get("ETag") === tag && again.bytes.length === first.bytes.length;
      expect(isSame).toBe(format !== "bundle");
      expect(Buffer.compare(again.bytes, first.bytes) === 0).toBe(isSame);
      const known = await read(path, { headers: { "If-None-Match": tag } });
      expect([known.status, known.bytes.length, known.headers.get("ETag")]).toEqual([304, 0, tag]);
      // For clients that know only dates: that of the commit.
      const date = first.headers.get("Last-Modified") ?? "";
      expect(date).toBe("Tue, 14 Nov 2023 22:13:20 GMT");
      const dated = await read(path, { headers: { "If-Modified-Since": date } });
      expect([dated.status, dated.bytes.length]).toEqual([304, 0]);
      const later = { "If-Modified-Since": "Tue, 14 Nov 2023 22:13:21 GMT" };
      expect((await read(path, { headers: later })).status).toBe(200);
      const head = await read(path, { method: "HEAD" });
      expect([head.status, head.bytes.length, head.headers.get("ETag")]).toEqual([200, 0, tag]);
    }
    const tags = ["zip", "tar.gz"].map(async (format) => {
      const { headers } = await read(`${archiveOf(repo)}/main.${format}`, { method: "HEAD" });
      return headers.get("ETag");
    });
    const before = await Promise.all(tags);
    expect(new Set(before).size).toBe(2);
    // An exported file may contain the refs of its commit: another ref changes the file.
    await pushCommands(owner, repo, [{ ref: "refs/heads/other", new: made.oid }], {
      pack: makeEmptyPack(),
    });
    const { headers, bytes } = await read(`${archiveOf(repo)}/main.tar.gz`);
    expect(headers.get("ETag")).not.toBe(before[1]);
    expect(readTar(bytes)[`${repo.name}/version`]).toContain("HEAD -> main, other");
  });

  it("is refused in an unknown format, and not found for an unknown revision", async () => {
    const { repo, made } = await makePushed();
    const cases = [
      ["main", 400],
      ["main.tar", 400],
      ["main.rar", 400],
      ["main.zip%2F", 400],
      ["main.zip%00", 400],
      ["none.zip", 404],
      [".zip", 404],
      ["%FF.zip", 404],
      [`${"0".repeat(40)}.tar.gz`, 404],
      [`${made.treeOid}.tar.gz`, 404],
      [`${made.oid.slice(0, 3)}.zip`, 404],
      ["refs/heads.bundle", 404],
      [`${"x".repeat(5000)}.zip`, 404],
      [`${"a/".repeat(2500)}b.zip`, 404],
    ] as const;
    for (const [name, expected] of cases) {
      const { status, headers } = await read(`${archiveOf(repo)}/${name}`);
      expect([name, status]).toEqual([name, expected]);
      expect(headers.get("Content-Disposition")).toBe(null);
    }
    const empty = await make.repo(await make.user());
    expect((await read(`${archiveOf(empty)}/main.zip`)).status).toBe(404);
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed(FILES, { isPrivate: true });
    const stranger = await make.user();
    const missing = { ...repo, name: freshName("missing") };
    for (const format of ["zip", "tar.gz", "bundle", "rar"]) {
      const path = `${archiveOf(repo)}/main.${format}`;
      for (const as of [undefined, stranger]) {
        const refused = await read(path, as ? { as } : {});
        const nothing = await read(`${archiveOf(missing)}/main.${format}`, as ? { as } : {});
        expect([refused.status, textOf(refused.bytes)]).toEqual([404, textOf(nothing.bytes)]);
        expect(refused.headers.get("ETag")).toBe(null);
      }
      const narrow = await make.token(owner, { scopes: "read:user" });
      const token = { headers: { Authorization: `token ${narrow}` } };
      expect((await read(path, token)).status).toBe(403);
    }
    const path = `${archiveOf(repo)}/main.zip`;
    expect((await read(path, { as: owner })).status).toBe(200);
    await disableCode(repo);
    expect((await read(path, {})).status).toBe(404);
    expect((await read(path, { as: owner })).status).toBe(200);
  });

  it("redirects to a renamed repository", async () => {
    const { owner, repo } = await makePushed();
    const name = freshName("renamed");
    await call("PATCH", `/repos/${repo.owner}/${repo.name}`, { as: owner, json: { name } });
    const { status, headers } = await read(`${archiveOf(repo)}/main.zip?a=b`);
    expect(status).toBe(301);
    expect(headers.get("Location")).toBe(
      `https://forge.example${archiveOf({ ...repo, name })}/main.zip?a=b`,
    );
  });

  // SECURITY: forks share packs, and unreachable commits stay stored for a while.
  it("is refused for a commit that is not reachable from the repository's own refs", async () => {
    const { repo } = await makePushed();
    const forker = await make.user();
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    const { body } = await call("POST", path, { as: forker, json: { name: freshName("fork") } });
    const fork = { owner: forker.name, name: body.name } as TestRepo;
    const secret = makeCommit(freshName("secret"));
    await push(forker, fork, secret.oid, secret.pack, "refs/heads/secret");
    for (const format of ["zip", "bundle"]) {
      expect((await read(`${archiveOf(fork)}/${secret.oid}.${format}`)).status).toBe(200);
      expect((await read(`${archiveOf(repo)}/${secret.oid}.${format}`)).status).toBe(404);
    }
    // A bundle of the fork contains only objects reachable from its ref, too.
    const { bytes } = await read(`${archiveOf(fork)}/main.bundle`);
    expect(bytes.length).toBeLessThan(
      (await read(`${archiveOf(repo)}/main.bundle`)).bytes.length + 1,
    );
  });
});

describe("GET /repos/{owner}/{repo}/{tarball,zipball,bundle}/{revision}", () => {
  it("returns the same as the archive of that name", async () => {
    const { owner, repo, made } = await makePushed();
    await pushCommands(owner, repo, [{ ref: "refs/heads/a/b.tar.gz", new: made.oid }], {
      pack: makeEmptyPack(),
    });
    const kinds = { tarball: "tar.gz", zipball: "zip", bundle: "bundle" };
    for (const [noun, format] of Object.entries(kinds)) {
      for (const ref of ["main", "a/b.tar.gz", made.oid]) {
        const path = `/api/v1/repos/${repo.owner}/${repo.name}/${noun}/${ref}`;
        const { status, headers, bytes } = await read(path);
        const same = await read(`${apiOf(repo)}/${ref}.${format}`);
        expect([noun, ref, status]).toEqual([noun, ref, 200]);
        expect(bytes).toEqual(same.bytes);
        expect(headers.get("ETag")).toBe(same.headers.get("ETag"));
        expect(headers.get("Content-Disposition")).toBe(same.headers.get("Content-Disposition"));
      }
      const none = `/api/v1/repos/${repo.owner}/${repo.name}/${noun}/none`;
      expect((await read(none)).status).toBe(404);
    }
  });
});

it("no path of the API is routed as a repository's archive", async () => {
  const { status, bytes } = await read("/api/v1/archive/main.zip");
  expect([status, bytes.length]).toEqual([404, 0]);
});

describe("the cost of an archive", () => {
  // SECURITY: such trees are small, but their archive would be practically endless.
  it("is bounded: trees that expand to too much are refused", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const made = makeBomb();
    expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
    for (const format of ["zip", "tar.gz"]) {
      const { status } = await read(`${apiOf(repo)}/main.${format}`);
      expect(status).toBe(413);
      const head = await read(`${apiOf(repo)}/main.${format}`, { method: "HEAD" });
      expect(head.status).toBe(200);
    }
    expect((await read(`${apiOf(repo)}/main.bundle`)).status).toBe(200);
  });

  it("is one call to the Durable Object, without repeated reads", async () => {
    const { repo } = await makePushed();
    for (const format of ["zip", "tar.gz", "bundle"]) {
      const path = `${apiOf(repo).slice("/api/v1".length)}/main.${format}`;
      await call("GET", path);
      const { line, text } = await logged(() => call("GET", path));
      expect(line).toMatchObject({ objectCalls: 1 });
      expect(line.d1Rounds).toBeLessThanOrEqual(2);
      const sent = text.split("\n").find((each) => each.includes(`"archive:sent"`)) ?? "{}";
      expect(JSON.parse(sent).r2Calls).toBeLessThanOrEqual(format === "bundle" ? 1 : 0);
    }
  });

  // Deltas of objects too large for memory are resolved in scratch storage, which is deleted
  // afterwards.
  it("does not grow with large files, however they are stored", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = new Uint8Array(17 * 1024 * 1024);
    for (let at = 0; at < base.length; at++) base[at] = (at * 2654435761) >>> 24;
    const builder = new PackBuilder(codec);
    const baseOid = builder.add("blob", base);
    const smallOid = builder.add("blob", base.slice(0, 100), baseOid);
    const entries = [
      { mode: MODE_FILE, name: encodeText("base"), oid: baseOid },
      { mode: MODE_FILE, name: encodeText("small"), oid: smallOid },
    ];
    const oid = addCommit(builder, builder.add("tree", formatTree(entries)));
    expect((await push(owner, repo, oid, builder.build())).body).toContain("unpack ok");
    const before = await filesOf(repo);
    const tar = gunzipSync((await read(`${apiOf(repo)}/main.tar.gz`)).bytes);
    const at = tar.indexOf(`${repo.name}/base\0`) + 512;
    expect(tar.subarray(at, at + base.length).equals(base)).toBe(true);
    const smallAt = tar.indexOf(`${repo.name}/small\0`) + 512;
    expect(tar.subarray(smallAt, smallAt + 100).equals(base.subarray(0, 100))).toBe(true);
    expect(await filesOf(repo)).toEqual(before);
  });
});

/** A commit with nested trees, each of which contains the next ten times. */
function makeBomb() {
  const builder = new PackBuilder(codec);
  const blob = builder.add("blob", encodeUtf8("boom"));
  let below = { mode: MODE_FILE, oid: blob };
  for (let depth = 0; depth < 7; depth++) {
    const entries = Array.from({ length: 10 }, (_, at) => ({
      ...below,
      name: encodeText(`${at}`),
    }));
    below = { mode: MODE_TREE, oid: builder.add("tree", formatTree(entries)) };
  }
  const oid = addCommit(builder, below.oid);
  return { oid, pack: builder.build() };
}

function addCommit(builder: PackBuilder, treeOid: string): string {
  const who = "A <a@example.com> 1700000000 +0000";
  const text = `tree ${treeOid}\nauthor ${who}\ncommitter ${who}\n\na commit\n`;
  return builder.add("commit", encodeUtf8(text));
}
