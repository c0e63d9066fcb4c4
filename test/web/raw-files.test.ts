import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";
import { MODE_SUBMODULE, MODE_SYMLINK } from "../../src/git/object/tree.ts";
import { basic, call, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { disableCode } from "../support/disable-code.ts";
import { makeFiles, type MadeFiles, type TestFile } from "../support/files.ts";
import { makeLargeFile, pointerTo, upload } from "../support/large-files.ts";
import { freshName, make } from "../support/make.ts";
import { makeCommit, makeEmptyPack, push, pushCommands } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";
import { logged } from "../support/usage.ts";

const FILES: Record<string, TestFile> = {
  "README.md": "# read me",
  'docs/grüße "1" %2F#?.txt': "grüße",
  "page.html": "<script>alert(1)</script>",
  "image.svg": `<svg onload="alert(1)"></svg>`,
  link: { mode: MODE_SYMLINK, content: "README.md" },
  "lib/linked": { mode: MODE_SUBMODULE, content: "1".repeat(40) },
};

/** A repository with files on `main`, and others on a branch and a tag. */
async function makeSite(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(FILES);
  await push(owner, repo, made.oid, made.pack);
  const next = makeFiles({ a: "next", "main/a": "a directory" }, { before: made });
  const commands = [
    { ref: "refs/heads/next/one", new: next.oid },
    { ref: "refs/tags/v1", new: next.oid },
    // A branch and a tag of one name.
    { ref: "refs/tags/main", new: next.oid },
  ];
  await pushCommands(owner, repo, commands, { pack: next.pack });
  return { owner, repo, made, next, path: `/${owner.name}/${repo.name}` };
}

let site: Awaited<ReturnType<typeof makeSite>>;
beforeAll(async () => {
  site = await makeSite();
});

const encode = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

describe.each(["raw", "media"])("GET /{owner}/{repo}/%s/{kind}/{ref}/{path}", (noun) => {
  const at = (rest: string) => `${site.path}/${noun}/${rest}`;

  it("sends a file of a branch, a tag or a commit, with headers that keep a browser from running it", async () => {
    const { made, next } = site;
    for (const [rest, text] of [
      ["branch/main/README.md", "# read me"],
      [`branch/main/${encode('docs/grüße "1" %2F#?.txt')}`, "grüße"],
      ["branch/main/link", "README.md"],
      ["branch/next/one/a", "next"],
      ["branch/next%2Fone/a", "next"],
      ["branch/next/one/main/a", "a directory"],
      ["tag/v1/a", "next"],
      ["tag/main/a", "next"],
      [`commit/${next.oid}/a`, "next"],
      [`commit/${next.oid.slice(0, 7)}/a`, "next"],
      [`commit/${made.oid}/README.md`, "# read me"],
    ] as const) {
      expect(await visit("GET", at(rest)), rest).toMatchObject({ status: 200, body: text });
    }
    const { headers } = await visit("GET", at("branch/main/page.html"));
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "25",
      "content-disposition": `inline; filename="page.html"; filename*=UTF-8''page.html`,
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "x-content-type-options": "nosniff",
      etag: `"${made.oids["page.html"]}"`,
      "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
      "accept-ranges": "bytes",
      "cache-control": "max-age=0, private, must-revalidate, no-transform",
    });
    const image = await visit("GET", at("branch/main/image.svg"));
    expect(image.headers.get("Content-Type")).toBe("image/svg+xml");
    expect(image.headers.get("Content-Disposition")).toMatch(/^attachment;/);
    expect(image.headers.get("Content-Security-Policy")).toContain("sandbox");
  });

  it("sends ranges, and nothing again to a client that has it", async () => {
    const url = at("branch/main/README.md");
    const part = await visit("GET", url, { headers: { Range: "bytes=2-5" } });
    expect(part).toMatchObject({ status: 206, body: "read" });
    expect(part.headers.get("Content-Range")).toBe("bytes 2-5/9");
    const none = await visit("GET", url, { headers: { Range: "bytes=9-" } });
    expect(none).toMatchObject({ status: 416, body: "" });
    const tag = part.headers.get("ETag") ?? "";
    const same = await visit("GET", url, { headers: { "If-None-Match": tag } });
    expect(same).toMatchObject({ status: 304, body: "" });
    const head = await visit("HEAD", url);
    expect([head.status, head.headers.get("Content-Length"), head.body]).toEqual([200, "9", ""]);
  });

  it("is immutable only by the whole id of a commit", async () => {
    for (const [ref, isImmutable] of [
      [`commit/${site.made.oid}`, true],
      [`commit/${site.made.oid.slice(0, 39)}`, false],
      ["branch/main", false],
      ["tag/v1", false],
    ] as const) {
      const file = ref === "tag/v1" ? "a" : "README.md";
      const { headers } = await visit("GET", at(`${ref}/${file}`));
      expect(headers.get("Cache-Control")?.includes("immutable"), ref).toBe(isImmutable);
    }
  });

  it("leads an address without a kind to that of a commit, branch or tag, else of the default branch", async () => {
    const { next } = site;
    for (const [rest, target] of [
      ["main/README.md", "branch/main/README.md"],
      ["next/one/a?x=1", "branch/next/one/a?x=1"],
      ["v1/a", "tag/v1/a"],
      [`${next.oid}/a`, `commit/${next.oid}/a`],
      ["docs/gr%C3%BC%C3%9Fe", "branch/main/docs/gr%C3%BC%C3%9Fe"],
      ["none", "branch/main/none"],
    ] as const) {
      const { status, headers } = await visit("GET", at(rest));
      expect([rest, status]).toEqual([rest, 303]);
      expect(headers.get("Location")).toBe(`https://forge.example${at(target)}`);
    }
  });

  it("is 404 for what is no file, and for a ref of another kind", async () => {
    const { made, next } = site;
    for (const rest of [
      "branch/main/docs",
      "branch/main/lib/linked",
      "branch/main/link/x",
      "branch/main/none",
      "branch/main",
      "branch/none/README.md",
      "branch/v1/a",
      `branch/${made.oid}/README.md`,
      "branch/HEAD/README.md",
      "branch/refs/heads/main/README.md",
      "tag/next/one/a",
      "tag/main/README.md",
      "commit/main/README.md",
      "commit/v1/a",
      `commit/${"0".repeat(40)}/README.md`,
      `commit/${next.oid.slice(0, 3)}/a`,
      "commit/",
      "branch/main/.git/config",
      "branch/main/docs%2F..%2FREADME.md",
      "branch/main/%00",
      "branch/main/%FF",
      `branch/${"x/".repeat(2500)}a`,
      `branch/${"x".repeat(5000)}/a`,
    ]) {
      const { status, body } = await visit("GET", at(rest));
      expect([status, body], rest).toEqual([404, "404 page not found\n"]);
    }
    const empty = await make.repo(site.owner);
    const url = `/${site.owner.name}/${empty.name}/${noun}/branch/main/a`;
    expect(await visit("GET", url)).toMatchObject({ status: 404 });
  });

  it("is for those who may read the code, by token or password", async () => {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner, { isPrivate: true });
    const made = makeFiles({ a: "secret" });
    await push(owner, repo, made.oid, made.pack);
    const url = `/${owner.name}/${repo.name}/${noun}/branch/main/a`;
    const stranger = await make.user();
    const refused = [
      await visit("GET", url),
      await visit("GET", url, { as: stranger }),
      await visit("GET", `/${owner.name}/${repo.name}/${noun}/main/a`, { as: stranger }),
      await visit("GET", `/${owner.name}/none/${noun}/branch/main/a`, { as: stranger }),
    ];
    for (const { status, body } of refused) {
      expect([status, body]).toEqual([404, "404 page not found\n"]);
    }
    const narrow = await make.token(owner, { scopes: "read:user" });
    expect(await visit("GET", url, { token: narrow })).toMatchObject({ status: 403 });
    const doors = [
      await visit("GET", url, { as: owner }),
      await visit("GET", url, { headers: basic(owner.name, owner.password) }),
    ];
    for (const door of doors) expect(door).toMatchObject({ status: 200, body: "secret" });
    expect(doors[0]?.headers.get("Cache-Control")).toContain("private");
    const pinned = `/${owner.name}/${repo.name}/${noun}/commit/${made.oid}/a`;
    const { headers } = await visit("GET", pinned, { as: owner });
    expect(headers.get("Cache-Control")).toMatch(/^private,/);
    await disableCode(repo);
    await db
      .update(repositories)
      .set({ visibility: "public", isPrivate: false })
      .where(eq(repositories.id, repo.id));
    expect(await visit("GET", url)).toMatchObject({ status: 404 });
  });

  it("asks for a sign-in where the service does", async () => {
    const closed = doorsWith({ REQUIRE_SIGNIN_VIEW: "true" });
    const refused = await closed("GET", at("branch/main/README.md"));
    expect(refused.status).toBe(401);
    const { owner } = site;
    const read = await closed("GET", at("branch/main/README.md"), { as: owner });
    expect(read).toMatchObject({ status: 200, body: "# read me" });
  });

  it("leads from former names of the repository and its owner", async () => {
    const { owner, repo } = await makeSite();
    const before = `/${owner.name}/${repo.name}/${noun}/branch/main/README.md`;
    const name = freshName("renamed");
    await call("PATCH", `/repos/${owner.name}/${repo.name}`, { as: owner, json: { name } });
    const moved = await visit("GET", `${before}?x=1`);
    expect([moved.status, moved.headers.get("Location")]).toEqual([
      301,
      `https://forge.example/${owner.name}/${name}/${noun}/branch/main/README.md?x=1`,
    ]);
    const followed = await visit("GET", new URL(moved.headers.get("Location") ?? "").pathname);
    expect(followed).toMatchObject({ status: 200, body: "# read me" });
  });
});

