import { EDGEFORGE_VERSION } from "../domain/version.ts";
import { api } from "./index.ts";

/** The interface description in OpenAPI 3.0, built from the routes themselves. */
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
  return api.getOpenAPIDocument({
    openapi: "3.0.3",
    info: {
      title: "Edgeforge API",
      // The version of the API contract; the server's version is at /version.
      version: "1.1.1",
      description: `A Gitea-compatible code hosting service. Described by Edgeforge ${EDGEFORGE_VERSION}.`,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/api/v1" }],
  });
}
