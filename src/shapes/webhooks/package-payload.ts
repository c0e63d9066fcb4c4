import type { z } from "@hono/zod-openapi";

import type { Organization } from "../orgs/organization.ts";
import type { PackageShape } from "../packages/package.ts";
import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of the webhook event `package`. */
export interface PackagePayload {
  action: "created" | "deleted";
  /** The repository that the package is linked to; null without one, or if it was deleted since. */
  repository: Repository | null;
  package: PackageShape;
  /** The owner, if that is an organization. */
  organization: z.infer<typeof Organization> | null;
  sender: User;
}
