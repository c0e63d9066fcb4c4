import { and, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type User, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

/**
 * Finds a user by id, for administrators of the service, who see every account of a person.
 *
 * @throws Failure `not_found`, also for an organization.
 */
export async function findUserById({ db }: Ctx, id: number): Promise<User> {
  const [user] = await userOfId(db, { id });
  if (!user) throw notFound();
  return user;
}

const userOfId = prepare((db, { id }: Params<{ id: number }>) =>
  db
    .select()
    .from(users)
    .where(and(eq(users.id, id), gt(users.id, 0), eq(users.kind, "user"))),
);
