import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { make } from "../../support/make.ts";

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

  it("finds users and organizations", async () => {
    const user = await make.user();
    expect(await read(`/explore/users?q=${user.name}`)).toContain(`href="/${user.name}"`);
    await read("/explore/organizations");
    await read(`/explore/users?q=${"x".repeat(2000)}`);
  });
});
