import { Buffer } from "node:buffer";

import Argon2 from "@phi-ag/argon2";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { hashPassword } from "../../src/auth/password.ts";
import { emailAddresses, events, stars, users, type User } from "../../src/db/schema/index.ts";
import { basic, call, type Answer } from "../support/call.ts";
import { serviceWith } from "../support/service.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";

type Form = Record<string, string>;

/** All equivalent ways to send a token in a header. */
const TOKEN_FORMS: Readonly<Record<string, (token: string) => Form>> = {
  token: (token) => ({ Authorization: `token ${token}` }),
  Bearer: (token) => ({ Authorization: `Bearer ${token}` }),
  "bearer in lower case": (token) => ({ Authorization: `bearer ${token}` }),
  "TOKEN with spaces": (token) => ({ Authorization: `  TOKEN   ${token} ` }),
  "Basic as user": (token) => basic(token, ""),
  "Basic as user beside x-oauth-basic": (token) => basic(token, "x-oauth-basic"),
  "Basic as password of anybody": (token) => basic("anybody", token),
  "Basic as password of nobody": (token) => basic("", token),
};

/** Stored scopes, with the rights they grant, written by hand. */
const SCOPES: readonly {
  text: string | null;
  reads: boolean;
  stars: boolean;
  isPublicOnly: boolean;
}[] = [
  { text: "all", reads: true, stars: true, isPublicOnly: false },
  { text: "read:repository", reads: true, stars: false, isPublicOnly: false },
  { text: "write:repository", reads: true, stars: false, isPublicOnly: false },
  { text: "write:repository,write:user", reads: true, stars: true, isPublicOnly: false },
  { text: "read:user", reads: false, stars: false, isPublicOnly: false },
  { text: "public-only,all", reads: true, stars: true, isPublicOnly: true },
  { text: "", reads: false, stars: false, isPublicOnly: false },
  { text: null, reads: false, stars: false, isPublicOnly: false },
];

/** Repositories by who may see them: an ordinary caller, or everybody. */
interface Place {
  what: string;
  repo: TestRepo;
  isForCaller: boolean;
  isForAll: boolean;
}

/** The algorithm, version and parameters of a hash, which determine its cost. */
const costOf = (encoded: string): string => encoded.split("$").slice(1, 4).join("$");

let caller: TestUser;
let locations: Place[];

beforeAll(async () => {
  caller = await make.userWithPassword();
  const [other, limited, hidden] = await Promise.all([
    make.user(),
    make.user({ visibility: "limited" }),
    make.user({ visibility: "private" }),
  ]);
  const shared = await make.repo(other, { isPrivate: true });
  await make.collaborator(shared, caller, 1);
  const place = (what: string, repo: TestRepo, isForCaller: boolean, isForAll = false): Place => ({
    what,
    repo,
    isForCaller,
    isForAll,
  });
  locations = [
    place("public", await make.repo(other), true, true),
    place("private, own", await make.repo(caller, { isPrivate: true }), true),
    place("private, foreign", await make.repo(other, { isPrivate: true }), false),
    place("private, shared", shared, true),
    place("of a limited owner", await make.repo(limited), true),
    place("of a private owner", await make.repo(hidden), false),
  ];
});

/** A response without the parts that differ between requests. */
const plain = ({ status, body }: Answer) => ({ status, body });
const isStarred = async ({ repo }: Place): Promise<boolean> => {
  const isTheirs = and(eq(stars.userId, caller.id), eq(stars.repoId, repo.id));
  return (await db.select().from(stars).where(isTheirs)).length > 0;
};

/** The statuses of reading and starring with a credential, and whether the star was stored. */
async function expectReach(
  headers: Form,
  may: { reads: boolean; stars: boolean; isPublicOnly: boolean },
): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const location of locations) {
    const path = `${location.repo.owner}/${location.repo.name}`;
    const isThere = may.isPublicOnly ? location.isForAll : location.isForCaller;
    const read = await call("GET", `/repos/${path}`, { headers });
    const readStatus = !may.reads ? 403 : isThere ? 200 : 404;
    const bodies = {
      200: { full_name: path },
      403: { message: expect.stringContaining("required=[read:repository]") },
      404: "",
    };
    expect(read, `reading ${location.what}`).toMatchObject({
      status: readStatus,
      body: bodies[readStatus],
    });

    const star = await call("PUT", `/user/starred/${path}`, { headers });
    const starStatus = !may.stars ? 403 : isThere ? 204 : 404;
    expect(star.status, `starring ${location.what}`).toBe(starStatus);
    expect(await isStarred(location), `star of ${location.what}`).toBe(starStatus === 204);
    answers.push(plain(read), plain(star));
    await db.delete(stars).where(eq(stars.userId, caller.id));
  }
  return answers;
}

