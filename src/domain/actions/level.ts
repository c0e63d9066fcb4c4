import { and, eq, isNull, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { Params } from "../../db/prepared.ts";
import type { Repository, User } from "../../db/schema/index.ts";

/** To whom a runner, a secret or a variable belongs: its jobs are those of the level. */
export type ActionsLevel =
  | { readonly level: "repository"; readonly repo: Repository }
  /** A user or an organization, with all their repositories. */
  | { readonly level: "owner"; readonly owner: User }
  | { readonly level: "service" };

/** A level as an argument of a query. */
export type LevelArgument =
  | { readonly repoId: number }
  | { readonly ownerId: number }
  | { readonly isService: true };

export function levelArgument(level: ActionsLevel): LevelArgument {
  switch (level.level) {
    case "repository":
      return { repoId: level.repo.id };
    case "owner":
      return { ownerId: level.owner.id };
    case "service":
      return { isService: true };
    default:
      throw new Error(level satisfies never);
  }
}

/** The columns of a table whose rows belong to a level. */
export interface LevelColumns {
  readonly repoId: SQLiteColumn;
  readonly ownerId: SQLiteColumn;
}

/** The condition for rows that belong to exactly this level. */
export function isAtLevel(
  table: LevelColumns,
  level: LevelArgument | Params<LevelArgument>,
): SQL | undefined {
  if ("repoId" in level) return eq(table.repoId, level.repoId);
  if ("ownerId" in level) return eq(table.ownerId, level.ownerId);
  return and(isNull(table.repoId), isNull(table.ownerId));
}

/** The values of the columns. */
export const levelValues = (level: ActionsLevel) => ({
  repoId: level.level === "repository" ? level.repo.id : null,
  ownerId: level.level === "owner" ? level.owner.id : null,
});

/** The account and the repository of an entry of the audit log about something at a level. */
export function auditOwner(level: ActionsLevel): { ownerId: number; repoId?: number } {
  switch (level.level) {
    case "repository":
      return { ownerId: level.repo.ownerId, repoId: level.repo.id };
    case "owner":
      return { ownerId: level.owner.id };
    case "service":
      return { ownerId: 0 };
    default:
      throw new Error(level satisfies never);
  }
}
