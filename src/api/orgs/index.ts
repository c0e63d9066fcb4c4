import { organizationActivities } from "./activities.ts";
import { organizationAudit } from "./audit.ts";
import { organizationBlocks } from "./blocks.ts";
import { organizationAvatar } from "./avatar.ts";
import { organizationEvents } from "./events.ts";
import { organizationMembers } from "./members.ts";
import { organizations } from "./organizations.ts";
import { organizationRepositories } from "./repositories.ts";
import { rulesets } from "./rulesets.ts";
import { teamRepositories } from "./team-repositories.ts";
import { teams } from "./teams.ts";

/**
 * The routes of organizations and teams. When two paths match a request, the one listed first
 * handles it.
 */
export const organizationRoutes = [
  organizations,
  organizationAvatar,
  organizationMembers,
  organizationBlocks,
  organizationRepositories,
  organizationActivities,
  organizationEvents,
  organizationAudit,
  teams,
  teamRepositories,
  rulesets,
];
