import { and, eq, ne, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { repositories, type Runner, runners } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type ActionsLevel, levelArgument } from "../level.ts";
import { findRunner } from "./find-runner.ts";
import type { RunnerWithWork } from "./runner-state.ts";
import { isSeenAt } from "./select-runners.ts";

/**
 * Decides whether a runner gets jobs. A job that runs on it goes on.
 *
 * @throws Failure `not_found` as `findRunner`.
 */
export async function setRunnerDisabled(
  ctx: Ctx,
  level: ActionsLevel,
  id: number,
  isDisabled: boolean,
): Promise<RunnerWithWork> {
  const runner = await findRunner(ctx, level, id);
  await batch(ctx.db, {
    edited: ctx.db
      .update(runners)
      .set({ isDisabled })
      .where(and(eq(runners.id, id), ne(runners.isDisabled, isDisabled))),
    audit: recordAuditIfChanged(ctx, {
      kind: "runner.edited",
      ...ownerOf(runner),
      target: runner.name,
      details: { runnerId: id, isDisabled },
    }),
  });
  return { ...runner, isDisabled };
}

/**
 * Deletes a runner. Its token ends at once; a job that runs on it fails with the next run of the
 * schedule.
 *
 * @throws Failure `not_found` as `findRunner`.
 */
export async function deleteRunner(ctx: Ctx, level: ActionsLevel, id: number): Promise<void> {
  const runner = await findRunner(ctx, level, id);
  const { deleted } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(runners)
      .where(and(eq(runners.id, id), isSeenAt(levelArgument(level))))
      .returning({ id: runners.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "runner.deleted",
      ...ownerOf(runner),
      target: runner.name,
      details: { runnerId: id },
    }),
  });
  if (deleted.length === 0) throw notFound();
}

/** To whom the entry of the audit log belongs: an administrator changes runners of any level. */
const ownerOf = ({ repoId, ownerId }: Runner) =>
  repoId === null
    ? { ownerId: ownerId ?? 0 }
    : {
        ownerId: sql<number>`(
          select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repoId}
        )`,
        repoId,
      };
