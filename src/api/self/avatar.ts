import { createRoute } from "@hono/zod-openapi";

import { deleteAvatar, setAvatar } from "../../domain/people/avatars/change-avatar.ts";
import { empty, refusals } from "../answers.ts";
import { accountAvatar } from "../avatar-body.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { takesFiles } from "../json-body.ts";
import { refusePublicOnly } from "./public-only.ts";

export const selfAvatar = endpoints();

selfAvatar.openapi(
  createRoute({
    method: "post",
    path: "/user/avatar",
    operationId: "userUpdateAvatar",
    tags: ["user"],
    summary: "Set your avatar",
    middleware: [signedIn("write:user"), takesFiles] as const,
    request: { body: accountAvatar },
    responses: {
      204: empty("The avatar was set"),
      ...refusals(400, 401, 403, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    await setAvatar(ctx, { kind: "account", account: user }, c.req.valid("json").image);
    return c.body(null, 204);
  },
);

selfAvatar.openapi(
  createRoute({
    method: "delete",
    path: "/user/avatar",
    operationId: "userDeleteAvatar",
    tags: ["user"],
    summary: "Remove your avatar",
    description: "Then a generated one is shown.",
    middleware: [signedIn("write:user")] as const,

    responses: { 204: empty("There is no uploaded avatar"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    await deleteAvatar(ctx, { kind: "account", account: user });
    return c.body(null, 204);
  },
);
