import { z } from "@hono/zod-openapi";

import type { ContentVersion as VersionRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Time } from "../json.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const ContentVersion = z
  .object({
    editor: User.openapi({ description: "Who wrote this version" }),
    created_at: Time,
    body: z.string(),
  })
  .openapi("ContentVersion");

/** A version of a text as queries return it. */
export interface VersionContext {
  readonly row: VersionRow;
  /** Undefined for a deleted account. */
  readonly editor: UserRow | undefined;
}

export const toContentVersion = (
  { row, editor }: VersionContext,
  viewer: Viewer,
): z.infer<typeof ContentVersion> => ({
  editor: editor ? toUser(editor, viewer) : toGhost(viewer),
  created_at: formatTime(row.createdAt),
  body: row.body,
});
