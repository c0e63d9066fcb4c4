import { asBlocked } from "../../../auth/access/blocks.ts";
import {
  BLOCKED_COLLABORATOR,
  insertCollaborator,
  updateCollaborator,
} from "../../../auth/access/collaborators.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { ACCESS, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";

/** The access that a collaboration gives. */
export const COLLABORATOR_PERMISSIONS = ["read", "write", "admin"] as const;
export type CollaboratorPermission = (typeof COLLABORATOR_PERMISSIONS)[number];

/**
 * Makes a user a collaborator of a repository, or changes a collaborator's permission. Idempotent.
 *
 * @throws Failure `invalid` for an organization and for the owner, who needs no collaboration;
 * `forbidden` where a block separates the user from the owner.
 */
export async function addCollaborator(
  ctx: Ctx,
  { row }: RepositoryContext,
  user: User,
  permission: CollaboratorPermission,
): Promise<void> {
  if (user.kind !== "user") throw invalid("an organization can't be a collaborator");
  if (user.id === row.ownerId) throw invalid("the owner of a repository can't be a collaborator");
  const { db } = ctx;
  const access = ACCESS[permission];
  const subject = { repoId: row.id, ownerId: row.ownerId, userId: user.id };
  const change = { ...subject, permission };
  const details = { permission };
  const collaborator = { repoId: row.id, userId: user.id, access, now: ctx.now };
  const { update, insert } = storeCollaborator(db, collaborator);
  try {
    await db.batch([
      update,
      recordIfChanged(ctx, { type: "collaborator.edited", ...change }),
      recordAuditIfChanged(ctx, { kind: "collaborator.edited", ...subject, details }),
      insert,
      recordIfChanged(ctx, { type: "collaborator.added", ...change }),
      recordAuditIfChanged(ctx, { kind: "collaborator.added", ...subject, details }),
    ]);
  } catch (error) {
    throw asBlocked(error, BLOCKED_COLLABORATOR);
  }
}

interface NewCollaborator {
  readonly repoId: number;
  readonly userId: number;
  readonly access: (typeof ACCESS)[CollaboratorPermission];
  readonly now: number;
}

const storeCollaborator = prepareAll(
  (db, { repoId, userId, access, now }: Params<NewCollaborator>) => ({
    update: updateCollaborator(db, repoId, userId, access),
    insert: insertCollaborator(db, { id: repoId }, userId, access, now),
  }),
);
