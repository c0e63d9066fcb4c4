import { createRoute, z } from "@hono/zod-openapi";

import { listAllEmails } from "../../domain/people/accounts/list-all-emails.ts";
import { Email, toEmailOfAccount } from "../../shapes/users/email.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { Paging, pageOf } from "../paging.ts";

export const adminEmails = endpoints();

const responses = {
  200: page(z.array(Email), "The addresses, in their alphabetical order"),
  ...refusals(401, 403),
};

adminEmails.openapi(
  createRoute({
    method: "get",
    path: "/admin/emails",
    operationId: "adminGetAllEmails",
    tags: ["admin"],
    summary: "List the e-mail addresses of all users",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses,
  }),
  async (c) => {
    const { ctx } = c.var;
    const items = await pageOf(c, c.req.valid("query"), (slice) => listAllEmails(ctx, "", slice));
    return c.json(items.map(toEmailOfAccount), 200);
  },
);

adminEmails.openapi(
  createRoute({
    method: "get",
    path: "/admin/emails/search",
    operationId: "adminSearchEmails",
    tags: ["admin"],
    summary: "Search the e-mail addresses of all users",
    middleware: [siteAdmin("read:admin")] as const,
    request: {
      query: Paging.extend({
        q: z
          .string()
          .max(255)
          .default("")
          .openapi({ description: "A part of the address or of its user's name" }),
      }),
    },
    responses: { ...responses, ...refusals(422) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const query = c.req.valid("query");
    const items = await pageOf(c, query, (slice) => listAllEmails(ctx, query.q, slice));
    return c.json(items.map(toEmailOfAccount), 200);
  },
);
