import { organizationActivities } from "./activities.ts";
import { organizationEvents } from "./events.ts";
import { organizationMembers } from "./members.ts";
import { organizations } from "./organizations.ts";
import { organizationRepositories } from "./repositories.ts";
import { teams } from "./teams.ts";

/** The routes of organizations and teams. Of two paths that fit a request, the one listed first answers. */
export const organizationRoutes = [
  organizations,
  organizationMembers,
  organizationRepositories,
  organizationActivities,
  organizationEvents,
  teams,
];
