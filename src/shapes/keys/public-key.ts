import { z } from "@hono/zod-openapi";

import type { PublicKey as PublicKeyRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";
import { Repository, toRepository, type RepositoryContext } from "../repos/repository.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { apiRootOf, apiUrlOf } from "../urls.ts";

export const PublicKey = z
  .object({
    id: Int64,
    key: z.string(),
    url: z.string().openapi({ format: "uri" }),
    title: z.string(),
    fingerprint: z.string(),
    created_at: Time,
    last_used_at: TimeOrNull,
    user: User.optional(),
    read_only: z.boolean().optional(),
    key_type: z.enum(["user", "deploy"]).optional(),
  })
  .openapi("PublicKey");

/**
 * Formats a user's SSH key. Only the owner and administrators see the owner and the kind of key.
 */
export function toPublicKey(
  key: PublicKeyRow,
  owner: UserRow,
  viewer: Viewer,
): z.infer<typeof PublicKey> {
  const isOwn = viewer.isSiteAdmin || viewer.userId === owner.id;
  return {
    id: key.id,
    key: key.content,
    url: `${apiRootOf(viewer)}/user/keys/${key.id}`,
    title: key.title,
    fingerprint: key.fingerprint,
    created_at: formatTime(key.createdAt),
    last_used_at: formatTimeOrNull(key.lastUsedAt),
    ...(isOwn && { user: toUser(owner, viewer), read_only: key.isReadOnly, key_type: "user" }),
  };
}

export const DeployKey = z
  .object({
    id: Int64,
    key_id: Int64,
    key: z.string(),
    url: z.string().openapi({ format: "uri" }),
    title: z.string(),
    fingerprint: z.string(),
    created_at: Time,
    read_only: z.boolean(),
    repository: Repository,
  })
  .openapi("DeployKey");

/** Formats a deploy key, which grants access to one repository. */
export function toDeployKey(
  key: PublicKeyRow,
  repo: RepositoryContext,
  viewer: Viewer,
): z.infer<typeof DeployKey> {
  return {
    id: key.id,
    key_id: key.id,
    key: key.content,
    url: `${apiUrlOf(repo, viewer)}/keys/${key.id}`,
    title: key.title,
    fingerprint: key.fingerprint,
    created_at: formatTime(key.createdAt),
    read_only: key.isReadOnly,
    repository: toRepository(repo, viewer),
  };
}
