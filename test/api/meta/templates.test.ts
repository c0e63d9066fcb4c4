import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";

describe("GET /gitignore/templates", () => {
  it("lists the names of all templates, each of which is found", async () => {
    const list = await call("GET", "/gitignore/templates");
    expect(list.status).toBe(200);
    expect(list.body).toEqual(expect.arrayContaining(["C++", "Go", "Node", "Python", "macOS"]));
    for (const name of list.body as string[]) {
      const path = `/gitignore/templates/${encodeURIComponent(name)}`;
      expect(await call("GET", path)).toMatchObject({
        status: 200,
        body: { name, source: expect.stringMatching(/\n$/) },
      });
    }
  });

  it.each(["nonsense", "constructor", "..", "Go.gitignore"])(
    "is not found for %j",
    async (name) => {
      expect((await call("GET", `/gitignore/templates/${encodeURIComponent(name)}`)).status).toBe(
        404,
      );
    },
  );
});

describe("GET /licenses", () => {
  it("lists the licenses, each of which is found at its URL", async () => {
    const list = await call("GET", "/licenses");
    expect(list.status).toBe(200);
    const entries = list.body as { key: string; name: string; url: string }[];
    const keys = entries.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(["Apache-2.0", "GPL-3.0-or-later", "MIT"]));
    for (const entry of entries) {
      const read = await call("GET", new URL(entry.url).pathname.replace("/api/v1", ""));
      expect(read).toMatchObject({ status: 200, body: entry });
      expect(read.body.body.length).toBeGreaterThan(400);
      expect(read.body.implementation).not.toBe("");
    }
  });

  it("finds a license in any case, with its placeholders", async () => {
    const read = await call("GET", "/licenses/mit");
    expect(read).toMatchObject({ status: 200, body: { key: "MIT", name: "MIT" } });
    expect(read.body.body).toContain("Copyright (c) <year> <copyright holders>");
  });

  it.each(["nonsense", "constructor", "0"])("is not found for %j", async (name) => {
    expect((await call("GET", `/licenses/${name}`)).status).toBe(404);
  });
});
