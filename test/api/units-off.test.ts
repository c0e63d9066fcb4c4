import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { type ReadyRequest, requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/** What a repository shows of itself, whatever its units. */
const OF_NO_UNIT = new Set([
  "listForks",
  "repoCheckCollaborator",
  "repoGet",
  "repoGetAssignees",
  "repoListActivityFeeds",
  "repoListCollaborators",
  "repoListEvents",
  "repoListStargazers",
  "repoListSubscribers",
  "repoListTopics",
  "repoNewPinAllowed",
]);
/**
 * Lists of the issues and pull requests that the caller may read, empty for those who read
 * neither.
 */
const OF_ISSUES_AND_PULLS = new Set([
  "issueListIssues",
  "issueGetRepoComments",
  "notifyGetRepoList",
  "repoTrackedTimes",
]);
/** A merge queue removes what can't be merged any more. */
const OF_QUEUES = new Set(["repoGetMergeQueue", "repoGetPullRequestQueueEntry"]);

const reads = sampled.filter(
  ({ id, path, sample, ...operation }) =>
    isRead({ id, path, sample, ...operation }) &&
    path.startsWith("/repos/{owner}/{repo}") &&
    sample.refusal === undefined &&
    // It shows what a write would make, and nobody writes releases that are off.
    id !== "repoGenerateReleaseNotes",
);

const UNITS_OFF = {
  hasCode: false,
  hasIssues: false,
  hasPullRequests: false,
  hasReleases: false,
  hasWiki: false,
  // One must be on; no operation belongs to this one.
  hasProjects: true,
  hasPackages: false,
  hasActions: false,
};

let reader: TestUser;
const requests = new Map<string, ReadyRequest>();
/** The statuses for the reader before the units were switched off. */
const before = new Map<string, number>();

const send = ({ method, path, content }: ReadyRequest, as: TestUser) =>
  call(method, path, { as, ...content });

beforeAll(async () => {
  const world = new World();
  reader = await make.user();
  for (const operation of reads) requests.set(operation.id, await requestIn(world, operation));
  for (const [id, request] of requests) before.set(id, (await send(request, reader)).status);
  await db
    .update(repositories)
    .set(UNITS_OFF)
    .where(eq(repositories.ownerId, (await world.user()).id));
});

/** The request of an operation, which succeeds for its caller. */
const requestOf = ({ id }: SampledOperation): ReadyRequest => requests.get(id) ?? expect.fail(id);

describe("a public repository whose units are switched off", () => {
  const hidden = reads.filter(({ id }) => !OF_NO_UNIT.has(id) && !OF_ISSUES_AND_PULLS.has(id));
  it.each(byId(hidden))("is not found by readers: %s", async (id, operation) => {
    const { status, body } = await send(requestOf(operation), reader);
    // What is for administrators alone is forbidden to readers, whatever the units.
    const refused = { status: 403, body: { message: expect.any(String) } };
    const hint = `the guard of ${id} names a unit, or OF_NO_UNIT above names the operation`;
    expect({ status, body }, hint).toMatchObject(
      before.get(id) === 403 ? refused : { status: 404, body: "" },
    );
  });

  it.each(byId(reads.filter(({ id }) => OF_NO_UNIT.has(id))))(
    "shows what belongs to no unit: %s",
    async (id, operation) => {
      expect((await send(requestOf(operation), reader)).status).toBe(before.get(id));
    },
  );

  it.each(byId(reads.filter(({ id }) => OF_ISSUES_AND_PULLS.has(id))))(
    "lists nothing to readers: %s",
    async (_, operation) => {
      expect(await send(requestOf(operation), reader)).toMatchObject({ status: 200, body: [] });
    },
  );

  it.each(byId(reads.filter(({ id }) => !OF_QUEUES.has(id))))(
    "is visible to its administrators, who can switch them on: %s",
    async (_, operation) => {
      const request = requestOf(operation);
      expect((await send(request, request.caller)).status).toBeLessThan(300);
    },
  );

  it("hides most reads, which readers had before", () => {
    const shown = hidden.filter(({ id }) => (before.get(id) ?? 500) < 300);
    expect(shown.length).toBeGreaterThan(60);
  });
});
