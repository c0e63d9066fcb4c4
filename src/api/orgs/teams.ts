import { createRoute, z } from "@hono/zod-openapi";

import { selectTeamPage, teamMemberIds } from "../../auth/access/teams.ts";
import { findAccountIn, findSeenAccount } from "../../domain/accounts/find-account.ts";
import { listAllAccountsIn } from "../../domain/accounts/list-accounts.ts";
import { findTeam } from "../../domain/orgs/find-team.ts";
import { addTeamMember, removeTeamMember } from "../../domain/orgs/team-members.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { Team, toTeam } from "../../shapes/orgs/team.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { Paging, setPageHeaders, readPage } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const teams = endpoints();

const TeamPath = z.object({ id: PathId });
const TeamMemberPath = TeamPath.extend(UserPath.shape);

teams.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/teams",
    operationId: "orgListTeams",
    tags: ["organization"],
    summary: "List the teams of an organization, for its members",
    middleware: [inOrg("read:organization", { isOpen: false, needs: "membership" })] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: page(z.array(Team), "By name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const [items, [counted]] = await ctx.db.batch(selectTeamPage(ctx.db, org.id, slice));
    setPageHeaders(c, slice, counted?.total ?? 0);
    return c.json(
      items.map((team) => toTeam(team, null, viewer)),
      200,
    );
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}",
    operationId: "orgGetTeam",
    tags: ["organization"],
    summary: "Get a team with its organization",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamPath },
    responses: { 200: json(Team, "The team"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { team, org } = await findTeam(ctx, c.req.valid("param").id);
    return c.json(toTeam(team, org, viewer), 200);
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/members",
    operationId: "orgListTeamMembers",
    tags: ["organization"],
    summary: "List the members of a team",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamPath, query: Paging },
    responses: { 200: page(z.array(User), "By login name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { id } = c.req.valid("param");
    const slice = readPage(ctx.config, c.req.valid("query"));
    // Asked at once; whoever may not see the team is refused before the list is looked at.
    const [{ items, total }] = await Promise.all([
      listAllAccountsIn(ctx, teamMemberIds(id), slice),
      findTeam(ctx, id),
    ]);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/members/{username}",
    operationId: "orgListTeamMember",
    tags: ["organization"],
    summary: "Get a member of a team",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamMemberPath },
    responses: { 200: json(User, "The member"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { id, username } = c.req.valid("param");
    const [user] = await Promise.all([
      findAccountIn(ctx, teamMemberIds(id), username),
      findTeam(ctx, id),
    ]);
    if (!user) throw notFound();
    return c.json(toUser(user, viewer), 200);
  },
);

teams.openapi(
  createRoute({
    method: "put",
    path: "/teams/{id}/members/{username}",
    operationId: "orgAddTeamMember",
    tags: ["organization"],
    summary: "Add a user to a team, and so to its organization",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamMemberPath },
    responses: { 204: empty("They are a member"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, username } = c.req.valid("param");
    const [{ team, isManaged }, user] = await Promise.all([
      findTeam(ctx, id),
      findSeenAccount(ctx, username),
    ]);
    if (!isManaged) throw forbidden("Must be an organization owner");
    if (user?.kind !== "user") throw notFound();
    await addTeamMember(ctx, team, user);
    return c.body(null, 204);
  },
);

teams.openapi(
  createRoute({
    method: "delete",
    path: "/teams/{id}/members/{username}",
    operationId: "orgRemoveTeamMember",
    tags: ["organization"],
    summary: "Remove a user from a team, and with the last one from its organization",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamMemberPath },
    responses: { 204: empty("They are no member"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, username } = c.req.valid("param");
    // A member whose account is private is there for those who manage the team.
    const [{ team, isManaged }, seen, member] = await Promise.all([
      findTeam(ctx, id),
      findSeenAccount(ctx, username),
      findAccountIn(ctx, teamMemberIds(id), username),
    ]);
    if (!isManaged) throw forbidden("Must be an organization owner");
    const user = seen ?? member;
    if (!user) throw notFound();
    await removeTeamMember(ctx, team, user);
    return c.body(null, 204);
  },
);
