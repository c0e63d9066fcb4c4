import { beforeAll, describe, expect, it } from "vitest";

import { follows, organizationMembers, stars, watches } from "../../src/db/schema/index.ts";
import { type Answer, call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/** Creates a user with non-public resources, whose names all begin with the same word. */
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
  // Repositories of a limited account are hidden as well; the user collaborates on one.
  const limited = new World({ owner: friend, repo: { name: `${word}shared` } });
  const shared = await limited.repo();
  await make.collaborator(shared, user, 3);
  // Public resources that refer to non-public users and repositories.
  const publicWorld = new World({ owner: user });
  const [publicRepo, publicOrg] = [await publicWorld.repo(), await publicWorld.org()];
  await make.member(publicOrg, await make.team(publicOrg), friend);
  const createdAt = 1000;
  const toggles = [
    { userId: user.id, repoId: shared.id, visibility: "limited" as const, createdAt },
    { userId: friend.id, repoId: publicRepo.id, visibility: "public" as const, createdAt },
  ];
  await db.batch([
    db.insert(stars).values(toggles),
    db.insert(watches).values(toggles),
    db.insert(follows).values({ followerId: friend.id, followedId: user.id, createdAt }),
    db.insert(organizationMembers).values({ orgId: org.id, userId: friend.id }),
  ]);
  for (const world of [hidden, publicWorld]) {
    await world.star();
    await world.watch();
  }
  await make.token(user, { repos: [repo] });
  return { word, user, publicRepo, worlds: [hidden, limited, publicWorld] };
}

let scene: Awaited<ReturnType<typeof makeScene>>;
beforeAll(async () => {
  scene = await makeScene();
});

/** Reads whose samples are answered: where nobody gets an answer, no token gets less. */
const reads = sampled.filter((each) => isRead(each) && !each.sample.refusal);

const textOf = ({ body }: Answer): string =>
  typeof body === "string" ? body : JSON.stringify(body);

/**
 * The responses of an operation in each world to a full token and to a narrowed token of the same
 * user.
 */
async function callInEveryWorld(operation: SampledOperation, kind: keyof typeof NARROWED) {
  const responses = [];
  for (const world of scene.worlds) {
    const { method, path, content, caller } = await requestIn(world, operation);
    const as = operation.path.startsWith("/admin/") ? caller : scene.user;
    const token = await narrowedToken(as, kind);
    const full = await call(method, path, { as, ...content });
    const narrowed = await call(method, path, { token, ...content });
    responses.push({ path, full, narrowed });
  }
  return responses;
}

const NARROWED = {
  "public-only": () => ({ scopes: "public-only,all" }),
  bound: () => ({ repos: [scene.publicRepo] }),
};
const tokens = new Map<string, Promise<string>>();
function narrowedToken(user: TestUser, kind: keyof typeof NARROWED): Promise<string> {
  const key = `${user.id} ${kind}`;
  const token = tokens.get(key) ?? make.token(user, NARROWED[kind]());
  tokens.set(key, token);
  return token;
}

type Responses = Awaited<ReturnType<typeof callInEveryWorld>>;

/** The paths at which the responses to a full and to a narrowed token differ. */
const differingPaths = (responses: Responses): string[] =>
  responses
    .filter(({ full }) => full.status < 300)
    .filter(({ full, narrowed }) => narrowed.status >= 400 || textOf(full) !== textOf(narrowed))
    .map(({ path }) => path);

/** Expects at least one difference, or none if the sample states a reason. */
const someUnless = (reason: string | undefined) =>
  reason === undefined ? expect.arrayContaining([expect.any(String)]) : [];

/**
 * The total of the user's starred repositories: what a token counts must not depend on what was
 * asked before.
 */
async function starredTotal(token: string): Promise<string | null> {
  return (await call("GET", "/user/starred", { token })).headers.get("X-Total-Count");
}

describe("a non-public resource", () => {
  // SECURITY: the public-only scope applies to every route, including those about the caller.
  it.each(byId(reads))(
    "is shown to a full token, and never to a public-only one: %s",
    async (_, operation) => {
      const responses = await callInEveryWorld(operation, "public-only");
      for (const { path, full, narrowed } of responses) {
        expect(full.status, path).toBeLessThan(500);
        expect(narrowed.status, path).toBeLessThan(500);
        expect(textOf(narrowed), path).not.toContain(scene.word);
      }
      const { sameForPublicOnly } = operation.sample;
      expect(differingPaths(responses), sameForPublicOnly).toEqual(someUnless(sameForPublicOnly));
      expect(await starredTotal(await narrowedToken(scene.user, "public-only"))).toBe("1");
    },
  );

  it("is counted in the total of a list for a full token only", async () => {
    expect(await starredTotal(scene.user.token)).toBe("3");
  });
});

describe("a repository outside a bound token", () => {
  it.each(byId(reads))(
    "is shown to a full token, and never to a token bound to another: %s",
    async (_, operation) => {
      const responses = await callInEveryWorld(operation, "bound");
      for (const { path, full, narrowed } of responses) {
        expect(full.status, path).toBeLessThan(500);
        expect(narrowed.status, path).toBeLessThan(500);
        for (const name of ["repo", "shared"]) {
          expect(textOf(narrowed), path).not.toContain(`${scene.word}${name}`);
        }
      }
      const { sameForBound } = operation.sample;
      expect(differingPaths(responses), sameForBound).toEqual(someUnless(sameForBound));
      expect(await starredTotal(await narrowedToken(scene.user, "bound"))).toBe("1");
    },
  );
});
