import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { users } from "../../../db/schema/index.ts";
import { createUser } from "./create-user.ts";

/** Creates an administrator unless one exists already. */
export async function createFirstAdministrator(
  ctx: Ctx,
  account: { name: string; password: string; email: string },
): Promise<{ created: boolean }> {
  const [existing] = await ctx.db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.kind, "user"), eq(users.isAdmin, true)))
    .limit(1);
  if (existing) return { created: false };
  await createUser(ctx, { ...account, isAdmin: true });
  return { created: true };
}
