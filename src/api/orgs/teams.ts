import { createRoute, z } from "@hono/zod-openapi";

import { findSeenAccount } from "../../domain/people/accounts/find-account.ts";
import { findAccountIn, listAllAccountsIn } from "../../domain/people/accounts/list-accounts.ts";
import { createTeam, type NewTeam } from "../../domain/people/orgs/create-team.ts";
import { TEAM_PERMISSIONS } from "../../domain/people/orgs/team-options.ts";
import { deleteTeam } from "../../domain/people/orgs/delete-team.ts";
import { editTeam } from "../../domain/people/orgs/edit-team.ts";
import { findManagedTeam, findTeam } from "../../domain/people/orgs/find-team.ts";
import { listOwnTeams, listTeams, searchTeams } from "../../domain/people/orgs/list-teams.ts";
import { addTeamMember, removeTeamMember } from "../../domain/people/orgs/team-members.ts";
import { defined } from "../../lib/defined.ts";
import { notFound } from "../../lib/failure.ts";
import { Team, TeamSearchResults, toTeam } from "../../shapes/orgs/team.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage } from "../handlers.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { Paging, pageOf, queryFlag, readPage, setPageHeaders } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath, TeamPath } from "./paths.ts";

export const teams = endpoints();

const TEAM_FIELDS = {
  description: optionalText(255),
  permission: optionalText(255).openapi({
    description: `One of ${TEAM_PERMISSIONS.join(", ")}; with units_map, any`,
    example: "write",
  }),
  units: z
    .array(z.string().max(255))
    .max(100)
    .optional()
    .openapi({ example: ["repo.code", "repo.issues"] }),
  units_map: z
    .record(z.string().max(255), z.string().max(255))
    .optional()
    .openapi({ example: { "repo.code": "write", "repo.issues": "read" } }),
  includes_all_repositories: optionalFlag(),
  can_create_org_repo: optionalFlag(),
};
const CreateTeam = body({ name: requiredText(255), ...TEAM_FIELDS }).openapi("CreateTeamOption");
const EditTeam = body({ name: requiredText(255).optional(), ...TEAM_FIELDS }).openapi(
  "EditTeamOption",
);

const GRANTS_DESCRIPTION =
  "`permission` is `admin`, for all units, or applies to the `units`; `units_map` gives each unit a mode of its own and takes precedence. `none` and `owner`, which records of teams show, grant nothing.";

/** The options of a team from the fields of a body. */
function toTeamOptions(sent: z.infer<typeof EditTeam>): Partial<NewTeam> {
  return defined({
    name: sent.name,
    description: sent.description,
    permission: sent.permission || undefined,
    units: sent.units,
    unitsMap: sent.units_map,
    includesAllRepositories: sent.includes_all_repositories,
    canCreateOrgRepo: sent.can_create_org_repo,
  });
}

const TeamMemberPath = TeamPath.extend(UserPath.shape);

teams.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/teams",
    operationId: "orgListTeams",
    tags: ["organization"],
    summary: "List an organization's teams",
    description: "Only members of the organization may list its teams.",
    middleware: [
      inOrg("read:organization", { allowsAnonymous: false, needs: "membership" }),
    ] as const,
    request: { params: OrgPath, query: Paging },
    responses: { 200: page(z.array(Team), "The teams, by name"), ...refusals(401, 403, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, org }, slice) => listTeams(ctx, org, slice),
      ({ team }, viewer) => toTeam(team, null, viewer),
    ),
);

