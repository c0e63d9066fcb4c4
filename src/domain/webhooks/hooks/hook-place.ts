import { and, eq, inArray, type SQL } from "drizzle-orm";

import { hooks, type HookLevel, type Repository, type User } from "../../../db/schema/index.ts";

/** Where hooks are: every hook is found together with its place only. */
export type HookPlace =
  | { readonly level: "repository"; readonly repo: Repository }
  | { readonly level: "organization" | "user"; readonly owner: User }
  /** Those of the service, which fire for all repositories or are copied to new ones. */
  | { readonly level: "site" };

export const SITE_LEVELS = ["system", "default"] as const satisfies HookLevel[];

/** Whether a hook is at a place. */
export function isAt(place: HookPlace): SQL | undefined {
  switch (place.level) {
    case "repository":
      return eq(hooks.repoId, place.repo.id);
    case "organization":
    case "user":
      return and(eq(hooks.ownerId, place.owner.id), eq(hooks.level, place.level));
    case "site":
      return inArray(hooks.level, SITE_LEVELS);
    default:
      throw new Error(place satisfies never);
  }
}

/** To whom an event about a hook belongs. */
export function eventPlace(place: HookPlace): { ownerId: number; repoId?: number } {
  switch (place.level) {
    case "repository":
      return { ownerId: place.repo.ownerId, repoId: place.repo.id };
    case "organization":
    case "user":
      return { ownerId: place.owner.id };
    case "site":
      return { ownerId: 0 };
    default:
      throw new Error(place satisfies never);
  }
}
