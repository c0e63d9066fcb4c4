import { createRoute, z } from "@hono/zod-openapi";

import {
  EMAILS_MAX,
  addEmails,
  listEmails,
  removeEmails,
} from "../../domain/people/accounts/emails.ts";
import { Email, toEmail } from "../../shapes/users/email.ts";
import { countAction } from "../../entrance/count-action.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { body } from "../json-body.ts";
import { setPageHeaders } from "../paging.ts";
import { refusePublicOnly } from "./public-only.ts";

export const emails = endpoints();

const Emails = body({
  emails: z.array(z.string().min(1).max(254)).min(1).max(EMAILS_MAX),
}).openapi("CreateEmailOption");

emails.openapi(
  createRoute({
    method: "get",
    path: "/user/emails",
    operationId: "userListEmails",
    tags: ["user"],
    summary: "List your e-mail addresses",
    middleware: [signedIn("read:user")] as const,
    responses: {
      200: page(z.array(Email), "All addresses, the primary address first"),
      ...refusals(401, 403),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const addresses = await listEmails(ctx, user);
    setPageHeaders(
      c,
      { number: 1, size: Math.max(1, addresses.length), offset: 0 },
      addresses.length,
    );
    return c.json(addresses.map(toEmail), 200);
  },
);

emails.openapi(
  createRoute({
    method: "post",
    path: "/user/emails",
    operationId: "userAddEmail",
    tags: ["user"],
    summary: "Add e-mail addresses to your account",
    middleware: [signedIn("write:user")] as const,
    request: { body: { required: true, ...json(Emails, "The addresses") } },
    responses: { 201: json(z.array(Email), "All your addresses"), ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    // Each address gets a mail, which its owner may not have asked for.
    await countAction(c, "ADDRESS_ADDITIONS");
    await addEmails(ctx, user, c.req.valid("json").emails);
    return c.json((await listEmails(ctx, user)).map(toEmail), 201);
  },
);

emails.openapi(
  createRoute({
    method: "delete",
    path: "/user/emails",
    operationId: "userDeleteEmail",
    tags: ["user"],
    summary: "Remove e-mail addresses from your account",
    middleware: [signedIn("write:user")] as const,
    request: { body: { required: true, ...json(Emails, "The addresses") } },
    responses: { 204: empty("The addresses were removed"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    await removeEmails(ctx, user, c.req.valid("json").emails);
    return c.body(null, 204);
  },
);
