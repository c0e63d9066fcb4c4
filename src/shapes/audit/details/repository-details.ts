import { z } from "@hono/zod-openapi";

import { Changed, NoDetails, RenamedFrom } from "./common-details.ts";

/** Repositories and webhooks. The target of a webhook is its id. */
export const REPOSITORY_DETAILS = {
  "repository.created": NoDetails,
  "repository.edited": Changed,
  "repository.renamed": RenamedFrom,
  "repository.visibility_changed": z.object({ isPrivate: z.boolean() }),
  "repository.deleted": NoDetails,
  "repository.collection_requested": z.object({ graceDays: z.number() }),
  "repository.transfer_started": NoDetails,
  "repository.transfer_cancelled": NoDetails,
  "repository.transfer_rejected": NoDetails,
  "repository.transferred": RenamedFrom,
  "collaborator.added": z.object({ permission: z.string() }),
  "collaborator.edited": z.object({ permission: z.string() }),
  "collaborator.removed": NoDetails,
  "branch_protection.created": NoDetails,
  "branch_protection.edited": NoDetails,
  "branch_protection.deleted": NoDetails,
  "branch_protection.ordered": NoDetails,
  "tag_protection.created": NoDetails,
  "tag_protection.edited": NoDetails,
  "tag_protection.deleted": NoDetails,
  "push_mirror.added": z.object({ host: z.string() }),
  "push_mirror.removed": NoDetails,
  "hook.created": z.object({ host: z.string() }),
  "hook.edited": Changed,
  "hook.deleted": NoDetails,
} as const;
