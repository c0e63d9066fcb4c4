import type { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import type { ForeignReaction } from "../forge.ts";
import { DELETIONS, optional } from "../optional.ts";
import { userOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { GiteaReaction } from "./shapes.ts";

const CONTENTS: ReadonlySet<string> = new Set(ALLOWED_REACTIONS);

const SIZE = 50;
/** Reactions that are read of one item at most, the first ones. */
const REACTIONS_MAX = 1000;

/** The reactions to an issue or pull request; none if it is gone meanwhile. */
export async function readIssueReactions(
  { lists, path }: GiteaProject,
  number: number,
): Promise<ForeignReaction[]> {
  const list = { path: `${path}/issues/${number}/reactions`, shape: GiteaReaction, size: SIZE };
  const found: z.output<typeof GiteaReaction>[] = [];
  for (;;) {
    const page = await optional(lists.readFrom(list, found.length), DELETIONS);
    found.push(...(page?.items ?? []));
    if (!page || page.isLast || found.length >= REACTIONS_MAX) return toReactions(found);
  }
}

/** Without reactions, the forge may answer with null. */
const Reactions = boundedList(GiteaReaction, 10_000).nullable();

/** The reactions to a comment, whose list has no pages; none if it is gone meanwhile. */
export async function readCommentReactions(
  { client, path }: GiteaProject,
  id: number,
): Promise<ForeignReaction[]> {
  const answer = await optional(
    client.get(`${path}/issues/comments/${id}/reactions`, Reactions),
    DELETIONS,
  );
  return toReactions((answer?.value ?? []).slice(0, REACTIONS_MAX));
}

/** Contents that are unknown here are left out. */
const toReactions = (list: readonly z.output<typeof GiteaReaction>[]): ForeignReaction[] =>
  list
    .filter(({ content }) => CONTENTS.has(content))
    .map(({ user, content }) => ({ user: userOf(user), content }));
