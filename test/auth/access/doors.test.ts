import { beforeAll, describe, expect, it } from "vitest";

import type { Repository } from "../../../src/db/schema/index.ts";
import { call, visit, type Answer, type Sending } from "../../support/call.ts";
import { askBatch } from "../../support/large-files.ts";
import { make } from "../../support/make.ts";
import { callersOf, expected, type Caller } from "./callers.ts";
import { GRANTS, type Column } from "./expectation.ts";
import { makeAccessWorld, type AccessWorld, type Target } from "./world.ts";

let world: AccessWorld;
let callers: Caller[];
beforeAll(async () => {
  world = await makeAccessWorld();
  callers = callersOf(world);
});

const SCOPES: Readonly<Record<string, string>> = { public_only: "public-only,all" };

/** The credential of a caller for a request. */
async function credentialOf({ person, credential }: Caller): Promise<{ token?: string }> {
  if (!person) return {};
  const repositories = world.targets.map(({ repo }) => repo);
  const repos = credential === "bound_to_it" ? { repos: repositories } : {};
  return {
    token: await make.token(person.user, { scopes: SCOPES[credential] ?? "all", ...repos }),
  };
}

const isSeen = (caller: Caller, target: Target) =>
  expected(caller, target, "repository") !== "none";
const idsOf = (repos: readonly Repository[]) => new Set(repos.map(({ id }) => id));

type Names = { readonly owner: string; readonly name: string };

/** Ways to a repository other than its record, with what the caller must be able to read. */
const DOORS: readonly {
  readonly door: string;
  readonly column: Column;
  readonly ask: (names: Names, sending: Sending) => Promise<Answer>;
}[] = [
  {
    door: "git",
    column: "code",
    ask: ({ owner, name }, sending) =>
      visit("GET", `/${owner}/${name}.git/info/refs?service=git-upload-pack`, sending),
  },
  {
    door: "large files",
    column: "code",
    ask: (names, sending) =>
      askBatch(names, "download", [{ oid: "0".repeat(64), size: 1 }], sending),
  },
  {
    door: "archive",
    column: "code",
    ask: ({ owner, name }, sending) =>
      call("GET", `/repos/${owner}/${name}/archive/main.tar.gz`, sending),
  },
  {
    door: "feed",
    column: "repository",
    ask: ({ owner, name }, sending) =>
      call("GET", `/repos/${owner}/${name}/activities/feeds`, sending),
  },
  {
    door: "event stream",
    column: "repository",
    ask: ({ owner, name }, sending) => call("GET", `/repos/${owner}/${name}/events`, sending),
  },
];

/** Whether a door let a request in: an archive of a repository without code is not found for its own reason. */
const isLetIn = ({ status, headers }: Answer): boolean =>
  status === 200 ||
  (status === 404 && (headers.get("X-Edgeforge-Reason") ?? "not-found") !== "not-found");

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
      const wanted = seen.filter((target) => target.owner.id === owner.id).map(({ repo }) => repo);
      expect(idsOf(ours), `search by owner ${owner.name}`).toEqual(idsOf(wanted));
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

  it.each(ROLES)("by every other door, for %s", async (role, at) => {
    const caller = callers.find(
      ({ person, credential }) =>
        (person?.role ?? "anonymous") === role && ["full", "none"].includes(credential),
    );
    if (!caller) throw new Error(`no caller has the role ${role}`);
    const sending = await credentialOf(caller);
    for (const target of world.targets.filter((_, index) => index % 20 === at % 20)) {
      const names = { owner: target.owner.name, name: target.repo.name };
      for (const { door, column, ask } of DOORS) {
        const wanted = expected(caller, target, column) !== "none";
        const answer = await ask(names, sending);
        expect(isLetIn(answer), `${door} of ${names.owner}/${names.name}`).toBe(wanted);
      }
    }
  });
});
