import { beforeAll, describe, expect, it } from "vitest";

import { ACCESS, type User, type Visibility } from "../../src/db/schema/index.ts";
import { type Sending, visit } from "../support/call.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { makePackage } from "../support/packages.ts";

/** Who calls, by their part in the organization that owns the packages. */
const CALLERS = [
  "nobody",
  "stranger",
  "member",
  "reader",
  "writer",
  "admin",
  "owner",
  "site admin",
] as const;
type CallerName = (typeof CALLERS)[number];

/** Scopes of tokens, and what they let through. */
const CREDENTIALS = {
  all: { scopes: "all", reads: true, writes: true, isPublicOnly: false },
  "write:package": { scopes: "write:package", reads: true, writes: true, isPublicOnly: false },
  "read:package": { scopes: "read:package", reads: true, writes: false, isPublicOnly: false },
  "write:repository": {
    scopes: "write:repository",
    reads: false,
    writes: false,
    isPublicOnly: false,
  },
  "public-only": { scopes: "public-only,all", reads: true, writes: true, isPublicOnly: true },
} as const;
type CredentialName = keyof typeof CREDENTIALS;

const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];
const INSIDE: ReadonlySet<CallerName> = new Set(["member", "reader", "writer", "admin", "owner"]);
const WRITERS: ReadonlySet<CallerName> = new Set(["writer", "admin", "owner", "site admin"]);

/** The rule, written a second time: whether a caller sees an organization's packages. */
function isSeen(caller: CallerName, credential: CredentialName, visibility: Visibility): boolean {
  if (caller === "nobody" || CREDENTIALS[credential].isPublicOnly) return visibility === "public";
  if (visibility !== "private") return true;
  return INSIDE.has(caller) || caller === "site admin";
}

/** A token of an administrator that sees public things only has no rights of the site. */
const isWriter = (caller: CallerName, credential: CredentialName): boolean =>
  WRITERS.has(caller) && !(caller === "site admin" && CREDENTIALS[credential].isPublicOnly);

const orgs = new Map<Visibility, User>();
const callers = new Map<CallerName, TestUser>();

beforeAll(async () => {
  for (const name of CALLERS.slice(1)) {
    callers.set(name, await (name === "site admin" ? make.admin() : make.user()));
  }
  const of = (name: CallerName) => callers.get(name) as TestUser;
  for (const visibility of VISIBILITIES) {
    const org = await make.org([of("owner")], { visibility });
    const join = async (name: CallerName, fields: Parameters<typeof make.team>[1]) =>
      make.member(org, await make.team(org, fields), of(name));
    await join("member", { access: ACCESS.none, units: { code: ACCESS.write } });
    await join("reader", { access: ACCESS.none, units: { packages: ACCESS.read } });
    await join("writer", { access: ACCESS.none, units: { packages: ACCESS.write } });
    await join("admin", { access: ACCESS.admin });
    orgs.set(visibility, org);
    const path = `/api/packages/${org.name}/generic/tool/1/a`;
    await visit("PUT", path, { as: of("owner"), body: "bytes" });
  }
});

async function sendingOf(caller: CallerName, credential: CredentialName): Promise<Sending> {
  const user = callers.get(caller);
  return user ? { token: await make.token(user, CREDENTIALS[credential]) } : {};
}

const cases = CALLERS.flatMap((caller) =>
  (Object.keys(CREDENTIALS) as CredentialName[])
    .filter((credential) => caller !== "nobody" || credential === "all")
    .flatMap((credential) =>
      VISIBILITIES.map((visibility) => [caller, credential, visibility] as const),
    ),
);

describe("the packages of an organization", () => {
  it.each(cases)("are read by %s with %s if it is %s", async (caller, credential, visibility) => {
    const org = orgs.get(visibility) as User;
    const sending = await sendingOf(caller, credential);
    const { status } = await visit("GET", `/api/packages/${org.name}/generic/tool/1/a`, sending);
    const { reads } = CREDENTIALS[credential];
    const seen = isSeen(caller, credential, visibility);
    // A token without the scope is refused before anything is read.
    const refusal = !reads || caller === "nobody" ? 401 : 404;
    expect(status).toBe(reads && seen ? 200 : refusal);
  });

  it.each(cases)(
    "are written by %s with %s if it is %s",
    async (caller, credential, visibility) => {
      const org = orgs.get(visibility) as User;
      const sending = await sendingOf(caller, credential);
      const path = `/api/packages/${org.name}/generic/${freshName("new")}/1/a`;
      const { status } = await visit("PUT", path, { ...sending, body: "bytes" });
      const { writes } = CREDENTIALS[credential];
      const seen = isSeen(caller, credential, visibility);
      const isAllowed = writes && seen && isWriter(caller, credential);
      const refusal = writes && !seen && caller !== "nobody" ? 404 : 401;
      expect(status).toBe(isAllowed ? 201 : refusal);
      const seenByOwner = await visit("GET", path, { as: callers.get("owner") as TestUser });
      expect(seenByOwner.status).toBe(isAllowed ? 200 : 404);
    },
  );
});

describe("a token that is bound to packages", () => {
  it("reads and writes those of its patterns, with the rest of its user's account out of reach", async () => {
    const owner = await make.user();
    const name = freshName("bound");
    const beyond = await makePackage(owner);
    const token = await make.token(owner, { packages: [`${owner.name}/generic/${name}`] });
    const send = (method: string, path: string) =>
      visit(method, `/api/packages/${owner.name}/generic/${path}`, {
        token,
        ...(method === "PUT" && { body: "x" }),
      });
    expect((await send("PUT", `${name}/1/a`)).status).toBe(201);
    expect((await send("GET", `${name}/1/a`)).status).toBe(200);
    for (const [method, path] of [
      ["PUT", `${beyond.name}/2/a`],
      ["PUT", `${freshName("another")}/1/a`],
      ["GET", `${beyond.name}/1.0/1.0.bin`],
      ["DELETE", `${beyond.name}/1.0`],
    ] as const) {
      expect((await send(method, path)).status, `${method} ${path}`).toBe(404);
    }
    expect((await send("DELETE", `${name}/1`)).status).toBe(204);
  });

  it("to a repository publishes in its packages, and makes none", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { name } = await makePackage(owner, { repoId: repo.id });
    const loose = await makePackage(owner);
    const token = await make.token(owner, { repos: [repo] });
    const put = (path: string) =>
      visit("PUT", `/api/packages/${owner.name}/generic/${path}`, { token, body: "x" });
    expect((await put(`${name}/2/a`)).status).toBe(201);
    expect((await put(`${freshName("new")}/1/a`)).status).toBe(403);
    expect([403, 404]).toContain((await put(`${loose.name}/2/a`)).status);
  });
});

describe("a renamed owner", () => {
  it("is followed to the present name, with the method and the rest of the path", async () => {
    const [admin, owner] = [await make.admin(), await make.user()];
    const path = (name: string) => `/api/packages/${name}/generic/tool/1/a`;
    await visit("PUT", path(owner.name), { as: owner, body: "bytes" });
    const name = freshName("renamed");
    const json = { new_username: name };
    await visit("POST", `/api/v1/admin/users/${owner.name}/rename`, { as: admin, json });
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await visit(method, path(owner.name), {
        as: owner,
        ...(method === "PUT" && { body: "x" }),
      });
      expect(answer.status).toBe(307);
      expect(answer.headers.get("Location")).toBe(`https://forge.example${path(name)}`);
    }
    expect((await visit("GET", path(name))).body).toBe("bytes");
  });
});
