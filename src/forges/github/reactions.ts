import { z } from "zod";

import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import { shortText } from "../fields.ts";
import type { ForeignReaction } from "../forge.ts";
import { Account, type ReactionCounts } from "./fields.ts";
import { type GitHubApi, PAGE_SIZE, readWholeList } from "./github-api.ts";

/** Of one thing, at most this many pages of reactions are read. */
const PAGES_MAX = 10;

/** GitHub's words are those of the API here; should it get others, they are left out. */
const KNOWN: ReadonlySet<string> = new Set(ALLOWED_REACTIONS);

const Reaction = z.object({ user: Account, content: shortText });

/** How many requests reading the reactions of something takes. */
export const reactionCost = (counts: ReactionCounts): number =>
  Math.min(Math.ceil((counts?.total_count ?? 0) / PAGE_SIZE), PAGES_MAX);

/**
 * Reads the reactions of something, oldest first: at most 1,000.
 *
 * @param path   Of the thing, below that of the repository, such as `/issues/7`.
 * @param counts What the thing says of its reactions: without any, no request is made.
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
