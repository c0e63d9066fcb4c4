import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { accessTokens, sessions } from "../../src/db/schema/index.ts";
import { Writes } from "../../src/lib/writes.ts";
import { type Answer, basic, type Sending, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";
import { startSession } from "../support/sessions.ts";
import { loggedAgain } from "../support/usage.ts";

// What a guard has found, and an answer to anonymous readers, are kept for seconds: a change of
// access is seen at once in the isolate that wrote it, and within five seconds in any other.

/** A change is seen everywhere within this time, in milliseconds. */
const BOUND_MS = 5000;

/** A service in another isolate, which knows of no write. */
const elsewhere = doorsWith({}, {}, new Writes());

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

interface World {
  readonly owner: TestUser;
  readonly admin: TestUser;
  /** Whose access is at stake; the owner of nothing. */
  readonly reader: TestUser;
  readonly repo: TestRepo;
}

const open = async (isPrivate: boolean): Promise<World> => {
  const [owner, admin, reader] = [await make.user(), await make.admin(), await make.user()];
  return { owner, admin, reader, repo: await make.repo(owner, { isPrivate }) };
};

const pathOf = ({ owner, repo }: World) => `/api/v1/repos/${owner.name}/${repo.name}`;

/** Callers, each with what they send to read the repository. */
const CALLERS: Record<string, (world: World) => Promise<Sending>> = {
  nobody: () => Promise.resolve({}),
  "a token": ({ reader }) => Promise.resolve({ token: reader.token }),
  "a bound token": async ({ reader, repo }) => ({
    token: await make.token(reader, { repos: [repo] }),
  }),
  "a token by Basic": ({ reader }) =>
    Promise.resolve({ headers: basic(reader.name, reader.token) }),
  "a session": async ({ reader }) => ({ headers: await startSession(reader) }),
};

interface Change {
  /** Whether the repository is private, and the reader a collaborator. */
  readonly isPrivate?: boolean;
  readonly callers: readonly string[];
  readonly make: (world: World) => Promise<unknown>;
  /** The status of the same read afterwards. */
  readonly status: number;
  /** That of a page, if it is another. */
  readonly pageStatus?: number;
}

const WITH_TOKEN = ["a token", "a bound token", "a token by Basic"];
const SIGNED_IN = [...WITH_TOKEN, "a session"];
const ALL = ["nobody", ...SIGNED_IN];

const byAdmin = (method: string, path: string, json?: object) => async (world: World) => {
  const { status } = await visit(method, path.replace(":reader", world.reader.name), {
    as: world.admin,
    ...(json && { json }),
  });
  expect(status).toBeLessThan(300);
};

const byOwner = (method: string, path: string, json?: object) => async (world: World) => {
  const at = pathOf(world) + path.replace(":reader", world.reader.name);
  const { status } = await visit(method, at, { as: world.owner, ...(json && { json }) });
  expect(status).toBeLessThan(300);
};

const ofReader = (fields: Partial<typeof accessTokens.$inferInsert>) => (world: World) =>
  db.update(accessTokens).set(fields).where(eq(accessTokens.userId, world.reader.id));

const CHANGES: Record<string, Change> = {
  "token revoked": {
    callers: WITH_TOKEN,
    make: ({ reader }) => db.delete(accessTokens).where(eq(accessTokens.userId, reader.id)),
    status: 401,
  },
  "token expired": {
    callers: WITH_TOKEN,
    make: (world) => ofReader({ expiresAt: Date.now() - 1 })(world),
    status: 401,
  },
  "token narrowed": {
    callers: WITH_TOKEN,
    make: ofReader({ scopes: "read:user" }),
    status: 403,
  },
  "session ended": {
    isPrivate: true,
    callers: ["a session"],
    make: ({ reader }) => db.delete(sessions).where(eq(sessions.userId, reader.id)),
    status: 404,
  },
  "account suspended": {
    isPrivate: true,
    callers: SIGNED_IN,
    make: byAdmin("PATCH", "/api/v1/admin/users/:reader", {
      source_id: 0,
      login_name: "",
      prohibit_login: true,
    }),
    status: 403,
    pageStatus: 404,
  },
  "account deleted": {
    isPrivate: true,
    callers: SIGNED_IN,
    make: byAdmin("DELETE", "/api/v1/admin/users/:reader?purge=true"),
    status: 401,
    pageStatus: 404,
  },
  "account renamed": {
    callers: ["a token"],
    make: byAdmin("POST", "/api/v1/admin/users/:reader/rename", { new_username: "renamed-reader" }),
    status: 200,
  },
  "repository made private": {
    callers: ALL,
    make: byOwner("PATCH", "", { private: true }),
    status: 404,
  },
  "repository renamed": {
    callers: ALL,
    make: byOwner("PATCH", "", { name: "renamed" }),
    status: 301,
  },
  "repository deleted": { callers: ALL, make: byOwner("DELETE", ""), status: 404 },
  "repository transferred": {
    callers: ALL,
    make: async (world) => {
      const org = await make.org([world.owner]);
      const { status } = await visit("POST", `${pathOf(world)}/transfer`, {
        as: world.owner,
        json: { new_owner: org.name },
      });
      expect(status).toBe(202);
    },
    status: 301,
  },
  "collaborator removed": {
    isPrivate: true,
    callers: SIGNED_IN,
    make: byOwner("DELETE", "/collaborators/:reader"),
    status: 404,
  },
};

const cells = Object.entries(CHANGES).flatMap(([name, change]) =>
  change.callers.map((caller) => ({ name, caller, change })),
);

describe("a change of access", () => {
  it.for(cells)("$name is seen by $caller", async ({ change, caller }) => {
    const world = await open(change.isPrivate ?? false);
    if (change.isPrivate) await make.collaborator(world.repo, world.reader, 1);
    const sending = (await CALLERS[caller]?.(world)) ?? {};
    const isPage = caller === "a session";
    const path = isPage ? `/${world.owner.name}/${world.repo.name}` : pathOf(world);
    const here = () => visit("GET", path, sending);
    const there = () => elsewhere("GET", path, sending);

    // Both have it.
    for (const read of [here, here, there, there]) expect((await read()).status).toBe(200);
    await change.make(world);
    const status = isPage ? (change.pageStatus ?? change.status) : change.status;
    expect((await here()).status).toBe(status);
    // Sessions are asked for each time.
    expect((await there()).status).toBe(isPage ? status : 200);
    pass(BOUND_MS);
    expect((await there()).status).toBe(status);
  });

  it("is seen elsewhere at once by a caller who sends the bookmark of its answer", async () => {
    const world = await open(false);
    const read = (headers = {}) => elsewhere("GET", pathOf(world), { headers });
    await read();
    const { headers } = await visit("PATCH", pathOf(world), {
      as: world.owner,
      json: { private: true },
    });
    expect((await read()).status).toBe(200);
    const bookmark = headers.get("x-d1-bookmark") ?? "";
    expect((await read({ "x-d1-bookmark": bookmark })).status).toBe(404);
  });

  it("ends a kept token at the very time at which it expires", async () => {
    const { reader } = await open(false);
    const token = await make.token(reader, { expiresAt: Date.now() + 1000 });
    const read = () => visit("GET", "/api/v1/user", { token });
    expect((await read()).status).toBe(200);
    pass(999);
    expect((await read()).status).toBe(200);
    pass(1);
    expect((await read()).status).toBe(401);
  });

  it("of a team is seen by its member", async () => {
    const [owner, reader] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true });
    const team = await make.team(org);
    await make.member(org, team, reader);
    const path = `/api/v1/repos/${org.name}/${repo.name}`;
    const read = (door: typeof visit) => door("GET", path, { as: reader });
    for (const door of [visit, elsewhere]) expect((await read(door)).status).toBe(200);
    const at = `/api/v1/teams/${team.id}/members/${reader.name}`;
    expect((await visit("DELETE", at, { as: owner })).status).toBe(204);
    expect((await read(visit)).status).toBe(404);
    pass(BOUND_MS);
    expect((await read(elsewhere)).status).toBe(404);
  });
});

