import { asc, desc, eq, gt, isNotNull, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { prepareAll } from "../../../db/prepared.ts";
import {
  accountDeletions,
  type Hook,
  hooks,
  imports,
  mails,
  pullMirrors,
  pushMirrors,
  repositories,
  users,
} from "../../../db/schema/index.ts";

/** Jobs of each kind that are listed. */
export const FAILING_MAX = 50;

const repoOwners = alias(users, "repo_owner");

/** A repository as owner/name. */
const fullName = sql<string>`${users.name} || '/' || ${repositories.name}`;

/** A mirror or an import of a repository that does not succeed. */
export interface FailingRemote {
  readonly kind: "pull mirror" | "push mirror" | "import";
  readonly repoId: number;
  /** As owner/name. */
  readonly repository: string;
  readonly address: string;
  readonly state: string;
  readonly failureCount: number;
  /** In milliseconds; null for an import. */
  readonly failingSince: number | null;
  readonly lastError: string;
  /** When the next attempt is due; null for none. */
  readonly dueAt: number | null;
}

/** A webhook whose deliveries fail. */
export interface FailingHook {
  readonly hook: Hook;
  /** Whose it is: an account, a repository, or "" for the service. */
  readonly owner: string;
}

/** What the service tries again and again, or has given up. */
export interface FailingJobs {
  readonly hooks: FailingHook[];
  readonly remotes: FailingRemote[];
  /** Mails that were refused at least once. */
  readonly mails: { readonly id: number; readonly attempts: number; readonly dueAt: number }[];
  /** Accounts whose deletion goes on. */
  readonly deletions: { readonly name: string; readonly createdAt: number }[];
}

/** Lists the jobs that do not succeed, of each kind those that have failed for longest. */
export async function listFailing({ db }: Ctx): Promise<FailingJobs> {
  const found = await batch(db, failingJobs(db, {}));
  return {
    hooks: found.hooks,
    remotes: [
      ...found.pulls.map((row) => ({ kind: "pull mirror" as const, ...row })),
      ...found.pushes.map((row) => ({ kind: "push mirror" as const, ...row })),
      ...found.imports.map((row) => ({ kind: "import" as const, failingSince: null, ...row })),
    ],
    mails: found.mails,
    deletions: found.deletions,
  };
}

const failingJobs = prepareAll((db) => {
  const mirrors = (table: typeof pullMirrors | typeof pushMirrors) =>
    db
      .select({
        repoId: sql<number>`${table.repoId}`.as("repo_id"),
        repository: fullName.as("full_name"),
        address: sql<string>`${table.address}`.as("address"),
        state: sql<string>`${table.state}`.as("state"),
        failureCount: sql<number>`${table.failureCount}`.as("failure_count"),
        failingSince: sql<number | null>`${table.failingSince}`.as("failing_since"),
        lastError: sql<string>`${table.lastError}`.as("last_error"),
        dueAt: sql<number | null>`${table.dueAt}`.as("due_at"),
      })
      .from(table)
      .innerJoin(repositories, eq(repositories.id, table.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(isNotNull(table.failingSince))
      .orderBy(asc(table.failingSince))
      .limit(FAILING_MAX);
  return {
    hooks: db
      .select({
        hook: hooks,
        owner: sql<string>`coalesce(
          ${repoOwners.name} || '/' || ${repositories.name}, ${users.name}, ''
        )`.as("owner"),
      })
      .from(hooks)
      .leftJoin(users, eq(users.id, hooks.ownerId))
      .leftJoin(repositories, eq(repositories.id, hooks.repoId))
      .leftJoin(repoOwners, eq(repoOwners.id, repositories.ownerId))
      .where(isNotNull(hooks.failingSince))
      .orderBy(asc(hooks.failingSince))
      .limit(FAILING_MAX),
    pulls: mirrors(pullMirrors),
    pushes: mirrors(pushMirrors),
    imports: db
      .select({
        repoId: imports.repoId,
        repository: fullName.as("full_name"),
        address: imports.address,
        state: sql<string>`${imports.state}`.as("state"),
        failureCount: imports.failureCount,
        lastError: imports.lastError,
        dueAt: imports.dueAt,
      })
      .from(imports)
      .innerJoin(repositories, eq(repositories.id, imports.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(sql`${imports.lastError} <> ''`)
      .orderBy(desc(imports.createdAt))
      .limit(FAILING_MAX),
    mails: db
      .select({ id: mails.id, attempts: mails.attempts, dueAt: mails.dueAt })
      .from(mails)
      .where(gt(mails.attempts, 0))
      .orderBy(asc(mails.dueAt))
      .limit(FAILING_MAX),
    deletions: db
      .select({ name: users.name, createdAt: accountDeletions.createdAt })
      .from(accountDeletions)
      .innerJoin(users, eq(users.id, accountDeletions.accountId))
      .orderBy(asc(accountDeletions.leasedUntil), asc(accountDeletions.accountId))
      .limit(FAILING_MAX),
  };
});
