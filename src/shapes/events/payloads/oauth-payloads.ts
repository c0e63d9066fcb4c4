import { Named } from "./common-fields.ts";

export const OAUTH_PAYLOADS = {
  "oauth_application.created": Named,
  "oauth_application.edited": Named,
  "oauth_application.deleted": Named,
  "oauth_grant.created": Named,
  "oauth_grant.revoked": Named,
} as const;
