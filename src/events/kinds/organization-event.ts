/** Changes of organizations, their members and their teams. */
export type OrganizationEvent =
  | { type: "organization.created" | "organization.deleted"; ownerId: number; name: string }
  | { type: "organization.edited"; ownerId: number; changed: string[] }
  | { type: "organization.renamed"; ownerId: number; from: string; to: string }
  | { type: "organization.created"; ownerId: number; name: string }
  | { type: "organization.avatar_changed"; ownerId: number }
  | {
      type: "organization.member_added" | "organization.member_removed";
      ownerId: number;
      userId: number;
      /** Null for a user who left all teams at once. */
      teamId: number | null;
    }
  | { type: "organization.member_visibility_changed"; ownerId: number; isPublic: boolean }
  | { type: "team.created" | "team.deleted"; ownerId: number; teamId: number; name: string }
  | { type: "team.edited"; ownerId: number; teamId: number; changed: string[] }
  | {
      type: "team.repository_added" | "team.repository_removed";
      ownerId: number;
      teamId: number;
      /** Not the event's repository, since readers of the repository learn nothing of its teams. */
      repositoryId: number;
    };
