import { TrieRouter } from "hono/router/trie-router";
import { describe, expect, it } from "vitest";

import { api } from "../../src/api/index.ts";
import { call } from "../support/call.ts";
import { make } from "../support/make.ts";
import { fillPath, operations } from "../support/operations.ts";

/** What needs no scope: it tells nothing about anybody. */
const WITHOUT_SCOPE = [
  "getGeneralAPISettings",
  "getGeneralRepositorySettings",
  "getGitignoreTemplateInfo",
  "getLicenseTemplateInfo",
  "getSigningKey",
  "getSigningKeyOpenSSH",
  "getSigningKeySSH",
  "getVersion",
  "listGitignoresTemplates",
  "listLicenseTemplates",
  "renderMarkdown",
  "renderMarkdownRaw",
  "renderMarkup",
];

/** What may follow a slash in a path when somebody probes: nothing of it exists. */
const JUNK = [
  "0",
  "-1",
  "9".repeat(30),
  "nobody-here",
  "%",
  "a/b",
  "\u0000",
  "'; drop table users; --",
  "\u{1F600}",
  "x".repeat(2000),
];
const QUERY_JUNK = [
  ...JUNK,
  "",
  "null",
  "true",
  "*",
  '"',
  "\u0000ab",
  "a\u0000",
  "^abc",
  "a AND",
  "é".repeat(300),
];

const named = operations.map((operation) => [operation.id, operation] as const);

describe("each operation of the API", () => {
  it("has an id of its own", () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(70);
  });

  it("declares the scopes a token needs for it, or is on the list of those that need none", () => {
    for (const { id, scopes } of operations) expect(scopes, id).toBeInstanceOf(Array);
    const unscoped = operations.filter(({ scopes }) => scopes?.length === 0).map(({ id }) => id);
    expect(unscoped.toSorted()).toEqual(WITHOUT_SCOPE);
  });

  it("needs a write scope where it writes, and only a read scope where it reads", () => {
    for (const { id, method, scopes = [] } of operations) {
      const level = method === "GET" ? "read" : "write";
      for (const scope of scopes) expect(scope.split(":")[0], id).toBe(level);
    }
  });

  // Of two paths that fit, the one registered first answers: a sibling with a parameter can hide it.
  it.each(named)("is answered by itself at its own path: %s", (id, { method, path }) => {
    const sample = fillPath(path, { ...NEUTRAL });
    expect(routeAt(method, sample)).toBe(path);
    expect(operations.filter((each) => each.method === method && each.path === path)).toMatchObject(
      [{ id }],
    );
  });

  it.each(named)("never fails for anonymous callers who send junk: %s", async (_, operation) => {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    for (const junk of names.length > 0 ? JUNK : [""]) {
      const values = Object.fromEntries(names.map((name) => [name, junk]));
      const answer = await call(operation.method, fillPath(operation.path, values), {
        ...(operation.body && { json: {} }),
      });
      expect(answer.status, junk).toBeLessThan(500);
      expect(operation.isOpen || answer.status >= 400, junk).toBe(true);
    }
  });

  it.each(named.filter(([, { parameters }]) => parameters.some((each) => each.in === "query")))(
    "never fails for a junk query: %s",
    async (_, operation) => {
      const admin = await make.admin();
      const values = {
        ...NEUTRAL,
        username: admin.name,
        owner: "nobody",
        repo: "nothing",
        ref: "heads",
        archive: "main.zip",
        revision: "main",
        org: "nobody",
        sha: "main",
        filepath: "file",
        id: 1,
        delivery_id: 1,
      };
      for (const { name } of operation.parameters.filter((each) => each.in === "query")) {
        for (const junk of QUERY_JUNK) {
          const query = `?${name}=${encodeURIComponent(junk)}`;
          const answer = await call("GET", fillPath(operation.path, values) + query, { as: admin });
          expect(answer.status, `${name}=${junk}`).toBeLessThan(500);
        }
      }
    },
  );

  // An address with broken escapes is a client's mistake like any other.
  it("takes paths that can't be decoded for paths of nothing", async () => {
    for (const path of ["/users/%", "/users/%E0%A4%A", "/repos/%00/%", "/users/%C3%28/repos"]) {
      expect(await call("GET", path), path).toMatchObject({ status: 404, body: "" });
    }
  });
});

/** Values that are no literal segment of any path. */
const NEUTRAL = {
  name: "n-1",
  owner: "o-1",
  repo: "r-1",
  username: "u-1",
  org: "g-1",
  target: "t-1",
  token: "k-1",
  branch: "b-1/x",
  tag: "v-1/x",
  topic: "p-1",
  sha: "main",
  filepath: "file",
  ref: "heads/x",
  archive: "b-1/x.zip",
  revision: "b-1/x",
  basehead: "main...main",
  diffType: "diff",
  id: 7,
  delivery_id: 8,
};

const router = new TrieRouter<string>();
for (const route of api.routes) {
  if (route.path !== "/*") router.add(route.method, route.path, route.path);
}

/** The path, in braces, of the route that answers a request. */
function routeAt(method: string, path: string): string | undefined {
  const [[first]] = router.match(method, path);
  return first?.[0]
    .replace(/:(\w+)\{\.\+\\\.\(.*\)\}$/, "{$1}.{diffType}")
    .replaceAll(/:(\w+)(?:\{\.\+\})?/g, "{$1}");
}
