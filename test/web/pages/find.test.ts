import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { make } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

async function makeWith(paths: readonly string[]) {
  const repo = await make.repo(await make.user());
  const { oid, pack } = makeFiles(Object.fromEntries(paths.map((path) => [path, "text"])));
  await storeRefs(repo, [{ ref: "refs/heads/x/y", oid }], pack);
  return `/${repo.owner}/${repo.name}`;
}

/** The paths that a page links to, in its order. */
const foundOn = (page: string): string[] =>
  Array.from(page.matchAll(/<li><a href="[^"]*\/src\/[^"]*">([^<]*)<\/a><\/li>/g), ([, path]) =>
    String(path),
  );

const PATHS = ["README.md", "docs/api.md", "src/api.ts", "src/api/routes.ts", "src/web/a/p/i.ts"];

describe("the page that finds a file", () => {
  it("orders files by how well they fit", async () => {
    const path = await makeWith(PATHS);
    const find = async (q: string) =>
      foundOn(await read(`${path}/find/branch/x/y?q=${encodeURIComponent(q)}`));
    expect(await find("api")).toEqual([
      "src/api.ts",
      "docs/api.md",
      "src/api/routes.ts",
      "src/web/a/p/i.ts",
    ]);
    expect(await find("API .ts")).toEqual(["src/api.ts", "src/web/a/p/i.ts", "src/api/routes.ts"]);
    expect(await find("readme")).toEqual(["README.md"]);
    expect(await find("emdaer")).toEqual([]);
  });

  it("shows the files of the revision before anything is searched", async () => {
    const path = await makeWith(PATHS);
    const page = await read(`${path}/find/branch/x/y`);
    expect(foundOn(page)).toEqual(PATHS);
    expect(page).toContain("5 files");
  });

  it("gives its script all paths", async () => {
    const path = await makeWith(PATHS);
    const { body } = await visit("GET", `${path}/tree-list/branch/x/y`, PEOPLE);
    expect(new Set(body)).toEqual(new Set(PATHS));
    expect(await read(`${path}/find/branch/x/y`)).toContain(
      `data-paths="${path}/tree-list/branch/x/y"`,
    );
  });

  it("is opened from the pages of code", async () => {
    const path = await makeWith(PATHS);
    const link = `<a class="button" data-key="t" href="${path}/find/branch/x/y">`;
    for (const rest of ["", "/docs", "/docs/api.md"]) {
      expect(await read(`${path}/src/branch/x/y${rest}`), rest).toContain(link);
    }
  });

  it("is not found of what is no revision", async () => {
    const path = await makeWith(PATHS);
    for (const rest of ["branch/x", "tag/x/y", "branch/x/y/docs"]) {
      for (const view of ["find", "tree-list"]) {
        const { status } = await visit("GET", `${path}/${view}/${rest}`, PEOPLE);
        expect(status, `${view} ${rest}`).toBe(404);
      }
    }
  });

  it("shows names as they are", async () => {
    const name = `"><img src=x onerror=alert(1)> ü%.txt`;
    const path = await makeWith([name]);
    const page = await read(`${path}/find/branch/x/y?q=${encodeURIComponent('"><b>')}`);
    expect(page).not.toMatch(/<img|"><b>/);
    const all = await read(`${path}/find/branch/x/y`);
    expect(all).not.toContain("<img");
    expect(all).toContain(
      `${path}/src/branch/x/y/${encodeURIComponent(name).replaceAll("'", "&#39;")}`,
    );
  });
});
