import { createRoute } from "@hono/zod-openapi";

import { addUserKey, removeUserKey } from "../../domain/people/keys/ssh-keys.ts";
import { PublicKey, toPublicKey } from "../../shapes/keys/public-key.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { userForAdmin } from "../guards/account.ts";
import { done } from "../handlers.ts";
import { PathId } from "../path-id.ts";
import { CreateKey } from "../self/public-keys.ts";
import { UserPath } from "../users/paths.ts";

export const userKeys = endpoints();

userKeys.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/keys",
    operationId: "adminCreatePublicKey",
    tags: ["admin"],
    summary: "Add an SSH key to a user",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath, body: { required: true, ...json(CreateKey, "The key") } },
    responses: { 201: json(PublicKey, "The new key"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account, viewer } = c.var;
    const { title, key } = c.req.valid("json");
    return c.json(toPublicKey(await addUserKey(ctx, account, title, key), account, viewer), 201);
  },
);

userKeys.openapi(
  createRoute({
    method: "delete",
    path: "/admin/users/{username}/keys/{id}",
    operationId: "adminDeleteUserPublicKey",
    tags: ["admin"],
    summary: "Remove an SSH key of a user",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath.extend({ id: PathId }) },
    responses: { 204: empty("The key was removed"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, account }) => removeUserKey(ctx, account, c.req.valid("param").id)),
);
