import { beforeAll, describe, expect, it } from "vitest";

import { PACKAGE_TYPES, packages, packageVersions } from "../../src/db/schema/index.ts";
import { registries } from "../../src/registries/index.ts";
import { type Answer, type Sending, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";
import { makePackage } from "../support/packages.ts";

/** A route of a registry: the owner is a parameter of its path. */
interface RegistryRoute {
  readonly method: string;
  readonly path: string;
}

const DIGEST = "a".repeat(64);

/** Routes of images, which one handler tells apart. */
const IMAGE_ROUTES: readonly RegistryRoute[] = [
  { method: "GET", path: "/v2/:owner/tool/manifests/tool" },
  { method: "PUT", path: "/v2/:owner/tool/manifests/tool" },
  { method: "DELETE", path: "/v2/:owner/tool/manifests/tool" },
  { method: "GET", path: `/v2/:owner/tool/blobs/sha256:${DIGEST}` },
  { method: "DELETE", path: `/v2/:owner/tool/blobs/sha256:${DIGEST}` },
  { method: "POST", path: "/v2/:owner/tool/blobs/uploads/" },
  { method: "GET", path: "/v2/:owner/tool/tags/list" },
  { method: "GET", path: `/v2/:owner/tool/referrers/sha256:${DIGEST}` },
];

/** Every route of every registry, once, without the fallbacks for other paths. */
const routes: readonly RegistryRoute[] = [
  ...IMAGE_ROUTES,
  ...new Map(
    registries.routes
      .filter(({ path }) => path.includes(":owner") && !path.endsWith("/*"))
      .map(({ method, path }) => ({ method: method === "ALL" ? "GET" : method, path }))
      .map((route) => [`${route.method} ${route.path}`, route]),
  ).values(),
];

/** The path with a value for each parameter: one that its pattern matches, else a plain name. */
function fillPath(path: string, owner: string): string {
  return path
    .replace(":owner", owner)
    .replace(":directory/:file", "binary-all/Packages")
    .replace(/\/debian\/.*/, (rest) =>
      rest.replaceAll(/:(\w+)/g, (_, name: string) => DEBIAN[name] ?? "tool"),
    )
    .replaceAll(/:\w+\{((?:[^{}]|\{[^}]*\})*)\}\??/g, (_, pattern: string) => fillPattern(pattern))
    .replaceAll(/:\w+\??/g, "tool");
}

/** Values of parameters that a format checks itself, before it looks for an owner. */
const DEBIAN: Readonly<Record<string, string>> = {
  directory: "binary-all",
  digest: "SHA256",
  hash: DIGEST,
  file: "tool_1.0_all.deb",
};

/** Values of parameters with a pattern. */
const VALUES = [
  "tool-1.0",
  "tool-1.0.gem",
  "tool-1.0.gemspec.rz",
  "tool.json",
  "@tool",
  "Packages(Id='tool',Version='1.0')",
  "tool/1.0",
];

/**
 * The first of the values that a pattern matches. @throws Error if a new pattern needs another one.
 */
function fillPattern(pattern: string): string {
  const value = VALUES.find((each) => new RegExp(`^(?:${pattern})$`).test(each));
  if (value === undefined) throw new Error(`no value matches ${pattern}`);
  return value;
}

let hidden: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  [hidden, stranger] = await Promise.all([make.user({ visibility: "private" }), make.user()]);
  await makePackage(hidden, { name: "tool", versions: ["tool"] });
});

/** What a client sees of an answer, with the owner's name taken out. */
const shownOf = ({ status, headers, body }: Answer, owner: string) => ({
  status,
  challenge: headers.get("WWW-Authenticate"),
  location: headers.get("Location"),
  tag: headers.get("ETag"),
  body: JSON.stringify(body)
    .replaceAll(owner, "<owner>")
    // When an index was made.
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"),
});

const MISSING = "nobody-has-this-name";

async function answersOf({ method, path }: RegistryRoute, sending: Sending) {
  const send = (owner: string) =>
    visit(method, fillPath(path, owner), {
      ...sending,
      ...(method !== "GET" && method !== "HEAD" && { body: "x" }),
    });
  const [ofHidden, ofMissing] = [await send(hidden.name), await send(MISSING)];
  return [shownOf(ofHidden, hidden.name), shownOf(ofMissing, MISSING)] as const;
}

/**
 * An owner with a package of each format that nobody else may see: of a private repository, or of
 * one that is gone.
 */
async function makeDiscreet(how: "linked" | "restricted"): Promise<TestUser> {
  const owner = await make.user();
  const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
  const bound = how === "linked" ? { repoId: repo.id } : { isRestricted: true };
  for (const type of PACKAGE_TYPES) {
    await makePackage(owner, { type, name: "tool", versions: ["tool"], ...bound });
  }
  return owner;
}

const stored = async () => ({
  packages: (await db.select().from(packages)).length,
  versions: (await db.select().from(packageVersions)).length,
});

describe("a private owner of packages", () => {
  it("is looked for by many routes", () => {
    expect(routes.length).toBeGreaterThan(3);
    expect(routes.map(({ path }) => path)).toContain(
      "/api/packages/:owner/generic/:name/:version/:file",
    );
  });

  // SECURITY: otherwise a route would show that the owner exists, or what it publishes.
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "is the same as a missing one, for everybody else: %s",
    async (_, route) => {
      const before = await stored();
      const callers: Record<string, Sending> = {
        anonymous: {},
        stranger: { as: stranger },
        "public-only": { token: await make.token(hidden, { scopes: "public-only,all" }) },
        "a bound token": { token: await make.token(stranger, { packages: ["**"] }) },
      };
      for (const [name, sending] of Object.entries(callers)) {
        const [ofHidden, ofMissing] = await answersOf(route, sending);
        expect(ofHidden, name).toEqual(ofMissing);
        expect([400, 401, 403, 404, 405], name).toContain(ofHidden.status);
      }
      const token = await make.token(hidden, { scopes: "write:repository" });
      const [withoutScope] = await answersOf(route, { token });
      expect([400, 401, 403], "without the scope").toContain(withoutScope.status);
      expect(withoutScope.body).not.toContain("1.0.bin");
      expect(await stored()).toEqual(before);
    },
  );
});

const reads = routes.filter(({ method }) => method === "GET");

describe("a package that is hidden with its repository", () => {
  // SECURITY: also from indexes over all packages of an owner.
  it.each(["linked", "restricted"] as const)(
    "is the same as none for everybody else, by every route: %s",
    async (how) => {
      const [discreet, empty] = [await makeDiscreet(how), await make.user()];
      const file = `/api/packages/${discreet.name}/generic/tool/tool/tool`;
      expect((await visit("PUT", file, { as: discreet, body: "bytes" })).status).toBe(201);
      expect((await visit("GET", file, { as: discreet })).status).toBe(200);
      const differences: string[] = [];
      for (const sending of [{}, { as: stranger }]) {
        for (const { method, path } of reads) {
          const send = (owner: string) => visit(method, fillPath(path, owner), sending);
          const [ofDiscreet, ofEmpty] = [await send(discreet.name), await send(empty.name)];
          const { tag: _tag, ...shown } = shownOf(ofDiscreet, discreet.name);
          const { tag: _none, ...expected } = shownOf(ofEmpty, empty.name);
          if (JSON.stringify(shown) !== JSON.stringify(expected)) {
            differences.push(`${path}: ${JSON.stringify(shown)} != ${JSON.stringify(expected)}`);
          }
        }
      }
      expect(differences).toEqual([]);
    },
  );
});
