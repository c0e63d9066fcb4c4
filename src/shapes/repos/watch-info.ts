import { z } from "@hono/zod-openapi";

import { formatTime } from "../../lib/time.ts";
import { Time } from "../json.ts";
import type { RepositoryContext } from "./repository.ts";
import type { Viewer } from "../viewer.ts";
import { apiUrlOf } from "../urls.ts";

export const WatchInfo = z
  .object({
    subscribed: z.boolean(),
    ignored: z.boolean(),
    reason: z.null(),
    created_at: Time,
    url: z.string().openapi({ format: "uri" }),
    repository_url: z.string().openapi({ format: "uri" }),
  })
  .openapi("WatchInfo");

/** Formats the subscription of a watcher. `created_at` is that of the repository, as in Gitea. */
export function toWatchInfo(repo: RepositoryContext, viewer: Viewer): z.infer<typeof WatchInfo> {
  const repositoryUrl = apiUrlOf(repo, viewer);
  return {
    subscribed: true,
    ignored: false,
    reason: null,
    created_at: formatTime(repo.row.createdAt),
    url: `${repositoryUrl}/subscription`,
    repository_url: repositoryUrl,
  };
}
