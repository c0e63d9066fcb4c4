import { describe, expect, it } from "vitest";

import { api } from "../../src/api/index.ts";
import { call } from "../support/call.ts";
import {
  fillPath,
  findOperation,
  inBraces,
  operations,
  type Operation,
} from "../support/operations.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { chunksOf, matrixOf } from "../support/samples/matrix.ts";
import { requestMaker } from "../support/samples/request.ts";

/** Path segments that a probing client may send; none of them exists. */
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

const pathJunkFor = matrixOf(JUNK);
const queryJunkFor = matrixOf(QUERY_JUNK);
const inPath = ({ parameters }: Operation) => parameters.filter((each) => each.in === "path");
const inQuery = ({ parameters }: Operation) => parameters.filter((each) => each.in === "query");

/**
 * The junk for each operation's path: all values if one of its parameters is the first of its
 * class.
 */
const pathCases = operations.map((operation) => {
  const lists = inPath(operation).map(pathJunkFor);
  const longest = lists.toSorted((a, b) => b.length - a.length)[0];
  return [operation.id, operation, longest ?? [""]] as const;
});

/** The junk for each operation's query, in tests of about a hundred requests. */
const queryCases = sampled.flatMap((operation) => {
  const sent = inQuery(operation).flatMap((parameter) =>
    queryJunkFor(parameter).map((junk) => ({ name: parameter.name, junk })),
  );
  return chunksOf(sent).map((list, at) => [`${operation.id} ${at + 1}`, operation, list] as const);
});
const makeRequest = requestMaker();

/**
 * The categories of scopes that a path requires; the first match counts, and a path without a match
 * requires none.
 *
 * A client's token holds no more than Gitea asks for: more would shut out tokens that work there.
 *
 * @see Gitea's routers/api/v1/api.go, whose groups name their categories.
 */
const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  // Our own: events of repositories and of an account in one stream.
  [/^\/user\/events$/, "user repository"],
  [/^(?:\/repos\/\{owner\}\/\{repo\})?\/notifications(?:\/|$)/, "notification"],
  [/^\/orgs\/\{org\}\/events$/, "organization repository"],
  [/^\/repos\/\{owner\}\/\{repo\}\/(?:milestones|labels)(?:\/|$)/, "issue"],
  [/^\/repos\/issues\/search$/, "issue"],
  [/^\/admin\//, "admin"],
  [/^\/users\/\{username\}\/repos$/, "user repository"],
  [/^\/users\/\{username\}\/orgs/, "user organization"],
  [/^\/user\/orgs$/, "user organization"],
  [/^\/user\/(?:repos|starred)/, "user repository"],
  [/^\/users?(?:\/|$)/, "user"],
  [/^\/org\/\{org\}\/repos$/, "organization repository"],
  [/^\/(?:orgs|teams)(?:\/|$)/, "organization"],
  [/^\/repos\/\{owner\}\/\{repo\}\/issues(?:\/|$)/, "issue"],
  [/^\/repos\/\{owner\}\/\{repo\}\/export$/, "repository issue"],
  [/^\/(?:repos|repositories|topics)\//, "repository"],
  [/^\/packages\//, "package"],
];

/** Reads of what lets their caller do more than read. */
const GIVES_CREDENTIAL = /GetRunnerRegistrationToken$/;

describe("each operation of the API", () => {
  it("has a unique id", () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(70);
  });

  it("declares the scopes it requires, or its sample declares that it requires none", () => {
    for (const { id, scopes } of operations) expect(scopes, id).toBeInstanceOf(Array);
    const unscoped = sampled.filter(({ scopes }) => scopes?.length === 0);
    const declared = sampled.filter(({ sample }) => sample.needsNoScope);
    expect(unscoped.map(({ id }) => id)).toEqual(declared.map(({ id }) => id));
  });

  it.each(byId(operations))("requires the scopes of its path, and no more: %s", (_, operation) => {
    const categories = CATEGORIES.find(([path]) => path.test(operation.path))?.[1] ?? "";
    const required = (operation.scopes ?? []).map((scope) => scope.split(":")[1]);
    const hint = `the scopes of ${operation.path}: those of its guard, and of CATEGORIES above`;
    expect(required.join(" "), hint).toBe(categories);
  });

  it("requires write scopes if it writes, and read scopes if it reads", () => {
    for (const { id, method, scopes = [] } of operations) {
      const level = method === "GET" && !GIVES_CREDENTIAL.test(id) ? "read" : "write";
      for (const scope of scopes) expect(scope.split(":")[0], id).toBe(level);
    }
  });

  // Of two matching paths, the one registered first wins: a sibling with a parameter can hide a
  // literal path.
  it.each(byId(operations))("is the operation that its path routes to: %s", (id, operation) => {
    const { method, path } = operation;
    expect(findOperation(method, fillPath(path, neutralValues(operation)))?.path).toBe(path);
    expect(operations.filter((each) => each.method === method && each.path === path)).toMatchObject(
      [{ id }],
    );
  });

  it.each(pathCases)(
    "never answers 5xx to junk from anonymous callers: %s",
    async (_, operation, list) => {
      for (const junk of list) {
        const values = Object.fromEntries(inPath(operation).map(({ name }) => [name, junk]));
        const answer = await call(operation.method, fillPath(operation.path, values), {
          ...(operation.body && { json: {} }),
        });
        expect(answer.status, junk).toBeLessThan(500);
        expect(answer.status, junk).toBeGreaterThanOrEqual(operation.allowsAnonymous ? 200 : 400);
      }
      expect(list).not.toEqual([]);
    },
  );

  it.each(queryCases)("never answers 5xx to a junk query: %s", async (_, operation, list) => {
    const { method, path, content, caller } = await makeRequest(operation);
    for (const { name, junk } of list) {
      const { pathname, searchParams } = new URL(path, "https://forge.example");
      searchParams.set(name, junk);
      const address = `${pathname}?${searchParams.toString()}`;
      const answer = await call(method, address, { as: caller, ...content });
      expect(answer.status, `${name}=${junk}`).toBeLessThan(500);
    }
  });

  // A URL with broken escapes is a client error like any other.
  it("answers 404 to paths that can't be decoded", async () => {
    for (const path of ["/users/%", "/users/%E0%A4%A", "/repos/%00/%", "/users/%C3%28/repos"]) {
      expect(await call("GET", path), path).toMatchObject({ status: 404, body: "" });
    }
  });
});

/** Values that equal no literal segment of any path, with a slash if the parameter accepts one. */
function neutralValues(operation: Operation): Record<string, string | number> {
  const pattern = api.routes.find(
    (route) => route.method === operation.method && inBraces(route.path) === operation.path,
  )?.path;
  const valueOf = ({ name, schema }: Operation["parameters"][number]): string | number => {
    if (schema.type === "integer") return 7;
    if (schema.enum) return String(schema.enum[0]);
    return pattern?.includes(`:${name}{.+}`) ? `${name}-1/x` : `${name}-1`;
  };
  return Object.fromEntries(inPath(operation).map((each) => [each.name, valueOf(each)]));
}
