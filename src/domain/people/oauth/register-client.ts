import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { oauthApplications, type OauthApplication } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { only } from "../../../lib/only.ts";
import { parseClientMetadata } from "./client-metadata.ts";
import { makeClientSecret } from "./client-secret.ts";
import { OauthError } from "./oauth-error.ts";
import { UNGRANTED_LIFE_MS } from "./purge-applications.ts";

/** A client that has registered itself. */
export interface RegisteredClient {
  application: OauthApplication;
  authMethod: AuthMethod;
  /** Undefined for a public client. */
  secret: string | undefined;
}

const AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"] as const;
type AuthMethod = (typeof AUTH_METHODS)[number];

/** As RFC 7591 has it for a client that says nothing of it. */
const AUTH_METHOD_DEFAULT: AuthMethod = "client_secret_basic";

/**
 * Registers a client at its own request. It belongs to nobody, its users are asked each time, and
 * it is removed if none of them grants it anything.
 *
 * @throws OauthError `access_denied` where clients may not register, `invalid_redirect_uri`,
 *   `invalid_client_metadata`.
 * @see RFC 7591
 */
export async function registerClient(ctx: Ctx, sent: unknown): Promise<RegisteredClient> {
  if (!ctx.config.mayClientsRegister) {
    throw new OauthError("access_denied", "clients can't register themselves at this service");
  }
  const { name, redirectUris, authMethod: asked } = parseClientMetadata(sent);
  const authMethod = AUTH_METHODS.find((each) => each === (asked ?? AUTH_METHOD_DEFAULT));
  if (authMethod === undefined) {
    throw new OauthError(
      "invalid_client_metadata",
      `token_endpoint_auth_method must be one of ${AUTH_METHODS.join(", ")}`,
    );
  }
  const isConfidential = authMethod !== "none";
  const secret = isConfidential ? makeClientSecret() : undefined;
  const rows = await ctx.db
    .insert(oauthApplications)
    .values({
      name,
      redirectUris,
      isConfidential,
      registration: "dynamic",
      clientId: crypto.randomUUID(),
      secretHash: secret === undefined ? null : await hashSecret(secret),
      createdAt: ctx.now,
      expiresAt: ctx.now + UNGRANTED_LIFE_MS,
    })
    .returning();
  const application = only(rows);
  log("oauth:client-registered", { applicationId: application.id });
  return { application, authMethod, secret };
}
