import { and, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { events, stars } from "../../../src/db/schema/index.ts";
import { MODE_EXECUTABLE, MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";
import { makeRelease } from "../../support/releases.ts";
import { expectPauses } from "../../support/slices.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

/** A repository of these files, with its path; on `main` and on other refs. */
async function makeWith(
  files: Record<string, TestFile>,
  fields: Parameters<typeof make.repo>[1] = {},
  refs: readonly string[] = [],
) {
  const repo = await make.repo(await make.user(), fields);
  const { oid, pack } = makeFiles(files);
  const all = ["refs/heads/main", ...refs].map((ref) => ({ ref, oid }));
  await storeRefs(repo, all, pack);
  return { repo, oid, path: `/${repo.owner}/${repo.name}` };
}

describe("the page of a repository", () => {
  it("shows its description, its files and its document", async () => {
    const { path } = await makeWith(
      { "README.md": "# A title\n\n[more](docs/a.md)", "docs/a.md": "x", "z.txt": "z" },
      { description: "About it", topics: ["edge"] },
    );
    const page = await read(path);
    expect(page).toContain("About it");
    expect(page).toContain(`<a href="${path}/src/branch/main/docs">docs</a>`);
    expect(page).toContain(`<a href="${path}/src/branch/main/z.txt">z.txt</a>`);
    expect(page.indexOf(">docs</a>")).toBeLessThan(page.indexOf(">README.md</a>"));
    expect(page).toContain(`href="https://forge.example${path}/src/branch/main/docs/a.md"`);
    expect(page).toContain(`content="forge.example${path} git https://forge.example${path}.git"`);
    expect(page).toMatch(/1 commit<\/a>[^]*1 branch<\/a>[^]*0 tags<\/a>/);
    expect(page).toMatch(/<li title="Its packs and LFS files">[1-9]\d* B<\/li>/);
  });

  it("says what to do with an empty one, to those who may", async () => {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner);
    const path = `/${owner.name}/${repo.name}`;
    expect(await read(path)).not.toContain("git push");
    const browser = await Browser.signedIn(owner);
    const { body } = await browser.get(path);
    expect(body).toContain(`git remote add origin https://forge.example${path}.git`);
  });

  it("leads from former addresses to its own", async () => {
    const { path } = await makeWith({ a: "a" });
    for (const [from, to] of [
      [`${path}.git`, path],
      [`${path}/src`, path],
    ] as const) {
      const { headers, status } = await visit("GET", from, PEOPLE);
      expect([301, 303]).toContain(status);
      expect(headers.get("Location")).toBe(to);
    }
  });

  it("sets no cookie for readers who are not signed in, and loads only its own files", async () => {
    const { path } = await makeWith({ a: "a" });
    const { headers } = await visit("GET", path, PEOPLE);
    expect(headers.getSetCookie()).toEqual([]);
    expect(headers.get("Content-Security-Policy")).toMatch(/default-src 'none'.*script-src 'self'/);
  });
});

describe("the page of a path", () => {
  it("shows the lines of a text, each with an address", async () => {
    const { path } = await makeWith({ "a.ts": "/* one\n two */\nconst x = 1;\n" });
    const page = await read(`${path}/src/branch/main/a.ts`);
    expect(page).toContain(
      '<span id="L1"><a href="#L1">1</a><span class="hljs-comment">/* one</span>\n',
    );
    expect(page).toContain(
      '<span id="L2"><a href="#L2">2</a><span class="hljs-comment"> two */</span>',
    );
    expect(page).toContain('<span class="hljs-keyword">const</span>');
    expect(page).toContain("3 lines, 28 B, TypeScript");
  });

  it("shows the lines of a document that is too long to be rendered", async () => {
    const { path } = await makeWith({ "README.md": "# A <title>\n\n".repeat(50_000) });
    for (const rest of ["", "/src/branch/main/README.md"]) {
      const page = await expectPauses(5, () => read(path + rest));
      expect(page).toContain('<a href="#L99999">99999</a># A &lt;title&gt;');
      expect(page).not.toContain("</h1>\n<h1");
    }
  });

  it("has 1,000 entries of a directory on a page, and lets other requests run", async () => {
    const names = Array.from({ length: 1100 }, (_, at) => `f${1000 + at}`);
    const { path } = await makeWith({
      ...Object.fromEntries(names.map((name) => [`wide/${name}`, name])),
      "wide/README.md": "# About",
    });
    const directory = `${path}/src/branch/main/wide`;
    const listed = (page: string) => page.match(/(?<=wide\/)f\d{4}(?=")/g) ?? [];
    const first = await expectPauses(15, () => read(directory));
    expect(listed(first)).toEqual(names.slice(0, 999));
    expect(first).toContain('<a class="button" rel="next" href="?page=2">');
    expect(first).toContain(">About</h1>");
    expect(listed(await read(`${directory}?page=2`))).toEqual(names.slice(999));
  });

  it("shows a document as it is meant, and as its text", async () => {
    const { path } = await makeWith({ "a.md": "# Head\n", "t.csv": "a,b\n1,2\n" });
    expect(await read(`${path}/src/branch/main/a.md`)).toMatch(/<h1[^>]*>Head/);
    const source = await read(`${path}/src/branch/main/a.md?display=source`);
    expect(source).toContain('id="L1"');
    expect(source).not.toMatch(/<h1[^>]*>Head/);
    expect(await read(`${path}/src/branch/main/t.csv`)).toContain("<table");
  });

  it("finds branches with slashes, tags and commits", async () => {
    const refs = ["refs/heads/x/y", "refs/tags/v/1"];
    const { oid, path } = await makeWith({ "dir/a": "text of a" }, {}, refs);
    for (const ref of ["branch/x/y", "tag/v/1", `commit/${oid}`, `commit/${oid.slice(0, 8)}`]) {
      expect(await read(`${path}/src/${ref}/dir/a`), ref).toContain("text of a");
    }
    for (const ref of ["branch/x", "tag/x/y", "commit/x/y", `branch/${oid}`, "branch/main/dir/b"]) {
      expect((await visit("GET", `${path}/src/${ref}`, PEOPLE)).status, ref).toBe(404);
    }
  });

  it.each([
    ["an image", "a.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]), "<img"],
    ["a video", "a.mp4", new Uint8Array([0, 0, 0, 1]), "<video"],
    ["a PDF", "a.pdf", new Uint8Array([0x25, 0x50, 0x44, 0x46, 0x2d, 0]), "Open a.pdf (6 B)"],
    ["bytes", "a.bin", new Uint8Array([0, 1, 2]), "Download a.bin (3 B)"],
    ["nothing", "a.txt", "", "This file is empty."],
    ["a program", "run.sh", { mode: MODE_EXECUTABLE, content: "#!/bin/sh\n" }, "Executable"],
    ["a link", "link", { mode: MODE_SYMLINK, content: "to/there" }, "This link leads to to/there"],
    ["a submodule", "sub", { mode: MODE_SUBMODULE, content: "12".repeat(20) }, "commit 1212121212"],
  ] as const)("shows %s", async (_, name, file, shown) => {
    const { path } = await makeWith({ [name]: file });
    expect(await read(`${path}/src/branch/main/${name}`)).toContain(shown);
    expect(await read(path)).toContain(name);
  });
});

describe("names and texts of users", () => {
  const BAD = '"><img src=x onerror=alert(1)>';
  it("are never markup", async () => {
    const history = new History();
    const oid = history.commit({
      files: { [`${BAD}.txt`]: BAD, "README.md": `<script>alert(1)</script>${BAD}`, "a.svg": BAD },
      message: `${BAD}\n\n${BAD}`,
      author: `<b>A</b> <${BAD.replaceAll(/[<>]/g, "")}@example.com>`,
    });
    const fields = { description: BAD, website: `javascript:${BAD}` };
    const repo = await make.repo(await make.user(), fields);
    const path = `/${repo.owner}/${repo.name}`;
    const branch = `"><img/src=x`;
    const refs = ["refs/heads/main", `refs/heads/${branch}`, `refs/tags/${branch}`];
    await storeRefs(
      repo,
      refs.map((ref) => ({ ref, oid })),
      history.build(),
    );
    await makeRelease(repo, { tagName: branch, title: BAD, body: BAD });
    const file = encodeURIComponent(`${BAD}.txt`);
    for (const rest of [
      "",
      `/src/branch/main/${file}`,
      `/src/branch/main/a.svg`,
      `/blame/branch/main/${file}`,
      `/src/branch/${branch.split("/").map(encodeURIComponent).join("/")}`,
      "/commits/branch/main",
      `/commits/branch/main/${file}`,
      `/commit/${oid}`,
      "/branches",
      "/tags",
      "/releases",
    ]) {
      const page = await read(path + rest);
      expect(page, rest).not.toMatch(/<img[^>]*\b(?:onerror|src="?x)/i);
      expect(page, rest).not.toMatch(/<script>|href="javascript:/i);
    }
  });
});

describe("the pages of history", () => {
  async function makeHistory() {
    const history = new History();
    const first = history.commit({ files: { a: "1\n2\n3\n" }, message: "First\n" });
    const second = history.commit({
      files: { b: "1\n2\n4\n", c: "new\n" },
      parents: [first],
      message: "Second\n\nwith more\n",
    });
    const repo = await make.repo(await make.user());
    const refs = [
      { ref: "refs/heads/main", oid: second },
      { ref: "refs/heads/other", oid: first },
      { ref: "refs/tags/v1", oid: first },
    ];
    await storeRefs(repo, refs, history.build());
    return { repo, first, second, path: `/${repo.owner}/${repo.name}` };
  }

  it("list commits, and those of a path", async () => {
    const { path, first, second } = await makeHistory();
    const all = await read(`${path}/commits/branch/main`);
    expect(all).toContain("2 commits");
    expect(all.indexOf(second)).toBeLessThan(all.indexOf(first));
    const ofPath = await read(`${path}/commits/branch/main/c`);
    expect(ofPath).toContain("1 commit");
    expect(ofPath).not.toContain(`commit/${first}`);
    for (const rest of ["/branch/none", "/branch/main/none", "/tag/main"]) {
      expect((await visit("GET", `${path}/commits${rest}`, PEOPLE)).status, rest).toBe(404);
    }
  });

  it("show a commit with its files and lines", async () => {
    const { path, first, second } = await makeHistory();
    const page = await read(`${path}/commit/${second}`);
    expect(page).toContain("with more");
    expect(page).toContain("2 changed files");
    expect(page).toContain("a → ");
    expect(page).toMatch(/<tr class="removed">[^]*?>3<\/td><\/tr><tr class="added">[^]*?>4</);
    expect(page).toContain(`href="${path}/commit/${first}"`);
    expect(page).toContain(`href="${path}/src/commit/${second}/c"`);
    expect((await visit("GET", `${path}/commit/${"0".repeat(40)}`, PEOPLE)).status).toBe(404);
    const diff = await visit("GET", `${path}/commit/${second}.diff`);
    expect(diff.body).toContain("rename from a");
    const patch = await visit("GET", `${path}/commit/${second}.patch`);
    expect(patch.body).toContain("Subject: [PATCH] Second");
  });

  it("list branches and tags", async () => {
    const { path } = await makeHistory();
    const branches = await read(`${path}/branches`);
    expect(branches).toContain("2 branches");
    expect(branches).toMatch(/>main<\/a>[^]*?Default/);
    expect(await read(`${path}/tags`)).toContain(`${path}/archive/v1.tar.gz`);
  });

  it("compare branches with the default one, and search them", async () => {
    const history = new History();
    const first = history.commit({ message: "First\n" });
    const tips = [history.commit({ parents: [first] }), history.commit({ parents: [first] })];
    const [main = "", side = ""] = tips;
    const later = history.commit({ parents: [main] });
    const repo = await make.repo(await make.user());
    const refs = [
      { ref: "refs/heads/main", oid: later },
      { ref: "refs/heads/Side/a", oid: side },
      { ref: "refs/heads/old", oid: first },
    ];
    await storeRefs(repo, refs, history.build());
    const path = `/${repo.owner}/${repo.name}/branches`;
    expect(await read(path)).toMatch(/>old<\/a>[^]*0 ahead, 2 behind/);
    const found = await read(`${path}?q=side`);
    expect(found).toMatch(/>Side\/a<\/a>[^]*1 ahead, 2 behind/);
    expect(found).toContain("1 branch<");
    expect(found).not.toContain(">old</a>");
  });

  it("delete a branch for those who may", async () => {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const refs = ["main", "a/b"].map((name) => ({ ref: `refs/heads/${name}`, oid }));
    await storeRefs(repo, refs, history.build());
    const path = `/${owner.name}/${repo.name}/branches`;
    expect(await read(path)).not.toContain("/branches/delete");
    const browser = await Browser.signedIn(owner);
    const reader = await Browser.signedIn(await make.userWithPassword());
    expect((await browser.get(path)).body).toContain('name="name" value="a/b"');
    const { body } = await reader.get(path);
    expect(body).not.toContain("/branches/delete");
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(String(body)) ?? [];
    expect(token).not.toBe("");
    const refused = await reader.post(`${path}/delete`, { _csrf: token, name: "a/b" });
    expect(refused.status).toBe(404);
    const isThere = async () => (await read(path)).includes(">a/b</a>");
    const send = (by: Browser, name: string) => by.submit(path, { name }, `${path}/delete`);
    expect((await send(browser, "main")).status).toBe(403);
    expect(await isThere()).toBe(true);
    expect((await send(browser, "a/b")).status).toBe(303);
    expect(await isThere()).toBe(false);
  });

  it("turn pages with what the query has", async () => {
    const history = new History();
    let tip = history.commit();
    for (let at = 0; at < 51; at++) tip = history.commit({ parents: [tip] });
    const repo = await make.repo(await make.user());
    await storePush(repo, "refs/heads/main", tip, history.build());
    const path = `/${repo.owner}/${repo.name}/commits/branch/main`;
    expect(await read(`${path}?a=b`)).toContain('href="?a=b&amp;page=2"');
    const last = await read(`${path}?page=2`);
    expect(last.match(/class="subject"/g)).toHaveLength(2);
    expect(last).not.toContain('rel="next"');
    for (const page of ["0", "-1", "x", "9".repeat(30)]) await read(`${path}?page=${page}`);
  });
});

describe("releases", () => {
  it("are listed and shown with notes and files, drafts to writers alone", async () => {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner);
    const path = `/${owner.name}/${repo.name}`;
    await makeRelease(repo, { tagName: "v/1", title: "One", body: "**bold** note" });
    await makeRelease(repo, { tagName: "v2", title: "Secret", isDraft: true });
    const list = await read(`${path}/releases`);
    expect(list).toContain("<strong>bold</strong> note");
    expect(list).not.toContain("Secret");
    expect(await read(`${path}/releases/tag/v/1`)).toContain("One");
    expect((await visit("GET", `${path}/releases/tag/v2`, PEOPLE)).status).toBe(404);
    const latest = await visit("GET", `${path}/releases/latest`, PEOPLE);
    expect(latest.headers.get("Location")).toBe(`${path}/releases/tag/v/1`);
    const browser = await Browser.signedIn(owner);
    expect((await browser.get(`${path}/releases`)).body).toContain("Secret");
  });
});

describe("stars and watches", () => {
  let browser: Browser;
  let user: Awaited<ReturnType<typeof make.userWithPassword>>;
  beforeEach(async () => {
    user = await make.userWithPassword();
    browser = await Browser.signedIn(user);
  });

  it("are given and taken back by forms", async () => {
    const { repo, path } = await makeWith({ a: "a" });
    const isMine = and(eq(stars.userId, user.id), eq(stars.repoId, repo.id));
    const answer = await browser.submit(path, {}, `${path}/action/star`);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(path);
    expect(await db.select().from(stars).where(isMine)).toHaveLength(1);
    expect(await read(`${path}/stars`)).toContain(user.name);
    expect((await browser.submit(path, {}, `${path}/action/unstar`)).status).toBe(303);
    expect(await db.select().from(stars).where(isMine)).toEqual([]);
    expect((await browser.submit(path, {}, `${path}/action/watch`)).status).toBe(303);
    expect(await read(`${path}/watchers`)).toContain(user.name);
  });

  it("are refused without the page's token, and nothing is written", async () => {
    const { repo, path } = await makeWith({ a: "a" });
    const before = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect((await browser.post(`${path}/action/star`, {})).status).toBe(403);
    expect((await new Browser().post(`${path}/action/star`, {})).status).toBe(401);
    expect(await db.select().from(stars).where(eq(stars.repoId, repo.id))).toEqual([]);
    expect(await db.select().from(events).where(eq(events.repoId, repo.id))).toEqual(before);
  });
});

describe("a path that nothing has", () => {
  it.each(["/no-such-name", "/no/such", "/a/b/c/d", "/explore/nothing"])("%s", async (path) => {
    const page = await visit("GET", path, PEOPLE);
    expect(page.status).toBe(404);
    expect(page.headers.get("Content-Type")).toContain("text/html");
    expect(page.headers.getSetCookie()).toEqual([]);
    const text = await visit("GET", path);
    expect(text).toMatchObject({ status: 404, body: "404 page not found\n" });
  });
});
