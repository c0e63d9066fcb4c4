import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";
import { Nothing } from "./common-fields.ts";

const Block = z.object({ user_id: Int64 });

export const SOCIAL_PAYLOADS = {
  "star.created": Nothing,
  "star.deleted": Nothing,
  "watch.created": Nothing,
  "watch.deleted": Nothing,
  "follow.created": Nothing,
  "follow.deleted": Nothing,
  "block.created": Block,
  "block.deleted": Block,
} as const;
