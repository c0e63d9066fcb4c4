import type { Oid } from "../../../git/oid.ts";

/** Maximum commits that an entry names. */
const COMMITS_MAX = 1000;

/**
 * The text of a `pull_push` entry, in Gitea's form.
 *
 * @param commitOids The new commits, oldest first; for a forced push the former and the new head.
 * Of very many the latest are named.
 */
export const toPushBody = (isForced: boolean, commitOids: readonly Oid[]): string =>
  JSON.stringify({ is_force_push: isForced, commit_ids: commitOids.slice(-COMMITS_MAX) });
