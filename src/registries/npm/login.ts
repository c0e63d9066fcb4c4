import { z } from "zod";

import { hashSecret } from "../../auth/secret.ts";
import type { Credential } from "../../auth/credential.ts";
import type { Ctx } from "../../context.ts";
import { createAccessToken } from "../../domain/people/tokens/create-access-token.ts";
import { deleteAccessToken } from "../../domain/people/tokens/delete-access-token.ts";
import { malformed, notFound, unauthenticated } from "../../lib/failure.ts";

/** The body that `npm login --auth-type=legacy` sends. */
const Login = z.object({ name: z.string().min(1), password: z.string().min(1) });

/** @throws Failure `malformed` */
export function parseLogin(body: unknown): Extract<Credential, { kind: "basic" }> {
  const { data } = Login.safeParse(body);
  if (!data) throw malformed("a login has a name and a password");
  return { kind: "basic", ...data };
}

/**
 * The token that a client stores after a login: a new one that reads and writes packages, or the
 * one that was sent in the place of the password.
 *
 * SECURITY: a token never becomes another one, which could reach further or live longer.
 */
export async function tokenOfLogin(ctx: Ctx, { password }: { password: string }): Promise<string> {
  const { user, token } = ctx.actor;
  if (!user) throw unauthenticated("sign in with a user name and a password or token");
  if (token) {
    if ((await hashSecret(password)) === token.secretHash) return password;
    throw unauthenticated("send the token as the password");
  }
  const id = crypto.randomUUID().slice(0, 8);
  const { secret } = await createAccessToken(ctx, user, {
    name: `npm login ${new Date(ctx.now).toISOString()} ${id}`,
    scopes: ["write:package"],
    expiresAt: null,
    repositories: null,
    bindings: { refs: null, paths: null, packages: null },
  });
  return secret;
}

/**
 * Deletes the token of the request, which `npm logout` also names. @throws Failure `not_found` for
 * any other token.
 */
export async function logOut(ctx: Ctx, secret: string): Promise<void> {
  const { user, token } = ctx.actor;
  if (!user || !token || (await hashSecret(secret)) !== token.secretHash) {
    throw notFound("the token is not that of the request");
  }
  await deleteAccessToken(ctx, user, String(token.id));
}
