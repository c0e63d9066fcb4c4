import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";
import { Edited, Named, Nothing, Renamed } from "./common-fields.ts";

const Membership = z.object({ user_id: Int64, team_id: Int64.nullable() });
const OfTeam = z.object({ team_id: Int64 });
const TeamRepository = OfTeam.extend({ repository_id: Int64 });

export const ORGANIZATION_PAYLOADS = {
  "organization.created": Named,
  "organization.deleted": Named,
  "organization.edited": Edited,
  "organization.renamed": Renamed,
  "organization.avatar_changed": Nothing,
  "organization.member_added": Membership,
  "organization.member_removed": Membership,
  "organization.member_visibility_changed": z.object({ is_public: z.boolean() }),
  "team.created": OfTeam.extend(Named.shape),
  "team.deleted": OfTeam.extend(Named.shape),
  "team.edited": OfTeam.extend(Edited.shape),
  "team.repository_added": TeamRepository,
  "team.repository_removed": TeamRepository,
} as const;
