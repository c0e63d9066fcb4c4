import { and, sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { selectTeamNames } from "../../../auth/access/teams.ts";
import { isRepositoryVisibleWith } from "../../../auth/access/visible-repositories.ts";
import { seesPublicOnly } from "../../../auth/actor.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { hasScope } from "../../../auth/scope.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, repositories, users } from "../../../db/schema/index.ts";
import type { RepoName } from "../../../render/markup-options.ts";
import type {
  CommitReference,
  IssueReference,
  KnownReferences,
  References,
  TeamReference,
} from "../../../render/references.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findCommitsByIds } from "../../code/git/find-revision.ts";
import { openSnapshot } from "../../code/git/open-snapshot.ts";
import { selectRepositories, toRepositoryContext } from "../repository/find-repository.ts";
import { toTracker } from "./to-tracker.ts";

/** Repositories besides the text's own whose commits are looked up; ids of others stay text. */
const OTHER_REPOSITORIES_MAX = 3;

/**
 * Resolves the references in a text to what is visible to the caller: accounts, teams, issues, pull
 * requests and commits.
 *
 * SECURITY: what the caller may not see stays text, as if it did not exist. Teams are visible to
 * the members of their organization, but not to tokens limited to public resources.
 *
 * Cost: one round trip; for a text with possible ids of commits also one snapshot for each of four
 * repositories at most.
 *
 * @param home The repository of the text.
 */
export async function resolveReferences(
  ctx: Ctx,
  home: RepoName | undefined,
  found: References,
): Promise<KnownReferences> {
  const names = [...found.users, ...found.teams.map(({ org }) => org)];
  const {
    accounts,
    teams,
    issues: knownIssues,
    repos: repositoryRows,
  } = await batch(
    ctx.db,
    named(ctx.db, {
      principal: principalOf(ctx.actor),
      // SQLite folds the case of names.
      names: JSON.stringify(names),
      memberId: (seesPublicOnly(ctx.actor) ? undefined : ctx.actor.user?.id) ?? null,
      hasIssueScope: hasScope(ctx.actor.scopes, "read:issue"),
      issues: JSON.stringify(issueLookups(home, found.issues)),
      repositories: JSON.stringify(repositoryNames(home, found.commits)),
    }),
  );
  const known = new Set(accounts.map(({ lowerName }) => lowerName));
  const knownTeams = new Set(teams.map(({ org, team }) => `${org}/${team}`));
  const isKnownTeam = ({ org, team }: TeamReference) =>
    knownTeams.has(`${org}/${team}`.toLowerCase());
  const repos = new Map(
    repositoryRows.map((row) => [
      nameOf({ owner: row.owner.name, name: row.repo.name }),
      toRepositoryContext(ctx.actor, row),
    ]),
  );
  return {
    users: new Set(found.users.filter((name) => known.has(name.toLowerCase()))),
    teams: new Set(found.teams.filter(isKnownTeam)),
    issues: new Map(
      knownIssues.flatMap(({ at, isPull }) => {
        const reference = found.issues[at];
        return reference ? [[reference, isPull ? "pulls" : "issues"] as const] : [];
      }),
    ),
    commits: await findCommits(ctx, home, repos, found.commits),
    tracker: home && toTracker(repos.get(nameOf(home))),
  };
}

/** The names in a text to look up; lists as JSON. */
interface Named {
  readonly principal: Principal;
  readonly names: string;
  readonly memberId: number | null;
  readonly hasIssueScope: boolean;
  readonly issues: string;
  readonly repositories: string;
}

const named = prepareAll((db, given: Params<Named>) => {
  const isNamed = sql`${users.lowerName} in (select lower(value) from json_each(${given.names}))`;
  return {
    accounts: db
      .select({ lowerName: users.lowerName })
      .from(users)
      .where(and(isNamed, isAccountVisible(given.principal))),
    teams: selectTeamNames(db, isNamed, given.memberId),
    issues: selectIssuesNamed(db, given),
    repos: selectRepositories(db, toCallerSql(given.principal)).where(
      sql`(${users.lowerName}, ${repositories.lowerName}) in (
        select value ->> 0, value ->> 1 from json_each(${given.repositories})
      )`,
    ),
  };
});

