import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { requireCookie, requireOwn } from "../open-page.ts";
import { type EnteredRepository, enterRepositoryPage, READ_ACTIONS } from "../repository/enter.ts";

const WRITE_ACTIONS: Requirement = { unit: "actions", mode: "write" };

/** Enters the repository of a page about runs. Actions that are switched off have no pages. */
export async function enterActions(c: Context<WebEnv>): Promise<EnteredRepository> {
  const page = await enterRepositoryPage(c, READ_ACTIONS);
  if (!isUnitOn(page.repo.row, "actions")) throw notFound();
  return page;
}

/** The same for who may change runs. Who is not signed in is led to the sign-in. */
export async function enterToChangeRuns(c: Context<WebEnv>): Promise<EnteredRepository> {
  requireCookie(c);
  const page = await enterRepositoryPage(c, READ_ACTIONS, ["write:repository"]);
  requireOwn(c, page);
  if (!isUnitOn(page.repo.row, "actions")) throw notFound();
  if (!isAllowed(page.repo, WRITE_ACTIONS)) throw notFound();
  return page;
}

/** Whether the reader may change runs. */
export const canChangeRuns = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined && repo.row.archivedAt === null && isAllowed(repo, WRITE_ACTIONS);

type Names = Parameters<typeof repositoryPath>[0];

/** The path of the list of runs. */
export const actionsPath = (repo: Names): string => `${repositoryPath(repo)}/actions`;

export const runPath = (repo: Names, { number }: { readonly number: number }): string =>
  `${actionsPath(repo)}/runs/${number}`;

export const jobPath = (
  repo: Names,
  run: { readonly number: number },
  { position }: { readonly position: number },
): string => `${runPath(repo, run)}/jobs/${position}`;

/**
 * A number in a path.
 *
 * @throws Failure `not_found` for anything that is none.
 */
export function readRunNumber(text = ""): number {
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) throw notFound();
  return Number(text);
}