describe("GET /{owner}/{repo}/raw/commit/{sha}/{path}", () => {
  // SECURITY: forks share packs, and force-pushed objects stay stored for a while.
  it("reads no commit that the repository's own refs do not reach", async () => {
    const { owner, repo, path } = await makeSite();
    const lost = makeCommit(freshName("secret"));
    await push(owner, repo, lost.oid, lost.pack, "refs/heads/lost");
    const url = `${path}/raw/commit/${lost.oid}/file`;
    expect(await visit("GET", url)).toMatchObject({ status: 200 });
    const command = { ref: "refs/heads/lost", old: lost.oid };
    await pushCommands(owner, repo, [command], { pack: makeEmptyPack() });
    expect(await visit("GET", url)).toMatchObject({ status: 404 });
  });

  it("costs one call of the repository's object, and two rounds of the database", async () => {
    const url = `${site.path}/raw/commit/${site.made.oid}/README.md`;
    await visit("GET", url);
    const { line } = await logged(() => visit("GET", url));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });
});

describe("GET /{owner}/{repo}/media/branch/{branch}/{path}", () => {
  it("resolves a pointer of Git LFS, which raw shows as it is", async () => {
    const { owner, repo, path } = await makeSite();
    const file = makeLargeFile("a large file");
    await upload(owner, repo, file);
    const made: MadeFiles = makeFiles({ large: pointerTo(file) });
    await push(owner, repo, made.oid, made.pack, "refs/heads/large");
    const read = (noun: string) => visit("GET", `${path}/${noun}/branch/large/large`);
    expect(await read("media")).toMatchObject({ status: 200, body: "a large file" });
    expect(await read("raw")).toMatchObject({ status: 200, body: pointerTo(file) });
  });
});
