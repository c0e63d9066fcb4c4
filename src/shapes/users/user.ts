import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import type { Viewer } from "../viewer.ts";
import { accountUrlOf, avatarUrlOf } from "../urls.ts";

export const User = z
  .object({
    id: Int64,
    login: z.string().openapi({ example: "alice" }),
    /** Same as `login`, for older clients. */
    username: z.string(),
    login_name: z.string(),
    source_id: Int64,
    full_name: z.string(),
    email: z.string().openapi({ description: "Empty for an organization without one" }),
    avatar_url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    language: z.string(),
    is_admin: z.boolean(),
    last_login: Time,
    created: Time,
    restricted: z.boolean(),
    active: z.boolean(),
    prohibit_login: z.boolean(),
    location: z.string(),
    website: z.string(),
    description: z.string(),
    visibility: z.enum(["public", "limited", "private"]),
    followers_count: Int64,
    following_count: Int64,
    starred_repos_count: Int64,
  })
  .openapi("User");
export type User = z.infer<typeof User>;

/**
 * Formats a user or organization for `viewer`.
 *
 * Fields about signing in (`login_name`, `source_id`, `last_login`, `language`, `is_admin`,
 * `active`, `prohibit_login`, `restricted`) are filled only for the account itself and for
 * administrators. For others they are empty, as Gitea's clients expect.
 */
export function toUser(user: UserRow, viewer: Viewer): User {
  const isOwn = viewer.isSiteAdmin || viewer.userId === user.id;
  return {
    id: user.id,
    login: user.name,
    username: user.name,
    login_name: isOwn ? user.loginName : "",
    source_id: isOwn ? user.loginSourceId : 0,
    full_name: user.fullName,
    email: shownEmail(user, viewer),
    avatar_url: avatarUrlOf(user, viewer),
    html_url: accountUrlOf(user, viewer),
    language: isOwn ? user.language : "",
    is_admin: isOwn && user.isAdmin,
    last_login: isOwn && user.lastLoginAt !== null ? formatTime(user.lastLoginAt) : NEVER,
    created: formatTime(user.createdAt),
    restricted: isOwn && user.isRestricted,
    active: isOwn && user.isActive,
    prohibit_login: isOwn && user.isLoginProhibited,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: user.followerCount,
    following_count: user.followingCount,
    starred_repos_count: user.starCount,
  };
}

/** The placeholder for a deleted account, or for a missing actor. */
export const toGhost = (viewer: Viewer): User => ({
  id: -1,
  login: "Ghost",
  username: "Ghost",
  login_name: "",
  source_id: 0,
  full_name: "",
  email: `ghost@${viewer.noReplyDomain}`,
  avatar_url: avatarUrlOf({ id: 0, avatarHash: "" }, viewer),
  html_url: accountUrlOf({ name: "Ghost" }, viewer),
  language: "",
  is_admin: false,
  last_login: NEVER,
  created: NEVER,
  restricted: false,
  active: false,
  prohibit_login: false,
  location: "",
  website: "",
  description: "",
  visibility: "public",
  followers_count: 0,
  following_count: 0,
  starred_repos_count: 0,
});

/** SECURITY: hides hidden addresses from other users, and all addresses from anonymous callers. */
function shownEmail(user: UserRow, viewer: Viewer): string {
  const isOwn = viewer.isSiteAdmin || viewer.userId === user.id;
  if (isOwn || (viewer.userId !== undefined && !user.isEmailHidden)) return user.email;
  return `${user.lowerName}@${viewer.noReplyDomain}`;
}
