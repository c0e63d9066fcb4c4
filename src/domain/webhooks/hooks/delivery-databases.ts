import type { Ctx } from "../../../context.ts";
import { notFound } from "../../../lib/failure.ts";
import { everywhere } from "../../shards/list-from-all.ts";
import { inDatabase } from "../../shards/in-database.ts";
import { IDS_PER_SHARD } from "../../shards/set-up-shard.ts";
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
 * The context of the database that gave a delivery its id.
 *
 * @throws Failure `not_found` if there is no such database.
 */
export function inDeliveryDatabase(ctx: Ctx, hookOwner: HookOwner, id: number): Ctx {
  if (!areEverywhere(ctx, hookOwner)) return ctx;
  const shard = Math.floor(id / IDS_PER_SHARD);
  if (shard !== 0 && !ctx.openShards().has(shard)) throw notFound();
  return inDatabase(ctx, shard);
}
