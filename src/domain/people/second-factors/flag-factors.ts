import { eq, type SQL } from "drizzle-orm";

import {
  credentialEnded,
  currentCredential,
  isCredentialCurrent,
} from "../../../auth/current-credential.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { users, type User } from "../../../db/schema/index.ts";

/** Which second factors a user has; what is missing stays as it is. */
interface FactorFlags {
  hasTotp?: boolean;
  hasWebauthn?: boolean | SQL<boolean>;
}

/**
 * The statement that repeats in a user's row which second factors they have. It rolls its batch
 * back if the credential of the request has ended; `whileSignedIn` translates that.
 */
export const flagFactors = ({ db, now, actor }: Ctx, { id }: User, flags: FactorFlags) =>
  db
    .update(users)
    .set({ ...flags, updatedAt: onlyWhile(isCredentialCurrent(currentCredential(actor)), now) })
    .where(eq(users.id, id));

/** @throws Failure `unauthenticated` where `flagFactors` rolled the batch back. */
export async function whileSignedIn(batch: Promise<unknown>): Promise<void> {
  try {
    await batch;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "users.updated_at")) throw credentialEnded();
    throw error;
  }
}