teams.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/teams",
    operationId: "orgCreateTeam",
    tags: ["organization"],
    summary: "Create a team",
    description: GRANTS_DESCRIPTION,
    middleware: [
      inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: {
      params: OrgPath,
      body: { required: true, ...json(CreateTeam, "The team") },
    },
    responses: { 201: json(Team, "The new team"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const team = await createTeam(ctx, org, {
      ...toTeamOptions(c.req.valid("json")),
      name: c.req.valid("json").name,
    });
    return c.json(toTeam(team, org, viewer), 201);
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/teams/search",
    operationId: "teamSearch",
    tags: ["organization"],
    summary: "Search your teams in an organization",
    description: "Administrators of the site search all teams.",
    middleware: [
      inOrg("read:organization", { allowsAnonymous: false, needs: "membership" }),
    ] as const,
    request: {
      params: OrgPath,
      query: Paging.extend({
        q: z
          .string()
          .max(255)
          .default("")
          .openapi({ description: "A part of the name, or of the description" }),
        include_desc: queryFlag("Whether to search descriptions too; true if missing"),
      }),
    },
    responses: { 200: page(TeamSearchResults, "The teams, by name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = { text: query.q.trim(), includesDescription: query.include_desc ?? true };
    const items = await pageOf(c, query, (slice) => searchTeams(ctx, org, filter, slice));
    return c.json({ ok: true, data: items.map(({ team }) => toTeam(team, null, viewer)) }, 200);
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/user/teams",
    operationId: "userListTeams",
    tags: ["user"],
    summary: "List your teams",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Team), "The teams, by name"), ...refusals(401, 403) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, user }, slice) => listOwnTeams(ctx, user, slice),
      ({ team, org }, viewer) => toTeam(team, org, viewer),
    ),
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}",
    operationId: "orgGetTeam",
    tags: ["organization"],
    summary: "Get a team",
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
    method: "patch",
    path: "/teams/{id}",
    operationId: "orgEditTeam",
    tags: ["organization"],
    summary: "Edit a team",
    description: `${GRANTS_DESCRIPTION} A permission alone applies to each unit of the team. \`includes_all_repositories\` changes only together with a permission. Of the team of owners only the description changes.`,
    middleware: [signedIn("write:organization")] as const,
    request: {
      params: TeamPath,
      body: { required: true, ...json(EditTeam, "The fields to change") },
    },
    responses: { 200: json(Team, "The team"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { team } = await findManagedTeam(ctx, c.req.valid("param").id);
    const edited = await editTeam(ctx, team, toTeamOptions(c.req.valid("json")));
    return c.json(toTeam(edited, null, viewer), 200);
  },
);

teams.openapi(
  createRoute({
    method: "delete",
    path: "/teams/{id}",
    operationId: "orgDeleteTeam",
    tags: ["organization"],
    summary: "Delete a team",
    description:
      "Members who are in no other team leave the organization. The team of owners stays.",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamPath },
    responses: { 204: empty("The team is deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { team } = await findManagedTeam(ctx, c.req.valid("param").id);
    await deleteTeam(ctx, team);
    return c.body(null, 204);
  },
);

teams.openapi(
  createRoute({
    method: "get",
    path: "/teams/{id}/members",
    operationId: "orgListTeamMembers",
    tags: ["organization"],
    summary: "List a team's members",
    middleware: [signedIn("read:organization")] as const,
    request: { params: TeamPath, query: Paging },
    responses: {
      200: page(z.array(User), "The members, by login name"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const { id } = c.req.valid("param");
    const slice = readPage(ctx.config, c.req.valid("query"));
    // In parallel, to save a round trip: `findTeam` throws for callers who may not see the team.
    const [{ items, total }] = await Promise.all([
      listAllAccountsIn(ctx, { membersOfTeam: id }, slice),
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
      findAccountIn(ctx, { membersOfTeam: id }, username),
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
    summary: "Add a user to a team",
    description: "The user becomes a member of the team's organization too.",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamMemberPath },
    responses: { 204: empty("The user is a member of the team"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, username } = c.req.valid("param");
    const [{ team }, user] = await Promise.all([
      findManagedTeam(ctx, id),
      findSeenAccount(ctx, username),
    ]);
    if (!user) throw notFound();
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
    summary: "Remove a user from a team",
    description: "Removing a user from their last team also removes them from the organization.",
    middleware: [signedIn("write:organization")] as const,
    request: { params: TeamMemberPath },
    responses: { 204: empty("The user is not a member of the team"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { id, username } = c.req.valid("param");
    // Managers of the team find a member even if the account is private.
    const [{ team }, seen, member] = await Promise.all([
      findManagedTeam(ctx, id),
      findSeenAccount(ctx, username),
      findAccountIn(ctx, { membersOfTeam: id }, username),
    ]);
    const user = seen ?? member;
    if (!user) throw notFound();
    await removeTeamMember(ctx, team, user);
    return c.body(null, 204);
  },
);
