import type { MiddlewareHandler } from "hono";
import { z } from "@hono/zod-openapi";

import { isConfined } from "../../auth/actor.ts";
import type { ActionsLevel } from "../../domain/actions/level.ts";
import { forbidden } from "../../lib/failure.ts";
import { inOrg } from "../guards/account.ts";
import type { Guard, GuardVariables } from "../guards/guard.ts";
import { signedIn, siteAdmin } from "../guards/people.ts";
import { inRepo } from "../guards/repository.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { OrgPath } from "../orgs/paths.ts";
import { RepoPath } from "../repos/paths.ts";

const NO_PARAMS = z.object({});

interface LevelVariables {
  actionsLevel: ActionsLevel;
  /** The repository of the path, if the level is one. */
  repo?: RepositoryContext;
}

/** What the routes of secrets, variables and runners of a level have in common. */
export interface LevelRoutes {
  readonly path: `${string}/actions`;
  /** The parameters of that path. */
  readonly params: typeof NO_PARAMS;
  /** The level in the ids of operations, at their beginning and within. */
  readonly prefix: "repo" | "org" | "user" | "admin";
  readonly infix: "Repo" | "Org" | "User" | "Admin";
  readonly tag: "repository" | "organization" | "user" | "admin";
  /** The level in summaries: "of a repository". */
  readonly of: string;
  readonly reading: Guard<LevelVariables>;
  readonly writing: Guard<LevelVariables>;
}

/** Admits callers whom `guard` admits, and finds the level in the variables that it sets. */
function atLevel<V extends object>(
  guard: Guard<V>,
  levelOf: (variables: GuardVariables & V) => ActionsLevel,
): Guard<LevelVariables> {
  const handler: MiddlewareHandler<{
    Variables: GuardVariables & LevelVariables;
  }> = (c, next) =>
    (guard as MiddlewareHandler)(c, async () => {
      const level = levelOf(c.var as GuardVariables as GuardVariables & V);
      // SECURITY: what an account has reaches all its repositories. A token that reaches some of
      // them, or public ones alone, neither reads nor changes it.
      if (level.level === "owner" && isConfined(c.var.ctx.actor)) {
        throw forbidden("token does not reach all repositories of the account");
      }
      c.set("actionsLevel", level);
      await next();
    });
  return Object.assign(handler, { scopes: guard.scopes, allowsAnonymous: guard.allowsAnonymous });
}

const inRepository = (access: "read" | "write") =>
  atLevel(inRepo(`${access}:repository`, { mode: "admin" }), ({ repo }): ActionsLevel => ({
    level: "repository",
    repo: repo.row,
  }));

const ofOrganization = (access: "read" | "write") =>
  atLevel(
    inOrg(`${access}:organization`, { allowsAnonymous: false, needs: "ownership" }),
    ({ org }): ActionsLevel => ({ level: "owner", owner: org }),
  );

const own = (access: "read" | "write") =>
  atLevel(signedIn(`${access}:user`), ({ user }): ActionsLevel => ({
    level: "owner",
    owner: user,
  }));

const ofService = (access: "read" | "write") =>
  atLevel(siteAdmin(`${access}:admin`), (): ActionsLevel => ({ level: "service" }));

/** The levels that have secrets. */
export const SECRET_LEVELS: readonly LevelRoutes[] = [
  {
    path: "/repos/{owner}/{repo}/actions",
    params: RepoPath,
    prefix: "repo",
    infix: "Repo",
    tag: "repository",
    of: "of a repository",
    reading: inRepository("read"),
    writing: inRepository("write"),
  },
  {
    path: "/orgs/{org}/actions",
    params: OrgPath,
    prefix: "org",
    infix: "Org",
    tag: "organization",
    of: "of an organization",
    reading: ofOrganization("read"),
    writing: ofOrganization("write"),
  },
  {
    path: "/user/actions",
    params: NO_PARAMS,
    prefix: "user",
    infix: "User",
    tag: "user",
    of: "of your account",
    reading: own("read"),
    writing: own("write"),
  },
];

export const SERVICE_LEVEL: LevelRoutes = {
  path: "/admin/actions",
  params: NO_PARAMS,
  prefix: "admin",
  infix: "Admin",
  tag: "admin",
  of: "of the service",
  reading: ofService("read"),
  writing: ofService("write"),
};

/** All levels. */
export const LEVELS: readonly LevelRoutes[] = [...SECRET_LEVELS, SERVICE_LEVEL];
