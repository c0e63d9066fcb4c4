import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

async function makeWith(files: Record<string, TestFile>) {
  const repo = await make.repo(await make.user());
  const { oid, pack } = makeFiles(files);
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
  return `/${repo.owner}/${repo.name}`;
}

/** The lines that a page links to. */
const linesOn = (page: string): string[] =>
  Array.from(
    page.matchAll(/src\/branch\/main\/([^"?]*)\?display=source(#L\d+)"/g),
    ([, path, line]) => `${path}${line}`,
  );

describe("the search in files", () => {
  it("finds lines of the default branch without regard to case", async () => {
    const path = await makeWith({
      "a.txt": "one\nA Needle here\nthree\nneedles\n",
      "b/c.txt": "no hay\n",
      "b/d.txt": "last needle",
    });
    const page = await read(`${path}/search?q=needle`);
    expect(linesOn(page)).toEqual(["a.txt#L2", "a.txt#L4", "b/d.txt#L1"]);
    expect(page).toContain("A <mark>Needle</mark> here");
    expect(page).toContain("2 files have this text, of 3 that were searched");
    expect(page).not.toContain("Search further");
  });

  it("says what it did not search", async () => {
    const large = `${"x".repeat(1024 * 1024)}needle`;
    const path = await makeWith({ "a.bin": new Uint8Array([0, 1]), "b.txt": large, "c.txt": "n" });
    const page = await read(`${path}/search?q=needle`);
    expect(page).toContain("0 files have this text, of 1 that were searched");
    expect(page).toContain("nor are 1 of more than 1 MiB");
  });

  it("goes on after the last file that it searched", async () => {
    const name = (at: number): string => `f${String(at).padStart(2, "0")}`;
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [name(at), "needle"]));
    const path = await makeWith(files);
    const first = await read(`${path}/search?q=needle`);
    expect(linesOn(first)).toHaveLength(50);
    const [, more = ""] = /rel="next" href="([^"]*)"/.exec(first) ?? [];
    const second = await read(`${path}/search${more.replaceAll("&amp;", "&")}`);
    expect(linesOn(second)).toEqual(Array.from({ length: 10 }, (_, at) => `${name(50 + at)}#L1`));
    expect(second).not.toContain('rel="next"');
  });

  it("shows a form alone without a text, and of a repository without commits", async () => {
    expect(linesOn(await read(`${await makeWith({ a: "a" })}/search?q=`))).toEqual([]);
    const empty = await make.repo(await make.user());
    expect(await read(`/${empty.owner}/${empty.name}/search?q=a`)).toContain("<form");
  });

  it("shows lines and names as they are", async () => {
    const bad = '"><img src=x onerror=alert(1)>';
    const path = await makeWith({ [bad]: `${bad} needle` });
    for (const q of ["needle", bad]) {
      const page = await read(`${path}/search?q=${encodeURIComponent(q)}`);
      expect(linesOn(page)).toHaveLength(1);
      expect(page).not.toContain("<img");
    }
  });
});
