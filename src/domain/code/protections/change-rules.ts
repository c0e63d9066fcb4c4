import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { branchProtections, type BranchProtection } from "../../../db/schema/index.ts";
import { conflict, type Failure, invalid, invalidField, notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import {
  applyOptions,
  checkOptions,
  idsIn,
  namesIn,
  NO_SETTINGS,
  PATTERN_RULE,
  type ProtectionOptions,
} from "./protection-options.ts";
import { isBranchPattern, isExactName, isPattern, splitPatterns } from "./rule-patterns.ts";
import { findRulePeople, type RulePeople, type RuleScope } from "./rule-people.ts";

/**
 * Maximum number of rules of a repository, and of an organization: each push reads and compares all
 * of them.
 */
export const RULES_MAX = 100;

/** The properties of a rule that a client sends besides its settings. */
export interface RuleOptions {
  /** 0 or less for none. */
  priority?: number | undefined;
  /** Of a ruleset: patterns of names of repositories. */
  repositoryPatterns?: string | undefined;
  settings: ProtectionOptions;
}

/** A rule with the users and teams that it names. */
export interface RuleEntry {
  rule: BranchProtection;
  people: RulePeople;
}

/** The columns that name the owner of a rule, and the condition for all rules of the owner. */
function ownerOf(scope: RuleScope) {
  const { repoId, ownerId } = branchProtections;
  return scope.kind === "repository"
    ? {
        columns: { repoId: scope.repo.row.id, ownerId: null },
        where: eq(repoId, scope.repo.row.id),
      }
    : { columns: { repoId: null, ownerId: scope.org.id }, where: eq(ownerId, scope.org.id) };
}

/** An entry of the audit log about a rule. */
function auditOf(scope: RuleScope, verb: "created" | "edited" | "deleted", target: string) {
  if (scope.kind === "organization") {
    return { kind: `ruleset.${verb}`, ownerId: scope.org.id, target } as const;
  }
  const { id: repoId, ownerId } = scope.repo.row;
  return { kind: `branch_protection.${verb}`, ownerId, repoId, target } as const;
}

/**
 * Creates a rule. Without a priority it comes after all others, and an exact name before patterns.
 *
 * @param taken The failure for a name that has a rule already.
 * @throws Failure `invalid` for no name, for a pattern that is not well-formed, for an unknown user
 *   or team, and for too many rules.
 */
export async function createRule(
  ctx: Ctx,
  scope: RuleScope,
  name: string,
  { priority = 0, repositoryPatterns = "", settings: options }: RuleOptions,
  taken: Failure,
): Promise<RuleEntry> {
  if (name === "") throw invalidField("rule_name", "must not be empty");
  if (!name.isWellFormed() || !(isExactName(name) || isBranchPattern(name))) {
    throw invalidField("rule_name", PATTERN_RULE);
  }
  checkOptions(options);
  checkRepositories(repositoryPatterns);
  const ids = { users: [], teams: [] };
  const people = await findRulePeople(ctx, scope, { names: namesIn(options), ids });
  const settings = applyOptions(NO_SETTINGS, options, people);

  const { columns, where } = ownerOf(scope);
  const all = (column: SQL): SQL =>
    sql`(select ${column} from ${branchProtections} where ${where})`;
  const isPriorityExplicit = priority > 0;
  const last = all(sql`coalesce(max(${branchProtections.priority}), 0) + 1`);
  const row = {
    ...columns,
    name,
    repositoryPatterns,
    priority: isPriorityExplicit ? priority : last,
    isPriorityExplicit,
    settings,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  const isRoom = sql`where ${all(sql`count(*)`)} < ${RULES_MAX}`;
  try {
    const [rows] = await ctx.db.batch([
      insertSelect(ctx.db, branchProtections, row, isRoom).returning(),
      recordAuditIfChanged(ctx, auditOf(scope, "created", name)),
    ]);
    const [rule] = rows;
    if (!rule) throw invalid(`there can be ${RULES_MAX} rules at most`);
    return { rule, people };
  } catch (error) {
    throw isViolation(error, "UNIQUE", "branch_protections") ? taken : error;
  }
}

/**
 * Changes what is sent of a rule.
 *
 * @param found The rule, which may still be on its way.
 * @throws Failure `invalid` as `createRule`, `conflict` if it was changed or deleted meanwhile.
 */
export async function editRule(
  ctx: Ctx,
  scope: RuleScope,
  found: Promise<BranchProtection>,
  { priority, repositoryPatterns, settings: options }: RuleOptions,
): Promise<RuleEntry> {
  const names = namesIn(options);
  const [before, people] = await Promise.all([
    found,
    scope.kind === "organization"
      ? findRulePeople(ctx, scope, { names, ids: "all" })
      : found.then(({ settings }) => findRulePeople(ctx, scope, { names, ids: idsIn(settings) })),
  ]);
  checkOptions(options);
  checkRepositories(repositoryPatterns ?? "");
  const settings = applyOptions(before.settings, options, people);
  // Keeps the stored name, which the caller has seen.
  const isUnchanged = sql`${branchProtections.settings} = ${JSON.stringify(before.settings)}`;
  const [rows] = await ctx.db.batch([
    ctx.db
      .update(branchProtections)
      .set({
        settings,
        ...(repositoryPatterns !== undefined && { repositoryPatterns }),
        ...(priority !== undefined && priority > 0 && { priority, isPriorityExplicit: true }),
        updatedAt: ctx.now,
      })
      .where(and(eq(branchProtections.id, before.id), isUnchanged))
      .returning(),
    recordAuditIfChanged(ctx, auditOf(scope, "edited", before.name)),
  ]);
  const [rule] = rows;
  if (!rule) throw conflict("the rule was changed meanwhile: try again");
  return { rule, people };
}

function checkRepositories(patterns: string): void {
  if (!splitPatterns(patterns).every(isPattern)) {
    throw invalidField("repository_patterns", PATTERN_RULE);
  }
}

/** @throws Failure `not_found` if somebody else deleted it meanwhile. */
export async function deleteRule(
  ctx: Ctx,
  scope: RuleScope,
  { id, name }: BranchProtection,
): Promise<void> {
  const [rows] = await ctx.db.batch([
    ctx.db.delete(branchProtections).where(eq(branchProtections.id, id)).returning(),
    recordAuditIfChanged(ctx, auditOf(scope, "deleted", name)),
  ]);
  if (rows.length === 0) throw notFound();
}

/**
 * Numbers the rules of a repository from 1 in the order of `ids`. Ids of others are ignored; rules
 * that are not named keep their priority.
 */
export async function orderRules(
  ctx: Ctx,
  scope: Extract<RuleScope, { kind: "repository" }>,
  ids: readonly number[],
): Promise<void> {
  const { id: repoId, ownerId } = scope.repo.row;
  const place = sql`(
    select min(key) + 1 from json_each(${JSON.stringify(ids)}) where value = ${branchProtections.id}
  )`;
  await ctx.db.batch([
    ctx.db
      .update(branchProtections)
      .set({ priority: place, isPriorityExplicit: true, updatedAt: ctx.now })
      .where(
        and(
          eq(branchProtections.repoId, repoId),
          sql`${branchProtections.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        ),
      ),
    recordAuditIfChanged(ctx, { kind: "branch_protection.ordered", ownerId, repoId }),
  ]);
}