describe("a token", () => {
  it.each(SCOPES)(
    "with the scopes $text has the same access in every header format",
    async (may) => {
      const token = await make.token(caller, { scopes: may.text });
      const byForm: unknown[][] = [];
      for (const form of Object.values(TOKEN_FORMS))
        byForm.push(await expectReach(form(token), may));
      for (const answers of byForm) expect(answers).toEqual(byForm[0]);
    },
  );

  it.each(["expired", "wrong"])(
    "that is %s is refused in every header format, even for public resources",
    async (kind) => {
      const expired = await make.token(caller, { expiresAt: Date.now() - 1 });
      const token = kind === "expired" ? expired : "f".repeat(40);
      for (const [name, form] of Object.entries(TOKEN_FORMS)) {
        for (const path of [
          "/version",
          "/user",
          `/repos/${locations[0]?.repo.owner}/${locations[0]?.repo.name}`,
        ]) {
          const answer = await call("GET", path, { headers: form(token) });
          expect(answer, `${name} at ${path}`).toMatchObject({
            status: 401,
            body: { message: expect.any(String), url: "https://forge.example/api/swagger" },
          });
          expect(answer.headers.get("WWW-Authenticate")).toBeNull();
        }
      }
    },
  );

  // SECURITY: the caller and their access are resolved in the same batch, and must belong to the
  // same token.
  it("next to another one in Basic: exactly one of the two is used for caller and access", async () => {
    const pair = [await make.user(), await make.user()];
    for (const [left, right] of [pair, pair.toReversed()]) {
      const headers = basic(left?.token ?? "", right?.token ?? "");
      const { login } = (await call("GET", "/user", { headers })).body;
      for (const user of pair) {
        const repo = await make.repo(await make.user(), { isPrivate: true });
        await make.collaborator(repo, user, 1);
        const { status } = await call("GET", `/repos/${repo.owner}/${repo.name}`, { headers });
        expect(status).toBe(user.name === login ? 200 : 404);
      }
    }
  });

  // SECURITY: every hop logs URLs.
  it("is refused in the URL, even next to a valid header, and nothing is written", async () => {
    const path = `${locations[0]?.repo.owner}/${locations[0]?.repo.name}`;
    for (const name of ["token", "access_token"]) {
      for (const headers of [{}, { Authorization: `token ${caller.token}` }]) {
        const query = `?${name}=${caller.token}`;
        expect(await call("GET", `/version${query}`, { headers })).toMatchObject({ status: 401 });
        const star = await call("PUT", `/user/starred/${path}${query}`, { headers });
        expect(star).toMatchObject({ status: 401 });
        expect(JSON.stringify(star.body)).not.toContain(caller.token);
      }
    }
    expect(await db.select().from(stars).where(eq(stars.userId, caller.id))).toEqual([]);
  });
});

describe("a password", () => {
  const may = { reads: true, stars: true, isPublicOnly: false };

  it("grants all rights of its user, by login name", async () => {
    const answers = await expectReach(basic(caller.name, caller.password), may);
    expect(answers).toHaveLength(2 * locations.length);
  }, 20_000);

  it("is accepted with any confirmed email address in any case, and with no unconfirmed one", async () => {
    const add = (email: string, isActivated: boolean) =>
      db.insert(emailAddresses).values({
        userId: caller.id,
        email,
        lowerEmail: email.toLowerCase(),
        isActivated,
        isPrimary: false,
      });
    await add(`Second.${caller.email}`, true);
    await add(`third.${caller.email}`, false);
    const names: [string, number][] = [
      [caller.name.toUpperCase(), 200],
      [caller.email, 200],
      [`second.${caller.email}`, 200],
      [`third.${caller.email}`, 401],
    ];
    for (const [name, status] of names) {
      const answer = await call("GET", "/user", { headers: basic(name, caller.password) });
      expect(answer.status, name).toBe(status);
    }
  });

  // SECURITY: a refusal must not reveal which accounts exist.
  it("that is wrong, for an unknown name, or for an account without one is refused alike, at the same cost", async () => {
    const hashed = await make.user({ passwordHash: await hashPassword(caller.password) });
    const tokenOnly = await make.user();
    const organization = await make.org([caller]);
    const verified = vi.spyOn(Argon2.prototype, "tryVerify");
    const attempts = [
      [hashed.name, "wrong password"],
      ["nobody-here", "wrong password"],
      ["nobody@example.com", "wrong password"],
      [tokenOnly.name, tokenOnly.password],
      [organization.name, "wrong password"],
      [hashed.name, ""],
      ["", ""],
    ] as const;
    const answers: unknown[] = [];
    for (const [name, password] of attempts) {
      verified.mockClear();
      answers.push(plain(await call("GET", "/version", { headers: basic(name, password) })));
      // The cost of verifying a password is determined by the hash that it is compared with.
      const costs = verified.mock.calls.map(([hash]) => costOf(hash));
      expect(costs, name).toEqual([costOf(hashed.passwordHash ?? "")]);
    }
    verified.mockRestore();
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 401 });
  });
});

