import { attachments } from "./attachments.ts";
import { comments } from "./comments.ts";
import { contentHistory } from "./content-history.ts";
import { issues } from "./issues.ts";
import { issueLists } from "./lists.ts";
import { milestones } from "./milestones.ts";
import { reactions } from "./reactions.ts";
import { issueSubscriptions } from "./subscriptions.ts";
import { issueTemplates } from "./templates.ts";
import { timeline } from "./timeline.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [
  issueTemplates,
  issueLists,
  comments,
  contentHistory,
  timeline,
  reactions,
  attachments,
  issues,
  milestones,
  issueSubscriptions,
];
