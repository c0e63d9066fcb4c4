import { and, eq } from "drizzle-orm";

import { matchesLogin } from "../auth/caller-sql.ts";
import type { BaseCtx } from "../context.ts";
import { users, type User } from "../db/schema/index.ts";
import { unauthenticated } from "../lib/failure.ts";
import { comparePassword, refuseProhibited } from "./compare-password.ts";

/**
 * Finds the user whose name and password a person entered. A second factor may still be due, and a
 * new password.
 *
 * @throws Failure `unauthenticated` for a wrong name or password, which the message does not
 * distinguish; `too_many` and `forbidden` as `comparePassword` and `refuseProhibited` do.
 */
export async function findByPassword(
  base: BaseCtx,
  { name, password }: { name: string; password: string },
  network: string | undefined,
): Promise<User> {
  const [user] = await base.db
    .select()
    .from(users)
    .where(and(eq(users.kind, "user"), matchesLogin(name.toLowerCase())));
  const match = await comparePassword(base, { name, password }, user, network);
  if (!user || match === "wrong") {
    throw unauthenticated("The user name or the password is not right.");
  }
  refuseProhibited(user);
  return user;
}
