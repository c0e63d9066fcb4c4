import type { z } from "zod";

import { optional } from "../optional.ts";
import type { ForeignLabel, ForeignMilestone, ForeignPage } from "../forge.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { GiteaLabel, GiteaMilestone } from "./shapes.ts";

const SIZE = 50;
const OF_OWNER = "owner:";

/** The labels of the repository, and then those that it has from its organization. */
export async function readLabels(
  { lists, path, owner }: GiteaProject,
  cursor: string | undefined,
): Promise<ForeignPage<ForeignLabel>> {
  const isOfOwner = cursor?.startsWith(OF_OWNER) ?? false;
  if (!isOfOwner) {
    const list = { path: `${path}/labels`, shape: GiteaLabel, size: SIZE };
    const { items, next } = await lists.readForward(list, cursor);
    return { items: items.map(toLabel), next: next ?? OF_OWNER };
  }
  const list = { path: `/orgs/${owner}/labels`, shape: GiteaLabel, size: SIZE };
  // The owner may be a user.
  const page = await optional(lists.readForward(list, cursor?.slice(OF_OWNER.length) || undefined));
  return {
    items: page?.items.map(toLabel) ?? [],
    next: page?.next === undefined ? undefined : `${OF_OWNER}${page.next}`,
  };
}

export async function readMilestones(
  { lists, path }: GiteaProject,
  cursor: string | undefined,
  now: number,
): Promise<ForeignPage<ForeignMilestone>> {
  const list = {
    path: `${path}/milestones`,
    shape: GiteaMilestone,
    query: { state: "all" },
    size: SIZE,
  };
  const page = await lists.readForward(list, cursor);
  return { ...page, items: page.items.map((each) => toMilestone(each, now)) };
}

const toLabel = (label: z.output<typeof GiteaLabel>): ForeignLabel => ({
  foreignId: String(label.id),
  name: label.name,
  color: label.color.replace(/^#/, ""),
  description: label.description,
  isExclusive: label.exclusive,
  isArchived: label.is_archived,
});

/** @param now Replaces times that old versions lack. */
function toMilestone(milestone: z.output<typeof GiteaMilestone>, now: number): ForeignMilestone {
  const createdAt = milestone.created_at ?? milestone.closed_at ?? now;
  return {
    foreignId: String(milestone.id),
    title: milestone.title,
    description: milestone.description,
    deadlineAt: milestone.due_on,
    isClosed: milestone.state === "closed",
    closedAt: milestone.closed_at,
    createdAt,
    updatedAt: milestone.updated_at ?? createdAt,
  };
}
