import { createRoute, z } from "@hono/zod-openapi";

import { requireNotArchived } from "../../domain/issues/issue/require-issue-access.ts";
import {
  createRule,
  deleteRule,
  editRule,
  orderRules,
  type RuleEntry,
} from "../../domain/code/protections/change-rules.ts";
import { findRule, listRules, withPeople } from "../../domain/code/protections/list-rules.ts";
import { isExactName } from "../../domain/code/protections/rule-patterns.ts";
import { forbidden, malformed } from "../../lib/failure.ts";
import { BranchProtection, toBranchProtection } from "../../shapes/repos/branch-protection.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { RULE_FIELDS, toRuleOptions } from "./rule-body.ts";

const NAME_MAX = 255;

const CreateBranchProtection = body({
  rule_name: optionalText(NAME_MAX).openapi({
    description: "A branch, or a pattern: `*` matches no slash, `**` anything",
    example: "release/**",
  }),
  branch_name: optionalText(NAME_MAX).openapi({
    deprecated: true,
    description: "The name of the rule, if rule_name is empty",
  }),
  ...RULE_FIELDS,
}).openapi("CreateBranchProtectionOption");

const EditBranchProtection = body(RULE_FIELDS).openapi("EditBranchProtectionOption");

const OrderBranchProtections = body({
  ids: z.array(z.int()).max(1000).default([]).openapi({
    description: "Ids of rules, the first of which applies first",
  }),
}).openapi("UpdateBranchProtectionPriories");

const RulePath = RepoPath.extend({
  name: z
    .string()
    .openapi({ description: "The rule's name as one segment, with `%2F` for a slash" }),
});

const toRead = () => inRepo("read:repository", { mode: "admin" }, { showsRules: true });
const toChange = () => inRepo("write:repository", { mode: "admin" }, { showsRules: true });

const toEntry = ({ rule, people }: RuleEntry) =>
  toBranchProtection(rule, isExactName(rule.name), people.names);

export const branchProtections = endpoints();

branchProtections.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/branch_protections",
    operationId: "repoListBranchProtection",
    tags: ["repository"],
    summary: "List a repository's branch protections",
    middleware: [toRead()] as const,
    request: { params: RepoPath },
    responses: {
      200: json(z.array(BranchProtection), "All rules, lowest priority first"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { rules, people } = await listRules(c.var.ctx, c.var.repo);
    return c.json(
      rules.map((rule) => toEntry({ rule, people })),
      200,
    );
  },
);

branchProtections.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/branch_protections",
    operationId: "repoCreateBranchProtection",
    tags: ["repository"],
    summary: "Create a branch protection",
    middleware: [toChange()] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreateBranchProtection, "The rule") },
    },
    responses: {
      201: json(BranchProtection, "The new rule"),
      ...refusals(400, 401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const sent = c.req.valid("json");
    requireNotArchived(repo);
    const name = sent.rule_name || sent.branch_name;
    if (!name) throw malformed("both rule_name and branch_name are empty");
    const taken = forbidden("Branch protection already exist");
    const scope = { kind: "repository", repo } as const;
    return c.json(toEntry(await createRule(ctx, scope, name, toRuleOptions(sent), taken)), 201);
  },
);

branchProtections.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/branch_protections/priority",
    operationId: "repoUpdateBranchProtectionPriories",
    tags: ["repository"],
    summary: "Order a repository's branch protections",
    middleware: [toChange()] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(OrderBranchProtections, "The order") },
    },
    responses: { 204: empty("The rules were ordered"), ...refusals(401, 403, 404, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireNotArchived(repo);
    await orderRules(ctx, { kind: "repository", repo }, c.req.valid("json").ids);
    return c.body(null, 204);
  },
);

branchProtections.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/branch_protections/{name}",
    operationId: "repoGetBranchProtection",
    tags: ["repository"],
    summary: "Get a branch protection",
    middleware: [toRead()] as const,
    request: { params: RulePath },
    responses: { 200: json(BranchProtection, "The rule"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const rule = await findRule(ctx, repo, c.req.valid("param").name);
    return c.json(toEntry(await withPeople(ctx, { kind: "repository", repo }, rule)), 200);
  },
);

branchProtections.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/branch_protections/{name}",
    operationId: "repoEditBranchProtection",
    tags: ["repository"],
    summary: "Edit a branch protection",
    description: "Fields that are not sent stay as they are. The name can't be changed.",
    middleware: [toChange()] as const,
    request: {
      params: RulePath,
      body: { required: true, ...json(EditBranchProtection, "The changes") },
    },
    responses: {
      200: json(BranchProtection, "The changed rule"),
      ...refusals(401, 403, 404, 409, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    requireNotArchived(repo);
    const rule = findRule(ctx, repo, c.req.valid("param").name);
    const options = toRuleOptions(c.req.valid("json"));
    return c.json(toEntry(await editRule(ctx, { kind: "repository", repo }, rule, options)), 200);
  },
);

branchProtections.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/branch_protections/{name}",
    operationId: "repoDeleteBranchProtection",
    tags: ["repository"],
    summary: "Delete a branch protection",
    middleware: [toChange()] as const,
    request: { params: RulePath },
    responses: { 204: empty("The rule was deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const rule = await findRule(ctx, repo, c.req.valid("param").name);
    await deleteRule(ctx, { kind: "repository", repo }, rule);
    return c.body(null, 204);
  },
);
