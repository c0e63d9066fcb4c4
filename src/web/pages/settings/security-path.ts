/** The page of sessions and second factors; its forms lie below. */
export const SECURITY_PATH = "/user/settings/security";
