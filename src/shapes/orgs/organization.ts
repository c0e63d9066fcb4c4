import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";
import type { Viewer } from "../viewer.ts";
import { avatarUrlOf } from "../urls.ts";

export const Organization = z
  .object({
    id: Int64,
    name: z.string(),
    /** Same as `name`, for older clients. */
    username: z.string(),
    full_name: z.string(),
    email: z.string(),
    avatar_url: z.string().openapi({ format: "uri" }),
    description: z.string(),
    website: z.string(),
    location: z.string(),
    visibility: z.enum(["public", "limited", "private"]),
    repo_admin_change_team_access: z.boolean(),
  })
  .openapi("Organization");

/** Formats an organization. */
export function toOrganization(org: UserRow, viewer: Viewer): z.infer<typeof Organization> {
  return {
    id: org.id,
    name: org.name,
    username: org.name,
    full_name: org.fullName,
    // As the address of a user: signed-in callers see it.
    email: viewer.userId === undefined ? "" : org.email,
    avatar_url: avatarUrlOf(org, viewer),
    description: org.description,
    website: org.website,
    location: org.location,
    visibility: org.visibility,
    repo_admin_change_team_access: org.canRepoAdminChangeTeamAccess,
  };
}
