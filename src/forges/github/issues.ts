import type { ForeignFilter, ForeignIssue, ForeignPage } from "../forge.ts";
import type { GitHubApi } from "./github-api.ts";
import { convertPage } from "./list-page.ts";
import { reactionCost, readReactions } from "./reactions.ts";
import { isPull, readThreads, toThreadFields } from "./threads.ts";

/** Reads a page of issues, oldest first. */
export async function readIssues(
  api: GitHubApi,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignIssue>> {
  return convertPage(
    await readThreads(api, cursor, filter),
    (thread) => (isPull(thread) ? 0 : reactionCost(thread.reactions)),
    async (thread) => {
      if (isPull(thread)) return undefined;
      const reactions = await readReactions(api, `/issues/${thread.number}`, thread.reactions);
      return { kind: "issue", ...toThreadFields(thread, reactions) };
    },
  );
}
