import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { users, type Repository, type User } from "../../../src/db/schema/index.ts";
import { basic, call, visit, type Answer, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { askBatch } from "../../support/large-files.ts";
import { make } from "../../support/make.ts";
import { makeApplication, makeTokens, type TestApplication } from "../../support/oauth.ts";
import { startSession } from "../../support/sessions.ts";
import { callersOf, expected, type Caller } from "./callers.ts";
import { GRANTS, type Column, type CredentialKind } from "./expectation.ts";
import { makeAccessWorld, type AccessWorld, type Person, type Target } from "./world.ts";

let world: AccessWorld;
let callers: Caller[];
let application: TestApplication;
/** A repository that is none of the world's. */
let elsewhere: Repository;
beforeAll(async () => {
  world = await makeAccessWorld();
  callers = callersOf(world);
  const other = await make.userWithPassword();
  application = await makeApplication(other);
  elsewhere = await make.repo(other);
  const ids = JSON.stringify(world.people.map(({ user }) => user.id));
  await db
    .update(users)
    .set({ passwordHash: other.passwordHash })
    .where(sql`${users.id} in (select value from json_each(${ids}))`);
});

const SCOPES: Readonly<Record<string, string>> = { public_only: "public-only,all" };

/** The credential of a caller for a request. */
async function credentialOf({ person, credential }: Caller): Promise<{ token?: string }> {
  if (!person) return {};
  const repos = credential === "bound_to_it" ? { repos: reposOf(world) } : {};
  return {
    token: await make.token(person.user, { scopes: SCOPES[credential] ?? "all", ...repos }),
  };
}

const reposOf = ({ targets }: AccessWorld): Repository[] => targets.map(({ repo }) => repo);

/** How a door treats a credential: as one of these kinds, or it refuses it. */
type Treatment = CredentialKind | "refused";

/**
 * Every way to authenticate, with its treatment at the doors of programs and at those of people,
 * written by hand. A deploy key opens SSH alone, which the service does not speak.
 */
const CREDENTIALS: readonly {
  readonly kind: string;
  readonly programs: Treatment;
  readonly people: Treatment;
  readonly headersOf: (user: User) => Promise<Record<string, string>>;
}[] = [
  {
    kind: "password",
    programs: "full",
    people: "full",
    headersOf: async ({ name }) => basic(name, (await make.userWithPassword()).password),
  },
  {
    kind: "token",
    programs: "full",
    people: "full",
    headersOf: async (user) => bearer(await make.token(user)),
  },
  {
    kind: "token for public data",
    programs: "public_only",
    people: "public_only",
    headersOf: async (user) => bearer(await make.token(user, { scopes: "public-only,all" })),
  },
  {
    kind: "token for other things",
    programs: "refused",
    people: "refused",
    headersOf: async (user) => bearer(await make.token(user, { scopes: "write:user,read:issue" })),
  },
  {
    kind: "token bound to the repository",
    programs: "bound_to_it",
    people: "bound_to_it",
    headersOf: async (user) => bearer(await make.token(user, { repos: reposOf(world) })),
  },
  {
    kind: "token bound to another repository",
    programs: "bound_elsewhere",
    people: "bound_elsewhere",
    headersOf: async (user) => bearer(await make.token(user, { repos: [elsewhere] })),
  },
  {
    kind: "OAuth grant",
    programs: "full",
    people: "full",
    headersOf: async (user) =>
      bearer((await makeTokens(user, application, { scope: "read:repository" })).access),
  },
  {
    kind: "OAuth grant for another repository",
    programs: "bound_elsewhere",
    people: "bound_elsewhere",
    headersOf: async (user) => {
      const repository = { id: elsewhere.id, fullName: elsewhere.name };
      const { access } = await makeTokens(user, application, { scope: "all", repository });
      return bearer(access);
    },
  },
  {
    kind: "OAuth grant for other things",
    programs: "refused",
    people: "refused",
    headersOf: async (user) =>
      bearer((await makeTokens(user, application, { scope: "read:issue" })).access),
  },
  {
    kind: "session",
    programs: "none",
    people: "full",
    headersOf: startSession,
  },
];

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const isSeen = (caller: Caller, target: Target) =>
  expected(caller, target, "repository") !== "none";
const idsOf = (repos: readonly Repository[]) => new Set(repos.map(({ id }) => id));

type Names = { readonly owner: string; readonly name: string };

/** Ways to a repository, for programs or for people, with what the caller must be able to read. */
const DOORS: readonly {
  readonly door: string;
  readonly isFor: "programs" | "people";
  readonly column: Column;
  readonly ask: (names: Names, sending: Sending) => Promise<Answer>;
}[] = [
  {
    door: "API",
    isFor: "programs",
    column: "repository",
    ask: ({ owner, name }, sending) => call("GET", `/repos/${owner}/${name}`, sending),
  },
  {
    door: "git",
    isFor: "programs",
    column: "code",
    ask: ({ owner, name }, sending) =>
      visit("GET", `/${owner}/${name}.git/info/refs?service=git-upload-pack`, sending),
  },
  {
    door: "large files",
    isFor: "programs",
    column: "code",
    ask: (names, sending) =>
      askBatch(names, "download", [{ oid: "0".repeat(64), size: 1 }], sending),
  },
  {
    door: "archive by API",
    isFor: "programs",
    column: "code",
    ask: ({ owner, name }, sending) =>
      call("GET", `/repos/${owner}/${name}/archive/main.tar.gz`, sending),
  },
  {
    door: "feed by API",
    isFor: "programs",
    column: "repository",
    ask: ({ owner, name }, sending) =>
      call("GET", `/repos/${owner}/${name}/activities/feeds`, sending),
  },
  {
    door: "event stream",
    isFor: "programs",
    column: "repository",
    ask: ({ owner, name }, sending) => call("GET", `/repos/${owner}/${name}/events`, sending),
  },
  {
    door: "feed",
    isFor: "people",
    column: "repository",
    ask: ({ owner, name }, sending) => visit("GET", `/${owner}/${name}.rss`, sending),
  },
];

/**
 * Whether a door let a request in: an archive of a repository without code is not found for its own
 * reason.
 */
const isLetIn = ({ status, headers }: Answer): boolean =>
  status === 200 ||
  (status === 404 && ["empty-repository", "no-such-ref"].includes(reasonOf(headers)));
const reasonOf = (headers: Headers): string => headers.get("X-Edgeforge-Reason") ?? "";

const ROLES = ["anonymous", ...GRANTS.keys()].map((role, at) => [role, at] as const);

describe("a caller finds exactly the repositories that they see according to the tables", () => {
  it.each(ROLES)("by search and by path, for %s", async (role, at) => {
    const credential = (["full", "public_only", "bound_to_it"] as const)[at % 3];
    const some = callers.filter(({ person }) => (person?.role ?? "anonymous") === role);
    const fitting = some.filter((each) => !each.person || each.credential === credential);
    const caller = fitting[at % 2] ?? some[0];
    if (!caller) throw new Error(`no caller has the role ${role}`);
    const options = await credentialOf(caller);
    const seen = world.targets.filter((target) => isSeen(caller, target));

    const found: Repository[] = [];
    for (const page of [1, 2]) {
      const { body } = await call(
        "GET",
        `/repos/search?q=${world.word}&limit=50&page=${page}`,
        options,
      );
      const ours = (body.data as Repository[]).filter(
        ({ name }) => name !== `${world.word}-another-1`,
      );
      found.push(...ours);
    }
    expect(idsOf(found), "search by word").toEqual(idsOf(seen.map(({ repo }) => repo)));
    expect(found, "each repository once").toHaveLength(seen.length);

    const owners = [...new Map(world.targets.map(({ owner }) => [owner.id, owner])).values()];
    for (const owner of owners) {
      const { body } = await call(
        "GET",
        `/repos/search?uid=${owner.id}&exclusive=true&limit=50`,
        options,
      );
      const ours = (body.data as Repository[]).filter(
        ({ name }) => name !== `${world.word}-another-1`,
      );
      const owned = seen.filter((target) => target.owner.id === owner.id).map(({ repo }) => repo);
      expect(idsOf(ours), `search by owner ${owner.name}`).toEqual(idsOf(owned));
    }

    for (const target of world.targets.filter((_, index) => index % 5 === at % 5)) {
      const path = `/repos/${target.owner.name}/${target.repo.name}`;
      const { status, body } = await call("GET", path, options);
      expect(status, path).toBe(isSeen(caller, target) ? 200 : 404);
      if (status !== 200) continue;
      const mode = expected(caller, target, "repository");
      expect(body, path).toMatchObject({
        permissions: { admin: mode === "admin" || mode === "owner" },
      });
    }
  });

  it.each(ROLES)("by every door, with every credential, for %s", async (role, at) => {
    const person = callers.find((each) => (each.person?.role ?? "anonymous") === role)?.person;
    const credentials = person ? CREDENTIALS : [ANONYMOUS];
    for (const [index, credential] of credentials.entries()) {
      const headers = person ? await credential.headersOf(person.user) : {};
      // Each credential meets other targets; together they meet many of them.
      const some = world.targets.filter((_, place) => place % 40 === (at * 7 + index * 3) % 40);
      for (const target of some) {
        const names = { owner: target.owner.name, name: target.repo.name };
        for (const { door, isFor, column, ask } of DOORS) {
          const treatment = credential[isFor];
          const answer = await ask(names, { headers });
          expect(
            isLetIn(answer),
            `${door} of ${names.owner}/${names.name} with ${credential.kind}`,
          ).toBe(treatment !== "refused" && isOpen(person, treatment, target, column));
        }
      }
    }
  });
});

const ANONYMOUS = {
  kind: "nothing",
  programs: "none",
  people: "none",
  headersOf: () => Promise.resolve({}),
} as const;

/** Whether the tables let a person read with a credential of this kind. */
function isOpen(
  person: Person | undefined,
  credential: CredentialKind,
  target: Target,
  column: Column,
): boolean {
  const isAnonymous = person === undefined || credential === "none";
  const caller: Pick<Caller, "person" | "credential"> = isAnonymous
    ? { person: undefined, credential: "none" }
    : { person, credential };
  return expected(caller as Caller, target, column) !== "none";
}
