import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  repositories,
  users,
  type Repository,
  type Session,
  type User,
} from "../../src/db/schema/index.ts";
import { call, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { askBatch, makeLargeFile } from "../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { storeSampleCode } from "../support/samples/sample-code.ts";
import { startSession } from "../support/sessions.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Who reads: the owner, and somebody who may not see the repository. */
type Reader = "owner" | "stranger";

let owner: TestUser;
let repo: TestRepo;
beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner, { isPrivate: true });
  await storeSampleCode(repo);
});

/** The header of a browser with a session, whose account and row have these columns. */
async function cookieOf(
  user: User,
  { account = {}, session = {} }: { account?: Partial<User>; session?: Partial<Session> },
): Promise<Record<string, string>> {
  const headers = await startSession(user, session);
  if (Object.keys(account).length > 0) {
    await db.update(users).set(account).where(eq(users.id, user.id));
  }
  return headers;
}

type Ask = (repo: TestRepo, headers: Record<string, string>) => Promise<{ status: number }>;

const file = makeLargeFile("of a session");
const gitPath = ({ owner: name, name: repoName }: TestRepo, service: string) =>
  `/${name}/${repoName}.git/info/refs?service=git-${service}`;

/** Doors that a session opens: what a person reads in a browser. */
const PAGES: Readonly<Record<string, Ask>> = {
  feed: ({ owner: name, name: repoName }, headers) =>
    visit("GET", `/${name}/${repoName}.rss`, { headers }),
  archive: ({ owner: name, name: repoName }, headers) =>
    visit("GET", `/${name}/${repoName}/archive/main.tar.gz`, { headers }),
  file: ({ owner: name, name: repoName }, headers) =>
    visit("GET", `/${name}/${repoName}/raw/branch/main/file`, { headers }),
};

/** Doors of programs: a cookie, which a browser also sends for other sites, opens none. */
const PROGRAMS: Readonly<Record<string, Ask>> = {
  "API, reading": ({ owner: name, name: repoName }, headers) =>
    call("GET", `/repos/${name}/${repoName}`, { headers }),
  "API, writing": ({ owner: name, name: repoName }, headers) =>
    call("PATCH", `/repos/${name}/${repoName}`, { headers, json: { description: "changed" } }),
  "API, the own account": (_, headers) => call("GET", "/user", { headers }),
  "git, fetching": (named, headers) => visit("GET", gitPath(named, "upload-pack"), { headers }),
  "git, pushing": (named, headers) => visit("GET", gitPath(named, "receive-pack"), { headers }),
  "large files, reading": (named, headers) => askBatch(named, "download", [file], { headers }),
  "large files, writing": (named, headers) => askBatch(named, "upload", [file], { headers }),
};

/** The states of a session, and whether it signs its user in. */
const STATES: readonly {
  readonly state: string;
  readonly account?: Partial<User>;
  readonly session?: () => Partial<Session>;
  readonly isSignedIn: boolean;
}[] = [
  { state: "current", isSignedIn: true },
  { state: "of a restricted account", account: { isRestricted: true }, isSignedIn: true },
  { state: "expired", session: () => ({ expiresAt: Date.now() - 1 }), isSignedIn: false },
  {
    state: "unused for 14 days",
    session: () => ({ lastUsedAt: Date.now() - 14 * DAY_MS - 1 }),
    isSignedIn: false,
  },
  { state: "of an inactive account", account: { isActive: false }, isSignedIn: false },
  {
    state: "of an account that may not sign in",
    account: { isLoginProhibited: true },
    isSignedIn: false,
  },
  {
    state: "of an account that must change its password",
    account: { mustChangePassword: true },
    isSignedIn: false,
  },
];

const READERS: readonly Reader[] = ["owner", "stranger"];

// SECURITY: a session that one door forgot to end, or a cookie that a program's door takes, lets
// foreign pages in.
describe("a session", () => {
  it.each(
    STATES.flatMap((state) =>
      READERS.map((reader) => [state.state, reader, { ...state, reader }] as const),
    ),
  )("that is %s, of the %s", async (_, reader, { account, session, isSignedIn }) => {
    const user = await make.user();
    const readable = reader === "owner" ? await ownedBy(user) : repo;
    const before = await rowOf(readable);
    const headers = await cookieOf(user, {
      ...(account && { account }),
      ...(session && { session: session() }),
    });
    for (const [door, ask] of Object.entries(PAGES)) {
      const isLetIn = isSignedIn && reader === "owner";
      expect((await ask(readable, headers)).status, door).toBe(isLetIn ? 200 : 404);
    }
    for (const [door, ask] of Object.entries(PROGRAMS)) {
      expect([401, 404], door).toContain((await ask(readable, headers)).status);
    }
    expect(await rowOf(readable), "nothing is written").toEqual(before);
  });

  it("counts for nothing beside an Authorization header", async () => {
    const stranger = await make.user();
    const headers = {
      ...(await cookieOf(owner, {})),
      Authorization: `Bearer ${stranger.token}`,
    };
    for (const [door, ask] of Object.entries(PAGES)) {
      expect((await ask(repo, headers)).status, door).toBe(404);
    }
  });
});

/** A private repository with code, owned by a user. */
async function ownedBy(user: TestUser): Promise<TestRepo> {
  const own = await make.repo(user, { isPrivate: true });
  await storeSampleCode(own);
  return own;
}

const rowOf = ({ id }: Repository) => db.select().from(repositories).where(eq(repositories.id, id));