describe("a credential", () => {
  it.each([
    ["nothing", ""],
    ["a scheme alone", "token"],
    ["an unknown scheme with commas", 'Digest username="a", realm="b"'],
    ["an unknown scheme", "Digest abc"],
    ["a bare secret", "f".repeat(40)],
  ])("in the format of %s is ignored: the caller is anonymous", async (_, value) => {
    const headers = { Authorization: value };
    expect(await call("GET", "/version", { headers })).toMatchObject({ status: 200 });
    expect(await call("GET", "/user", { headers })).toMatchObject({
      status: 401,
      body: { message: "token is required" },
    });
  });

  it.each([
    ["of three parts", "token a b"],
    ["of three parts, for Bearer", `Bearer ${"f".repeat(40)} b`],
    ["of three parts, for Basic", `Basic ${btoa("a:b")} b`],
    ["without a colon", `Basic ${btoa("nobody")}`],
    ["that is no base64", "Basic !!!!"],
    ["of bytes that are no text", `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString("base64")}`],
    ["with a NUL", `Basic ${btoa("a\u0000b:c\u0000")}`],
    ["with SQL", `Basic ${btoa("' or 1=1 --:' or 1=1 --")}`],
    ["that is too long", `token ${"f".repeat(1025)}`],
    ["that is too long in Basic", `Basic ${btoa("a:".padEnd(2000, "b"))}`],
  ])("%s is refused with 401", async (_, value) => {
    const answer = await call("GET", "/version", { headers: { Authorization: value } });
    expect(answer).toMatchObject({ status: 401, body: { message: expect.any(String) } });
  });

  it("in a cookie is ignored", async () => {
    const headers = { Cookie: `i_like_gitea=${caller.token}; token=${caller.token}` };
    expect(await call("GET", "/user", { headers })).toMatchObject({ status: 401 });
  });

  it("that is missing lets anonymous callers read public resources, and write nothing", async () => {
    for (const { repo, isForAll, what } of locations) {
      const path = `${repo.owner}/${repo.name}`;
      expect((await call("GET", `/repos/${path}`)).status, what).toBe(isForAll ? 200 : 404);
      const edit = { json: { description: "x" } };
      expect((await call("PATCH", `/repos/${path}`, edit)).status, what).toBe(isForAll ? 401 : 404);
      expect((await call("PUT", `/user/starred/${path}`)).status, what).toBe(isForAll ? 401 : 404);
    }
  });
});

describe("an account", () => {
  const prohibited =
    "This account is prohibited from signing in, please contact your site administrator.";

  it.each<[string, Partial<User>, string]>([
    ["that is not active", { isActive: false }, prohibited],
    ["that may not sign in", { isLoginProhibited: true }, prohibited],
    [
      "that must change its password",
      { mustChangePassword: true },
      "You must change your password. Change it at: https://forge.example/user/change_password",
    ],
  ])("%s is refused everywhere, and changes nothing", async (_, fields, message) => {
    const user = await make.userWithPassword(fields);
    const refusal = { status: 403, body: { message: expect.stringContaining(message) } };
    for (const headers of [
      { Authorization: `token ${user.token}` },
      basic(user.name, user.password),
    ]) {
      expect(await call("GET", "/version", { headers })).toMatchObject(refusal);
      expect(await call("POST", "/user/repos", { headers, json: { name: "x" } })).toMatchObject(
        refusal,
      );
    }
    expect(await db.select().from(events).where(eq(events.actorId, user.id))).toEqual([]);
    // The state of an account is revealed only to callers with its credential.
    const wrong = await call("GET", "/version", { headers: basic(user.name, "wrong password") });
    expect(wrong.status).toBe(401);
  });
});

