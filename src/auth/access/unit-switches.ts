import { sql, type SQL } from "drizzle-orm";

import { repositories, type Repository, type Unit } from "../../db/schema/index.ts";

/**
 * Whether a unit is enabled: a disabled one is visible only to administrators of the repository,
 * who can enable it.
 */
export const isUnitOn = (repo: Repository, unit: Unit): boolean => SWITCHES[unit].ofRow(repo);

/** The rule of `isUnitOn` as a condition on the `repositories` rows of a query. */
export const isUnitOnSql = (unit: Unit): SQL => SWITCHES[unit].ofQuery;

interface Switch {
  readonly ofRow: (repo: Repository) => boolean;
  readonly ofQuery: SQL;
}

const isTrackerExternal = sql`${repositories.issueSettings} ->> '$.external' is not null`;
const isWikiExternal = sql`${repositories.externalWikiUrl} <> ''`;

const SWITCHES: Readonly<Record<Unit, Switch>> = {
  code: { ofRow: (repo) => repo.hasCode, ofQuery: sql`${repositories.hasCode}` },
  issues: {
    ofRow: (repo) => repo.hasIssues && !repo.issueSettings.external,
    ofQuery: sql`(${repositories.hasIssues} and not (${isTrackerExternal}))`,
  },
  ext_issues: {
    ofRow: (repo) => repo.hasIssues && repo.issueSettings.external !== undefined,
    ofQuery: sql`(${repositories.hasIssues} and ${isTrackerExternal})`,
  },
  pulls: { ofRow: (repo) => repo.hasPullRequests, ofQuery: sql`${repositories.hasPullRequests}` },
  releases: { ofRow: (repo) => repo.hasReleases, ofQuery: sql`${repositories.hasReleases}` },
  wiki: {
    ofRow: (repo) => repo.hasWiki && repo.externalWikiUrl === "",
    ofQuery: sql`(${repositories.hasWiki} and not (${isWikiExternal}))`,
  },
  ext_wiki: {
    ofRow: (repo) => repo.hasWiki && repo.externalWikiUrl !== "",
    ofQuery: sql`(${repositories.hasWiki} and ${isWikiExternal})`,
  },
  projects: { ofRow: (repo) => repo.hasProjects, ofQuery: sql`${repositories.hasProjects}` },
  packages: { ofRow: (repo) => repo.hasPackages, ofQuery: sql`${repositories.hasPackages}` },
  actions: { ofRow: (repo) => repo.hasActions, ofQuery: sql`${repositories.hasActions}` },
};
