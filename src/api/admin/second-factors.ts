import { createRoute } from "@hono/zod-openapi";

import { removeSecondFactors } from "../../domain/people/second-factors/remove-second-factors.ts";
import { empty, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { userForAdmin } from "../guards/account.ts";
import { UserPath } from "../users/paths.ts";

export const secondFactors = endpoints();

secondFactors.openapi(
  createRoute({
    method: "delete",
    path: "/admin/users/{username}/second_factors",
    operationId: "adminDeleteUserSecondFactors",
    tags: ["admin"],
    summary: "Remove a user's second factors",
    description:
      "For a user who lost the authenticator app, the security keys and the recovery codes. All of the user's sessions end.",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath },
    responses: {
      204: empty("The user signs in with the password alone"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    await removeSecondFactors(c.var.ctx, c.var.account);
    return c.body(null, 204);
  },
);