describe("REQUIRE_SIGNIN_VIEW", () => {
  it("refuses anonymous callers everywhere but at the version and the settings", async () => {
    const closed = serviceWith({ REQUIRE_SIGNIN_VIEW: "true" });
    const path = `/repos/${locations[0]?.repo.owner}/${locations[0]?.repo.name}`;
    for (const each of [path, "/repos/search", "/users/search", "/orgs", "/repos/nobody/nothing"]) {
      expect(await closed("GET", each), each).toMatchObject({
        status: 403,
        body: { message: "Only signed in user is allowed to call APIs." },
      });
      expect((await closed("GET", each, { as: caller })).status, each).not.toBe(403);
    }
    expect(await closed("GET", "/version")).toMatchObject({ status: 200 });
    expect(await closed("GET", "/version", { token: "0".repeat(40) })).toMatchObject({
      status: 401,
    });
  });
});

describe("sudo", () => {
  const ways: [string, (name: string) => { headers?: Form; query: string }][] = [
    ["header", (name) => ({ headers: { Sudo: name }, query: "" })],
    ["parameter", (name) => ({ query: `?sudo=${encodeURIComponent(name)}` })],
  ];

  it.each(ways)(
    "by %s lets an administrator act as another user, without administrator rights",
    async (_, way) => {
      const admin = await make.admin();
      const user = await make.user();
      const act = (method: string, path: string, name: string, json?: object) => {
        const { headers = {}, query } = way(name);
        return call(method, path + query, { as: admin, headers, ...(json && { json }) });
      };

      expect((await act("GET", "/user", user.name.toUpperCase())).body.login).toBe(user.name);
      const made = await act("POST", "/user/repos", user.name, { name: "by-sudo" });
      expect(made).toMatchObject({ status: 201, body: { owner: { login: user.name } } });
      // The administrator's rights do not apply while acting as another user.
      const foreign = await make.repo(await make.user(), { isPrivate: true });
      const path = `/repos/${foreign.owner}/${foreign.name}`;
      expect(await act("GET", path, user.name)).toMatchObject({ status: 404 });
      expect(await act("GET", "/admin/users", user.name)).toMatchObject({ status: 403 });
      expect(await act("GET", path, "")).toMatchObject({ status: 200 });
      for (const name of ["nobody-here", (await make.org([user])).name]) {
        expect(await act("GET", "/user", name), name).toMatchObject({ status: 404, body: "" });
      }
    },
  );

  it.each(ways)(
    "by %s is refused to everybody else, and does not reveal which names exist",
    async (_, way) => {
      const user = await make.user();
      const admin = await make.admin();
      const repo = await make.repo(admin);
      const senders = [
        {},
        { token: user.token },
        { token: await make.token(admin, { scopes: "public-only,all" }) },
        { token: await make.token(admin, { repos: [repo] }) },
      ];
      for (const sender of senders) {
        for (const name of [admin.name, user.name, "nobody-here"]) {
          const { headers = {}, query } = way(name);
          expect(await call("GET", `/user${query}`, { ...sender, headers }), name).toMatchObject({
            status: 403,
            body: { message: "Only administrators allowed to sudo." },
          });
        }
      }
    },
  );

  it("keeps the restrictions of the token", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const token = await make.token(admin, { scopes: "read:user" });
    const headers = { Sudo: user.name };
    expect(await call("GET", "/user", { token, headers })).toMatchObject({ status: 200 });
    expect(
      await call("POST", "/user/repos", { token, headers, json: { name: "x" } }),
    ).toMatchObject({
      status: 403,
    });
    const wider = { name: "wider", scopes: ["all"] };
    const path = `/users/${user.name}/tokens`;
    const narrow = await make.token(admin, { scopes: "write:user" });
    expect(await call("POST", path, { token: narrow, headers, json: wider })).toMatchObject({
      status: 403,
    });
  });
});

describe("an administrator's rights", () => {
  it("do not apply with a public-only or a bound token", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const repo = await make.repo(admin);
    const tokens: [string, number][] = [
      [admin.token, 200],
      [await make.token(admin, { scopes: "write:admin" }), 200],
      [await make.token(admin, { scopes: "read:admin" }), 403],
      [await make.token(admin, { scopes: "write:user" }), 403],
      [await make.token(admin, { scopes: "public-only,all" }), 403],
      [await make.token(admin, { repos: [repo] }), 403],
      [user.token, 403],
    ];
    for (const [at, [token, status]] of tokens.entries()) {
      const json = { full_name: `name ${at}` };
      const answer = await call("PATCH", `/admin/users/${user.name}`, { token, json });
      expect(answer.status, String(at)).toBe(status);
    }
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row?.fullName).toBe("name 1");
  });
});
