import { createRoute, z } from "@hono/zod-openapi";

import { createUser } from "../../domain/people/accounts/create-user.ts";
import { deleteUser } from "../../domain/operations/deletions/delete-user.ts";
import { editUser } from "../../domain/people/accounts/edit-user.ts";
import { listUsers } from "../../domain/people/accounts/search-users.ts";
import { renameAccount } from "../../domain/people/accounts/rename-account.ts";
import { defined } from "../../lib/defined.ts";
import { malformed } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { userForAdmin } from "../guards/account.ts";
import { siteAdmin } from "../guards/people.ts";
import { done } from "../handlers.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { Paging, queryFlag, queryId, readPage, setPageHeaders } from "../paging.ts";
import { UserPath } from "../users/paths.ts";

export const adminUsers = endpoints();

const visibility = z.enum(["public", "limited", "private", ""]).optional();
const sourceId = z
  .literal(0)
  .optional()
  .openapi({ description: "0, this service: there are no other login sources" });

const CreateUser = body({
  username: requiredText(40),
  email: requiredText(254),
  password: optionalText(255),
  full_name: optionalText(100),
  login_name: optionalText(255),
  source_id: sourceId,
  must_change_password: optionalFlag(),
  send_notify: optionalFlag().openapi({
    description: "Whether a mail notifies the user of the account, where the service sends mail",
  }),
  restricted: optionalFlag(),
  visibility,
  created_at: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({ format: "date-time", description: "The creation time to record for the account" }),
}).openapi("CreateUserOption");

const EditUser = body({
  email: optionalText(254),
  password: optionalText(255),
  full_name: optionalText(100),
  login_name: optionalText(255),
  source_id: sourceId,
  website: optionalText(255),
  location: optionalText(50),
  description: optionalText(255),
  active: optionalFlag(),
  admin: optionalFlag(),
  prohibit_login: optionalFlag(),
  restricted: optionalFlag(),
  must_change_password: optionalFlag(),
  allow_create_organization: optionalFlag(),
  max_repo_creation: z.int().min(-1).optional(),
  visibility,
}).openapi("EditUserOption");

adminUsers.openapi(
  createRoute({
    method: "get",
    path: "/admin/users",
    operationId: "adminSearchUsers",
    tags: ["admin"],
    summary: "List users",
    middleware: [siteAdmin("read:admin")] as const,
    request: {
      query: Paging.extend({
        source_id: queryId("Only users of this login source"),
        login_name: z.string().max(255).default(""),
      }),
    },
    responses: { 200: page(z.array(User), "The users, by login name"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const query = c.req.valid("query");
    const slice = readPage(ctx.config, query);
    const filter = { sourceId: query.source_id, loginName: query.login_name || undefined };
    const { items, total } = await listUsers(ctx, filter, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);

adminUsers.openapi(
  createRoute({
    method: "post",
    path: "/admin/users",
    operationId: "adminCreateUser",
    tags: ["admin"],
    summary: "Create a user",
    middleware: [siteAdmin("write:admin")] as const,
    request: { body: { required: true, ...json(CreateUser, "The user") } },
    responses: { 201: json(User, "The new user"), ...refusals(400, 401, 403, 422) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const sent = c.req.valid("json");
    if (!sent.password) throw malformed("PasswordIsRequired");
    const user = await createUser(ctx, {
      name: sent.username,
      email: sent.email,
      password: sent.password,
      fullName: sent.full_name,
      loginName: sent.login_name,
      mustChangePassword: sent.must_change_password ?? true,
      isRestricted: sent.restricted,
      visibility: sent.visibility || undefined,
      isNotified: sent.send_notify,
      createdAt: sent.created_at === undefined ? undefined : Date.parse(sent.created_at),
    });
    return c.json(toUser(user, viewer), 201);
  },
);

adminUsers.openapi(
  createRoute({
    method: "patch",
    path: "/admin/users/{username}",
    operationId: "adminEditUser",
    tags: ["admin"],
    summary: "Edit a user",
    description: "Fields that are not sent keep their values.",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath, body: { required: true, ...json(EditUser, "The changes") } },
    responses: { 200: json(User, "The edited user"), ...refusals(400, 401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account, viewer } = c.var;
    const sent = c.req.valid("json");
    const edited = await editUser(
      ctx,
      account,
      defined({
        email: sent.email,
        password: sent.password || undefined,
        fullName: sent.full_name,
        loginName: sent.login_name,
        website: sent.website,
        location: sent.location,
        description: sent.description,
        isActive: sent.active,
        isAdmin: sent.admin,
        isLoginProhibited: sent.prohibit_login,
        isRestricted: sent.restricted,
        mustChangePassword: sent.must_change_password,
        canCreateOrganization: sent.allow_create_organization,
        repoCountMax: sent.max_repo_creation,
        visibility: sent.visibility || undefined,
      }),
    );
    return c.json(toUser(edited, viewer), 200);
  },
);

adminUsers.openapi(
  createRoute({
    method: "delete",
    path: "/admin/users/{username}",
    operationId: "adminDeleteUser",
    tags: ["admin"],
    summary: "Delete a user",
    description:
      "Without `purge`, a user who owns repositories or belongs to organizations is refused. The deletion of a large account continues after the response; until then nobody signs in to it.",
    middleware: [userForAdmin("write:admin")] as const,
    request: {
      params: UserPath,
      query: z.object({
        purge: queryFlag(
          "Whether repositories, memberships and organizations without another owner are deleted, too",
        ),
      }),
    },
    responses: { 204: empty("The user is deleted"), ...refusals(401, 403, 404, 422) },
  }),
  (c) =>
    done(c, ({ ctx, account }) =>
      deleteUser(ctx, account, { isPurge: c.req.valid("query").purge ?? false }),
    ),
);

adminUsers.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/rename",
    operationId: "adminRenameUser",
    tags: ["admin"],
    summary: "Rename a user",
    description: "The old name redirects to the new name.",
    middleware: [userForAdmin("write:admin")] as const,
    request: {
      params: UserPath,
      body: {
        required: true,
        ...json(
          body({ new_username: requiredText(40) }).openapi("RenameUserOption"),
          "The new name",
        ),
      },
    },
    responses: { 204: empty("The user was renamed"), ...refusals(401, 403, 404, 422) },
  }),
  (c) =>
    done(c, ({ ctx, account }) => renameAccount(ctx, account, c.req.valid("json").new_username)),
);
