import { describe, expect, it } from "vitest";

import { call, visit } from "../../support/call.ts";
import { freshName, make } from "../../support/make.ts";

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, { headers: { Accept: "text/html" } });
  expect(status, path).toBe(200);
  return String(body);
};

describe("explore", () => {
  it("finds public repositories by name and topic, in each order", async () => {
    const owner = await make.user();
    const shown = await make.repo(owner, { topics: ["quite-rare-topic"], visibility: "public" });
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const query = encodeURIComponent(`${owner.name}/`);
    const found = await read(`/explore/repos?q=${query}`);
    expect(found).toContain(`href="/${owner.name}/${shown.name}"`);
    expect(found).not.toContain(hidden.name);
    for (const sort of ["newest", "oldest", "alphabetically", "moststars", "nothing"]) {
      expect(await read(`/explore/repos?q=${query}&sort=${sort}`)).toContain(shown.name);
    }
    expect(await read(`/explore/repos?q=${query}&archived=1`)).not.toContain(shown.name);
    expect(await read(`/explore/repos?q=${query}&archived=0`)).toContain(shown.name);
  });

  it("finds repositories by their main language, by any name of it", async () => {
    const owner = await make.user();
    const [vim, other] = [
      await make.repo(owner, { language: "Vim Script", visibility: "public" }),
      await make.repo(owner, { language: "Ada", visibility: "public" }),
    ];
    const query = `q=${encodeURIComponent(`${owner.name}/`)}`;
    for (const name of ["Vim+Script", "viml"]) {
      const found = await read(`/explore/repos?${query}&language=${name}`);
      expect(found).toContain(`href="/${owner.name}/${vim.name}"`);
      expect(found).not.toContain(`href="/${owner.name}/${other.name}"`);
      expect(found).toContain('value="Vim Script"');
    }
    expect(await read(`/explore/repos?${query}&language=none`)).toContain(
      "No repository was found",
    );
  });

  it("finds users and organizations", async () => {
    const user = await make.user();
    expect(await read(`/explore/users?q=${user.name}`)).toContain(`href="/${user.name}"`);
    const org = await make.org([user]);
    const hidden = await make.org([user], { visibility: "private" });
    const found = await read(`/explore/organizations?q=${org.name.toUpperCase()}`);
    expect(found).toContain(`href="/${org.name}"`);
    expect(found).not.toContain(`href="/${user.name}"`);
    expect(await read(`/explore/organizations?q=${org.name}z`)).toContain("was found");
    const other = await read(`/explore/organizations?q=${hidden.name}`);
    expect(other).not.toContain(`href="/${hidden.name}"`);
    await read(`/explore/users?q=${"x".repeat(2000)}`);
  });

  it("finds topics of public repositories, which lead to those", async () => {
    const owner = await make.user();
    const [shown, hidden] = [freshName("topic"), freshName("topic")];
    for (const [topic, isPrivate] of [
      [shown, false],
      [hidden, true],
    ] as const) {
      const repo = await make.repo(owner, { isPrivate });
      const at = `/repos/${owner.name}/${repo.name}/topics/${topic}`;
      expect((await call("PUT", at, { as: owner })).status).toBe(204);
    }
    const page = await read("/explore/topics");
    expect(page).toContain(`href="/explore/repos?q=${shown}&amp;topic=1"`);
    expect(page).not.toContain(hidden);
    expect(await read(`/explore/topics?q=${shown}`)).toContain(`${shown} 1`);
    expect(await read("/explore/topics?q=nothing-like-it")).toContain("No topic was found.");
  });
});
