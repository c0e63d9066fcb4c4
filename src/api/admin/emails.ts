import { createRoute, z } from "@hono/zod-openapi";

import { listAllEmails } from "../../domain/people/accounts/list-all-emails.ts";
import { Email, toEmailOfAccount } from "../../shapes/users/email.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";

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
  (c) => answerPage(c, ({ ctx }, slice) => listAllEmails(ctx, "", slice), toEmailOfAccount),
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
  (c) =>
    answerPage(
      c,
      ({ ctx }, slice) => listAllEmails(ctx, c.req.valid("query").q, slice),
      toEmailOfAccount,
    ),
);
