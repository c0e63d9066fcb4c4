import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

/**
 * SECURITY: no name: events are listed for callers who may see neither the issues nor the pull
 * requests.
 */
const OfLabel = z.object({ label_id: Int64 });

export const LABEL_PAYLOADS = {
  "label.created": OfLabel,
  "label.edited": OfLabel,
  "label.deleted": OfLabel,
} as const;
