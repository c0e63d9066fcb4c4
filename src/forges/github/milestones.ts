import { z } from "zod";

import { optionalLong, time, timeOrNull } from "../fields.ts";
import type { ForeignMilestone, ForeignPage } from "../forge.ts";
import { Id, filledText } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { readListPage } from "./list-page.ts";

/** @see https://docs.github.com/en/rest/issues/milestones#list-milestones */
const Milestone = z.object({
  id: Id,
  title: filledText,
  description: optionalLong,
  due_on: timeOrNull,
  state: z.enum(["open", "closed"]),
  closed_at: timeOrNull,
  created_at: time,
  updated_at: time,
});

/** Reads a page of milestones by deadline: GitHub can't list them by age. */
export async function readMilestones(
  api: GitHubApi,
  cursor: string | undefined,
): Promise<ForeignPage<ForeignMilestone>> {
  const path = `${api.path}/milestones`;
  const query = { state: "all", sort: "due_on", direction: "asc" };
  const { items, next } = await readListPage(api, path, Milestone, query, cursor);
  return {
    items: items.map((milestone) => ({
      foreignId: String(milestone.id),
      title: milestone.title,
      description: milestone.description,
      deadlineAt: milestone.due_on,
      isClosed: milestone.state === "closed",
      closedAt: milestone.closed_at,
      createdAt: milestone.created_at,
      updatedAt: milestone.updated_at,
    })),
    next,
  };
}
