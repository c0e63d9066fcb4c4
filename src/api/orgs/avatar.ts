import { createRoute } from "@hono/zod-openapi";

import { deleteAvatar, setAvatar } from "../../domain/people/avatars/change-avatar.ts";
import { empty, refusals } from "../answers.ts";
import { accountAvatar } from "../avatar-body.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { done } from "../handlers.ts";
import { takesFiles } from "../json-body.ts";
import { OrgPath } from "./paths.ts";

export const organizationAvatar = endpoints();

organizationAvatar.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/avatar",
    operationId: "orgUpdateAvatar",
    tags: ["organization"],
    summary: "Set an organization's avatar",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
      takesFiles,
    ] as const,
    request: { params: OrgPath, body: accountAvatar },
    responses: {
      204: empty("The avatar was set"),
      ...refusals(400, 401, 403, 404, 413, 422),
    },
  }),
  (c) =>
    done(c, ({ ctx, org }) =>
      setAvatar(ctx, { kind: "account", account: org }, c.req.valid("json").image),
    ),
);

organizationAvatar.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/avatar",
    operationId: "orgDeleteAvatar",
    tags: ["organization"],
    summary: "Remove an organization's avatar",
    description: "Then a generated one is shown.",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: { params: OrgPath },
    responses: { 204: empty("There is no uploaded avatar"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, org }) => deleteAvatar(ctx, { kind: "account", account: org })),
);
