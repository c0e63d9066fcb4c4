import { beforeAll, describe, expect, it } from "vitest";

import { follows, organizationMembers, stars, watches } from "../../src/db/schema/index.ts";
import { type Answer, call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/** A user among things that are not public, all of whose names begin with the same word. */
async function makeScene() {
  const word = freshName("hidden").replaceAll("-", "");
  const user = await make.user();
  const hidden = new World({
    owner: user,
    friend: { name: `${word}friend`, visibility: "limited" },
    repo: { name: `${word}repo`, isPrivate: true },
    org: { name: `${word}org`, visibility: "private" },
    team: { name: `${word}team` },
    topic: `${word}topic`,
  });
  const friend = await hidden.friend();
  const [repo, org] = [await hidden.repo(), await hidden.org()];
  // What a limited account owns is hidden as well, and the user works on a repository of it.
  const limited = new World({ owner: friend, repo: { name: `${word}shared` } });
  const shared = await limited.repo();
  await make.collaborator(shared, user, 3);
  // What is public, with people and things in it that are not.
  const open = new World({ owner: user });
  const [openRepo, openOrg] = [await open.repo(), await open.org()];
  await make.member(openOrg, await make.team(openOrg), friend);
  const createdAt = 1000;
  const toggles = [
    { userId: user.id, repoId: shared.id, visibility: "limited" as const, createdAt },
    { userId: friend.id, repoId: openRepo.id, visibility: "public" as const, createdAt },
  ];
  await db.batch([
    db.insert(stars).values(toggles),
    db.insert(watches).values(toggles),
    db.insert(follows).values({ followerId: friend.id, followedId: user.id, createdAt }),
    db.insert(organizationMembers).values({ orgId: org.id, userId: friend.id }),
  ]);
  for (const world of [hidden, open]) {
    await world.star();
    await world.watch();
  }
  await make.token(user, { repos: [repo] });
  return { word, user, openRepo, worlds: [hidden, limited, open] };
}

let scene: Awaited<ReturnType<typeof makeScene>>;
beforeAll(async () => {
  scene = await makeScene();
});

const reads = sampled.filter(isRead);

const textOf = ({ body }: Answer): string =>
  typeof body === "string" ? body : JSON.stringify(body);

/** What an operation answers at each place to a full token and to a narrowed one of the same user. */
async function askEverywhere(operation: SampledOperation, kind: keyof typeof NARROWED) {
  const asked = [];
  for (const world of scene.worlds) {
    const { method, path, content, caller } = await requestIn(world, operation);
    const as = operation.path.startsWith("/admin/") ? caller : scene.user;
    const token = await narrowedToken(as, kind);
    const full = await call(method, path, { as, ...content });
    const narrowed = await call(method, path, { token, ...content });
    asked.push({ path, full, narrowed });
  }
  return asked;
}

const NARROWED = {
  "public-only": () => ({ scopes: "public-only,all" }),
  bound: () => ({ repos: [scene.openRepo] }),
};
const tokens = new Map<string, Promise<string>>();
function narrowedToken(user: TestUser, kind: keyof typeof NARROWED): Promise<string> {
  const key = `${user.id} ${kind}`;
  const token = tokens.get(key) ?? make.token(user, NARROWED[kind]());
  tokens.set(key, token);
  return token;
}

type Asked = Awaited<ReturnType<typeof askEverywhere>>;

/** The paths at which a full token sees what a narrowed one does not. */
const narrowedAt = (asked: Asked): string[] =>
  asked
    .filter(({ full }) => full.status < 300)
    .filter(({ full, narrowed }) => narrowed.status >= 400 || textOf(full) !== textOf(narrowed))
    .map(({ path }) => path);

/** How often a sample expects a difference: nowhere, if it says why. */
const someUnless = (reason: string | undefined) =>
  reason === undefined ? expect.arrayContaining([expect.any(String)]) : [];

describe("what is not public", () => {
  // SECURITY: the scope is a promise about every route, the ones about oneself too.
  it.each(byId(reads))(
    "is shown to a full token, and never to a public-only one: %s",
    async (_, operation) => {
      const asked = await askEverywhere(operation, "public-only");
      for (const { path, full, narrowed } of asked) {
        expect(full.status, path).toBeLessThan(500);
        expect(narrowed.status, path).toBeLessThan(500);
        expect(textOf(narrowed), path).not.toContain(scene.word);
      }
      const { sameForPublicOnly } = operation.sample;
      expect(narrowedAt(asked), sameForPublicOnly).toEqual(someUnless(sameForPublicOnly));
    },
  );

  it("is not counted in the total of a list either", async () => {
    const totals = [];
    for (const token of [scene.user.token, await narrowedToken(scene.user, "public-only")]) {
      const { headers } = await call("GET", "/user/starred", { token });
      totals.push(headers.get("X-Total-Count"));
    }
    expect(totals).toEqual(["3", "1"]);
  });
});

describe("another repository", () => {
  it.each(byId(reads))(
    "is shown to a full token, and never to a token bound to one: %s",
    async (_, operation) => {
      const asked = await askEverywhere(operation, "bound");
      for (const { path, full, narrowed } of asked) {
        expect(full.status, path).toBeLessThan(500);
        expect(narrowed.status, path).toBeLessThan(500);
        for (const name of ["repo", "shared"]) {
          expect(textOf(narrowed), path).not.toContain(`${scene.word}${name}`);
        }
      }
      const { sameForBound } = operation.sample;
      expect(narrowedAt(asked), sameForBound).toEqual(someUnless(sameForBound));
    },
  );
});
