import { and, asc, eq, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import {
  packageCleanupRules,
  packageVersions,
  type Package,
  type PackageCleanupRule,
} from "../../../db/schema/index.ts";
import { log, logBug } from "../../../lib/log.ts";
import { deleteVersions } from "../package/delete-version.ts";
import { type CleanupBudget, findRemovable, hasLeft } from "./find-removable.ts";

/**
 * When the schedule looks at a rule again after it was through, in milliseconds, and after a fault.
 */
const INTERVAL_MS = 24 * 60 * 60 * 1000;
const RETRY_MS = 60 * 60 * 1000;

/** Rules of one run. */
const RULES_MAX = 20;
/** Round trips to D1 of one run, and steps of matching patterns, some two seconds. */
const ROUNDS_MAX = 300;
const STEPS_MAX = 200_000_000;

/**
 * Deletes the versions of packages that the rules of their owners remove. A run does a bounded
 * part, and the next one continues; it may be repeated, and run twice at once.
 */
export async function cleanUpPackages(ctx: Ctx): Promise<void> {
  const due = await ctx.db
    .select()
    .from(packageCleanupRules)
    .where(
      and(eq(packageCleanupRules.isEnabled, true), lte(packageCleanupRules.nextRunAt, ctx.now)),
    )
    .orderBy(asc(packageCleanupRules.nextRunAt), asc(packageCleanupRules.id))
    .limit(RULES_MAX);
  const budget = { rounds: ROUNDS_MAX, steps: STEPS_MAX };
  for (const rule of due) {
    if (!hasLeft(budget)) return;
    try {
      await applyRule(ctx, rule, budget);
    } catch (error) {
      // Another rule must not wait for this one.
      logBug(`cleanup-rule-${rule.id}`, error);
      await advance(ctx, rule, { nextRunAt: ctx.now + RETRY_MS });
    }
  }
}

async function applyRule(ctx: Ctx, rule: PackageCleanupRule, budget: CleanupBudget): Promise<void> {
  let count = 0;
  let reachedPackageId = rule.reachedPackageId;
  for await (const { pkg, versions, isComplete } of findRemovable(
    ctx,
    rule,
    budget,
    reachedPackageId,
  )) {
    if (versions.length > 0) {
      budget.rounds -= 2;
      if (!(await isUnchanged(ctx, rule))) return;
      await deleteAll(ctx, pkg, versions);
      count += versions.length;
    }
    if (isComplete) reachedPackageId = pkg.id;
    if (!hasLeft(budget)) break;
  }
  if (count > 0) log("packages:cleaned-up", { ruleId: rule.id, count });
  const isThrough = hasLeft(budget);
  await advance(
    ctx,
    rule,
    isThrough
      ? { nextRunAt: ctx.now + INTERVAL_MS, reachedPackageId: 0 }
      : { nextRunAt: ctx.now, reachedPackageId },
  );
}

async function deleteAll(
  ctx: Ctx,
  row: Package,
  versions: readonly { readonly id: number }[],
): Promise<void> {
  const list = JSON.stringify(versions.map(({ id }) => id));
  const isOne = sql`${packageVersions.id} in (select value from json_each(${list}))`;
  await batch(ctx.db, deleteVersions(ctx, { row }, isOne));
}

/** The condition that a rule was not edited since it was read. */
const isSame = ({ id, updatedAt }: PackageCleanupRule) =>
  and(
    eq(packageCleanupRules.id, id),
    eq(packageCleanupRules.updatedAt, updatedAt),
    eq(packageCleanupRules.isEnabled, true),
  );

async function isUnchanged({ db }: Ctx, rule: PackageCleanupRule): Promise<boolean> {
  const found = await db
    .select({ id: packageCleanupRules.id })
    .from(packageCleanupRules)
    .where(isSame(rule));
  return found.length > 0;
}

/** Notes how far a rule has come. One that was edited meanwhile starts anew. */
const advance = (
  { db }: Ctx,
  rule: PackageCleanupRule,
  progress: Partial<Pick<PackageCleanupRule, "nextRunAt" | "reachedPackageId">>,
) => db.update(packageCleanupRules).set(progress).where(isSame(rule));
