import { between, sql } from "drizzle-orm";

import type { Consequence } from "../../src/events/consequence.ts";
import { events } from "../../src/db/schema/index.ts";
import { isDueInOrder } from "../../src/domain/exchange/event-stream/due-events.ts";
import {
  CONSEQUENCE_LEASE_MS,
  runConsequences,
} from "../../src/domain/operations/consequences/run-consequences.ts";
import { db } from "./db.ts";
import { failing, serveFailing } from "./faults.ts";
import type { TestRepo, TestUser } from "./make.ts";
import { type Command, pushBody } from "./push.ts";
import { isConsuming, waitForConsumer } from "./queue-consumer.ts";
import { systemCtx } from "./system.ts";

const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Bindings that work, except that queue messages are dropped, so that nothing runs by itself. */
export const silentBindings = () =>
  failing({ at: Infinity, isDone: false, isDeath: false }).bindings;

/** Runs of one call, at most. */
const RUNS_MAX = 100;
/** The longest wait for jobs that handle events at the same time, in milliseconds. */
const WAIT_MS = 15_000;

/**
 * Draws the consequences of all pending events: also of those that other tests left in the
 * database, which a run with its bounded number of statements may not come past. Where a job of
 * another test has leased some, its end is awaited.
 *
 * @param bindings Those of one run, which may fail.
 * @throws Error if some are due after many runs.
 */
export async function drawConsequences(
  bindings?: Partial<Env>,
  now?: number,
  consequences?: readonly Consequence[],
): Promise<void> {
  let waited = 0;
  for (let runs = 0; runs < RUNS_MAX; runs++) {
    const startedAt = Date.now();
    const at = now ?? startedAt + 1000;
    const ctx = systemCtx(bindings ?? silentBindings(), at, SETTINGS);
    await runConsequences(ctx, consequences);
    if (bindings) return;
    // What a run leaves is due at the time that it had by then.
    const until = at + Date.now() - startedAt;
    // By a job that runs, or by one that has ended: so are those to be tried again soon.
    const isLeased = between(events.consequencesAt, until + 1, at + CONSEQUENCE_LEASE_MS);
    const [due, leased] = await Promise.all([
      // None behind those of its repository that are leased, or that tests have put off.
      db.$count(events, isDueInOrder("consequencesAt", sql`${until}`)),
      db.$count(events, isLeased),
    ]);
    if (leased > 0 && isConsuming() && waited < WAIT_MS) waited += await waitForConsumer(WAIT_MS);
    else if (due === 0) return;
  }
  throw new Error(`events are still due after ${RUNS_MAX} runs`);
}

/** Pushes without a message to the queue: what follows is left to `drawConsequences`. */
export async function pushQuietly(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  commands: readonly Command[],
  pack?: Uint8Array,
): Promise<string> {
  const request = new Request(`http://x/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-git-receive-pack-request",
      Authorization: `token ${as.token}`,
    },
    body: pushBody(commands, pack ? { pack } : {}),
  });
  const answer = await serveFailing(request, silentBindings());
  return new TextDecoder().decode(await answer?.arrayBuffer());
}
