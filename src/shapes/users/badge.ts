import { z } from "@hono/zod-openapi";

import type { Badge as BadgeRow } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";

export const Badge = z
  .object({
    id: Int64,
    slug: z.string().openapi({ example: "early-bird" }),
    description: z.string(),
    image_url: z.string(),
  })
  .openapi("Badge");

/** Formats a badge. */
export const toBadge = (badge: BadgeRow): z.infer<typeof Badge> => ({
  id: badge.id,
  slug: badge.slug,
  description: badge.description,
  image_url: badge.imageUrl,
});
