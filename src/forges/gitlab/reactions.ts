import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { shortText } from "../fields.ts";
import type { ForeignReaction } from "../forge.ts";
import type { GitLabProject } from "./project.ts";
import { isAbsent, isGone } from "./requests.ts";
import { GitLabUser } from "./shapes.ts";

const Award = z.object({ name: shortText, user: GitLabUser });

/** GitLab's names of the reactions that are known here. */
const CONTENTS: ReadonlyMap<string, string> = new Map([
  ["thumbsup", "+1"],
  ["thumbsdown", "-1"],
  ["laughing", "laugh"],
  ["tada", "hooray"],
  ["confused", "confused"],
  ["heart", "heart"],
  ["rocket", "rocket"],
  ["eyes", "eyes"],
]);

/**
 * Pages of 100: no issue has more reactions than these hold, but a server could go on without end.
 */
const PAGES_MAX = 10;

/**
 * Reads the reactions to an issue, a merge request or a comment that are known here: a request, or
 * more for over 100.
 *
 * @param path Of what they are about. If it was deleted meanwhile, it has none.
 */
export async function readReactions(
  { requests, isAnonymous }: GitLabProject,
  path: string,
): Promise<ForeignReaction[]> {
  const reactions: ForeignReaction[] = [];
  try {
    for (let page = 1; page <= PAGES_MAX; page++) {
      const { value, next } = await requests.get(`${path}/award_emoji`, boundedList(Award, 100), {
        per_page: 100,
        page,
      });
      for (const { name, user } of value) {
        const content = CONTENTS.get(name);
        if (content !== undefined) reactions.push({ user, content });
      }
      if (next === undefined) break;
    }
  } catch (error) {
    // Before GitLab 15.1 they are shown to accounts only.
    if (isGone(error) || (isAnonymous && isAbsent(error))) return reactions;
    throw error;
  }
  return reactions;
}
