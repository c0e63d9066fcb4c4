import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { accessTokens } from "../../src/db/schema/index.ts";
import { call, visit, type Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";

/** The outcome of authenticating a request, before a door formats it. */
type Outcome = "in" | "unauthenticated" | "forbidden" | "unknown";

/** The parts of a door's response that depend on the outcome. */
interface Expected {
  status: number;
  challenge: string | null;
  body: unknown;
}

/**
 * How a door formats refusals. `message` is the common message of all doors, "" where each door has
 * its own.
 */
type Dialect = (outcome: Exclude<Outcome, "in">, message: string) => Expected;

const STATUS = { unauthenticated: 401, forbidden: 403, unknown: 404 } as const;
const containing = (message: string): unknown => expect.stringContaining(message);

const asApi: Dialect = (outcome, message) => ({
  status: STATUS[outcome],
  challenge: null,
  body:
    outcome === "unknown"
      ? ""
      : { message: containing(message), url: "https://forge.example/api/swagger" },
});

const CHALLENGE = 'Basic realm="Edgeforge", charset="UTF-8"';
const asText =
  (unknown: string): Dialect =>
  (outcome, message) => ({
    status: STATUS[outcome],
    challenge: outcome === "unauthenticated" ? CHALLENGE : null,
    body: outcome === "unknown" ? unknown : containing(message),
  });
const asGit = asText("Repository not found\n");
const asPage = asText("404 page not found\n");

const asLfs: Dialect = (outcome, message) => ({
  status: STATUS[outcome],
  challenge: outcome === "unauthenticated" ? 'Basic realm="gitea-lfs"' : null,
  body: containing(outcome === "unknown" ? '{"message":"Repository not found",' : message),
});

/** A door with a sample request, and how it refuses callers. */
interface Door {
  name: string;
  /** The resource in its path. */
  target: "repository" | "account";
  dialect: Dialect;
  /** Whether anonymous callers are asked to sign in for an unknown resource. */
  asksAnonymous: boolean;
  hasSudo: boolean;
  /** The status and the location of its redirect to a renamed resource. */
  moved: (path: string) => [status: number, location: string];
  request: (path: string) => [method: string, path: string, sending?: Sending];
}

const LFS_FORM = { Accept: "application/vnd.git-lfs+json" };
const requestLfs = (path: string, operation: string): ReturnType<Door["request"]> => [
  "POST",
  `/${path}.git/info/lfs/objects/batch`,
  { headers: LFS_FORM, body: JSON.stringify({ operation, objects: [] }) },
];

const READING: readonly Door[] = [
  {
    name: "API, repository",
    target: "repository",
    dialect: asApi,
    asksAnonymous: false,
    hasSudo: true,
    moved: (path) => [307, `/api/v1/repos/${path}`],
    request: (path) => ["GET", `/api/v1/repos/${path}`],
  },
  {
    name: "API, account",
    target: "account",
    dialect: asApi,
    asksAnonymous: false,
    hasSudo: true,
    moved: (path) => [307, `/api/v1/users/${path}`],
    request: (path) => ["GET", `/api/v1/users/${path}`],
  },
  {
    name: "git, fetch",
    target: "repository",
    dialect: asGit,
    asksAnonymous: true,
    hasSudo: false,
    moved: (path) => [307, `/${path}.git/info/refs?service=git-upload-pack`],
    request: (path) => ["GET", `/${path}/info/refs?service=git-upload-pack`],
  },
  {
    name: "Git LFS, download",
    target: "repository",
    dialect: asLfs,
    asksAnonymous: true,
    hasSudo: false,
    moved: (path) => [307, `/${path}.git/info/lfs/objects/batch`],
    request: (path) => requestLfs(path, "download"),
  },
  {
    name: "archive",
    target: "repository",
    dialect: asPage,
    asksAnonymous: false,
    hasSudo: false,
    moved: (path) => [307, `/${path}/archive/main.zip`],
    request: (path) => ["GET", `/${path}/archive/main.zip`],
  },
  {
    name: "feed of a repository",
    target: "repository",
    dialect: asPage,
    asksAnonymous: false,
    hasSudo: false,
    moved: (path) => [307, `/${path}.rss?x=1`],
    request: (path) => ["GET", `/${path}.rss?x=1`],
  },
  {
    name: "feed of an account",
    target: "account",
    dialect: asPage,
    asksAnonymous: false,
    hasSudo: false,
    moved: (path) => [307, `/${path}.atom`],
    request: (path) => ["GET", `/${path}.atom`],
  },
];

const WRITING: readonly Door[] = [
  {
    name: "API, edit of a repository",
    target: "repository",
    dialect: asApi,
    asksAnonymous: false,
    hasSudo: true,
    moved: (path) => [307, `/api/v1/repos/${path}`],
    request: (path) => ["PATCH", `/api/v1/repos/${path}`, { json: {} }],
  },
  {
    name: "git, push",
    target: "repository",
    dialect: asGit,
    asksAnonymous: true,
    hasSudo: false,
    moved: (path) => [307, `/${path}.git/info/refs?service=git-receive-pack`],
    request: (path) => ["GET", `/${path}/info/refs?service=git-receive-pack`],
  },
  {
    name: "Git LFS, upload",
    target: "repository",
    dialect: asLfs,
    asksAnonymous: true,
    hasSudo: false,
    moved: (path) => [307, `/${path}.git/info/lfs/objects/batch`],
    request: (path) => requestLfs(path, "upload"),
  },
];

/** A user with a repository that has one commit. */
interface Fixture {
  user: TestUser;
  repository: string;
  account: string;
}

let visible: Fixture;
let hidden: Fixture;
let stranger: TestUser;
let admin: TestUser;
let prohibited: TestUser;

beforeAll(async () => {
  const makeFixture = async (isPrivate: boolean): Promise<Fixture> => {
    const user = await make.user({ visibility: isPrivate ? "private" : "public" });
    const json = { name: freshName("repo"), private: isPrivate, auto_init: true };
    const created = await call("POST", "/user/repos", { as: user, json });
    expect(created.status).toBe(201);
    return { user, repository: created.body.full_name, account: user.name };
  };
  [visible, hidden] = [await makeFixture(false), await makeFixture(true)];
  stranger = await make.user();
  admin = await make.admin();
  prohibited = await make.user({ isLoginProhibited: true });
});

type Visit = typeof visit;

/** The parts of a response that the entrance determines. */
interface Received {
  status: number;
  challenge: string | null;
  location: string | null;
  body: unknown;
}

/** Sends a door's request for a path. */
async function ask(
  door: Door,
  path: string,
  { headers = {}, ...sending }: Sending = {},
  query = "",
  send: Visit = visit,
): Promise<Received> {
  const [method, address, own = {}] = door.request(path);
  const glue = query === "" ? "" : address.includes("?") ? "&" : "?";
  const answer = await send(method, address + glue + query, {
    ...own,
    ...sending,
    headers: { ...own.headers, ...headers },
  });
  return {
    status: answer.status,
    challenge: answer.headers.get("WWW-Authenticate"),
    location: answer.headers.get("Location"),
    body: answer.body,
  };
}

/** The expected response of a door for an outcome. */
const answerOf = (door: Door, outcome: Outcome, message = ""): object =>
  outcome === "in" ? { status: 200 } : { location: null, ...door.dialect(outcome, message) };

/** A credential, the requested fixture, and the outcome at every reading door. */
interface Situation {
  what: string;
  at: "visible" | "hidden";
  sending: () => Promise<Sending> | Sending;
  query?: string;
  outcome: (door: Door) => Outcome;
  /** The message of the refusal at every door. */
  message?: string;
  /** Whether it applies only to doors with a repository in the path. */
  isOfRepositories?: boolean;
}

const unknownTo = (isStranger: boolean) => (door: Door) =>
  isStranger && door.asksAnonymous ? "unauthenticated" : "unknown";

const SITUATIONS: readonly Situation[] = [
  {
    what: "an anonymous caller, for a public resource",
    at: "visible",
    sending: () => ({}),
    outcome: () => "in",
  },
  {
    what: "an anonymous caller, for a private resource",
    at: "hidden",
    sending: () => ({}),
    outcome: unknownTo(true),
  },
  {
    what: "a stranger, for a public resource",
    at: "visible",
    sending: () => ({ as: stranger }),
    outcome: () => "in",
  },
  {
    what: "a stranger, for a private resource",
    at: "hidden",
    sending: () => ({ as: stranger }),
    outcome: unknownTo(false),
  },
  {
    what: "the owner, for a private resource",
    at: "hidden",
    sending: () => ({ as: hidden.user }),
    outcome: () => "in",
  },
  {
    what: "a wrong token, for a public resource",
    at: "visible",
    sending: () => ({ token: "f".repeat(40) }),
    outcome: () => "unauthenticated",
    message: "the access token is not valid",
  },
  {
    what: "an expired token, for a public resource",
    at: "visible",
    sending: async () => ({ token: await make.token(visible.user, { expiresAt: 1 }) }),
    outcome: () => "unauthenticated",
    message: "the access token has expired",
  },
  {
    what: "a token in the URL, for a public resource",
    at: "visible",
    sending: () => ({}),
    query: "token=x",
    outcome: () => "unauthenticated",
    message: "tokens in the address are not accepted",
  },
  {
    what: "a user who may not sign in, for a public resource",
    at: "visible",
    sending: () => ({ as: prohibited }),
    outcome: () => "forbidden",
    message: "This account is prohibited from signing in",
  },
  {
    what: "the owner's token without the scope, for a private resource",
    at: "hidden",
    sending: async () => ({ token: await make.token(hidden.user, { scopes: "read:misc" }) }),
    outcome: () => "forbidden",
  },
  {
    what: "the owner's token with exactly the read scopes, for a private resource",
    at: "hidden",
    sending: async () => ({
      token: await make.token(hidden.user, { scopes: "read:repository,read:user" }),
    }),
    outcome: () => "in",
  },
  {
    what: "the owner's public-only token, for a private resource",
    at: "hidden",
    sending: async () => ({ token: await make.token(hidden.user, { scopes: "public-only,all" }) }),
    outcome: unknownTo(false),
  },
  {
    what: "the owner's token bound to another repository, for a public resource",
    at: "visible",
    sending: async () => ({
      token: await make.token(visible.user, { repos: [await make.repo(visible.user)] }),
    }),
    outcome: unknownTo(false),
    isOfRepositories: true,
  },
  {
    what: "an administrator acting as a stranger, for a private resource",
    at: "hidden",
    sending: () => ({ as: admin, headers: { Sudo: stranger.name } }),
    outcome: (door) => (door.hasSudo ? "unknown" : "in"),
  },
  {
    what: "a stranger acting as an administrator, for a public resource",
    at: "visible",
    sending: () => ({ as: stranger, headers: { Sudo: admin.name } }),
    outcome: (door) => (door.hasSudo ? "forbidden" : "in"),
  },
];

const eachDoor = READING.map((door) => [door.name, door] as const);

describe.each(eachDoor)("%s", (_, door) => {
  const isApplicable = ({ isOfRepositories }: Situation): boolean =>
    !isOfRepositories || door.target === "repository";

  it.each(SITUATIONS.filter(isApplicable))("answers $what", async (situation) => {
    const path = (situation.at === "visible" ? visible : hidden)[door.target];
    const answer = await ask(door, path, await situation.sending(), situation.query);
    expect(answer).toMatchObject(answerOf(door, situation.outcome(door), situation.message));
  });

  it("asks anonymous callers to sign in where the service requires it, and admits signed-in users", async () => {
    const closed = doorsWith({ REQUIRE_SIGNIN_VIEW: "true" });
    const answer = await ask(door, visible[door.target], {}, "", closed);
    const outcome = door.dialect === asApi ? "forbidden" : "unauthenticated";
    expect(answer).toMatchObject(answerOf(door, outcome));
    const signedIn = await ask(door, visible[door.target], { as: stranger }, "", closed);
    expect(signedIn).toMatchObject(answerOf(door, "in"));
  });

  it("records the use of an accepted token", async () => {
    const token = await make.token(stranger);
    const isTheToken = eq(accessTokens.lastEight, token.slice(-8));
    await db.update(accessTokens).set({ lastUsedAt: 1 }).where(isTheToken);
    expect(await ask(door, visible[door.target], { token })).toMatchObject(answerOf(door, "in"));
    const lastUsedAt = async () =>
      (await db.select().from(accessTokens).where(isTheToken))[0]?.lastUsedAt;
    await expect.poll(lastUsedAt).toBeGreaterThan(1);
  });
});

describe.each(WRITING.map((door) => [door.name, door] as const))("%s", (_, door) => {
  it("asks an anonymous caller to sign in for a public resource", async () => {
    expect(await ask(door, visible.repository)).toMatchObject(answerOf(door, "unauthenticated"));
  });

  it("does not reveal a private resource to strangers", async () => {
    expect(await ask(door, hidden.repository)).toMatchObject(answerOf(door, unknownTo(true)(door)));
    expect(await ask(door, hidden.repository, { as: stranger })).toMatchObject(
      answerOf(door, "unknown"),
    );
  });

  it("refuses a token with only the read scope, and accepts one with the write scope", async () => {
    const narrow = await make.token(hidden.user, { scopes: "read:repository" });
    expect(await ask(door, hidden.repository, { token: narrow })).toMatchObject(
      answerOf(door, "forbidden"),
    );
    const wide = await make.token(hidden.user, { scopes: "write:repository" });
    expect(await ask(door, hidden.repository, { token: wide })).toMatchObject(answerOf(door, "in"));
  });
});

describe.each([...READING, ...WRITING].map((door) => [door.name, door] as const))(
  "%s redirects",
  (_, door) => {
    /** Creates a fixture and renames it. */
    async function renamed(isPrivate: boolean) {
      const user = await make.user({ visibility: isPrivate ? "private" : "public" });
      const repo = await make.repo(user, { isPrivate });
      const before = { repository: `${user.name}/${repo.name}`, account: user.name };
      const name = `${user.name}-now`;
      const path = `/admin/users/${user.name}/rename`;
      const answer = await call("POST", path, { as: admin, json: { new_username: name } });
      expect(answer.status).toBe(204);
      const now = { repository: `${name}/${repo.name}`, account: name };
      return { user, before: before[door.target], now: now[door.target] };
    }

    it("to a new name, with the query, by a status that keeps the method", async () => {
      const { user, before, now } = await renamed(false);
      const answer = await ask(door, before, { as: user });
      const [status, path] = door.moved(now);
      expect(answer).toMatchObject({ status, location: `https://forge.example${path}` });
    });

    // SECURITY: a redirect would reveal that its target exists.
    it("only callers who may see the renamed resource", async () => {
      const { user, before, now } = await renamed(true);
      expect(await ask(door, before, { as: stranger })).toMatchObject(answerOf(door, "unknown"));
      const answer = await ask(door, before, { as: user });
      expect(answer.location).toBe(`https://forge.example${door.moved(now)[1]}`);
    });
  },
);
