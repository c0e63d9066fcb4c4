import { EDGEFORGE_VERSION } from "../domain/version.ts";
import { api } from "./index.ts";
import { refineNullableReferences } from "./nullable-references.ts";
import { shareComponents } from "./shared-components.ts";

/** The interface description in OpenAPI 3.1, built from the routes themselves. */
export function describeApi() {
  api.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description:
      "An access token, as `Authorization: Bearer <token>` or `Authorization: token <token>`",
  });
  api.openAPIRegistry.registerComponent("securitySchemes", "basic", {
    type: "http",
    scheme: "basic",
    description: "Login name or e-mail address and password; or a token as user name or password",
  });
  const document = api.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Edgeforge API",
      // The version of the API contract; the server's version is at /version.
      version: "1.1.1",
      description:
        `A Gitea-compatible code hosting service. Described by Edgeforge ${EDGEFORGE_VERSION}.\n\n` +
        "Any response may have the headers `X-Request-Id`, `Cache-Control`, `Vary`, `X-Gitea-Warning` (what was " +
        "left out of the answer, or is unusual about it) and, after a write, `x-d1-bookmark`. JSON that anonymous " +
        "callers read has an `ETag`; with it in `If-None-Match`, the answer is 304 as long as nothing has changed.",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/api/v1" }],
  });
  return shareComponents(refineNullableReferences(document));
}
