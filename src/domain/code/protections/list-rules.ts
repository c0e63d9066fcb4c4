import { asc, count, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { branchProtections, type BranchProtection, type User } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import type { RuleEntry } from "./change-rules.ts";
import { idsIn } from "./protection-options.ts";
import { findRulePeople, type RulePeople, type RuleScope } from "./rule-people.ts";
import { loadRules } from "./select-rules.ts";

/** Lists the rules of a repository, lowest priority first. */
export async function listRules(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<{ rules: BranchProtection[]; people: RulePeople }> {
  const { branches } = await loadRules(ctx, repo);
  const rules = branches.toSorted((a, b) => a.priority - b.priority || a.id - b.id);
  return { rules, people: await peopleOf(ctx, { kind: "repository", repo }, rules) };
}

/** Finds a rule of a repository by its name, as it is written. @throws Failure `not_found` */
export async function findRule(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<BranchProtection> {
  const rule = (await loadRules(ctx, repo)).branches.find((each) => each.name === name);
  if (!rule) throw notFound();
  return rule;
}

/** Lists a page of the rulesets of an organization, lowest priority first. */
export async function listRulesets(
  ctx: Ctx,
  org: User,
  { size, offset }: Slice,
): Promise<Listed<BranchProtection> & { people: RulePeople }> {
  const [page, people] = await Promise.all([
    batch(ctx.db, rulesetPage(ctx.db, { orgId: org.id, size, offset })),
    peopleOfRulesets(ctx, org),
  ]);
  return { ...toListedPage(page), people };
}

const rulesetPage = prepareAll((db, { orgId, size, offset }: Params<Slice & { orgId: number }>) => {
  const isOwn = eq(branchProtections.ownerId, orgId);
  return {
    rows: db
      .select()
      .from(branchProtections)
      .where(isOwn)
      .orderBy(asc(branchProtections.priority), asc(branchProtections.id))
      .limit(size)
      .offset(offset),
    counted: db
      .select({ total: count().as("total") })
      .from(branchProtections)
      .where(isOwn),
  };
});

/** Finds a ruleset of an organization. @throws Failure `not_found` */
export async function findRuleset(ctx: Ctx, org: User, id: number): Promise<BranchProtection> {
  const [rule] = await rulesetById(ctx.db, { id, orgId: org.id });
  if (!rule) throw notFound();
  return rule;
}

const rulesetById = prepare((db, { id, orgId }: Params<{ id: number; orgId: number }>) =>
  db
    .select()
    .from(branchProtections)
    .where(sql`${branchProtections.id} = ${id} and ${branchProtections.ownerId} = ${orgId}`),
);

/**
 * Finds a ruleset of an organization, with the users and teams that it names. @throws Failure
 * `not_found`
 */
export async function readRuleset(ctx: Ctx, org: User, id: number): Promise<RuleEntry> {
  const [rule, people] = await Promise.all([findRuleset(ctx, org, id), peopleOfRulesets(ctx, org)]);
  return { rule, people };
}

const peopleOfRulesets = (ctx: Ctx, org: User): Promise<RulePeople> =>
  findRulePeople(
    ctx,
    { kind: "organization", org },
    { names: { users: [], teams: [] }, ids: "all" },
  );

/** A rule with the users and teams that it names. */
export const withPeople = async (
  ctx: Ctx,
  scope: RuleScope,
  rule: BranchProtection,
): Promise<RuleEntry> => ({ rule, people: await peopleOf(ctx, scope, [rule]) });

function peopleOf(
  ctx: Ctx,
  scope: RuleScope,
  rules: readonly BranchProtection[],
): Promise<RulePeople> {
  const all = rules.map(({ settings }) => idsIn(settings));
  const ids = {
    users: [...new Set(all.flatMap(({ users }) => users))],
    teams: [...new Set(all.flatMap(({ teams }) => teams))],
  };
  return findRulePeople(ctx, scope, { names: { users: [], teams: [] }, ids });
}
