import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import {
  commitStatuses,
  type CommitState,
  type ProtectionSettings,
} from "../../../db/schema/index.ts";
import type { StepBudget } from "../../../lib/step-budget.ts";
import { matchesPattern } from "./rule-patterns.ts";

/** Contexts of a commit that are compared; with more the checks count as unfinished. */
const CONTEXTS_MAX = 1000;

/** The latest status of a context. */
export interface LatestStatus {
  readonly context: string;
  readonly state: CommitState;
}

/** The latest status of a context, with what its reporter says about it. */
export interface DescribedStatus extends LatestStatus {
  readonly description: string;
  readonly targetUrl: string;
}

/** Selects the latest status of each context of a commit. */
export function selectLatestStatuses(db: Database, repoId: number | SQL, commitOid: string | SQL) {
  const isOfCommit = and(
    eq(commitStatuses.repoId, repoId),
    eq(commitStatuses.commitOid, commitOid),
  );
  return db
    .select({
      context: commitStatuses.context,
      state: commitStatuses.state,
      description: commitStatuses.description,
      targetUrl: commitStatuses.targetUrl,
    })
    .from(commitStatuses)
    .where(
      and(
        isOfCommit,
        sql`${commitStatuses.number} in (
          select max(${commitStatuses.number})
          from ${commitStatuses}
          where ${isOfCommit}
          group by ${commitStatuses.context}
        )`,
      ),
    )
    .limit(CONTEXTS_MAX + 1);
}

/** The combined result of the checks that a rule requires. */
export type CheckResult = "success" | "failure" | "pending";

/**
 * Evaluates the checks that a rule requires: each pattern matches a status and all that match
 * succeeded; without patterns there is a status, and all succeeded. One that failed fails all.
 */
export function evaluateChecks(
  { statusContexts }: Pick<ProtectionSettings, "statusContexts">,
  statuses: readonly LatestStatus[],
  budget: StepBudget,
): CheckResult {
  if (statuses.length > CONTEXTS_MAX) return "pending";
  const patterns = statusContexts.length === 0 ? ["*"] : statusContexts;
  const results = new Set(
    patterns.map((pattern): CheckResult => {
      if (budget.isExhausted) return "pending";
      const matching = statuses.filter(({ context }) => matchesPattern(pattern, context, budget));
      if (matching.some(({ state }) => FAILED.has(state))) return "failure";
      const isPending = matching.length === 0 || matching.some(({ state }) => state === "pending");
      return isPending ? "pending" : "success";
    }),
  );
  if (results.has("failure")) return "failure";
  return results.has("pending") ? "pending" : "success";
}

/** The contexts that rules require, and required patterns that no status matches. */
export interface RequiredChecks {
  readonly contexts: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** Lists what patterns require of the statuses, as far as the budget goes. */
export function listRequiredChecks(
  patterns: readonly string[],
  statuses: readonly LatestStatus[],
  budget: StepBudget,
): RequiredChecks {
  const contexts = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    if (budget.isExhausted) break;
    const matching = statuses.filter(({ context }) => matchesPattern(pattern, context, budget));
    for (const { context } of matching) contexts.add(context);
    if (matching.length === 0) missing.push(pattern);
  }
  return { contexts, missing };
}

const FAILED: ReadonlySet<CommitState> = new Set(["error", "failure"]);
