import { getTableColumns } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";

import { lazy } from "../../lib/lazy.ts";
import {
  accessTokenRepositories,
  blocks,
  branchProtections,
  collaborations,
  type Hook,
  hooks,
  labels,
  organizationMembers,
  repositories,
  type Repository,
  repositoryRedirects,
  repositoryTransfers,
  teamMembers,
  teamRepositories,
  teams,
  userRedirects,
  users,
} from "../schema/index.ts";

/**
 * Columns of `repositories` that change with a repository's own data, in its batch: in the row of its shard. The first database
 * has a late copy of them, which lists and the search show, and so have other shards that have the row.
 *
 * `updatedAt` changes in both, and the later time wins.
 */
export const SHARD_OWNED = [
  "isEmpty",
  "defaultBranch",
  "language",
  "licenses",
  "isMirror",
  "origin",
  "sizeBytes",
  "lfsSizeBytes",
  "lastIssueNumber",
  "openIssueCount",
  "closedIssueCount",
  "openPullCount",
  "closedPullCount",
  "releaseCount",
  "updatedAt",
] as const satisfies readonly (keyof Repository)[];

/** A table of the first database of which shards have copies. Columns by their names in SQL. */
export interface CopiedTable {
  readonly name: string;
  readonly key: readonly string[];
  /** Columns that are copied, the key included. */
  readonly columns: readonly string[];
  /**
   * Those of them that the shard of a row owns: it gets the first value, and no later one. The column that says which shard that
   * is has the name `shard`.
   */
  readonly owned: readonly string[];
  /** Those of them whose change is entered into the log. The others are copied when one of these changes. */
  readonly logged: readonly string[];
  /** Columns that a shard may not write, except to copy them. */
  readonly refused: readonly string[];
  /** Owned columns whose change is entered into the log for other shards than the row's. */
  readonly loggedElsewhere: readonly string[];
  /** Tables that its columns refer to by `id`: what a copied row refers to is copied with it. */
  readonly references: readonly { readonly column: string; readonly to: string }[];
  /** The column with the repository that a row is about: only shards that have it get the row. */
  readonly repository: string | undefined;
  /** The column whose value makes a row a repository's own data: only rows without one are copied. */
  readonly ownBy: string | undefined;
  /** Columns of the shard that get their first values again when the time of the original's last edit changes. */
  readonly resetByEdit: readonly string[];
  /** A column whose values are unique together with others: rows that exchange them give theirs up first. */
  readonly unique: { readonly column: string; readonly within: readonly string[] } | undefined;
}

interface Options<T extends SQLiteTable> {
  repository?: keyof T["$inferSelect"] & string;
  unique?: {
    column: keyof T["$inferSelect"] & string;
    within: (keyof T["$inferSelect"] & string)[];
  };
  /** Columns that a shard has no copy of, since it has no need of them. */
  notCopied?: (keyof T["$inferSelect"] & string)[];
  /** Columns that change too often to be copied at each change. */
  notLogged?: (keyof T["$inferSelect"] & string)[];
  owned?: readonly (keyof T["$inferSelect"] & string)[];
  loggedElsewhere?: (keyof T["$inferSelect"] & string)[];
  /** Columns that a shard may write as well, copied or not. */
  shared?: (keyof T["$inferSelect"] & string)[];
  ownBy?: keyof T["$inferSelect"] & string;
  resetByEdit?: (keyof T["$inferSelect"] & string)[];
}

