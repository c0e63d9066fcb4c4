import { and, eq, inArray, type SQL } from "drizzle-orm";

import type { Params } from "../../../../db/prepared.ts";
import { hooks, type HookLevel, type Repository, type User } from "../../../../db/schema/index.ts";

/** The owner of a hook. Hooks are always looked up together with their owner. */
export type HookOwner =
  | { readonly level: "repository"; readonly repo: Repository }
  | { readonly level: "organization" | "user"; readonly owner: User }
  /**
   * The service: its hooks receive the events of all repositories, or are copied to new
   * repositories.
   */
  | { readonly level: "site" };

export const SITE_LEVELS = ["system", "default"] as const satisfies HookLevel[];

/** An owner of hooks as an argument of a query. */
export type HookOwnerArgument =
  | { readonly repoId: number }
  | { readonly ownerId: number; readonly level: "organization" | "user" }
  | { readonly isSite: true };

export function hookOwnerArgument(hookOwner: HookOwner): HookOwnerArgument {
  switch (hookOwner.level) {
    case "repository":
      return { repoId: hookOwner.repo.id };
    case "organization":
    case "user":
      return { ownerId: hookOwner.owner.id, level: hookOwner.level };
    case "site":
      return { isSite: true };
    default:
      throw new Error(hookOwner satisfies never);
  }
}

/** The condition for hooks of an owner. */
export const belongsTo = (hookOwner: HookOwner): SQL | undefined =>
  isHookOf(hookOwnerArgument(hookOwner));

/** The same for an owner that is an argument. */
export function isHookOf(owner: HookOwnerArgument | Params<HookOwnerArgument>): SQL | undefined {
  if ("repoId" in owner) return eq(hooks.repoId, owner.repoId);
  if ("isSite" in owner) return inArray(hooks.level, SITE_LEVELS);
  return and(eq(hooks.ownerId, owner.ownerId), eq(hooks.level, owner.level));
}

/** The owner and repository of an event about a hook. */
export function eventOwner(hookOwner: HookOwner): { ownerId: number; repoId?: number } {
  switch (hookOwner.level) {
    case "repository":
      return { ownerId: hookOwner.repo.ownerId, repoId: hookOwner.repo.id };
    case "organization":
    case "user":
      return { ownerId: hookOwner.owner.id };
    case "site":
      return { ownerId: 0 };
    default:
      throw new Error(hookOwner satisfies never);
  }
}
