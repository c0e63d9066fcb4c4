import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { runners } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { type ActionsLevel, type LevelArgument, levelArgument } from "../level.ts";
import type { RunnerWithWork } from "./runner-state.ts";
import { isSeenAt, selectRunners } from "./select-runners.ts";

/**
 * Finds a runner by id.
 *
 * @throws Failure `not_found` also for a runner of another level; administrators of the service
 *   find those of every level.
 */
export async function findRunner(
  { db }: Ctx,
  level: ActionsLevel,
  id: number,
): Promise<RunnerWithWork> {
  const [runner] = await runnerOfLevel(db, { id, level: levelArgument(level) });
  if (!runner) throw notFound();
  return runner;
}

const runnerOfLevel = prepare((db, p: Params<{ id: number; level: LevelArgument }>) =>
  selectRunners(db).where(and(eq(runners.id, p.id), isSeenAt(p.level))),
);
