import { createRoute, z } from "@hono/zod-openapi";

import { requireNotArchived } from "../../domain/issues/issue/require-issue-access.ts";
import {
  createTagProtection,
  deleteTagProtection,
  editTagProtection,
  findTagProtection,
  listTagProtections,
  peopleOf,
} from "../../domain/code/protections/tag-protections.ts";
import { malformed } from "../../lib/failure.ts";
import { TagProtection, toTagProtection } from "../../shapes/repos/tag-protection.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { nameList } from "./rule-body.ts";

const FIELDS = {
  name_pattern: optionalText(255).openapi({
    description:
      "A pattern of names, where `*` matches anything, or a regular expression in slashes",
    example: "v*",
  }),
  whitelist_usernames: nameList(),
  whitelist_teams: nameList(),
};
const CreateTagProtection = body(FIELDS).openapi("CreateTagProtectionOption");
const EditTagProtection = body(FIELDS).openapi("EditTagProtectionOption");

const RulePath = RepoPath.extend({ id: PathId });

const toRead = () => inRepo("read:repository", { mode: "admin" }, { showsRules: true });
const toChange = () => inRepo("write:repository", { mode: "admin" }, { showsRules: true });

export const tagProtections = endpoints();

tagProtections.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/tag_protections",
    operationId: "repoListTagProtection",
    tags: ["repository"],
    summary: "List a repository's tag protections",
    middleware: [toRead()] as const,
    request: { params: RepoPath },
    responses: {
      200: json(z.array(TagProtection), "All rules, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { rules, people } = await listTagProtections(c.var.ctx, c.var.repo);
    return c.json(
      rules.map((rule) => toTagProtection(rule, people.names)),
      200,
    );
  },
);

tagProtections.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/tag_protections",
    operationId: "repoCreateTagProtection",
    tags: ["repository"],
    summary: "Create a tag protection",
    middleware: [toChange()] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreateTagProtection, "The rule") },
    },
    responses: {
      201: json(TagProtection, "The new rule"),
      ...refusals(400, 401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireNotArchived(repo);
    const sent = c.req.valid("json");
    const { whitelist_usernames: users = [], whitelist_teams: teams = [] } = sent;
    const namePattern = sent.name_pattern?.trim();
    if (!namePattern) throw malformed("name_pattern are empty");
    const { rule, people } = await createTagProtection(ctx, repo, { namePattern, users, teams });
    return c.json(toTagProtection(rule, people.names), 201);
  },
);

tagProtections.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/tag_protections/{id}",
    operationId: "repoGetTagProtection",
    tags: ["repository"],
    summary: "Get a tag protection",
    middleware: [toRead()] as const,
    request: { params: RulePath },
    responses: { 200: json(TagProtection, "The rule"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const rule = await findTagProtection(ctx, repo, c.req.valid("param").id);
    const people = await peopleOf(ctx, repo, [rule]);
    return c.json(toTagProtection(rule, people.names), 200);
  },
);

tagProtections.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/tag_protections/{id}",
    operationId: "repoEditTagProtection",
    tags: ["repository"],
    summary: "Edit a tag protection",
    description:
      "Fields that are not sent stay as they are, and so does the pattern if it is empty.",
    middleware: [toChange()] as const,
    request: {
      params: RulePath,
      body: { required: true, ...json(EditTagProtection, "The changes") },
    },
    responses: {
      200: json(TagProtection, "The changed rule"),
      ...refusals(401, 403, 404, 409, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireNotArchived(repo);
    const before = await findTagProtection(ctx, repo, c.req.valid("param").id);
    const sent = c.req.valid("json");
    const { rule, people } = await editTagProtection(ctx, repo, before, {
      namePattern: sent.name_pattern?.trim() || undefined,
      users: sent.whitelist_usernames,
      teams: sent.whitelist_teams,
    });
    return c.json(toTagProtection(rule, people.names), 200);
  },
);

tagProtections.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/tag_protections/{id}",
    operationId: "repoDeleteTagProtection",
    tags: ["repository"],
    summary: "Delete a tag protection",
    middleware: [toChange()] as const,
    request: { params: RulePath },
    responses: { 204: empty("The rule was deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    await deleteTagProtection(
      ctx,
      repo,
      await findTagProtection(ctx, repo, c.req.valid("param").id),
    );
    return c.body(null, 204);
  },
);
