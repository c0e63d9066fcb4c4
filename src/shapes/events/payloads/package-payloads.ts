import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const OfPackageVersion = z.object({
  package_id: Int64,
  version_id: Int64,
  package_type: z.string().openapi({ example: "npm" }),
  name: z.string(),
  version: z.string(),
});

export const PACKAGE_PAYLOADS = {
  "package.created": OfPackageVersion,
  "package.deleted": OfPackageVersion,
} as const;
