import { createRoute, z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { knownOrganizationIds, organizationIds } from "../../auth/access/organizations.ts";
import { allOf } from "../../db/db.ts";
import { users } from "../../db/schema/index.ts";
import { listAccountsIn, listAccountsWhere } from "../../domain/accounts/list-accounts.ts";
import { createOrganization } from "../../domain/orgs/create-organization.ts";
import { Organization, toOrganization } from "../../shapes/orgs/organization.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount, inOrg } from "../guards/account.ts";
import { anyone, signedIn } from "../guards/people.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { Paging, readPage, readPageOrAll, setPageHeaders } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const organizations = endpoints();

const WebAddress = z.url({ protocol: /^https?$/ });

const CreateOrganization = body({
  username: requiredText(40),
  full_name: optionalText(100),
  email: optionalText(254),
  description: optionalText(255),
  website: z
    .string()
    .max(255)
    .refine(
      (text) => text === "" || WebAddress.safeParse(text).success,
      "must be a URL with http or https",
    )
    .optional(),
  location: optionalText(50),
  visibility: z.enum(["public", "limited", "private", ""]).optional(),
  repo_admin_change_team_access: optionalFlag(),
}).openapi("CreateOrgOption");

const organizationPage = page(z.array(Organization), "The organizations, by name");

organizations.openapi(
  createRoute({
    method: "get",
    path: "/orgs",
    operationId: "orgGetAll",
    tags: ["organization"],
    summary: "List organizations",
    middleware: [anyone("read:organization")] as const,
    request: { query: Paging },
    responses: { 200: organizationPage, ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const isListed = allOf(eq(users.kind, "organization"), isAccountVisible(ctx.actor));
    const { items, total } = await listAccountsWhere(ctx, isListed, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((org) => toOrganization(org, viewer)),
      200,
    );
  },
);

organizations.openapi(
  createRoute({
    method: "post",
    path: "/orgs",
    operationId: "orgCreate",
    tags: ["organization"],
    summary: "Create an organization",
    middleware: [signedIn("write:organization")] as const,
    request: { body: { required: true, ...json(CreateOrganization, "The organization") } },
    responses: { 201: json(Organization, "The new organization"), ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const sent = c.req.valid("json");
    const org = await createOrganization(ctx, user, {
      name: sent.username,
      fullName: sent.full_name,
      email: sent.email,
      description: sent.description,
      website: sent.website,
      location: sent.location,
      visibility: sent.visibility || undefined,
      canRepoAdminChangeTeamAccess: sent.repo_admin_change_team_access,
    });
    return c.json(toOrganization(org, viewer), 201);
  },
);

organizations.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}",
    operationId: "orgGet",
    tags: ["organization"],
    summary: "Get an organization",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: OrgPath },
    responses: { 200: json(Organization, "The organization"), ...refusals(401, 403, 404) },
  }),
  (c) => c.json(toOrganization(c.var.org, c.var.viewer), 200),
);

organizations.openapi(
  createRoute({
    method: "get",
    path: "/user/orgs",
    operationId: "orgListCurrentUserOrgs",
    tags: ["organization"],
    summary: "List your organizations",
    middleware: [signedIn("read:user", "read:organization")] as const,
    request: { query: Paging },
    responses: { 200: organizationPage, ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const slice = readPageOrAll(ctx.config, c.req.valid("query"));
    // SECURITY: a membership is private until its member makes it public.
    const ids = organizationIds(user.id, ctx.actor.scopes.isPublicOnly);
    const { items, total } = await listAccountsIn(ctx, ids, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((org) => toOrganization(org, viewer)),
      200,
    );
  },
);

organizations.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/orgs",
    operationId: "orgListUserOrgs",
    tags: ["organization"],
    summary: "List a user's organizations",
    description:
      "Private memberships are listed for the user, fellow members and administrators only.",
    middleware: [
      atAccount(["read:user", "read:organization"], { allowsAnonymous: false }),
    ] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: organizationPage, ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, account, viewer } = c.var;
    const slice = readPageOrAll(ctx.config, c.req.valid("query"));
    // A private membership is visible to the member, fellow members and administrators.
    const seesAll = ctx.actor.isSiteAdmin || viewer.userId === account.id;
    const ids = seesAll
      ? organizationIds(account.id, false)
      : knownOrganizationIds(account.id, viewer.userId);
    const { items, total } = await listAccountsIn(ctx, ids, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((org) => toOrganization(org, viewer)),
      200,
    );
  },
);
