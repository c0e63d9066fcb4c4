import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { issues, mergeQueueEntries } from "../../../../db/schema/index.ts";
import { encodeText } from "../../../../git/byte-text.ts";
import { branchRef } from "../../../code/branches/find-branch.ts";
import type { RefUpdateRequest } from "../../../code/git/ref-update-request.ts";
import { updateRefs } from "../../../code/git/update-refs.ts";
import { queueBranchPrefix } from "../../../code/protections/merge-queue-rule.ts";
import { queueRefOf } from "../../pull/open-pull.ts";
import type { OpenQueue } from "./queued-pull.ts";

const PULL_REF = /^refs\/pull\/(\d+)\/queue$/;

/**
 * Deletes the branches with results of a queue, and the refs of pull requests that are in no queue
 * of the repository any more. Finds them by their names, so that nothing is left of a job that
 * ended early.
 *
 * Cost: one query if there are such refs, and two calls of the Durable Object.
 */
export async function removeQueueRefs(ctx: Ctx, { queue, repo, state }: OpenQueue): Promise<void> {
  const prefix = encodeText(branchRef(queueBranchPrefix(queue.branch)));
  const ofBatch = state.refs.filter(
    ({ name }) => name.startsWith(prefix) && /^[0-9a-f]{12}$/.test(name.slice(prefix.length)),
  );
  const ofPulls = state.refs.flatMap(({ name, oid }) => {
    const [, number] = PULL_REF.exec(name) ?? [];
    return number === undefined ? [] : [{ number: Number(number), oid }];
  });
  const queued = new Set(await findQueued(ctx, repo.row.id, ofPulls));
  const updates: RefUpdateRequest[] = [
    ...ofBatch.map(({ name, oid }) => ({
      ref: branchRef(`${queueBranchPrefix(queue.branch)}${name.slice(prefix.length)}`),
      from: oid,
    })),
    ...ofPulls
      .filter(({ number }) => !queued.has(number))
      .map(({ number, oid }) => ({ ref: queueRefOf(number), from: oid })),
  ];
  if (updates.length === 0) return;
  const repository = await ctx.git.repository(repo.row).openByBlock(state);
  await updateRefs(ctx, repo, { state, repository }, updates, { cause: "service" });
}

/** The numbers of those pull requests that are in a queue. */
async function findQueued(
  { db }: Ctx,
  repoId: number,
  some: readonly { readonly number: number }[],
): Promise<number[]> {
  if (some.length === 0) return [];
  const numbers = JSON.stringify(some.map(({ number }) => number));
  const rows = await db
    .select({ number: issues.number })
    .from(mergeQueueEntries)
    .innerJoin(issues, eq(issues.id, mergeQueueEntries.issueId))
    .where(
      and(
        eq(issues.repoId, repoId),
        sql`${issues.number} in (select value from json_each(${numbers}))`,
      ),
    );
  return rows.map(({ number }) => number);
}
