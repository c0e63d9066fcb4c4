import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

/**
 * SECURITY: no title: events are listed for callers who may see neither the issues nor the pull
 * requests.
 */
const OfMilestone = z.object({ milestone_id: Int64 });

export const MILESTONE_PAYLOADS = {
  "milestone.created": OfMilestone,
  "milestone.edited": OfMilestone,
  "milestone.closed": OfMilestone,
  "milestone.reopened": OfMilestone,
  "milestone.deleted": OfMilestone,
} as const;
