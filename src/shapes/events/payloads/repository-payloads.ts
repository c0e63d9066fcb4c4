import { z } from "@hono/zod-openapi";

import { EXPIRY_ACTIONS } from "../../../db/schema/index.ts";
import { Int64 } from "../../json.ts";
import { Edited, Named, Nothing, Renamed } from "./common-fields.ts";

const Push = z.object({
  push_id: z.string(),
  ref_count: Int64.openapi({
    description:
      "Number of refs updated by the push. A push of very many refs is recorded as several events",
  }),
  is_mirror: z.boolean().optional().openapi({
    description: "True if nobody pushed: a mirror took the updates over from its remote",
  }),
  updates: z.array(
    z.object({ ref: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});

const Offer = z.object({ recipient_id: Int64 });
const Role = z.object({ user_id: Int64, permission: z.enum(["read", "write", "admin"]) });

/**
 * SECURITY: a fork's parent is omitted, because a caller who may see the fork may not see the
 * parent.
 */
export const REPOSITORY_PAYLOADS = {
  "repository.created": Named,
  "repository.forked": Nothing,
  "migration.finished": Nothing,
  "migration.failed": z.object({ reason: z.string() }),
  "repository.edited": Edited,
  "repository.renamed": Renamed,
  "repository.visibility_changed": z.object({ is_private: z.boolean() }),
  "repository.transferred": Renamed,
  "repository.transfer_started": Offer,
  "repository.transfer_cancelled": Offer,
  "repository.transfer_rejected": Offer,
  "repository.deleted": Named,
  "repository.pushed": Push,
  "repository.archived": Nothing,
  "repository.expiring": z.object({
    expires_at: Int64.openapi({ description: "In milliseconds" }),
    action: z.enum(EXPIRY_ACTIONS),
  }),
  "repository.topics_changed": Nothing,
  "repository.mirror_ended": Nothing,
  "push_mirror.added": z.object({ remote_name: z.string() }),
  "push_mirror.removed": z.object({ remote_name: z.string() }),
  "mirror.failed": z.object({
    remote_name: z.string().optional(),
    reason: z.string(),
    next_at: Int64.nullable().openapi({ description: "In milliseconds" }),
    is_paused: z.boolean(),
  }),
  "mirror.recovered": z.object({ remote_name: z.string().optional() }),
  "collaborator.added": Role,
  "collaborator.edited": Role,
  "collaborator.removed": z.object({ user_id: Int64 }),
} as const;
