import { and, asc, count, inArray } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import { hooks, type Hook, type HookLevel } from "../../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../../slice.ts";
import {
  type HookOwner,
  type HookOwnerArgument,
  hookOwnerArgument,
  isHookOf,
} from "./hook-owner.ts";

/**
 * Lists the hooks of an owner, oldest first.
 *
 * @param levels Restricts the list to hooks of these levels.
 */
export async function listHooks(
  { db }: Ctx,
  hookOwner: HookOwner,
  { size, offset }: Slice,
  levels?: readonly HookLevel[],
): Promise<Listed<Hook>> {
  const listed = { owner: hookOwnerArgument(hookOwner), levels };
  return toListedPage(
    await batch(db, {
      rows: hooksOfOwner(db, { ...listed, size, offset }),
      counted: hookCount(db, listed),
    }),
  );
}

interface HookFilter {
  readonly owner: HookOwnerArgument;
  readonly levels: readonly HookLevel[] | undefined;
}

const isListed = ({ owner, levels }: Params<HookFilter>) =>
  and(isHookOf(owner), levels && inArray(hooks.level, levels));

const hooksOfOwner = prepare((db, p: Params<HookFilter & Slice>) =>
  db.select().from(hooks).where(isListed(p)).orderBy(asc(hooks.id)).limit(p.size).offset(p.offset),
);

const hookCount = prepare((db, p: Params<HookFilter>) =>
  db
    .select({ total: count().as("total") })
    .from(hooks)
    .where(isListed(p)),
);
