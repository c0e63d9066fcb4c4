import { createRoute, z } from "@hono/zod-openapi";

import { listAccountsIn, listOrganizationsOf } from "../../domain/people/accounts/list-accounts.ts";
import { renameAccount } from "../../domain/people/accounts/rename-account.ts";
import {
  createOrganization,
  type NewOrganization,
} from "../../domain/people/orgs/create-organization.ts";
import { deleteOrganization } from "../../domain/operations/deletions/delete-organization.ts";
import { editOrganization } from "../../domain/people/orgs/edit-organization.ts";
import {
  listAllOrganizations,
  listOrganizations,
} from "../../domain/people/orgs/list-organizations.ts";
import { findRights } from "../../domain/people/orgs/find-rights.ts";
import { defined } from "../../lib/defined.ts";
import {
  OrganizationPermissions,
  toOrganizationPermissions,
} from "../../shapes/orgs/organization-permissions.ts";
import { Organization, toOrganization } from "../../shapes/orgs/organization.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount, inOrg, userForAdmin } from "../guards/account.ts";
import { anyone, signedIn, siteAdmin } from "../guards/people.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { Paging, readPage, readPageOrAll, setPageHeaders } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const organizations = endpoints();

const EDITABLE = {
  full_name: optionalText(100),
  email: optionalText(254),
  description: optionalText(255),
  website: optionalText(255),
  location: optionalText(50),
  visibility: z.enum(["public", "limited", "private", ""]).optional(),
  repo_admin_change_team_access: optionalFlag(),
};

const CreateOrganization = body({ username: requiredText(40), ...EDITABLE }).openapi(
  "CreateOrgOption",
);
const EditOrganization = body(EDITABLE).openapi("EditOrgOption");
const RenameOrganization = body({ new_name: requiredText(40) }).openapi("RenameOrgOption");

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
    const { items, total } = await listOrganizations(ctx, slice);
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
    const org = await createOrganization(ctx, user, toNewOrganization(c.req.valid("json")));
    return c.json(toOrganization(org, viewer), 201);
  },
);

organizations.openapi(
  createRoute({
    method: "get",
    path: "/admin/orgs",
    operationId: "adminGetAllOrgs",
    tags: ["admin"],
    summary: "List all organizations",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: { 200: organizationPage, ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx }, slice) => listAllOrganizations(ctx, slice), toOrganization),
);

organizations.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/orgs",
    operationId: "adminCreateOrg",
    tags: ["admin"],
    summary: "Create an organization for a user",
    description: "The user becomes its owner.",
    middleware: [userForAdmin("write:admin")] as const,
    request: {
      params: UserPath,
      body: { required: true, ...json(CreateOrganization, "The organization") },
    },
    responses: { 201: json(Organization, "The new organization"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account, viewer } = c.var;
    const org = await createOrganization(ctx, account, toNewOrganization(c.req.valid("json")));
    return c.json(toOrganization(org, viewer), 201);
  },
);

/** The input for a new organization from the fields of a body. */
const toNewOrganization = (sent: z.infer<typeof CreateOrganization>): NewOrganization => ({
  name: sent.username,
  fullName: sent.full_name,
  email: sent.email,
  description: sent.description,
  website: sent.website,
  location: sent.location,
  visibility: sent.visibility || undefined,
  canRepoAdminChangeTeamAccess: sent.repo_admin_change_team_access,
});

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
    method: "patch",
    path: "/orgs/{org}",
    operationId: "orgEdit",
    tags: ["organization"],
    summary: "Edit an organization",
    description:
      "As in Gitea, `full_name`, `description`, `website` and `location` become empty where they are not sent; the other fields keep their value.",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: {
      params: OrgPath,
      body: { required: true, ...json(EditOrganization, "The fields to change") },
    },
    responses: {
      200: json(Organization, "The organization"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const sent = c.req.valid("json");
    const edited = await editOrganization(ctx, org, {
      fullName: sent.full_name ?? "",
      description: sent.description ?? "",
      website: sent.website ?? "",
      location: sent.location ?? "",
      ...defined({
        email: sent.email || undefined,
        visibility: sent.visibility || undefined,
        canRepoAdminChangeTeamAccess: sent.repo_admin_change_team_access,
      }),
    });
    return c.json(toOrganization(edited, viewer), 200);
  },
);

organizations.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/rename",
    operationId: "renameOrg",
    tags: ["organization"],
    summary: "Rename an organization",
    description: "The old name redirects until another account takes it.",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: {
      params: OrgPath,
      body: { required: true, ...json(RenameOrganization, "The new name") },
    },
    responses: {
      204: empty("The organization has the new name"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  (c) => done(c, ({ ctx, org }) => renameAccount(ctx, org, c.req.valid("json").new_name)),
);

organizations.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}",
    operationId: "orgDelete",
    tags: ["organization"],
    summary: "Delete an organization",
    description: "Refused while it owns repositories.",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: { params: OrgPath },
    responses: { 204: empty("The organization is deleted"), ...refusals(401, 403, 404, 422) },
  }),
  (c) => done(c, ({ ctx, org }) => deleteOrganization(ctx, org)),
);

organizations.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/orgs/{org}/permissions",
    operationId: "orgGetUserPermissions",
    tags: ["organization"],
    summary: "Get a user's permissions in an organization",
    description:
      "Only teams with a permission for all units count. A membership that the caller may not see grants nothing.",
    middleware: [
      atAccount(["read:user", "read:organization"], { allowsAnonymous: false }),
    ] as const,
    request: { params: UserPath.extend(OrgPath.shape) },
    responses: {
      200: json(OrganizationPermissions, "The permissions"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    const rights = await findRights(ctx, account, c.req.valid("param").org);
    return c.json(toOrganizationPermissions(rights), 200);
  },
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
    const { isPublicOnly } = ctx.actor.scopes;
    const own = { organizationsOf: user.id, isPublicOnly };
    const { items, total } = await listAccountsIn(ctx, own, slice);
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
    const { items, total } = await listOrganizationsOf(ctx, account, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((org) => toOrganization(org, viewer)),
      200,
    );
  },
);
