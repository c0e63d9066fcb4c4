import { describe, expect, it } from "vitest";

import { MCP_SCOPES } from "../../src/auth/audience.ts";
import { bearerChallenge } from "../../src/entrance/bearer-challenge.ts";

const base = { rootUrl: "https://forge.example" };
const METADATA =
  'resource_metadata="https://forge.example/.well-known/oauth-protected-resource/mcp"';

describe("bearerChallenge", () => {
  it("names the scopes of all tools, and no error, for a request without a token", () => {
    expect(bearerChallenge(base)).toBe(`Bearer scope="${MCP_SCOPES.join(" ")}", ${METADATA}`);
  });

  it("names what is wrong with a token, and the scopes that a request needs", () => {
    const challenge = bearerChallenge(base, {
      error: "insufficient_scope",
      description: "opening an issue needs write:issue",
      scopes: ["write:issue"],
    });
    expect(challenge).toBe(
      `Bearer error="insufficient_scope", error_description="opening an issue needs write:issue", scope="write:issue", ${METADATA}`,
    );
  });

  // SECURITY: a text can end neither its quotes nor the header.
  it("leaves out what a header can't hold", () => {
    const challenge = bearerChallenge(base, {
      error: "invalid_token",
      description: 'a"b\\c\r\nX-Other: é\u0000',
    });
    expect(challenge).toContain('error_description="abcX-Other: "');
    expect(new Headers({ "WWW-Authenticate": challenge }).get("WWW-Authenticate")).toBe(challenge);
  });
});
