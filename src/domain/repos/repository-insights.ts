import { and, eq, sql } from "drizzle-orm";

import { requireAccess } from "../../auth/access/require-access.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  type RepositoryInsightsRow,
  repositoryInsights,
  type Repository,
  repositories,
} from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { branchRef } from "../branches/find-branch.ts";
import { findRef } from "../git/open-snapshot.ts";
import { countLanguages } from "../languages/count-languages.ts";
import { detectLicenses } from "../licenses/detect-licenses.ts";

/** Which rules facts are found by. What was found by others is found again: to be raised with them. */
const RULES = "1";

/** What the code of the default branch is: its languages with their bytes, its licenses by SPDX ids. */
export type RepositoryInsights = Pick<RepositoryInsightsRow, "languages" | "licenses">;

const NOTHING: RepositoryInsights = { languages: [], licenses: [] };

/**
 * What is known of the code at the default branch; of a repository without that branch, nothing.
 *
 * Cost: one call of the object beside one to the database. Whoever asks first after a push has it
 * found out: each tree of the commit is read once, and some files. It is kept behind the answer, and
 * with it what the repository's record tells; nothing has happened by that, so no event is recorded.
 *
 * @throws Failure `not_found` where the code unit is switched off.
 */
export async function findRepositoryInsights(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<RepositoryInsights> {
  requireAccess(repo, { unit: "code", mode: "read" });
  const { row } = repo;
  const stored = ctx.git.repository(row);
  const [snapshot, [known]] = await Promise.all([
    stored.snapshot(),
    ctx.db.select().from(repositoryInsights).where(eq(repositoryInsights.repoId, row.id)),
  ]);
  const head = findRef({ state: snapshot }, branchRef(row.defaultBranch));
  if (!head) return NOTHING;
  if (known?.commitOid === head.oid && known.rules === RULES) return known;
  const found = await findOut(await stored.open(snapshot), head.oid);
  const facts = { ...found, repoId: row.id, commitOid: head.oid, rules: RULES };
  ctx.defer(answered().then(() => keep(ctx, row, facts)));
  return found;
}

/** Until the answer is made: what is in hand is done first. */
const answered = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

async function findOut(repository: OpenRepository, commitOid: string): Promise<RepositoryInsights> {
  const { graph } = repository;
  const root = graph.root(graph.find(commitOid));
  if (!root) return NOTHING;
  const languages = await countLanguages(repository, root);
  return { languages, licenses: await detectLicenses(repository, root) };
}

async function keep({ db }: Ctx, repo: Repository, facts: RepositoryInsightsRow): Promise<void> {
  const language = facts.languages[0]?.[0] ?? "";
  // A repository that is gone keeps nothing.
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
