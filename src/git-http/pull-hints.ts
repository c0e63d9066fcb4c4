import {
  findPullsOfBranches,
  type PullsOfBranches,
} from "../domain/pulls/pull/find-pulls-of-branches.ts";
import type { PushedPull } from "../domain/pulls/pushed/push-pulls.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import type { ByteText } from "../git/byte-text.ts";
import { decodeText } from "../git/byte-text.ts";
import type { RefResult } from "../git/wire/receive-report.ts";
import { isDelete, type RefCommand } from "../git/wire/receive-request.ts";
import { log } from "../lib/log.ts";
import { encodePath, htmlUrlOf } from "../shapes/urls.ts";

/** Maximum branches of one push for which a pull request is named. */
const HINTS_MAX = 5;

const BRANCHES = "refs/heads/";

/**
 * The branches of a push for which a pull request may be named, while the rows about them are read.
 */
export interface OpenHints {
  readonly branches: readonly { readonly ref: ByteText; readonly branch: string }[];
  readonly found: Promise<PullsOfBranches | undefined>;
}

/**
 * Begins to read which pull requests there are for the branches of a push, beside the work of the
 * push itself; undefined if there can be none.
 */
export function openHints(
  { ctx, repo }: RequestContext,
  commands: readonly RefCommand[],
): OpenHints | undefined {
  const { row } = repo;
  // The first branch of a repository has no base for a pull request.
  if (row.isEmpty) return undefined;
  const isOwnDefault = (branch: string): boolean =>
    row.parentId === null && branch === row.defaultBranch;
  const branches = commands
    .filter((command) => command.ref.startsWith(BRANCHES) && !isDelete(command))
    .map(({ ref }) => ({ ref, branch: decodeText(ref.slice(BRANCHES.length) as ByteText) }))
    .filter(({ branch }) => !isOwnDefault(branch))
    .slice(0, HINTS_MAX);
  if (branches.length === 0) return undefined;
  const names = branches.map(({ branch }) => branch);
  const found = findPullsOfBranches(ctx, repo, names).catch((error: unknown) => {
    // A push does not fail for a hint.
    log("receive:no-hints", { repoId: row.id, reason: String(error) });
    return undefined;
  });
  return { branches, found };
}

/**
 * Names the open pull request of each updated branch but the default one, or where to open one; ""
 * if there is no hint. In Gitea's words.
 */
export async function suggestPulls(
  { ctx, repo }: RequestContext,
  hints: OpenHints | undefined,
  results: readonly RefResult[],
): Promise<string> {
  const found = await hints?.found;
  if (!hints || !found) return "";
  const { base, numbers } = found;
  const done = new Set(results.filter(({ kind }) => kind === "ok").map(({ ref }) => ref));
  const baseUrl = htmlUrlOf(base, ctx);
  const lines = hints.branches
    .filter(({ ref }) => done.has(ref))
    .map(({ branch }) => {
      const number = numbers.get(branch);
      if (number !== undefined) return visit(`${baseUrl}/pulls/${number}`);
      const owner = base.row.id === repo.row.id ? "" : `${repo.owner.name}:`;
      const url = `${baseUrl}/pulls/new/${owner}${encodePath(branch)}`;
      return `\nCreate a new pull request for '${owner}${branch}':\n  ${url}\n`;
    });
  return lines.length > 0 ? `${lines.join("")}\n` : "";
}

/** Names the pull requests that a push opened or updated. */
export function namePulls({ ctx, repo }: RequestContext, results: readonly PushedPull[]): string {
  const lines = results.flatMap(({ number }) =>
    number === undefined ? [] : [visit(`${htmlUrlOf(repo, ctx)}/pulls/${number}`)],
  );
  return lines.length > 0 ? `${lines.join("")}\n` : "";
}

const visit = (url: string): string => `\nVisit the existing pull request:\n  ${url}\n`;
