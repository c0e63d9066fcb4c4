import { sql, type SQL } from "drizzle-orm";

import {
  callerArgument,
  type CallerArgument,
  type CallerSql,
  toCallerSql,
} from "../../../auth/caller-sql.ts";
import { teamIdsOf } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import type { Database } from "../../../db/db.ts";
import { idOfNamed, idOfOwner } from "../../../db/ids-of-names.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { jsonRow, readJsonRow } from "../../../db/json-rows.ts";
import { branchProtections, tagProtections, type Repository } from "../../../db/schema/index.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { matchesPattern, splitPatterns } from "./rule-patterns.ts";

/** The repository whose rules are selected: its id and that of its owner. */
interface RuleOwner {
  repoId: SQL;
  ownerId: SQL;
}

/** A row of `selectRules`: a rule, or the id of a team, as JSON. */
export interface RuleRow {
  kind: "branch" | "ruleset" | "tag" | "team";
  content: string;
}

/**
 * Selects the rules that a repository's branches and tags are under, and the teams of the caller
 * that they may name, in one statement. `toRules` reads the rows.
 */
export function selectRules(db: Database, { repoId, ownerId }: RuleOwner, caller: CallerSql) {
  const rows = sql`(
    select 'branch' as kind, ${jsonRow(branchProtections)} as content
    from ${branchProtections}
    where ${branchProtections.repoId} = ${repoId}
    union all select 'ruleset', ${jsonRow(branchProtections)}
    from ${branchProtections}
    where ${branchProtections.ownerId} = ${ownerId}
    union all select 'tag', ${jsonRow(tagProtections)}
    from ${tagProtections}
    where ${tagProtections.repoId} = ${repoId}
    union all select 'team', json_array(json_array(id))
    from ${teamIdsOf(ownerId, caller.actorId)}
  )`;
  return db
    .select({
      kind: sql<RuleRow["kind"]>`kind`.as("rule_kind"),
      content: sql<string>`content`.as("rule_content"),
    })
    .from(rows);
}

/** Selects the rules of a repository by its names, for a batch that is sent before it is known. */
export const selectRulesByName = (
  db: Database,
  { owner, name }: { owner: string; name: string },
  caller: CallerArgument,
) => rulesByName(db, { caller, owner: owner.toLowerCase(), name: name.toLowerCase() });

const rulesByName = prepare(
  (
    db,
    { caller, owner, name }: Params<{ caller: CallerArgument; owner: string; name: string }>,
  ) => {
    const [repoId, ownerId] = [idOfNamed(owner, name), idOfOwner(owner)];
    return selectRules(db, { repoId, ownerId }, toCallerSql(caller));
  },
);

const rulesOf = prepare(
  (db, { caller, ...owner }: Params<{ caller: CallerArgument; repoId: number; ownerId: number }>) =>
    selectRules(db, owner, toCallerSql(caller)),
);

/** The rules of a repository from the rows of `selectRules`. */
export function toRules({ name }: Repository, rows: readonly RuleRow[]): RepositoryRules {
  const parse = (kind: RuleRow["kind"]) =>
    rows.flatMap((row) => (row.kind === kind ? [JSON.parse(row.content) as unknown[][]] : []));
  const isForRepository = (patterns: string): boolean =>
    patterns === "" ||
    splitPatterns(patterns).some((pattern) =>
      matchesPattern(pattern.toLowerCase(), name.toLowerCase()),
    );
  return {
    branches: parse("branch").map((parts) => readJsonRow(branchProtections, parts)),
    rulesets: parse("ruleset")
      .map((parts) => readJsonRow(branchProtections, parts))
      .filter(({ repositoryPatterns }) => isForRepository(repositoryPatterns)),
    tags: parse("tag").map((parts) => readJsonRow(tagProtections, parts)),
    callerTeamIds: parse("team").map((parts) => Number(parts[0]?.[0])),
  };
}

/**
 * How old rules may be when they are asked, in milliseconds: a large push takes minutes to arrive.
 */
const RULES_AGE_MAX_MS = 5000;

/**
 * The rules of a repository: those that the entrance loaded with it, unless the request has taken
 * long since.
 *
 * Cost: one query for a repository that was not loaded for a change of its code.
 */
export async function loadRules(ctx: Ctx, repo: RepositoryContext): Promise<RepositoryRules> {
  if (repo.rules && Date.now() - ctx.now < RULES_AGE_MAX_MS) return repo.rules;
  return readRules(ctx, repo);
}

/** Reads the rules of a repository from the database. */
async function readRules(ctx: Ctx, { row }: RepositoryContext): Promise<RepositoryRules> {
  const caller = callerArgument(ctx.actor);
  return toRules(row, await rulesOf(ctx.db, { caller, repoId: row.id, ownerId: row.ownerId }));
}
