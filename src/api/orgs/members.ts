import { createRoute, z } from "@hono/zod-openapi";

import { memberIds } from "../../auth/access/organizations.ts";
import type { Ctx } from "../../context.ts";
import type { User as UserRow } from "../../db/schema/index.ts";
import type { Membership } from "../../domain/accounts/find-account.ts";
import { listAccountsIn, listAllAccountsIn } from "../../domain/accounts/list-accounts.ts";
import { findMember, type Member } from "../../domain/orgs/find-member.ts";
import { setMembershipVisibility } from "../../domain/orgs/team-members.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { Paging, setPageHeaders, pageOf, readPage } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const organizationMembers = endpoints();

const MemberPath = OrgPath.extend(UserPath.shape);
const members = page(z.array(User), "By login name");

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/members",
    operationId: "orgListMembers",
    tags: ["organization"],
    summary: "List the members of an organization; outsiders see those who say so",
    middleware: [inOrg("read:organization", { isOpen: false })] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: members, ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total } = isInside(ctx, membership)
      ? await listAllAccountsIn(ctx, memberIds(org.id, false), slice)
      : await listAccountsIn(ctx, memberIds(org.id, true), slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/public_members",
    operationId: "orgListPublicMembers",
    tags: ["organization"],
    summary: "List the members who say so",
    middleware: [inOrg("read:organization", { isOpen: true })] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: members, ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const items = await pageOf(c, c.req.valid("query"), (slice) =>
      listAccountsIn(ctx, memberIds(org.id, true), slice),
    );
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/members/{username}",
    operationId: "orgIsMember",
    tags: ["organization"],
    summary: "Whether a user belongs to an organization, as far as the caller may know",
    middleware: [inOrg("read:organization", { isOpen: true })] as const,
    request: { params: MemberPath },
    responses: { 204: empty("They do"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    await findMembership(ctx, org, membership, c.req.valid("param").username);
    return c.body(null, 204);
  },
);

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/public_members/{username}",
    operationId: "orgIsPublicMember",
    tags: ["organization"],
    summary: "Whether a user says to belong to an organization",
    middleware: [inOrg("read:organization", { isOpen: true })] as const,
    request: { params: MemberPath },
    responses: { 204: empty("They do"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const found = await findMembership(ctx, org, membership, c.req.valid("param").username);
    if (!found.isPublic) throw notFound();
    return c.body(null, 204);
  },
);

organizationMembers.openapi(
  createRoute({
    method: "put",
    path: "/orgs/{org}/public_members/{username}",
    operationId: "orgPublicizeMember",
    tags: ["organization"],
    summary: "Say that you belong to an organization",
    middleware: [inOrg("write:organization", { isOpen: false })] as const,
    request: { params: MemberPath },
    responses: { 204: empty("Everybody sees it"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const user = await findOneself(ctx, org, membership, c.req.valid("param").username);
    await setMembershipVisibility(ctx, org, user, true);
    return c.body(null, 204);
  },
);

organizationMembers.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/public_members/{username}",
    operationId: "orgConcealMember",
    tags: ["organization"],
    summary: "Stop saying that you belong to an organization",
    middleware: [inOrg("write:organization", { isOpen: false })] as const,
    request: { params: MemberPath },
    responses: { 204: empty("Members see it only"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const user = await findOneself(ctx, org, membership, c.req.valid("param").username);
    await setMembershipVisibility(ctx, org, user, false);
    return c.body(null, 204);
  },
);

/** Whether the caller knows every member, whoever says so. */
const isInside = (ctx: Ctx, membership: Membership): boolean =>
  membership.isMember && !ctx.actor.scopes.isPublicOnly;

/**
 * A member, as far as the caller may know of the membership.
 *
 * @throws Failure `not_found`.
 */
async function findMembership(
  ctx: Ctx,
  org: UserRow,
  membership: Membership,
  name: string,
): Promise<Member> {
  const found = await findMember(ctx, org, name);
  // SECURITY: what an outsider may not know of is refused like what is not there.
  const isKnown = isInside(ctx, membership) || (found?.isPublic && found.isSeen);
  if (!found || !isKnown) throw notFound();
  return found;
}

/** @throws Failure `not_found` as above, `forbidden` for anybody but the caller. */
async function findOneself(
  ctx: Ctx,
  org: UserRow,
  membership: Membership,
  name: string,
): Promise<UserRow> {
  const { user } = await findMembership(ctx, org, membership, name);
  if (user.id !== ctx.actor.user?.id) throw forbidden("Cannot change member visibility");
  return user;
}
