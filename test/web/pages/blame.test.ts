import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";
import { expectPauses } from "../../support/slices.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join("");

/** A file that was renamed and edited, with the commits that did it. */
async function makeRenamed() {
  const history = new History();
  const first = history.commit({ files: { "docs/old": numbers(1, 20) }, message: "Add it\n" });
  const second = history.commit({
    files: { "new.ts": `${numbers(1, 9)}changed\n${numbers(11, 20)}` },
    parents: [first],
    message: "Move it\n",
    author: "Jo <jo@nobody.example>",
  });
  const repo = await make.repo(await make.user());
  await storePush(repo, "refs/heads/x/y", second, history.build());
  return { path: `/${repo.owner}/${repo.name}`, first, second };
}

/** The blocks of a page: the line that each begins with, and what is said of its commit. */
const blocksOf = (page: string): [line: number, origin: string][] =>
  Array.from(page.matchAll(/<li><div[^>]*>(.*?)<\/div><pre[^>]*><span id="L(\d+)"/gs), (match) => [
    Number(match[2]),
    match[1] ?? "",
  ]);

describe("the blame of a file", () => {
  it("shows the commit of each line once per block, through renames", async () => {
    const { path, first, second } = await makeRenamed();
    const page = await read(`${path}/blame/branch/x/y/new.ts`);
    const blocks = blocksOf(page);
    expect(blocks.map(([line]) => line)).toEqual([1, 10, 11]);
    const [oldest, changed, rest] = blocks.map(([, origin]) => origin);
    expect(oldest).toContain(`<a href="${path}/commit/${first}">Add it</a>`);
    expect(rest).toBe(oldest);
    expect(changed).toContain(`<a href="${path}/commit/${second}">Move it</a><span>Jo</span>`);
    expect(page.match(/<span id="L/g)).toHaveLength(20);
    expect(page).toContain('<a href="#L20">20</a>line <span class="hljs-number">20</span>');
  });

  it("leads to the blame before a change, with the path of the file there", async () => {
    const { path, first } = await makeRenamed();
    const page = await read(`${path}/blame/branch/x/y/new.ts`);
    const [oldest = "", changed] = blocksOf(page).map(([, origin]) => origin);
    const before = `${path}/blame/commit/${first}/docs/old`;
    expect(changed).toContain(`<a href="${before}" title="Blame before this change">`);
    expect(oldest).not.toContain("/blame/");
    expect(blocksOf(await read(before))).toHaveLength(1);
  });

  // A large file may have as many blocks as lines, each of which takes a while to render.
  it("has 1,000 blocks on a page, and lets other requests run", async () => {
    const history = new History();
    const alternating = (text: string): string => `kept\n${text}\n`.repeat(1300);
    const first = history.commit({ files: { many: alternating("old") } });
    const second = history.commit({ files: { many: alternating("new") }, parents: [first] });
    const repo = await make.repo(await make.user());
    await storePush(repo, "refs/heads/main", second, history.build());
    const path = `/${repo.owner}/${repo.name}/blame/branch/main/many`;
    const page = await expectPauses(15, () => read(path));
    expect(blocksOf(page)).toHaveLength(1000);
    expect(page).toContain('<a class="button" rel="next" href="?page=2">');
    expect(blocksOf(await read(`${path}?page=3`)).map(([line]) => line)).toEqual(
      Array.from({ length: 600 }, (_, at) => 2001 + at),
    );
  });

  it("leads to the file and back", async () => {
    const { path } = await makeRenamed();
    const file = `${path}/src/branch/x/y/new.ts`;
    const blamed = `${path}/blame/branch/x/y/new.ts`;
    expect(await read(file)).toContain(`<a href="${blamed}">Blame</a>`);
    expect(await read(blamed)).toContain(`<a href="${file}">File</a>`);
  });

  it.each([
    ["bytes", new Uint8Array([1, 0, 2]), "This file is no text"],
    ["nothing", "", "This file is empty."],
    ["a text without a line feed", "no end", '<a href="#L1">1</a>no end'],
    ["a text with other line ends", "a\r\nb\r\n", '<a href="#L2">2</a>b'],
  ] as const)("shows %s", async (_, file: TestFile, shown) => {
    const repo = await make.repo(await make.user());
    const { oid, pack } = makeFiles({ file });
    await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
    expect(await read(`/${repo.owner}/${repo.name}/blame/branch/main/file`)).toContain(shown);
  });

  it("is not found of what is no file", async () => {
    const { path, first } = await makeRenamed();
    for (const rest of ["branch/x/y", "branch/x/y/none", `commit/${first}/docs`, "tag/x/new.ts"]) {
      expect((await visit("GET", `${path}/blame/${rest}`, PEOPLE)).status, rest).toBe(404);
    }
  });
});
