import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { flagColumn } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { hookDeliveries, webhookEvents } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { everywhere } from "../../shards/list-from-all.ts";
import { isOfThisDatabase } from "../../shards/of-this-database.ts";
import type { HookOwner } from "./hook-owner.ts";

/**
 * Whether deliveries of the owner's hooks are in several databases: those of an account or of the service are where the
 * repository of their event is.
 */
export const areEverywhere = (ctx: Ctx, { level }: HookOwner): boolean =>
  level !== "repository" && ctx.openShards().size > 0;

/** The context of each database with deliveries of the owner's hooks, the first one first. */
export const deliveryDatabases = (ctx: Ctx, hookOwner: HookOwner): Ctx[] =>
  areEverywhere(ctx, hookOwner) ? everywhere(ctx) : [ctx];

/**
 * The context of the database with a delivery. Its id does not tell it: a delivery moves with the repository of its event, and while that
 * moves it is in two, of which the one counts that the repository is in.
 *
 * Cost: one round trip, to all databases at once; none without shards and for hooks of repositories.
 *
 * @throws Failure `not_found` if there is no such delivery.
 */
export async function inDeliveryDatabase(ctx: Ctx, hookOwner: HookOwner, id: number): Promise<Ctx> {
  if (!areEverywhere(ctx, hookOwner)) return ctx;
  const found = await Promise.all(
    everywhere(ctx).map(async (there) => ({
      there,
      row: (await deliveryOfId(there.db, { id }))[0],
    })),
  );
  const having = found.filter(({ row }) => row !== undefined);
  const chosen = having.find(({ row }) => row?.isOfRepository) ?? having[0];
  if (!chosen) throw notFound();
  return chosen.there;
}

const deliveryOfId = prepare((db, { id }: Params<{ id: number }>) =>
  db
    .select({
      isOfRepository: flagColumn(
        isOfThisDatabase(sql`${webhookEvents.repoId}`),
        "is_of_repository",
      ),
    })
    .from(hookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
    .where(eq(hookDeliveries.id, id)),
);
