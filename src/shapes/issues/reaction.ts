import { z } from "@hono/zod-openapi";

import type { Reaction as ReactionRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Time } from "../json.ts";
import { toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const Reaction = z
  .object({ user: User, content: z.string(), created_at: Time })
  .openapi("Reaction");

/** A reaction as queries return it. */
export interface ReactionContext {
  readonly row: ReactionRow;
  readonly user: UserRow;
}

export const toReaction = (
  { row, user }: ReactionContext,
  viewer: Viewer,
): z.infer<typeof Reaction> => ({
  user: toUser(user, viewer),
  content: row.content,
  created_at: formatTime(row.createdAt),
});
