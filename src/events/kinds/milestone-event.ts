/** Changes of the milestones of a repository. */
export interface MilestoneEvent {
  type:
    | "milestone.created"
    | "milestone.edited"
    | "milestone.closed"
    | "milestone.reopened"
    | "milestone.deleted";
  repoId: number;
  ownerId: number;
  milestoneId: number;
}
