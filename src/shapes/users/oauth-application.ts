import { z } from "@hono/zod-openapi";

import type { OauthApplication } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";

export const OAuth2Application = z
  .object({
    id: Int64,
    name: z.string(),
    client_id: z.string(),
    client_secret: z.string().openapi({
      description: "The secret, only in the responses to a creation and to an edit",
    }),
    redirect_uris: z.array(z.string()),
    confidential_client: z
      .boolean()
      .openapi({ description: "Whether the client can keep a secret; others must use PKCE" }),
    skip_secondary_authorization: z
      .boolean()
      .openapi({ description: "Whether users who granted access once are not asked again" }),
    created: Time,
  })
  .openapi("OAuth2Application");

/**
 * Formats an application for its owner.
 *
 * @param secret Available only when it was just made; the database stores its hash.
 */
export const toOAuth2Application = (
  application: OauthApplication,
  secret = "",
): z.infer<typeof OAuth2Application> => ({
  id: application.id,
  name: application.name,
  client_id: application.clientId,
  client_secret: secret,
  redirect_uris: application.redirectUris,
  confidential_client: application.isConfidential,
  skip_secondary_authorization: application.skipsConsent,
  created: formatTime(application.createdAt),
});
