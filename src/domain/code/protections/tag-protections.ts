import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { tagProtections, type TagProtection } from "../../../db/schema/index.ts";
import {
  conflict,
  forbidden,
  invalid,
  invalidField,
  malformed,
  notFound,
} from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { RULES_MAX } from "./change-rules.ts";
import { findRulePeople, type RulePeople } from "./rule-people.ts";
import { loadRules } from "./select-rules.ts";
import { isTagPattern } from "./tag-rule.ts";

// The rules for tags of a repository.

/** The input for a rule for tags. */
export interface TagProtectionOptions {
  namePattern?: string | undefined;
  users?: readonly string[] | undefined;
  teams?: readonly string[] | undefined;
}

/** Rules for tags with the users and teams that they name. */
export interface TagProtections {
  rules: readonly TagProtection[];
  people: RulePeople;
}

/** Lists the rules for tags of a repository, oldest first. */
export async function listTagProtections(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<TagProtections> {
  const { tags } = await loadRules(ctx, repo);
  const rules = tags.toSorted((a, b) => a.id - b.id);
  return { rules, people: await peopleOf(ctx, repo, rules) };
}

/** Finds a rule for tags of a repository. @throws Failure `not_found` */
export async function findTagProtection(
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
): Promise<TagProtection> {
  const rule = (await loadRules(ctx, repo)).tags.find((each) => each.id === id);
  if (!rule) throw notFound();
  return rule;
}

/** The users and teams that rules for tags name, and those of some names. */
export const peopleOf = (
  ctx: Ctx,
  repo: RepositoryContext,
  rules: readonly TagProtection[],
  { users = [], teams = [] }: TagProtectionOptions = {},
): Promise<RulePeople> =>
  findRulePeople(
    ctx,
    { kind: "repository", repo },
    {
      names: { users, teams },
      ids: {
        users: rules.flatMap(({ userIds }) => userIds),
        teams: rules.flatMap(({ teamIds }) => teamIds),
      },
    },
  );

const TAKEN = "Tag protection already exist";
const RULE = "must be a pattern whose brackets are closed, or a regular expression in slashes";

/**
 * Creates a rule for tags.
 *
 * @throws Failure `malformed` for a rule without anybody, `forbidden` for a pattern that has a
 * rule, `invalid` for none and for one that is not well-formed, for an unknown user or team, and
 * for too many rules.
 */
export async function createTagProtection(
  ctx: Ctx,
  repo: RepositoryContext,
  options: TagProtectionOptions & { namePattern: string },
): Promise<{ rule: TagProtection; people: RulePeople }> {
  const { namePattern, users = [], teams = [] } = options;
  if (users.length === 0 && teams.length === 0) {
    throw malformed("both whitelist_usernames and whitelist_teams are empty");
  }
  await checkPattern(namePattern);
  const people = await peopleOf(ctx, repo, [], options);
  const { id: repoId, ownerId } = repo.row;
  const row = {
    repoId,
    namePattern,
    userIds: people.userIdsOf(users, true),
    teamIds: people.teamIdsOf(teams),
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  const isRoom = sql`
    where (
      select count(*) from ${tagProtections} where ${tagProtections.repoId} = ${repoId}
    ) < ${RULES_MAX}`;
  const [rows] = await refusingTaken(
    ctx.db.batch([
      insertSelect(ctx.db, tagProtections, row, isRoom).returning(),
      recordAuditIfChanged(ctx, {
        kind: "tag_protection.created",
        ownerId,
        repoId,
        target: namePattern,
      }),
    ]),
  );
  const [rule] = rows;
  if (!rule) throw invalid(`there can be ${RULES_MAX} rules at most`);
  return { rule, people };
}

/**
 * Changes what is sent of a rule for tags.
 *
 * @throws Failure as `createTagProtection`, but for the first; `conflict` if it was deleted
 * meanwhile.
 */
export async function editTagProtection(
  ctx: Ctx,
  repo: RepositoryContext,
  before: TagProtection,
  options: TagProtectionOptions,
): Promise<{ rule: TagProtection; people: RulePeople }> {
  const { namePattern = before.namePattern, users, teams } = options;
  await checkPattern(namePattern);
  const people = await peopleOf(ctx, repo, [before], options);
  const { id: repoId, ownerId } = repo.row;
  const [rows] = await refusingTaken(
    ctx.db.batch([
      ctx.db
        .update(tagProtections)
        .set({
          namePattern,
          ...(users && { userIds: people.userIdsOf(users, true) }),
          ...(teams && { teamIds: people.teamIdsOf(teams) }),
          updatedAt: ctx.now,
        })
        .where(and(eq(tagProtections.id, before.id), eq(tagProtections.repoId, repoId)))
        .returning(),
      recordAuditIfChanged(ctx, {
        kind: "tag_protection.edited",
        ownerId,
        repoId,
        target: namePattern,
      }),
    ]),
  );
  const [rule] = rows;
  if (!rule) throw conflict("the rule was deleted meanwhile");
  return { rule, people };
}

/** @throws Failure `not_found` if somebody else deleted it meanwhile. */
export async function deleteTagProtection(
  ctx: Ctx,
  { row }: RepositoryContext,
  { id, namePattern }: TagProtection,
): Promise<void> {
  const [rows] = await ctx.db.batch([
    ctx.db.delete(tagProtections).where(eq(tagProtections.id, id)).returning(),
    recordAuditIfChanged(ctx, {
      kind: "tag_protection.deleted",
      ownerId: row.ownerId,
      repoId: row.id,
      target: namePattern,
    }),
  ]);
  if (rows.length === 0) throw notFound();
}

async function checkPattern(namePattern: string): Promise<void> {
  if (namePattern === "") throw invalidField("name_pattern", "must not be empty");
  if (!namePattern.isWellFormed() || !(await isTagPattern(namePattern))) {
    throw invalidField("name_pattern", RULE);
  }
}

async function refusingTaken<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    throw isViolation(error, "UNIQUE", "tag_protections") ? forbidden(TAKEN) : error;
  }
}