/** In lower case, as a key. */
const nameOf = ({ owner, name }: RepoName): string => `${owner}/${name}`.toLowerCase();

/** The repository that a reference names, or the text's own. */
const repoOf = (
  { owner, name }: IssueReference | CommitReference,
  home: RepoName | undefined,
): RepoName | undefined => (owner === undefined || name === undefined ? home : { owner, name });

/**
 * The position of each reference to an issue, with the lower-case names of its repository and its
 * number.
 */
const issueLookups = (home: RepoName | undefined, references: readonly IssueReference[]) =>
  references.flatMap((each, at) => {
    const repo = repoOf(each, home);
    return repo ? [[at, repo.owner.toLowerCase(), repo.name.toLowerCase(), each.index]] : [];
  });

/** Selects the issues that the caller may see, with the position of their reference. */
function selectIssuesNamed(
  db: Database,
  { principal, hasIssueScope, issues: lookups }: Params<Named>,
) {
  const isVisible = allOf(
    // A token without a scope for issues sees those of public repositories only.
    hasIssueScope ? undefined : sql`'public' = ${repositories.visibility}`,
    isRepositoryVisibleWith(principal, [
      { unit: "pulls", isNeeded: sql`${issues.isPull}` },
      { unit: "issues", isNeeded: sql`1` },
    ]),
  );
  return db
    .select({
      at: sql<number>`lookup.value ->> 0`.as("reference_at"),
      isPull: sql`${issues.isPull}`.mapWith(issues.isPull).as("is_pull"),
    })
    .from(sql`json_each(${lookups}) lookup`)
    .innerJoin(users, sql`${users.lowerName} = lookup.value ->> 1`)
    .innerJoin(
      repositories,
      sql`${repositories.ownerId} = ${users.id} and ${repositories.lowerName} = lookup.value ->> 2`,
    )
    .innerJoin(
      issues,
      sql`${issues.repoId} = ${repositories.id} and ${issues.number} = lookup.value ->> 3`,
    )
    .where(isVisible);
}

/**
 * The lower-case names of the text's own repository, for its tracker, and of those of its commits.
 */
function repositoryNames(
  home: RepoName | undefined,
  references: readonly CommitReference[],
): string[][] {
  const others = new Map<string, RepoName>();
  for (const each of references) {
    const repo = repoOf(each, home);
    if (repo && others.size < OTHER_REPOSITORIES_MAX) others.set(nameOf(repo), repo);
  }
  const lookups = new Map([...others, ...(home ? [[nameOf(home), home] as const] : [])]);
  return [...lookups.values()].map(({ owner, name }) => [owner.toLowerCase(), name.toLowerCase()]);
}

/** Finds commits in the repositories whose code the caller may read. */
async function findCommits(
  ctx: Ctx,
  home: RepoName | undefined,
  repos: ReadonlyMap<string, RepositoryContext>,
  references: readonly CommitReference[],
): Promise<Map<CommitReference, string>> {
  const byRepo = Map.groupBy(references, (each) => {
    const repo = repoOf(each, home);
    return repo && repos.get(nameOf(repo));
  });
  const ofEach = await Promise.all(
    [...byRepo].map(async ([repo, ofRepo]) => {
      if (!repo || !isCodeShown(ctx, repo)) return [];
      const snapshot = await openSnapshot(ctx, repo);
      const commits = await findCommitsByIds(
        snapshot,
        ofRepo.map(({ prefix }) => prefix),
      );
      return ofRepo.flatMap((each) => {
        const commit = commits.get(each.prefix);
        return commit ? [[each, commit.commitOid] as const] : [];
      });
    }),
  );
  return new Map(ofEach.flat());
}

const isCodeShown = ({ actor }: Ctx, repo: RepositoryContext): boolean =>
  !repo.row.isEmpty &&
  (repo.row.visibility === "public" || hasScope(actor.scopes, "read:repository")) &&
  isAllowed(repo, { unit: "code", mode: "read" });
