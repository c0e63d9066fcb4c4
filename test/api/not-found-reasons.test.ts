import { describe, expect, it } from "vitest";

import { notBuilt } from "../../src/api/not-built.ts";
import { call } from "../support/call.ts";
import { makeFiles } from "../support/files.ts";
import { make } from "../support/make.ts";
import { findOperation, operations } from "../support/operations.ts";
import { push } from "../support/push.ts";

const HEADER = "X-Edgeforge-Reason";

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles({ "a.txt": "a\n" });
  expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
  return repo;
}

const reasonOf = async (...request: Parameters<typeof call>): Promise<unknown[]> => {
  const { status, body, headers } = await call(...request);
  return [status, body, headers.get(HEADER)];
};

describe("an empty 404", () => {
  it.each([
    ["GET", "/nothing", "no-route"],
    ["GET", "/repos/a/b/nothing/at/all", "no-route"],
    ["GET", "/activitypub/user-id/1", "not-built"],
    ["HEAD", "/activitypub/user-id/1", "not-built"],
    ["POST", "/activitypub/user-id/1/inbox", "not-built"],
    ["PATCH", "/repos/a/b/hooks/git/pre-receive", "not-built"],
    ["GET", "/users/nobody-here", "not-found"],
    ["GET", "/repos/nobody/nothing", "not-found"],
  ])("says of %s %s: %s", async (method, path, reason) => {
    expect(await reasonOf(method, path)).toEqual([404, "", reason]);
  });

  it("says that a repository has no such branch, tag, commit or file", async () => {
    const repo = await makePushed();
    const base = `/repos/${repo.owner}/${repo.name}`;
    const absent = "0123456789012345678901234567890123456789";
    for (const path of [
      "/branches/none",
      "/tags/none",
      "/commits?sha=none",
      `/git/commits/${absent}`,
      "/git/refs/heads/none",
      "/archive/none.zip",
      "/compare/main...none",
      "/contents?ref=none",
      "/raw/a.txt?ref=none",
      "/commits/none/status",
    ]) {
      expect([path, await reasonOf("GET", base + path)]).toEqual([path, [404, "", "no-such-ref"]]);
    }
    for (const path of ["/contents/b.txt", "/raw/b.txt", "/media/b.txt", "/commits?path=b.txt"]) {
      expect([path, await reasonOf("GET", base + path)]).toEqual([path, [404, "", "no-such-path"]]);
    }
  });

  it("says that a repository is empty", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = `/repos/${repo.owner}/${repo.name}`;
    for (const path of ["/branches/main", "/contents/a.txt", "/raw/a.txt", "/git/refs"]) {
      expect([path, await reasonOf("GET", base + path)]).toEqual([
        path,
        [404, "", "empty-repository"],
      ]);
    }
  });
});

describe("the operations that are not built yet", () => {
  it("do not exist", () => {
    const built = new Set(operations.map(({ method, path }) => `${method} ${inOrder(path)}`));
    const stale = notBuilt.filter(([method, path]) => built.has(`${method} ${inOrder(path)}`));
    expect(stale.map((each) => each.join(" "))).toEqual([]);
    expect(notBuilt.length).toBeGreaterThan(0);
  });

  it("are listed once", () => {
    const lines = notBuilt.map(([method, path]) => `${method} ${inOrder(path)}`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  // A path that another operation answers would never be found missing.
  it("are answered by no other operation", () => {
    const answered = notBuilt.filter(([method, path]) => findOperation(method, neutral(path)));
    expect(answered).toEqual([]);
  });
});

/** A path without the names of its parameters, which differ among descriptions of one operation. */
const inOrder = (path: string): string => path.replaceAll(/\{\w+\}/g, "{}");

/** A path whose parameters have values that equal no literal segment. */
const neutral = (path: string): string => path.replaceAll(/\{(\w+)\}/g, "x-$1");
