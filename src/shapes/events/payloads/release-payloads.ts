import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const OfRelease = z.object({ release_id: Int64, tag_name: z.string() });

export const RELEASE_PAYLOADS = {
  "release.published": OfRelease,
  "release.updated": OfRelease.extend({
    part: z
      .enum(["assets", "fields"])
      .openapi({ description: "Whether its files changed, or anything else" }),
  }),
  "release.deleted": OfRelease,
} as const;
