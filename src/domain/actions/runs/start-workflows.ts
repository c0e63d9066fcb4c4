import { sql } from "drizzle-orm";

import { isUnitOnSql } from "../../../auth/access/unit-switches.ts";
import { JOBS_USER_ID } from "../../../auth/actor.ts";
import { events, repositories, workflows } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";

/**
 * Starts the workflows of an event: a run for each file that names it, once. A push to the default
 * branch also stores which workflows there are.
 *
 * Nothing follows from what a job does, or it would start itself again.
 */
export const startWorkflows: Consequence = {
  name: "workflows",
  kinds: [
    "repository.pushed",
    "repository.edited",
    "repository.forked",
    "issue.opened",
    "issue.edited",
    "issue.closed",
    "issue.reopened",
    "issue.assigned",
    "issue.unassigned",
    "issue.labeled",
    "issue.labels_cleared",
    "issue.milestoned",
    "issue.demilestoned",
    "comment.created",
    "comment.edited",
    "pull.synchronized",
    "pull.retargeted",
    "pull.merged",
    "pull.review_requested",
    "pull.review_request_removed",
    "review.submitted",
    "release.published",
    "release.updated",
    "release.deleted",
    "wiki.changed",
    "package.created",
    "workflow_run.changed",
  ],
  isNeeded: sql`(
    ${events.actorId} <> ${JOBS_USER_ID}
    and exists (
      select 1 from ${repositories}
      where ${repositories.id} = coalesce(${events.payload} ->> 'parentId', ${events.repoId})
        and ${isUnitOnSql("actions")} and not ${repositories.isEmpty}
    )
    and (
      ${events.type} in ('repository.pushed', 'repository.edited')
      or ${events.type} glob 'pull.*' or ${events.type} glob 'review.*'
      or ${events.payload} ->> 'isPull'
      or exists (
        select 1 from ${workflows}
        where ${workflows.repoId} = coalesce(${events.payload} ->> 'parentId', ${events.repoId})
          and ${workflows.isPresent}
      )
    )
  )`,
  async handle(ctx, recorded, budget) {
    // The code that reads workflow files is loaded where there is something to start.
    const { startWorkflowsOf } = await import("./start-runs.ts");
    return startWorkflowsOf(ctx, recorded, budget);
  },
};
