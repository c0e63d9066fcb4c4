import { repositoryActivities } from "./activities.ts";
import { archives } from "./archives.ts";
import { collaborators } from "./collaborators.ts";
import { repositoryAvatarRoutes } from "./avatar.ts";
import { imports } from "./import.ts";
import { insights } from "./insights.ts";
import { deployKeys } from "./deploy-keys.ts";
import { exports } from "./export.ts";
import { repositoryEvents } from "./events.ts";
import { forks } from "./forks.ts";
import { generate } from "./generate.ts";
import { upstreamMerges } from "./merge-upstream.ts";
import { mirrors } from "./mirrors.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migration.ts";
import { repositories } from "./repositories.ts";
import { repositorySearch } from "./search.ts";
import { stargazers } from "./stargazers.ts";
import { subscriptions } from "./subscriptions.ts";
import { repositoryTeams } from "./teams.ts";
import { topics } from "./topics.ts";
import { transfers } from "./transfers.ts";

/** The routes of repositories. When two paths match a request, the one listed first handles it. */
export const repoRoutes = [
  repositorySearch,
  migrate,
  imports,
  repositories,
  repositoryAvatarRoutes,
  subscriptions,
  stargazers,
  forks,
  collaborators,
  transfers,
  upstreamMerges,
  generate,
  migrations,
  insights,
  topics,
  repositoryTeams,
  repositoryActivities,
  repositoryEvents,
  deployKeys,
  mirrors,
  exports,
  archives,
];
