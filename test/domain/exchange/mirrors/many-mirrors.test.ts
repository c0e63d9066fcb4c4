import { eq } from "drizzle-orm";
import { expect, it } from "vitest";

import { pullMirrors, repositories } from "../../../../src/db/schema/index.ts";
import { sendDueMirrors } from "../../../../src/domain/exchange/mirrors/send-due-mirrors.ts";
import { runRemoteJob } from "../../../../src/jobs/remote-jobs.ts";
import type { RemoteJob } from "../../../../src/storage/remote-jobs.ts";
import { db } from "../../../support/db.ts";
import { planOf } from "../../../support/full-scans.ts";
import { make, type TestRepo } from "../../../support/make.ts";
import { makePullMirror } from "../../../support/mirror-rows.ts";
import { commitsOn, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";
import { watchedDatabase } from "../../../support/watched-database.ts";

const MIRRORS = 60;
/** Messages that a consumer has at a time, as in wrangler.toml. */
const BATCH = 1;
/** Consumers that work at the same time. */
const CONSUMERS = 20;

/**
 * A run of the schedule: what it queued, in batches of the platform's size, and the statements that
 * it took.
 */
async function runSchedule(): Promise<{ batches: RemoteJob[][]; statements: string[] }> {
  const batches: RemoteJob[][] = [];
  const statements: string[] = [];
  const queue = {
    sendBatch: (messages: Iterable<{ body: RemoteJob }>) => {
      const jobs = [...messages].map(({ body }) => body);
      for (let at = 0; at < jobs.length; at += BATCH) batches.push(jobs.slice(at, at + BATCH));
      return Promise.resolve();
    },
  } as unknown as Env["REMOTE_JOBS"];
  const DB = watchedDatabase({ onPrepare: (statement) => statements.push(statement) });
  await sendDueMirrors(systemCtx({ REMOTE_JOBS: queue, DB }, Date.now()));
  return { batches, statements };
}

/**
 * Does the jobs as consumers of the queue do: several batches at a time, the jobs of one together.
 */
async function consume(batches: readonly RemoteJob[][]): Promise<void> {
  const waiting = [...batches];
  const consumer = async (): Promise<void> => {
    for (let jobs = waiting.shift(); jobs; jobs = waiting.shift()) {
      await Promise.all(jobs.map((job) => runRemoteJob(systemCtx({}, Date.now()), job)));
    }
  };
  await Promise.all(Array.from({ length: CONSUMERS }, consumer));
}

it(
  `synchronizes ${MIRRORS} mirrors that are due in the same minute, each once`,
  { timeout: 180_000 },
  async () => {
    const remote = await makeRemote();
    await remote.git(["fast-import", "--quiet"], commitsOn("main", 3));
    const owner = await make.user();
    const dueAt = Date.now() - 1;
    const repos: TestRepo[] = [];
    for (let at = 0; at < MIRRORS; at++) {
      const repo = await make.repo(owner);
      await makePullMirror(repo, { address: remote.url(), dueAt });
      repos.push(repo);
    }
    const ids = new Set(repos.map(({ id }) => id));
    const isOurs = (job: RemoteJob): boolean => job.kind === "pull-mirror" && ids.has(job.repoId);
    const ours = (batches: readonly RemoteJob[][]): RemoteJob[][] =>
      batches.map((jobs) => jobs.filter(isOurs)).filter((jobs) => jobs.length > 0);

    const first = await runSchedule();
    expect(ours(first.batches).flat()).toHaveLength(MIRRORS);
    // One for each kind of mirror, however many are due; each reads those that are due by an index.
    const plans = await Promise.all(first.statements.map(planOf));
    expect(plans.map((plan) => plan.join())).toEqual([
      expect.stringMatching(/^SEARCH pull_mirrors USING INDEX pull_mirrors_due [^,]*$/),
      expect.stringMatching(/^SEARCH push_mirrors USING INDEX push_mirrors_due [^,]*$/),
    ]);

    // The schedule runs again before any of them is done, so that each is queued twice.
    const second = await runSchedule();
    await consume([...ours(first.batches), ...ours(second.batches)]);

    const rows = await db
      .select({ mirror: pullMirrors })
      .from(pullMirrors)
      .innerJoin(repositories, eq(repositories.id, pullMirrors.repoId))
      .where(eq(repositories.ownerId, owner.id));
    expect(rows).toHaveLength(MIRRORS);
    const failures = rows.map(({ mirror }) => mirror.lastError).filter((error) => error !== "");
    expect(failures).toEqual([]);
    for (const { mirror } of rows) {
      expect(mirror).toMatchObject({ state: "ok", leasedUntil: 0, syncedAt: expect.any(Number) });
      expect(mirror.dueAt).toBeGreaterThan(Date.now());
    }
    const journal = await remote.journal();
    const began = journal.filter(({ path }) => path.includes("/info/refs"));
    expect(began).toHaveLength(MIRRORS);
    const third = await runSchedule();
    expect(ours(third.batches)).toEqual([]);
  },
);