/** @param parents The copied tables that it refers to. */
function copied<T extends SQLiteTable>(
  table: T,
  parents: readonly SQLiteTable[],
  options: Options<T> = {},
): CopiedTable {
  const { repository, unique, notCopied = [], owned = [], shared = [] } = options;
  const { name, primaryKeys, columns: all, foreignKeys } = getTableConfig(table);
  const keyColumns = primaryKeys[0]?.columns ?? all.filter(({ primary }) => primary);
  const { notLogged = [], loggedElsewhere = [] } = options;
  const isUnlogged = (column: string): boolean =>
    [...owned, ...notLogged].some((each) => each === column);
  const names = Object.keys(getTableColumns(table));
  const columns = names.filter((each) => !(notCopied as string[]).includes(each));
  const references = foreignKeys.flatMap((key) => {
    const { columns: from, foreignTable } = key.reference();
    const isCopied = parents.includes(foreignTable);
    return isCopied
      ? from.map((column) => ({
          column: toSnakeCase(column.name),
          to: getTableConfig(foreignTable).name,
        }))
      : [];
  });
  return {
    name,
    key: keyColumns.map((column) => toSnakeCase(column.name)),
    columns: columns.map(toSnakeCase),
    owned: owned.map(toSnakeCase),
    logged: columns.filter((each) => !isUnlogged(each)).map(toSnakeCase),
    loggedElsewhere: loggedElsewhere.map(toSnakeCase),
    refused: names
      .filter((each) => ![...owned, ...shared].some((one) => one === each))
      .map(toSnakeCase),
    references,
    repository: repository && toSnakeCase(repository),
    ownBy: options.ownBy && toSnakeCase(options.ownBy),
    resetByEdit: (options.resetByEdit ?? []).map((each) => toSnakeCase(each)),
    unique: unique && {
      column: toSnakeCase(unique.column),
      within: unique.within.map(toSnakeCase),
    },
  };
}

/** Columns of a hook that change with its deliveries. */
const DELIVERY_STATE = [
  "lastStatus",
  "lastDeliveredAt",
  "failingSince",
  "failureCount",
  "backoffUntil",
  "leasedUntil",
] as const satisfies readonly (keyof Hook)[];

/** All copied tables; each comes after those that it refers to. */
export const copiedTables = lazy((): readonly CopiedTable[] => [
  copied(users, [], {
    unique: { column: "lowerName", within: [] },
    // SECURITY: what only signing in needs stays in the first database.
    notCopied: ["passwordHash"],
    notLogged: [
      "followerCount",
      "followingCount",
      "starCount",
      "watchCount",
      "lastLoginAt",
      "updatedAt",
    ],
  }),
  copied(userRedirects, [users]),
  copied(blocks, [users], { notCopied: ["note"] }),
  copied(organizationMembers, [users]),
  copied(teams, [users], { unique: { column: "lowerName", within: ["orgId"] } }),
  copied(teamMembers, [teams, users]),
  copied(repositories, [users], {
    repository: "id",
    unique: { column: "lowerName", within: ["ownerId"] },
    owned: [...SHARD_OWNED, "ownedVersion"],
    // The others change often, and no statement of another shard needs them at once.
    loggedElsewhere: ["isEmpty", "defaultBranch", "isMirror", "origin"],
    // Moves write the shard in both; the others change often.
    notLogged: ["shard", "starCount", "forkCount", "watcherCount"],
  }),
  copied(repositoryRedirects, [repositories, users], { repository: "repoId" }),
  copied(repositoryTransfers, [repositories, users], { repository: "repoId" }),
  copied(teamRepositories, [teams, repositories], { repository: "repoId" }),
  copied(collaborations, [repositories, users], { repository: "repoId" }),
  copied(accessTokenRepositories, [repositories], { repository: "repoId" }),
  // Of organizations, users and the service.
  copied(hooks, [users], {
    ownBy: "repoId",
    // Each shard delivers by itself.
    notCopied: ["repoId", ...DELIVERY_STATE],
    // A shard that pauses a hook tells the first database by an event.
    shared: ["pausedAt", ...DELIVERY_STATE],
    resetByEdit: ["failingSince", "failureCount", "backoffUntil"],
  }),
  copied(labels, [users], {
    ownBy: "repoId",
    notCopied: ["repoId", "openIssueCount", "closedIssueCount"],
    shared: ["openIssueCount", "closedIssueCount"],
  }),
  copied(branchProtections, [users], {
    ownBy: "repoId",
    notCopied: ["repoId"],
    unique: { column: "name", within: ["ownerId"] },
  }),
]);

/** @throws Error if the table is not copied. */
export function copiedTable(name: string): CopiedTable {
  const table = copiedTables().find((each) => each.name === name);
  if (!table) throw new Error(`${name} is not copied`);
  return table;
}
