import { z } from "@hono/zod-openapi";

import type { Access, User as UserRow } from "../../db/schema/index.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

const MODES = ["none", "read", "write", "admin", "owner"] as const;

export const CollaboratorPermission = z
  .object({
    permission: z.enum(MODES),
    /** Same as `permission`. */
    role_name: z.enum(MODES),
    user: User,
  })
  .openapi("RepoCollaboratorPermission");

/** Formats the permission of a user in a repository for `viewer`. */
export const toCollaboratorPermission = (
  user: UserRow,
  mode: Access,
  viewer: Viewer,
): z.infer<typeof CollaboratorPermission> => ({
  permission: MODES[mode],
  role_name: MODES[mode],
  user: toUser(user, viewer),
});
