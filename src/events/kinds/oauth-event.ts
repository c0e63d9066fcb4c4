/**
 * Changes of applications of OAuth 2.0 (`ownerId` registered it), and of what a user (`ownerId`)
 * granted to one.
 */
export type OauthEvent = {
  type:
    | "oauth_application.created"
    | "oauth_application.edited"
    | "oauth_application.deleted"
    | "oauth_grant.created"
    | "oauth_grant.revoked";
  ownerId: number;
  /** The name of the application. */
  name: string;
};
