import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const Status = z.object({
  commit_oid: z.string(),
  number: Int64,
  state: z.string(),
  context: z.string(),
});
const Locked = z.object({ path: z.string() });

export const CODE_PAYLOADS = {
  "commit_status.created": Status,
  "lfs_lock.created": Locked,
  "lfs_lock.deleted": Locked,
} as const;
