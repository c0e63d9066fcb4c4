/**
 * The error codes of OAuth 2.0 and OpenID Connect. @see RFC 6749 sections 4.1.2.1 and 5.2; RFC 7591
 * section 3.2.2; RFC 8707 section 2; OpenID Connect Core 3.1.2.6
 */
export type OauthErrorCode =
  | "access_denied"
  | "consent_required"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "login_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/**
 * A refusal in the terms of OAuth 2.0. Code and message are public: they are sent to the client
 * unchanged.
 */
export class OauthError extends Error {
  readonly code: OauthErrorCode;

  constructor(code: OauthErrorCode, message: string) {
    super(message);
    this.name = "OauthError";
    this.code = code;
  }
}
