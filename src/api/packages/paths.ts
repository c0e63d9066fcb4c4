import { z } from "@hono/zod-openapi";

/** The path parameter of an owner of packages; names match in any case. */
export const PackageOwnerPath = z.object({
  owner: z.string().openapi({ description: "The name of the user or organization" }),
});

/** The path parameters of a package. A slash in a name is sent as `%2F`. */
export const PackagePath = PackageOwnerPath.extend({
  type: z.string().openapi({ description: "The format", example: "npm" }),
  name: z.string().openapi({ description: "The name; a slash in it is sent as `%2F`" }),
});

export const PackageVersionPath = PackagePath.extend({
  version: z.string().openapi({ description: "The version; a slash in it is sent as `%2F`" }),
});
