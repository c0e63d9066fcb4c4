import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import type { User as UserRow } from "../../db/schema/index.ts";
import { findSeenAccount, type Membership } from "../../domain/people/accounts/find-account.ts";
import { listAccountsIn } from "../../domain/people/accounts/list-accounts.ts";
import { findMember, type Member } from "../../domain/people/orgs/find-member.ts";
import { listMembers, seesAllMembers } from "../../domain/people/orgs/list-members.ts";
import { removeMember, setMembershipVisibility } from "../../domain/people/orgs/team-members.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, header, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { answerPage } from "../handlers.ts";
import { Paging, setPageHeaders, readPage } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const organizationMembers = endpoints();

const MemberPath = OrgPath.extend(UserPath.shape);
const members = page(z.array(User), "The members, by login name");

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/members",
    operationId: "orgListMembers",
    tags: ["organization"],
    summary: "List an organization's members",
    description: "Callers outside the organization see public members only.",
    middleware: [inOrg("read:organization", { allowsAnonymous: false })] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: members, ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total } = await listMembers(ctx, org, membership, slice);
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
    summary: "List an organization's public members",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: members, ...refusals(401, 403, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, org }, slice) =>
        listAccountsIn(ctx, { membersOf: org.id, isPublicOnly: true }, slice),
      toUser,
    ),
);

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/members/{username}",
    operationId: "orgIsMember",
    tags: ["organization"],
    summary: "Check whether a user is a member of an organization",
    description:
      "Private memberships are visible to members of the organization and administrators only; others are redirected to the public membership.",
    middleware: [inOrg("read:organization", { allowsAnonymous: false })] as const,
    request: { params: MemberPath },
    responses: {
      204: empty("The user is a member"),
      303: {
        description: "The caller is not a member, and may ask for a public membership",
        headers: { Location: header("string", "The URL of the user's public membership") },
      },
      ...refusals(401, 403),
      404: empty("The user is not a member, or the membership is not visible to the caller"),
    },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const { username } = c.req.valid("param");
    if (seesAllMembers(ctx, membership)) {
      if (!(await findMember(ctx, org, username))) throw notFound();
      return c.body(null, 204);
    }
    const user = await findSeenAccount(ctx, username);
    if (!user || user.id === ctx.actor.user?.id) throw notFound();
    // SECURITY: whether or not the user is a member, so that the redirect reveals nothing.
    const path = `/api/v1/orgs/${org.name}/public_members/${user.name}`;
    return c.body(null, 303, { Location: ctx.rootUrl + path });
  },
);

organizationMembers.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/members/{username}",
    operationId: "orgDeleteMember",
    tags: ["organization"],
    summary: "Remove a user from an organization",
    description: "Removes the user from all teams of the organization. The last owner stays.",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: { params: MemberPath },
    responses: { 204: empty("The user is not a member"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const { username } = c.req.valid("param");
    // Owners find a member even if the account is private.
    const [member, seen] = await Promise.all([
      findMember(ctx, org, username),
      findSeenAccount(ctx, username),
    ]);
    const user = member?.user ?? seen;
    if (!user) throw notFound();
    await removeMember(ctx, org, user);
    return c.body(null, 204);
  },
);

organizationMembers.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/public_members/{username}",
    operationId: "orgIsPublicMember",
    tags: ["organization"],
    summary: "Check whether a user is a public member of an organization",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: MemberPath },
    responses: {
      204: empty("The user is a public member"),
      ...refusals(401, 403),
      404: empty("The user is not a public member, or not visible to the caller"),
    },
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
    summary: "Make your membership in an organization public",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "membership" }),
    ] as const,
    request: { params: MemberPath },
    responses: { 204: empty("The membership is public"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const user = await findOwnMembership(ctx, org, membership, c.req.valid("param").username);
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
    summary: "Make your membership in an organization private",
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "membership" }),
    ] as const,
    request: { params: MemberPath },
    responses: { 204: empty("The membership is private"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, membership } = c.var;
    const user = await findOwnMembership(ctx, org, membership, c.req.valid("param").username);
    await setMembershipVisibility(ctx, org, user, false);
    return c.body(null, 204);
  },
);

/**
 * Finds a member whose membership the caller may see.
 *
 * @throws Failure `not_found` if the user is not a member or the membership is hidden from the
 *   caller.
 */
async function findMembership(
  ctx: Ctx,
  org: UserRow,
  membership: Membership,
  name: string,
): Promise<Member> {
  const found = await findMember(ctx, org, name);
  // SECURITY: a hidden membership is answered like a missing one, so that outsiders cannot detect
  // it.
  const isVisible = seesAllMembers(ctx, membership) || (found?.isPublic && found.isSeen);
  if (!found || !isVisible) throw notFound();
  return found;
}

/** @throws Failure `not_found` as `findMembership`, `forbidden` if the member is not the caller. */
async function findOwnMembership(
  ctx: Ctx,
  org: UserRow,
  membership: Membership,
  name: string,
): Promise<UserRow> {
  const { user } = await findMembership(ctx, org, membership, name);
  if (user.id !== ctx.actor.user?.id) throw forbidden("Cannot change member visibility");
  return user;
}
