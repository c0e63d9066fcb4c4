import { z } from "@hono/zod-openapi";

import { ACCESS } from "../../db/schema/index.ts";

export const OrganizationPermissions = z
  .object({
    is_owner: z.boolean(),
    is_admin: z.boolean(),
    can_write: z.boolean(),
    can_read: z.boolean(),
    can_create_repository: z.boolean(),
  })
  .openapi("OrganizationPermissions");

/**
 * Formats a user's rights in an organization. Teams with modes for single units grant none of the
 * first four.
 */
export const toOrganizationPermissions = ({
  access,
  canCreateRepository,
}: {
  access: number;
  canCreateRepository: boolean;
}): z.infer<typeof OrganizationPermissions> => ({
  is_owner: access >= ACCESS.owner,
  is_admin: access >= ACCESS.admin,
  can_write: access >= ACCESS.write,
  can_read: access >= ACCESS.read,
  can_create_repository: canCreateRepository,
});