describe("rounds to the database", () => {
  // Of a service that knows of no writes, as those of jobs that other tests have left.
  const door = doorsWith({}, {}, new Writes());

  const roundsOf = async (path: string, sending: Sending = {}) => {
    const send = (): Promise<Answer> => door("GET", path, sending);
    expect((await send()).status).toBe(200);
    const { line } = await loggedAgain(send);
    return line.d1Rounds;
  };

  it("are none for a public repository that nobody asks for anew", async () => {
    const world = await open(false);
    expect(await roundsOf(pathOf(world))).toBe(0);
    expect(await roundsOf(`/${world.owner.name}/${world.repo.name}`)).toBe(0);
    expect(await roundsOf(`/api/v1/users/${world.owner.name}`)).toBe(0);
    expect(await roundsOf(`/api/v1/users/${world.owner.name}/repos`)).toBe(0);
  });

  it("are at most that of the answer for a token", async () => {
    const world = await open(true);
    await make.collaborator(world.repo, world.reader, 1);
    expect(await roundsOf(pathOf(world), { as: world.reader })).toBe(0);
    expect(await roundsOf(`${pathOf(world)}/issues`, { as: world.reader })).toBe(1);
    expect(await roundsOf("/api/v1/user", { as: world.reader })).toBe(0);
  });

  it("do not tell what is hidden from what does not exist", async () => {
    const world = await open(true);
    const paths = [pathOf(world), `/api/v1/repos/${world.owner.name}/nothing`];
    for (const sending of [{}, { as: world.reader }]) {
      const rounds: number[][] = [];
      for (const path of paths) {
        const lines = [];
        for (let time = 0; time < 3; time += 1) {
          lines.push((await loggedAgain(() => door("GET", path, sending))).line);
        }
        expect(lines.map(({ status }) => status)).toEqual([404, 404, 404]);
        rounds.push(lines.map(({ d1Rounds }) => d1Rounds));
      }
      expect(rounds[0]).toEqual(rounds[1]);
    }
  });

  it("are as ever for a password, which is asked for each time", async () => {
    const user = await make.userWithPassword();
    const headers = basic(user.name, user.password);
    expect(await roundsOf("/api/v1/user", { headers })).toBe(1);
  });
});
