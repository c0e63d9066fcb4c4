import { asc, count } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { runners } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { type ActionsLevel, type LevelArgument, levelArgument } from "../level.ts";
import type { RunnerWithWork } from "./runner-state.ts";
import { isSeenAt, selectRunners } from "./select-runners.ts";

/** Lists the runners of a level, oldest first; of the service, those of all levels. */
export const listRunners = async (
  { db }: Ctx,
  level: ActionsLevel,
  { size, offset }: Slice,
): Promise<Listed<RunnerWithWork>> =>
  toListedPage(await batch(db, runnersOfLevel(db, { level: levelArgument(level), size, offset })));

const runnersOfLevel = prepareAll((db, p: Params<{ level: LevelArgument } & Slice>) => ({
  rows: selectRunners(db)
    .where(isSeenAt(p.level))
    .orderBy(asc(runners.id))
    .limit(p.size)
    .offset(p.offset),
  counted: db
    .select({ total: count().as("total") })
    .from(runners)
    .where(isSeenAt(p.level)),
}));
