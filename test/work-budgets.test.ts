import { desc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events } from "../src/db/schema/index.ts";
import { dispatchEvents } from "../src/domain/webhooks/dispatch/dispatch-events.ts";
import { runConsequences } from "../src/domain/consequences/run-consequences.ts";
import { type Answer, call, type Sending, visit } from "./support/call.ts";
import { drawConsequences, silentBindings } from "./support/consequences.ts";
import { countJob, countWork, type Work } from "./support/count-work.ts";
import { db } from "./support/db.ts";
import { make, type TestRepo, type TestUser } from "./support/make.ts";
import { makeCommit, push } from "./support/push.ts";
import { withoutQueueConsumer } from "./support/queue-consumer.ts";
import { systemCtx } from "./support/system.ts";

// What a usual request of each door makes and does at most, so that it can't become more unseen. The API's operations have
// test/api/work-budgets.test.ts. D1's client makes a list of headers, with a header, and parses a URL for each call. Lower a
// bound when its count has fallen.

/** What is not listed is not done. */
const budget = (some: Partial<Work>): Work => ({
  responses: 0,
  headerLists: 0,
  headerWrites: 0,
  urls: 0,
  digests: 0,
  deferred: 0,
  logLines: 0,
  sqlBuilds: 0,
  ...some,
});

/** What was more than its bound. */
const overOf = (work: Work, max: Work) =>
  (Object.keys(max) as (keyof Work)[]).filter((kind) => work[kind] > max[kind]);

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;

/** A command of git's protocol version 2. */
const command = (name: string, args: readonly string[]): Sending => ({
  headers: { "Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2" },
  body: `${pkt(`command=${name}\n`)}0001${args.map(pkt).join("")}0000`,
});

interface World {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  /** Of the branch `main`. */
  readonly oid: string;
}

async function makeWorld(): Promise<World> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const { oid, pack } = makeCommit(`${repo.name} first`);
  expect((await push(owner, repo, oid, pack)).status).toBe(200);
  const path = filePath(owner);
  expect((await visit("PUT", path, { as: owner, body: "a file" })).status).toBe(201);
  return { owner, repo, oid };
}

const filePath = ({ name }: TestUser, version = "1.0"): string =>
  `/api/packages/${name}/generic/tool/${version}/tool.txt`;

const gitPath = ({ owner, name }: TestRepo): string => `/${owner}/${name}.git/git-upload-pack`;

/** Each is sent twice: what is read once and kept, or prepared once, is there the second time. */
const REQUESTS: Readonly<
  Record<string, { send: (world: World, turn: number) => Promise<Answer>; max: Work }>
> = {
  "git ls-refs": {
    send: ({ owner, repo }) =>
      visit("POST", gitPath(repo), { as: owner, ...command("ls-refs", []) }),
    max: budget({
      responses: 1,
      headerLists: 1,
      headerWrites: 5,
      urls: 2,
      digests: 1,
      logLines: 1,
    }),
  },
  "git fetch": {
    send: ({ owner, repo, oid }) =>
      visit("POST", gitPath(repo), {
        as: owner,
        ...command("fetch", [`want ${oid}\n`, "done\n"]),
      }),
    max: budget({
      responses: 1,
      headerLists: 1,
      headerWrites: 5,
      urls: 2,
      digests: 1,
      logLines: 1,
    }),
  },
  "git push": {
    send: ({ owner, repo }, turn) => {
      const { oid, pack } = makeCommit(`${repo.name} ${turn}`);
      return push(owner, repo, oid, pack, `refs/heads/new-${turn}`);
    },
    max: budget({
      responses: 3,
      headerLists: 2,
      headerWrites: 6,
      urls: 3,
      digests: 1,
      deferred: 3,
      logLines: 1,
      sqlBuilds: 3,
    }),
  },
  "package read": {
    send: ({ owner }) => visit("GET", filePath(owner), { as: owner }),
    max: budget({
      responses: 1,
      headerLists: 2,
      headerWrites: 5,
      urls: 2,
      digests: 1,
      deferred: 1,
      logLines: 1,
      sqlBuilds: 2,
    }),
  },
  "package publication": {
    send: ({ owner }, turn) =>
      visit("PUT", filePath(owner, `2.${turn}`), { as: owner, body: `version ${turn}` }),
    max: budget({
      responses: 1,
      headerLists: 3,
      headerWrites: 8,
      urls: 3,
      digests: 1,
      deferred: 1,
      logLines: 1,
      sqlBuilds: 10,
    }),
  },
  "feed of a repository": {
    send: ({ repo }) => visit("GET", `/${repo.owner}/${repo.name}.rss`),
    max: budget({
      responses: 1,
      headerLists: 3,
      headerWrites: 8,
      urls: 3,
      digests: 1,
      logLines: 1,
    }),
  },
};

describe("the work of a request", () => {
  it.each(Object.entries(REQUESTS))("is no more than its budget: %s", async (_, { send, max }) => {
    const world = await makeWorld();
    const first = await send(world, 1);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    const { result, work } = await countWork(() => send(world, 2));
    expect(result.status).toBe(first.status);
    expect(overOf(work, max), JSON.stringify(work)).toEqual([]);
  });
});

/** The jobs that follow from the event of a request, and when it is due for each. */
const JOBS = {
  dispatch: {
    column: "dispatchAt",
    run: () => dispatchEvents(systemCtx(silentBindings(), Date.now())),
    max: budget({ headerLists: 1, headerWrites: 1, urls: 1 }),
  },
  consequences: {
    column: "consequencesAt",
    run: () => runConsequences(systemCtx(silentBindings(), Date.now())),
    max: budget({ headerLists: 4, headerWrites: 4, urls: 4, sqlBuilds: 2 }),
  },
} as const;

describe("the work of the jobs behind an issue that is created", () => {
  it.each(Object.entries(JOBS))("is no more than its budget: %s", async (_, job) => {
    const { owner, repo } = await makeWorld();
    const path = `/repos/${repo.owner}/${repo.name}/issues`;
    const create = async () => {
      const { status } = await call("POST", path, { as: owner, json: { title: "One" } });
      expect(status).toBe(201);
    };
    const readDue = async () => {
      const ofRepo = db.select().from(events).where(eq(events.repoId, repo.id));
      const [event] = await ofRepo.orderBy(desc(events.id)).limit(1);
      return event?.[job.column];
    };
    await withoutQueueConsumer(async () => {
      // Events of other tests are done, and that of the first issue has prepared the queries.
      await create();
      await JOBS.dispatch.run();
      await drawConsequences();
      await create();
      expect(await readDue()).toEqual(expect.any(Number));
      const work = await countJob(job.run);
      expect(await readDue()).toBeNull();
      expect(overOf(work, job.max), JSON.stringify(work)).toEqual([]);
    });
  });
});
