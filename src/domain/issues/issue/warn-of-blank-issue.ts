import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { logBug } from "../../../lib/log.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { LruCache } from "../../../lib/lru-cache.ts";
import { findBlankIssueRule } from "./find-templates.ts";

/** The warnings of repositories in the state that the key describes; "" for none. */
const known = new LruCache<string>(1024 * 1024);

/**
 * A warning for callers who open an issue without a template where the repository's configuration
 * asks for one. Programs open issues without templates, so they are accepted.
 *
 * Cost: none for a state of the repository that this isolate has met; otherwise a snapshot, which
 * callers need not wait for before their own work. It never rejects: an issue is not refused
 * because of a warning.
 *
 * @returns Undefined if blank issues are allowed, if there are no templates, and where the caller
 *   may not read the code.
 */
export async function warnOfBlankIssue(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<string | undefined> {
  const { row } = repo;
  if (row.isEmpty || !isAllowed(repo, { unit: "code", mode: "read" })) return undefined;
  // A push changes the time, and the size unless it has no new objects.
  const key = JSON.stringify([row.objectName, row.defaultBranch, row.updatedAt, row.sizeBytes]);
  const cached = known.get(key);
  if (cached !== undefined) return cached || undefined;
  try {
    const path = await findBlankIssueRule(ctx, repo);
    const warning =
      path === undefined ? "" : `blank issues are disabled by ${path}: use a template`;
    known.set(key, warning, 2 * (key.length + warning.length));
    return warning || undefined;
  } catch (error) {
    logBug(`blank-issue-${row.id}`, error);
    return undefined;
  }
}
