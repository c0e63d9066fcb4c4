import type { z } from "@hono/zod-openapi";

import { formatTime } from "../../lib/time.ts";
import type { WatchInfo } from "../repos/watch-info.ts";
import { apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";
import { issueApiUrlOf, type IssueNames } from "./issue.ts";

/**
 * Formats whether a user is subscribed to an issue. `created_at` is that of the issue, as in Gitea.
 */
export const toIssueWatchInfo = (
  issue: IssueNames & { readonly row: { readonly createdAt: number } },
  isSubscribed: boolean,
  viewer: Viewer,
): z.infer<typeof WatchInfo> => ({
  subscribed: isSubscribed,
  ignored: !isSubscribed,
  reason: null,
  created_at: formatTime(issue.row.createdAt),
  url: `${issueApiUrlOf(issue, viewer)}/subscriptions`,
  repository_url: apiUrlOf(issue.repo, viewer),
});
