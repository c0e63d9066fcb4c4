import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { oauthApplications, type OauthApplication, type User } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { makeClientSecret } from "./client-secret.ts";

/** The input for a new application. Its redirect URIs are valid. */
export interface NewApplication {
  name: string;
  redirectUris: string[];
  isConfidential: boolean;
  skipsConsent: boolean;
}

/** An application with the secret that was made for it, which is stored nowhere. */
export interface WithSecret {
  application: OauthApplication;
  secret: string;
}

/** Registers an application of `user`. */
export async function createApplication(
  ctx: Ctx,
  user: User,
  input: NewApplication,
): Promise<WithSecret> {
  const secret = makeClientSecret();
  const [created] = await ctx.db.batch([
    ctx.db
      .insert(oauthApplications)
      .values({
        ...input,
        ownerId: user.id,
        clientId: crypto.randomUUID(),
        secretHash: await hashSecret(secret),
        createdAt: ctx.now,
      })
      .returning(),
    record(ctx, { type: "oauth_application.created", ownerId: user.id, name: input.name }),
    recordAudit(ctx, {
      kind: "oauth_application.created",
      ownerId: user.id,
      target: input.name,
    }),
  ]);
  return { application: only(created), secret };
}
