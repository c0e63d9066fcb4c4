import { and, eq, inArray, type SQL } from "drizzle-orm";

import { hooks, type HookLevel, type Repository, type User } from "../../../db/schema/index.ts";

/** What a hook belongs to. Hooks are always looked up together with their owner. */
export type HookOwner =
  | { readonly level: "repository"; readonly repo: Repository }
  | { readonly level: "organization" | "user"; readonly owner: User }
  /** The service: its hooks receive the events of all repositories, or are copied to new repositories. */
  | { readonly level: "site" };

export const SITE_LEVELS = ["system", "default"] as const satisfies HookLevel[];

/** The condition for hooks of an owner. */
export function belongsTo(hookOwner: HookOwner): SQL | undefined {
  switch (hookOwner.level) {
    case "repository":
      return eq(hooks.repoId, hookOwner.repo.id);
    case "organization":
    case "user":
      return and(eq(hooks.ownerId, hookOwner.owner.id), eq(hooks.level, hookOwner.level));
    case "site":
      return inArray(hooks.level, SITE_LEVELS);
    default:
      throw new Error(hookOwner satisfies never);
  }
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
