import { z } from "zod";

import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import { shortText } from "../fields.ts";
import type { ForeignReaction } from "../forge.ts";
import { Account, type ReactionCounts } from "./fields.ts";
import { type GitHubApi, PAGE_SIZE, readWholeList } from "./github-api.ts";

/** Pages of reactions that are read of one item at most. */
const PAGES_MAX = 10;

/** GitHub's names of reactions are the same as here; unknown ones are skipped. */
const KNOWN: ReadonlySet<string> = new Set(ALLOWED_REACTIONS);

const Reaction = z.object({ user: Account, content: shortText });

/** How many requests reading the reactions of something takes. */
export const reactionCost = (counts: ReactionCounts): number =>
  Math.min(Math.ceil((counts?.total_count ?? 0) / PAGE_SIZE), PAGES_MAX);

/**
 * Reads the reactions of something, oldest first: at most 1,000.
 *
 * @param path   The path of the item below the repository's, such as `/issues/7`.
 * @param counts The item's count of reactions: for 0, no request is made.
 */
export async function readReactions(
  api: GitHubApi,
  path: string,
  counts: ReactionCounts,
): Promise<ForeignReaction[]> {
  const cost = reactionCost(counts);
  if (cost === 0) return [];
  try {
    const { items } = await readWholeList(api, `${api.path}${path}/reactions`, Reaction, cost);
    return items
      .filter(({ content }) => KNOWN.has(content))
      .map(({ user, content }) => ({ user, content }));
  } catch (error) {
    // It was deleted after the list was read.
    if (error instanceof RemoteFailure && error.kind === "not_found") return [];
    throw error;
  }
}
