import { and, isNotNull, lte } from "drizzle-orm";

import { events } from "../../src/db/schema/index.ts";
import { runConsequences } from "../../src/domain/consequences/run-consequences.ts";
import { db } from "./db.ts";
import { failing, serveFailing } from "./faults.ts";
import type { TestRepo, TestUser } from "./make.ts";
import { type Command, pushBody } from "./push.ts";
import { systemCtx } from "./system.ts";

const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Bindings that work, except that queue messages are dropped, so that nothing runs by itself. */
export const silentBindings = () =>
  failing({ at: Infinity, isDone: false, isDeath: false }).bindings;

/** Runs that draw the consequences of what other tests have left, at most. */
const RUNS_MAX = 100;

/**
 * Draws the consequences of all pending events: also of those that other tests left in the database, which a run with its
 * bounded number of statements may not come past.
 *
 * @param bindings Those of one run, which may fail.
 */
export async function drawConsequences(
  bindings?: Partial<Env>,
  now = Date.now() + 1000,
): Promise<void> {
  const run = (): Promise<void> =>
    runConsequences(systemCtx(bindings ?? silentBindings(), now, SETTINGS));
  await run();
  if (bindings) return;
  const isDue = and(isNotNull(events.consequencesAt), lte(events.consequencesAt, now));
  for (let runs = 1; runs < RUNS_MAX && (await db.$count(events, isDue)) > 0; runs++) await run();
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
