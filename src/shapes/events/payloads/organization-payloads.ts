import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";
import { Named } from "./common-fields.ts";

const Membership = z.object({ user_id: Int64, team_id: Int64.nullable() });

export const ORGANIZATION_PAYLOADS = {
  "organization.created": Named,
  "organization.deleted": Named,
  "organization.member_added": Membership,
  "organization.member_removed": Membership,
  "organization.member_visibility_changed": z.object({ is_public: z.boolean() }),
} as const;
