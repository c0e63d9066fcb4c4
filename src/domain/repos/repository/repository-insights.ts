import { and, eq, sql } from "drizzle-orm";

import { requireAccess } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { Database } from "../../../db/db.ts";
import { idOfNamed } from "../../../db/ids-of-names.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  type RepositoryInsightsRow,
  repositoryInsights,
  type Repository,
  repositories,
} from "../../../db/schema/index.ts";
import type { Budget } from "../../../git/budget.ts";
import { nextTask } from "../../../lib/next-task.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { RESULT_STEPS_MAX } from "../../../storage/result-cache.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { countLanguages } from "../../code/languages/count-languages.ts";
import { detectLicenses } from "../../code/licenses/detect-licenses.ts";

/**
 * The version of the detection rules. Stored insights of another version are recomputed; raise it
 * with the rules.
 */
const RULES = "1";

/**
 * Insights into the code of the default branch: languages with their bytes, licenses by SPDX id.
 */
export type RepositoryInsights = Pick<RepositoryInsightsRow, "languages" | "licenses">;

const NO_INSIGHTS: RepositoryInsights = { languages: [], licenses: [] };

/**
 * Finds the insights into the code of the default branch; empty for a repository without that
 * branch.
 *
 * Cost: one call to the repository's Durable Object, concurrent with one to the database. The first
 * request after a push computes the insights within a budget: it reads each tree of the commit
 * once, and some files. The result is stored after the response is sent, along with the language
 * and licenses of the repository's row. Storing it changes nothing that clients observe as a
 * change, so no event is recorded.
 *
 * @throws Failure `not_found` where the code unit is disabled or not granted to the caller.
 */
export async function findRepositoryInsights(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<RepositoryInsights> {
  requireAccess(repo, { unit: "code", mode: "read" });
  const { row } = repo;
  const stored = ctx.git.repository(row);
  const [snapshot, [cached]] = await Promise.all([
    stored.snapshot("none"),
    storedInsights(ctx.db, { repoId: row.id }),
  ]);
  const head = findRef({ state: snapshot }, branchRef(row.defaultBranch));
  if (!head) return NO_INSIGHTS;
  if (isCurrent(cached, head.oid)) return cached;
  const budget = ctx.git.openBudget(RESULT_STEPS_MAX);
  const found = await compute(await stored.open(snapshot, ctx.git.budget), head.oid, budget);
  const facts = { ...found, repoId: row.id, commitOid: head.oid, rules: RULES };
  // The response is built before the insights are stored.
  ctx.defer(nextTask().then(() => store(ctx, row, facts)));
  return found;
}

/**
 * Selects the stored insights into the code of a repository by its names, for a batch that is sent
 * before it is known.
 */
export const selectInsightsByName = (
  db: Database,
  { owner, name }: { owner: string; name: string },
) => insightsByName(db, { owner: owner.toLowerCase(), name: name.toLowerCase() });

const insightsByName = prepare((db, { owner, name }: Params<{ owner: string; name: string }>) =>
  db
    .select()
    .from(repositoryInsights)
    .where(eq(repositoryInsights.repoId, idOfNamed(owner, name))),
);

/**
 * The insights that are stored, for a page that does not wait for new ones: those of another commit
 * are computed anew after the response is sent.
 *
 * @param headOid The commit of the default branch.
 */
export function refreshInsights(
  ctx: Ctx,
  repo: RepositoryContext,
  cached: RepositoryInsightsRow | undefined,
  headOid: string,
): RepositoryInsights {
  if (!isCurrent(cached, headOid)) {
    ctx.defer(nextTask().then(() => findRepositoryInsights(ctx, repo)));
  }
  return cached ?? NO_INSIGHTS;
}

const isCurrent = (
  cached: RepositoryInsightsRow | undefined,
  headOid: string,
): cached is RepositoryInsightsRow => cached?.commitOid === headOid && cached.rules === RULES;

const storedInsights = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db.select().from(repositoryInsights).where(eq(repositoryInsights.repoId, repoId)),
);

async function compute(
  repository: OpenRepository,
  commitOid: string,
  budget: Budget,
): Promise<RepositoryInsights> {
  const { graph } = repository;
  const root = graph.root(graph.find(commitOid));
  if (!root) return NO_INSIGHTS;
  const languages = await countLanguages(repository, root, budget);
  return { languages, licenses: await detectLicenses(repository, root) };
}

async function store({ db }: Ctx, repo: Repository, facts: RepositoryInsightsRow): Promise<void> {
  const language = facts.languages[0]?.[0] ?? "";
  // Inserts nothing if the repository was deleted meanwhile.
  const from = sql`from ${repositories} where ${repositories.id} = ${repo.id}`;
  const { commitOid, rules, languages, licenses } = facts;
  await db.batch([
    insertSelect(db, repositoryInsights, facts, from).onConflictDoUpdate({
      target: repositoryInsights.repoId,
      set: { commitOid, rules, languages, licenses },
    }),
    db
      .update(repositories)
      .set({ language, licenses })
      .where(and(eq(repositories.id, repo.id), eq(repositories.defaultBranch, repo.defaultBranch))),
  ]);
}
