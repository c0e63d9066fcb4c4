import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";
import { Edited, Named, Nothing, Renamed } from "./common-fields.ts";

const Push = z.object({
  push_id: z.string(),
  ref_count: Int64.openapi({
    description:
      "Number of refs updated by the push. A push of very many refs is recorded as several events",
  }),
  updates: z.array(
    z.object({ ref: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});

/** SECURITY: a fork's parent is omitted, because a caller who may see the fork may not see the parent. */
export const REPOSITORY_PAYLOADS = {
  "repository.created": Named,
  "repository.forked": Nothing,
  "repository.edited": Edited,
  "repository.renamed": Renamed,
  "repository.visibility_changed": z.object({ is_private: z.boolean() }),
  "repository.deleted": Named,
  "repository.pushed": Push,
  "repository.topics_changed": Nothing,
} as const;
