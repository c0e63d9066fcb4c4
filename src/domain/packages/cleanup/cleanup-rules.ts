import { and, asc, count, eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packageCleanupRules,
  type PackageCleanupRule,
  type PackageType,
} from "../../../db/schema/index.ts";
import { differing } from "../../../lib/differing.ts";
import { conflict, invalidField, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit, recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import type { PackageOwner } from "../package/find-package.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { openVersionPattern } from "./version-pattern.ts";

/** The settings of a rule. */
export type CleanupRuleOptions = Pick<
  PackageCleanupRule,
  "isEnabled" | "keepCount" | "keepPattern" | "removeDays" | "removePattern" | "matchesFullName"
>;

/** The largest values of a rule, and the longest pattern. */
export const CLEANUP_LIMITS = { keepCount: 1000, removeDays: 36_500, patternChars: 255 } as const;

const DEFAULTS: CleanupRuleOptions = {
  isEnabled: true,
  keepCount: 0,
  keepPattern: "",
  removeDays: 0,
  removePattern: "",
  matchesFullName: false,
};

/** Lists the cleanup rules of an owner, by format. */
export async function listCleanupRules(
  { db }: Ctx,
  { account }: PackageOwner,
  { size, offset }: Slice,
): Promise<Listed<PackageCleanupRule>> {
  return toListedPage(
    await batch(db, {
      rows: rulesOfOwner(db, { ownerId: account.id, size, offset }),
      counted: ruleCount(db, { ownerId: account.id }),
    }),
  );
}

interface OfOwner {
  readonly ownerId: number;
}

const isOfOwner = ({ ownerId }: Params<OfOwner>) => eq(packageCleanupRules.ownerId, ownerId);

const rulesOfOwner = prepare((db, p: Params<OfOwner & Slice>) =>
  db
    .select()
    .from(packageCleanupRules)
    .where(isOfOwner(p))
    .orderBy(asc(packageCleanupRules.type))
    .limit(p.size)
    .offset(p.offset),
);

const ruleCount = prepare((db, p: Params<OfOwner>) =>
  db
    .select({ total: count().as("total") })
    .from(packageCleanupRules)
    .where(isOfOwner(p)),
);

/** @throws Failure `not_found` also for a rule of another owner. */
export async function findCleanupRule(
  { db }: Ctx,
  owner: PackageOwner,
  id: number,
): Promise<PackageCleanupRule> {
  const [rule] = await ruleOfOwner(db, { ownerId: owner.account.id, id });
  if (!rule) throw notFound("cleanup rule does not exist");
  return rule;
}

const ruleOfOwner = prepare((db, p: Params<OfOwner & { id: number }>) =>
  db.select().from(packageCleanupRules).where(isRule(p.ownerId, p.id)),
);

const isRuleOf = ({ account }: PackageOwner, id: number) => isRule(account.id, id);

const isRule = (ownerId: number | SQL, id: number | SQL) =>
  and(eq(packageCleanupRules.id, id), eq(packageCleanupRules.ownerId, ownerId));

/**
 * Creates the cleanup rule of a format.
 *
 * @throws Failure `conflict` if the owner has one for it; `invalid` for a text that is no pattern.
 */
export async function createCleanupRule(
  ctx: Ctx,
  { account }: PackageOwner,
  type: PackageType,
  options: Partial<CleanupRuleOptions>,
): Promise<PackageCleanupRule> {
  await checkPatterns(options);
  const { now } = ctx;
  const times = { createdAt: now, updatedAt: now, nextRunAt: now };
  const row = { ownerId: account.id, type, ...DEFAULTS, ...options, ...times };
  try {
    const [created] = await ctx.db.batch([
      ctx.db.insert(packageCleanupRules).values(row).returning(),
      recordAudit(ctx, {
        kind: "package_cleanup_rule.created",
        ownerId: account.id,
        target: type,
      }),
    ]);
    return only(created);
  } catch (error) {
    if (!isViolation(error, "UNIQUE", "package_cleanup_rules.owner_id")) throw error;
    throw conflict(`the owner has a cleanup rule for ${type} packages`);
  }
}

/**
 * Changes what is sent of a rule; its next run starts anew. Unchanged values change nothing.
 *
 * @throws Failure `invalid` for a text that is no pattern; `not_found` if it is deleted meanwhile.
 */
export async function editCleanupRule(
  ctx: Ctx,
  owner: PackageOwner,
  rule: PackageCleanupRule,
  options: Partial<CleanupRuleOptions>,
): Promise<PackageCleanupRule> {
  await checkPatterns(options);
  const edit = differing(rule, options);
  if (Object.keys(edit).length === 0) return rule;
  const { now } = ctx;
  const [[edited]] = await ctx.db.batch([
    ctx.db
      .update(packageCleanupRules)
      .set({ ...edit, updatedAt: now, nextRunAt: now, reachedPackageId: 0 })
      .where(isRuleOf(owner, rule.id))
      .returning(),
    recordAuditIfChanged(ctx, {
      kind: "package_cleanup_rule.edited",
      ownerId: owner.account.id,
      target: rule.type,
    }),
  ]);
  if (!edited) throw notFound("cleanup rule does not exist");
  return edited;
}

/** @throws Failure `not_found` also for a rule of another owner. */
export async function deleteCleanupRule(
  ctx: Ctx,
  owner: PackageOwner,
  rule: PackageCleanupRule,
): Promise<void> {
  const [deleted] = await ctx.db.batch([
    ctx.db.delete(packageCleanupRules).where(isRuleOf(owner, rule.id)).returning(),
    recordAuditIfChanged(ctx, {
      kind: "package_cleanup_rule.deleted",
      ownerId: owner.account.id,
      target: rule.type,
    }),
  ]);
  if (deleted.length === 0) throw notFound("cleanup rule does not exist");
}

async function checkPatterns({
  keepPattern = "",
  removePattern = "",
}: Partial<CleanupRuleOptions>): Promise<void> {
  for (const [field, pattern] of [
    ["keep_pattern", keepPattern],
    ["remove_pattern", removePattern],
  ] as const) {
    if (pattern !== "" && !(await openVersionPattern(pattern))) {
      throw invalidField(field, "must be a pattern in the syntax of RE2");
    }
  }
}
