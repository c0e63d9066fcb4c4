import { comments } from "./comments.ts";
import { contentHistory } from "./content-history.ts";
import { dependencies } from "./dependencies.ts";
import { issues } from "./issues.ts";
import { reactions } from "./reactions.ts";
import { timeline } from "./timeline.ts";
import { issueLists } from "./lists.ts";
import { milestones } from "./milestones.ts";
import { stopwatches } from "./stopwatches.ts";
import { issueSubscriptions } from "./subscriptions.ts";
import { deadlines } from "./deadlines.ts";
import { issues } from "./issues.ts";
import { locks } from "./locks.ts";
import { pins } from "./pins.ts";
import { issueTemplates } from "./templates.ts";
import { timeline } from "./timeline.ts";
import { times } from "./times.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [issueTemplates, comments, contentHistory, timeline, reactions, issues];
export const issueRoutes = [
  issueTemplates,
  issueLists,
  comments,
  contentHistory,
  timeline,
  dependencies,
  issues,
  milestones,
  times,
  stopwatches,
  issueSubscriptions,
];
export const issueRoutes = [issueTemplates, pins, issues, locks, deadlines];
