import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { longText, shortText, time } from "../fields.ts";
import type { ForeignMilestone } from "../forge.ts";
import { toBody } from "./bodies.ts";
import type { ReadPage } from "./project.ts";
import { DueDate, Id } from "./shapes.ts";

const Milestone = z.object({
  id: Id,
  title: shortText,
  description: longText.nullish(),
  state: shortText,
  due_date: DueDate.nullish(),
  created_at: time,
  updated_at: time,
});

/**
 * Reads milestones of the project and of its groups. The time of the last change stands for the
 * time of closing, which GitLab lacks.
 */
export const readMilestones: ReadPage<ForeignMilestone> = async (project, { page }, { since }) => {
  const { value, total, next } = await project.requests.get(
    `${project.root}/milestones`,
    boundedList(Milestone, 100),
    {
      // The name since GitLab 16.7 is `include_ancestors`; this one works in all versions of the
      // API from 13.4 on.
      include_parent_milestones: true,
      updated_after: since === undefined ? undefined : new Date(since).toISOString(),
      per_page: 100,
      page,
    },
  );
  const items = value.map((milestone) => {
    const isClosed = milestone.state === "closed";
    return {
      foreignId: String(milestone.id),
      title: milestone.title,
      description: toBody(milestone.description, project),
      deadlineAt: milestone.due_date ?? null,
      isClosed,
      closedAt: isClosed ? milestone.updated_at : null,
      createdAt: milestone.created_at,
      updatedAt: milestone.updated_at,
    };
  });
  return { items, total, next: next === undefined ? undefined : { page: page + 1 } };
};
