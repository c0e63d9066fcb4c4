/** Changes of organizations and their members. */
export type OrganizationEvent =
  | { type: "organization.created" | "organization.deleted"; ownerId: number; name: string }
  | {
      type: "organization.member_added" | "organization.member_removed";
      ownerId: number;
      userId: number;
      /** Null for a user who left all teams at once. */
      teamId: number | null;
    }
  | { type: "organization.member_visibility_changed"; ownerId: number; isPublic: boolean };
