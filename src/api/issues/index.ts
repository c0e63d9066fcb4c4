import { attachments } from "./attachments.ts";
import { comments } from "./comments.ts";
import { contentHistory } from "./content-history.ts";
import { deadlines } from "./deadlines.ts";
import { dependencies } from "./dependencies.ts";
import { issues } from "./issues.ts";
import { issueLists } from "./lists.ts";
import { issueSearch } from "./search.ts";
import { locks } from "./locks.ts";
import { milestones } from "./milestones.ts";
import { pins } from "./pins.ts";
import { reactions } from "./reactions.ts";
import { stopwatches } from "./stopwatches.ts";
import { issueSubscriptions } from "./subscriptions.ts";
import { issueTemplates } from "./templates.ts";
import { timeline } from "./timeline.ts";
import { times } from "./times.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [
  issueTemplates,
  issueLists,
  pins,
  comments,
  contentHistory,
  reactions,
  timeline,
  dependencies,
  attachments,
  issues,
  locks,
  deadlines,
  milestones,
  times,
  stopwatches,
  issueSubscriptions,
];

/** Routes whose paths look like a repository's: they come before those of repositories. */
export const issueSearchRoutes = [issueSearch];
