import { and, eq } from "drizzle-orm";

import { selectGroupNames } from "../../../auth/access/group-names.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { emailAddresses, type User } from "../../../db/schema/index.ts";
import { accountUrlOf, avatarUrlOf } from "../../../shapes/urls.ts";
import type { RequestedScopes } from "./requested-scopes.ts";

/** The names of all claims that `claimsOf` may return, for the discovery document. */
export const CLAIM_NAMES = [
  "sub",
  "name",
  "preferred_username",
  "profile",
  "picture",
  "website",
  "locale",
  "updated_at",
  "email",
  "email_verified",
  "groups",
] as const;
type ClaimName = Exclude<(typeof CLAIM_NAMES)[number], "sub">;
type Claims = Partial<Record<ClaimName, string | number | boolean | string[]>>;

/**
 * The claims about a user that an application receives.
 *
 * SECURITY: by the scopes of OpenID Connect that the user granted, each for itself.
 *
 * @see OpenID Connect Core, section 5.4
 */
export async function claimsOf(
  ctx: Pick<Ctx, "db" | "rootUrl">,
  user: User,
  { scopes, identity }: RequestedScopes,
): Promise<Claims & { sub: string }> {
  const [address, groups] = await Promise.all([
    identity.includes("email") ? findAddress(ctx, user) : {},
    identity.includes("groups") ? listGroups(ctx, user, scopes.isPublicOnly) : {},
  ]);
  return {
    sub: String(user.id),
    ...(identity.includes("profile") && profileOf(ctx, user)),
    ...address,
    ...groups,
  };
}

const profileOf = (ctx: Pick<Ctx, "rootUrl">, user: User): Claims => ({
  name: user.fullName || user.name,
  preferred_username: user.name,
  profile: accountUrlOf(user, ctx),
  picture: avatarUrlOf(user, ctx),
  ...(user.website !== "" && { website: user.website }),
  ...(user.language !== "" && { locale: user.language }),
  updated_at: Math.floor(user.updatedAt / 1000),
});

async function findAddress({ db }: Pick<Ctx, "db">, { id, email }: User): Promise<Claims> {
  const [primary] = await primaryAddress(db, { userId: id });
  return { email, email_verified: primary?.isActivated ?? false };
}

const primaryAddress = prepare((db, p: Params<{ userId: number }>) =>
  db
    .select({ isActivated: emailAddresses.isActivated })
    .from(emailAddresses)
    .where(and(eq(emailAddresses.userId, p.userId), eq(emailAddresses.isPrimary, true))),
);

async function listGroups(
  { db }: Pick<Ctx, "db">,
  { id }: User,
  isPublicOnly: boolean,
): Promise<Claims> {
  const names = await batch(db, groupNames(db, { userId: id, isPublicOnly }));
  return { groups: [...names.organizations, ...names.ofTeams].map(({ name }) => name) };
}

const groupNames = prepareAll((db, p: Params<{ userId: number; isPublicOnly: boolean }>) =>
  selectGroupNames(db, p.userId, p.isPublicOnly),
);
