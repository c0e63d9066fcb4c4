import { describe, expect, it } from "vitest";

import { OauthError } from "../../../../src/domain/people/oauth/oauth-error.ts";
import {
  formatScope,
  parseRequestedScopes,
} from "../../../../src/domain/people/oauth/requested-scopes.ts";

describe("parseRequestedScopes", () => {
  it.each([
    ["read:user", "read:user"],
    ["read:user write:repository", "write:repository read:user"],
    ["read:user,write:repository", "write:repository read:user"],
    ["read:user read:user write:user", "write:user"],
    ["openid email read:user", "openid email read:user"],
    ["groups openid", "openid groups"],
    ["openid offline_access", "openid"],
    ["public-only read:user", "public-only read:user"],
    // As tea asks.
    [
      "admin,user,issue,misc,notification,organization,package,repository",
      "write:admin write:misc write:notification write:organization write:package write:issue write:repository write:user",
    ],
    ["all", "all"],
    // As clients ask that know no scopes.
    ["", "all"],
    [undefined, "all"],
  ])("reads %j as %j", (text, scope) => {
    expect(formatScope(parseRequestedScopes(text))).toBe(scope);
  });

  // SECURITY: less than what is known is granted, never more.
  it.each(["repo", "read:nothing", "openid repo", "READ:user", "write", "read:user:x", "*"])(
    "refuses %j",
    (text) => {
      expect(() => parseRequestedScopes(text)).toThrow(OauthError);
    },
  );
});
