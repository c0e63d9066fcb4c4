import { describe, expect, it } from "vitest";

import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { makeSshKey } from "../../support/keys.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";
import { makeSignedCommit } from "../../support/signed.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

describe("lists of commits", () => {
  async function makeChecked() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const first = history.commit({ files: { a: "1" } });
    const oid = history.commit({ files: { a: "2" }, parents: [first] });
    await storePush(repo, "refs/heads/main", oid, history.build());
    const report = async (context: string, state: string, more: object = {}) => {
      const json = { context, state, ...more };
      const path = `/repos${pathOf(repo)}/statuses/${oid}`;
      expect((await call("POST", path, { as: owner, json })).status).toBe(201);
    };
    return { path: pathOf(repo), first, oid, report };
  }

  it("show the latest status of each check", async () => {
    const { path, oid, first, report } = await makeChecked();
    await report("lint", "pending");
    await report("test", "failure");
    const marks = `<a href="${path}/commit/${oid}#statuses" title=`;
    const pages = [
      `${path}/commits/branch/main`,
      path,
      `${path}/graph`,
      `${path}/compare/${first}...${oid}`,
      `${path}/commits/branch/main/search?q=change`,
    ];
    for (const each of pages) {
      const page = await read(each);
      expect(page, each).toContain(`${marks}"0 of 2 checks passed"><span class="status cross">`);
      expect(page, each).not.toContain(`${first}#statuses`);
    }
    await report("lint", "success");
    await report("test", "success");
    expect(await read(`${path}/commits/branch/main`)).toContain(
      `${marks}"2 of 2 checks passed"><span class="status check">`,
    );
  });

  it("fold what a message has below its first line, as text, and copy the commit's id", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    const first = history.commit({ message: "Only a subject\n" });
    const message = `\n  Subject \n\n<b>Body</b>\n${"x".repeat(3000)}\n`;
    const oid = history.commit({ message, parents: [first] });
    await storePush(repo, "refs/heads/main", oid, history.build());
    const page = await read(`${pathOf(repo)}/commits/branch/main`);
    expect(page).toContain(">Subject </a>");
    expect(page).toMatch(/<pre class="message">&lt;b&gt;Body&lt;\/b&gt;\nx{1988}…<\/pre>/);
    expect(page.split('<details class="rest">').length).toBe(2);
    for (const each of [first, oid]) expect(page).toContain(`data-copy="${each}"`);
  });

  it("leave details to the page of the commit, which escapes them", async () => {
    const { path, oid, first, report } = await makeChecked();
    const description = '<script>alert("x")</script>';
    await report('<b id="c">', "success", { description, target_url: "https://ci.example/1" });
    await report("other", "pending");
    const page = await read(`${path}/commit/${oid}`);
    expect(page).toContain('<section class="box" id="statuses"><h2 class="box-head">2 checks</h2>');
    expect(page).toContain(
      '<a href="https://ci.example/1" rel="nofollow noopener">&lt;b id=&quot;c&quot;&gt;</a>',
    );
    expect(page).toContain("&lt;script&gt;alert");
    expect(page).not.toContain(description);
    expect(await read(`${path}/commit/${first}`)).not.toContain('id="statuses"');
  });

  it("show who signed a commit, in directories too", async () => {
    const user = await make.user();
    const key = makeSshKey();
    const json = { title: "key", key: key.line };
    expect((await call("POST", "/user/keys", { as: user, json })).status).toBe(201);
    const repo = await make.repo(user);
    const committer = `Somebody <${user.email}>`;
    const { oid, pack } = await makeSignedCommit({ committer, sign: key.sign });
    await storePush(repo, "refs/heads/main", oid, pack);
    for (const each of ["", "/commits/branch/main"]) {
      expect(await read(pathOf(repo) + each)).toContain('<span class="label verified"');
    }
  });
});

