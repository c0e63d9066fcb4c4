import { beforeAll, describe, expect, it } from "vitest";

import type { Repository } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { make } from "../../support/make.ts";
import { callersOf, expected, type Caller } from "./callers.ts";
import { GRANTS } from "./expectation.ts";
import { makeAccessWorld, type AccessWorld, type Place } from "./world.ts";

let world: AccessWorld;
let callers: Caller[];
beforeAll(async () => {
  world = await makeAccessWorld();
  callers = callersOf(world);
});

const SCOPES: Readonly<Record<string, string>> = { public_only: "public-only,all" };

/** A credential of a caller, as a request shows it. */
async function show({ person, credential }: Caller): Promise<{ token?: string }> {
  if (!person) return {};
  const places = world.locations.map(({ repo }) => repo);
  const repos = credential === "bound_to_it" ? { repos: places } : {};
  return {
    token: await make.token(person.user, { scopes: SCOPES[credential] ?? "all", ...repos }),
  };
}

const isSeen = (caller: Caller, location: Place) =>
  expected(caller, location, "repository") !== "none";
const idsOf = (repos: readonly Repository[]) => new Set(repos.map(({ id }) => id));

const ROLES = ["anonymous", ...GRANTS.keys()].map((role, at) => [role, at] as const);

describe("what a caller finds is what the tables say that they see", () => {
  it.each(ROLES)("by searches and pages, for %s", async (role, at) => {
    const credential = (["full", "public_only", "bound_to_it"] as const)[at % 3];
    const some = callers.filter(({ person }) => (person?.role ?? "anonymous") === role);
    const fitting = some.filter((each) => !each.person || each.credential === credential);
    const caller = fitting[at % 2] ?? some[0];
    if (!caller) throw new Error(`nobody is ${role}`);
    const sending = await show(caller);
    const seen = world.locations.filter((location) => isSeen(caller, location));

    const found: Repository[] = [];
    for (const page of [1, 2]) {
      const { body } = await call(
        "GET",
        `/repos/search?q=${world.word}&limit=50&page=${page}`,
        sending,
      );
      const ours = (body.data as Repository[]).filter(
        ({ name }) => name !== `${world.word}-another-1`,
      );
      found.push(...ours);
    }
    expect(idsOf(found), "the search for a word").toEqual(idsOf(seen.map(({ repo }) => repo)));
    expect(found, "each of them once").toHaveLength(seen.length);

    const owners = [...new Map(world.locations.map(({ owner }) => [owner.id, owner])).values()];
    for (const owner of owners) {
      const { body } = await call(
        "GET",
        `/repos/search?uid=${owner.id}&exclusive=true&limit=50`,
        sending,
      );
      const ours = (body.data as Repository[]).filter(
        ({ name }) => name !== `${world.word}-another-1`,
      );
      const wanted = seen
        .filter((location) => location.owner.id === owner.id)
        .map(({ repo }) => repo);
      expect(idsOf(ours), `the search for what ${owner.name} has`).toEqual(idsOf(wanted));
    }

    for (const location of world.locations.filter((_, index) => index % 5 === at % 5)) {
      const path = `/repos/${location.owner.name}/${location.repo.name}`;
      const { status, body } = await call("GET", path, sending);
      expect(status, path).toBe(isSeen(caller, location) ? 200 : 404);
      if (status !== 200) continue;
      const mode = expected(caller, location, "repository");
      expect(body, path).toMatchObject({
        permissions: { admin: mode === "admin" || mode === "owner" },
      });
    }
  });
});
