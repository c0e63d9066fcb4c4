import { createRoute, z } from "@hono/zod-openapi";

import {
  createRule,
  deleteRule,
  editRule,
  type RuleEntry,
} from "../../domain/code/protections/change-rules.ts";
import {
  findRuleset,
  listRulesets,
  readRuleset,
} from "../../domain/code/protections/list-rules.ts";
import { conflict } from "../../lib/failure.ts";
import { Ruleset, toRuleset } from "../../shapes/repos/ruleset.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { patternList, RULE_FIELDS, toRuleOptions } from "../branches/rule-body.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { body, requiredText } from "../json-body.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { OrgPath } from "./paths.ts";

const FIELDS = {
  repository_patterns: patternList().openapi({
    description:
      "Patterns of names of repositories, separated by semicolons, in any case; empty for all",
    example: "api-*;web",
  }),
  ...RULE_FIELDS,
};
const CreateRuleset = body({
  rule_name: requiredText(255).openapi({
    description: "A branch, or a pattern: `*` matches no slash, `**` anything",
    example: "main",
  }),
  ...FIELDS,
}).openapi("CreateRulesetOption");
const EditRuleset = body(FIELDS).openapi("EditRulesetOption");

const RulesetPath = OrgPath.extend({ id: PathId });

const toRead = () => inOrg("read:organization", { allowsAnonymous: false, needs: "ownership" });
const toChange = () => inOrg("write:organization", { allowsAnonymous: false, needs: "ownership" });

const toEntry = ({ rule, people }: RuleEntry) => toRuleset(rule, people.names);

/** Rules for the branches of all repositories of an organization, an extension of Gitea's API. */
export const rulesets = endpoints();

rulesets.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/rulesets",
    operationId: "orgListRulesets",
    tags: ["organization"],
    summary: "List an organization's rulesets",
    middleware: [toRead()] as const,
    request: { params: OrgPath, query: Paging },
    responses: {
      200: page(z.array(Ruleset), "The rulesets, lowest priority first"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total, people } = await listRulesets(ctx, org, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((rule) => toEntry({ rule, people })),
      200,
    );
  },
);

rulesets.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/rulesets",
    operationId: "orgCreateRuleset",
    tags: ["organization"],
    summary: "Create a ruleset",
    description:
      "It applies besides the rules of the repositories: what one of the two does not allow is not allowed.",
    middleware: [toChange()] as const,
    request: { params: OrgPath, body: { required: true, ...json(CreateRuleset, "The ruleset") } },
    responses: { 201: json(Ruleset, "The new ruleset"), ...refusals(401, 403, 404, 409, 422) },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const sent = c.req.valid("json");
    const options = { ...toRuleOptions(sent), repositoryPatterns: sent.repository_patterns };
    const taken = conflict("the organization has a ruleset of this name");
    const scope = { kind: "organization", org } as const;
    return c.json(toEntry(await createRule(ctx, scope, sent.rule_name, options, taken)), 201);
  },
);

rulesets.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/rulesets/{id}",
    operationId: "orgGetRuleset",
    tags: ["organization"],
    summary: "Get a ruleset",
    middleware: [toRead()] as const,
    request: { params: RulesetPath },
    responses: { 200: json(Ruleset, "The ruleset"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    return c.json(toEntry(await readRuleset(ctx, org, c.req.valid("param").id)), 200);
  },
);

rulesets.openapi(
  createRoute({
    method: "patch",
    path: "/orgs/{org}/rulesets/{id}",
    operationId: "orgEditRuleset",
    tags: ["organization"],
    summary: "Edit a ruleset",
    description: "Fields that are not sent stay as they are. The name can't be changed.",
    middleware: [toChange()] as const,
    request: {
      params: RulesetPath,
      body: { required: true, ...json(EditRuleset, "The changes") },
    },
    responses: {
      200: json(Ruleset, "The changed ruleset"),
      ...refusals(401, 403, 404, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const sent = c.req.valid("json");
    const rule = findRuleset(ctx, org, c.req.valid("param").id);
    const options = { ...toRuleOptions(sent), repositoryPatterns: sent.repository_patterns };
    const scope = { kind: "organization", org } as const;
    return c.json(toEntry(await editRule(ctx, scope, rule, options)), 200);
  },
);

rulesets.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/rulesets/{id}",
    operationId: "orgDeleteRuleset",
    tags: ["organization"],
    summary: "Delete a ruleset",
    middleware: [toChange()] as const,
    request: { params: RulesetPath },
    responses: { 204: empty("The ruleset was deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const rule = await findRuleset(ctx, org, c.req.valid("param").id);
    await deleteRule(ctx, { kind: "organization", org }, rule);
    return c.body(null, 204);
  },
);
