import { actionTools } from "./actions.ts";
import { commitTools } from "./commits.ts";
import { fileTools } from "./files.ts";
import { issueTools } from "./issues.ts";
import { notificationTools } from "./notifications.ts";
import { pullTools } from "./pulls.ts";
import { releaseTools } from "./releases.ts";
import { repositoryTools } from "./repositories.ts";
import type { Tool } from "./tool.ts";

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  ...repositoryTools,
  ...fileTools,
  ...commitTools,
  ...issueTools,
  ...pullTools,
  ...releaseTools,
  ...actionTools,
  ...notificationTools,
];
