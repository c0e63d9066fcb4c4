import type { Database } from "../../scripts/serve/migrate.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/repository/default-settings.ts";
import { MEMBER, type Population } from "./population.ts";

/** Ids from here on, so that the rows of all other accounts stay numbered from 1. */
const FIRST_ID = 10_000_000;

/** The organization's name. */
const ORGANIZATION = "the-organization";

/**
 * The size of the organization: at full scale 10,000 members, 1,000 teams and 10,000 repositories.
 */
const sizeOf = ({ users }: Population) => ({
  members: users / 10,
  teams: users / 100,
  repositories: users / 10,
});

const repositoryName = (repository: number): string => `part-${repository}`;

let turn = 0;

/**
 * The path of a repository that the member reads by a team which names it, a different one each
 * time.
 */
export function nextByTeam(population: Population): string {
  const { teams, repositories } = sizeOf(population);
  turn += 1;
  const repository = (MEMBER + turn * teams) % repositories;
  return `/api/v1/repos/${ORGANIZATION}/${repositoryName(repository)}`;
}

/**
 * Replaces the organization by one of the population's size: each member is in one team that reads
 * the code of ten private repositories. Its repositories have been deleted before.
 */
export async function loadOrganization(db: Database, population: Population): Promise<void> {
  const { members, teams, repositories } = sizeOf(population);
  const run = (statement: string, count = 0) =>
    db
      .prepare(statement)
      .bind(...(count > 0 ? [JSON.stringify(Array.from({ length: count }, (_, at) => at))] : []))
      .run();
  await run(`DELETE FROM users WHERE id = ${FIRST_ID}`);
  await run(`
    INSERT INTO users (id, kind, name, lower_name, visibility, created_at, updated_at)
    VALUES (${FIRST_ID}, 'organization', '${ORGANIZATION}', '${ORGANIZATION}', 'public', 0, 0)`);
  await run(
    `INSERT INTO organization_members (org_id, user_id)
    SELECT ${FIRST_ID}, value + 1 FROM json_each(?)`,
    members,
  );
  await run(
    `INSERT INTO teams (id, org_id, name, lower_name, access, units, created_at)
    SELECT ${FIRST_ID} + value, ${FIRST_ID}, 'team-' || value, 'team-' || value, 0, '{"code":1}', 0
    FROM json_each(?)`,
    teams,
  );
  await run(
    `INSERT INTO team_members (team_id, user_id)
    SELECT ${FIRST_ID} + value % ${teams}, value + 1 FROM json_each(?)`,
    members,
  );
  await run(
    `INSERT INTO repositories (id, owner_id, name, lower_name, is_private, default_branch,
      pull_settings, issue_settings, created_at, updated_at)
    SELECT ${FIRST_ID} + value, ${FIRST_ID}, 'part-' || value, 'part-' || value, 1, 'main',
      '${JSON.stringify(DEFAULT_PULL_SETTINGS)}', '${JSON.stringify(DEFAULT_ISSUE_SETTINGS)}', 0, 0
    FROM json_each(?)`,
    repositories,
  );
  await run(
    `INSERT INTO team_repositories (team_id, repo_id)
    SELECT ${FIRST_ID} + value % ${teams}, ${FIRST_ID} + value FROM json_each(?)`,
    repositories,
  );
}
