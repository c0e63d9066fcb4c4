import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { make, type TestRepo } from "../../support/make.ts";

const forkOf = async (parent: TestRepo, fields: Parameters<typeof make.repo>[1] = {}) =>
  make.repo(await make.user(), { isFork: true, parentId: parent.id, isEmpty: false, ...fields });

async function readForks({ owner, name }: TestRepo, query = ""): Promise<string> {
  const path = `/${owner}/${name}/forks${query}`;
  const { status, body } = await visit("GET", path, { headers: { Accept: "text/html" } });
  expect(status).toBe(200);
  return String(body);
}

describe("the page of forks", () => {
  it("shows forks with those that were made of them", async () => {
    const parent = await make.repo(await make.user(), { isEmpty: false });
    const fork = await forkOf(parent, { description: '<script>"' });
    const below = await forkOf(fork);
    const deeper = await forkOf(below);
    const other = await forkOf(parent);
    const page = await readForks(parent);
    const linkTo = ({ owner, name }: TestRepo) => `href="/${owner}/${name}"`;
    expect(page).toMatch(
      new RegExp(
        `${linkTo(fork)}[^]*<ul[^]*${linkTo(below)}[^]*<ul[^]*${linkTo(deeper)}[^]*</ul>[^]*</ul>[^]*${linkTo(other)}`,
      ),
    );
    expect(page).toContain(
      `/compare/main...${fork.owner}/${encodeURIComponent(`${fork.name}:main`)}"`,
    );
    expect(page).not.toContain('<script>"');
    expect(await readForks(other)).toContain("There are no forks yet.");
  });

  // SECURITY: a fork of a hidden one would tell that there is something between.
  it("shows no fork that the reader may not see, and none below one", async () => {
    const parent = await make.repo(await make.user());
    const hidden = await forkOf(parent, { isPrivate: true });
    const below = await forkOf(hidden);
    const page = await readForks(parent);
    expect(page).not.toContain(hidden.name);
    expect(page).not.toContain(below.name);
  });

  it("says that forks of forks are missing where there are very many", async () => {
    const parent = await make.repo(await make.user());
    const fork = await forkOf(parent);
    for (let at = 0; at < 201; at++) await forkOf(fork);
    const page = await readForks(parent);
    expect(page).toContain("Some forks of these forks are not listed");
    expect(await readForks(fork)).not.toContain("not listed");
  });
});