describe("the search in commits", () => {
  const HOSTILE = '<script>alert("m")</script>';

  async function makeSearched() {
    const repo = await make.repo(await make.user());
    const history = new History();
    const first = history.commit({ message: "Add a WIDGET\n\nfor the shop\n" });
    const second = history.commit({
      message: `Mend the widget ${HOSTILE}\n`,
      author: "Jane <jane@nobody.example>",
      parents: [first],
    });
    const side = history.commit({ message: "A widget aside\n", parents: [first] });
    const refs = Object.entries({ "heads/main": second, "heads/a/b": side, "tags/v1": first });
    await storeRefs(
      repo,
      refs.map(([name, oid]) => ({ ref: `refs/${name}`, oid })),
      history.build(),
    );
    const search = (query: Record<string, string>, at = "branch/main") =>
      read(`${pathOf(repo)}/commits/${at}/search?${new URLSearchParams(query).toString()}`);
    return { path: pathOf(repo), search, first, second, side };
  }

  it("finds messages with all words, in the history of a branch or of all", async () => {
    const { search, first, second, side } = await makeSearched();
    const found = async (query: Record<string, string>, at?: string) => {
      const page = await search(query, at);
      return [first, second, side].filter((oid) => page.includes(`/commit/${oid}"`));
    };
    expect(await found({ q: "widget" })).toEqual([first, second]);
    expect(await found({ q: "Widget shop" })).toEqual([first]);
    expect(await found({ q: "widget", all: "true" })).toEqual([first, second, side]);
    expect(await found({ q: "aside" }, "branch/a/b")).toEqual([side]);
    expect(await found({ q: "aside" })).toEqual([]);
    expect(await found({ q: "widget author:jane" })).toEqual([second]);
    expect(await found({ q: "committer:nobody.example after:2023-11-14" })).toEqual([
      first,
      second,
    ]);
    expect(await found({ q: "widget before:2023-11-14" })).toEqual([]);
    expect(await found({ q: first.slice(0, 8) })).toEqual([first]);
    expect(await found({ q: "widget" }, "tag/v1")).toEqual([first]);
    // Where a search goes on, the commits before are not looked at again.
    expect(await found({ q: "widget", from: second })).toEqual([first]);
  });

  it("says what was searched, and escapes what it shows", async () => {
    const { search } = await makeSearched();
    const page = await search({ q: HOSTILE });
    expect(page).toContain("1 commit found, of 2 that were searched.");
    expect(page).toContain(
      `value="${HOSTILE.replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")}"`,
    );
    expect(page).not.toContain(HOSTILE);
    expect(await search({ q: "none" })).toContain("0 commits found, of 2 that were searched.");
  });

  it("leads to the list without a text, and knows no path and no branch that is not there", async () => {
    const { path } = await makeSearched();
    const to = await visit("GET", `${path}/commits/branch/a/b/search?q=`, PEOPLE);
    expect(to.status).toBe(303);
    expect(to.headers.get("Location")).toBe(`${path}/commits/branch/a/b`);
    for (const at of ["branch/none", "branch/main/dir"]) {
      const { status } = await visit("GET", `${path}/commits/${at}/search?q=a`, PEOPLE);
      expect(status, at).toBe(404);
    }
  });
});

describe("the branches and tags of a commit", () => {
  it("are those from which it is reachable", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    const base = history.commit();
    const left = history.commit({ parents: [base] });
    const right = history.commit({ parents: [base] });
    const tag = history.tag(right, "v1");
    await storeRefs(
      repo,
      [
        { ref: "refs/heads/main", oid: left },
        { ref: "refs/heads/<b>", oid: right },
        { ref: "refs/tags/v1", oid: tag, peeledOid: right },
      ],
      history.build(),
    );
    const path = `${pathOf(repo)}/commit`;
    expect(await read(`${path}/${right}`)).toContain(`${path}/${right}/branches-and-tags`);
    const both = await read(`${path}/${base}/branches-and-tags`);
    expect(both).toMatch(/Branches \(2\)[^]*&lt;b&gt;<\/a>[^]*main<\/a>[^]*Tags \(1\)[^]*v1<\/a>/);
    const one = await read(`${path}/${left.slice(0, 8)}/branches-and-tags`);
    expect(one).toMatch(/Branches \(1\)[^]*main<\/a>[^]*Tags \(0\)[^]*None of them contains it/);
    const { status } = await visit("GET", `${path}/${"1".repeat(40)}/branches-and-tags`, PEOPLE);
    expect(status).toBe(404);
  });
});
