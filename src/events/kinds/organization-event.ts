/** Changes of organizations and their members. */
export type OrganizationEvent =
  | { type: "organization.created"; ownerId: number; name: string }
  | { type: "organization.avatar_changed"; ownerId: number }
  | {
      type: "organization.member_added" | "organization.member_removed";
      ownerId: number;
      userId: number;
      teamId: number;
    }
  | { type: "organization.member_visibility_changed"; ownerId: number; isPublic: boolean };
