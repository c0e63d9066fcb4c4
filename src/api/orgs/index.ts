import { organizationActivities } from "./activities.ts";
import { organizationAudit } from "./audit.ts";
import { organizationEvents } from "./events.ts";
import { organizationMembers } from "./members.ts";
import { organizations } from "./organizations.ts";
import { organizationRepositories } from "./repositories.ts";
import { teams } from "./teams.ts";

/** The routes of organizations and teams. When two paths match a request, the one listed first handles it. */
export const organizationRoutes = [
  organizations,
  organizationMembers,
  organizationRepositories,
  organizationActivities,
  organizationEvents,
  organizationAudit,
  teams,
];
