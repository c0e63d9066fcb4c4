import { createRoute, z } from "@hono/zod-openapi";

import { PACKAGE_TYPES } from "../../db/schema/index.ts";
import {
  CLEANUP_LIMITS,
  type CleanupRuleOptions,
  createCleanupRule,
  deleteCleanupRule,
  editCleanupRule,
  findCleanupRule,
  listCleanupRules,
} from "../../domain/packages/cleanup/cleanup-rules.ts";
import { previewCleanup } from "../../domain/packages/cleanup/preview-cleanup.ts";
import {
  PackageCleanupRule,
  toPackageCleanupRule,
} from "../../shapes/packages/package-cleanup-rule.ts";
import { PackageShape, toPackage } from "../../shapes/packages/package.ts";
import { empty, HEADERS, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inPackages } from "../guards/packages.ts";
import { answerPage } from "../handlers.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { PackageOwnerPath } from "./paths.ts";

const pattern = (description: string) =>
  optionalText(CLEANUP_LIMITS.patternChars).openapi({ description });
const FIELDS = {
  enabled: optionalFlag().openapi({ description: "True by default" }),
  keep_count: z.int().min(0).max(CLEANUP_LIMITS.keepCount).optional().openapi({
    description: "The newest versions of each package that stay; none for their age by default",
  }),
  keep_pattern: pattern(
    "A regular expression of RE2 for versions that stay; as a whole, in any case",
  ),
  remove_days: z.int().min(0).max(CLEANUP_LIMITS.removeDays).optional().openapi({
    description: "Versions older than this go; of any age by default",
  }),
  remove_pattern: pattern("A regular expression of RE2 for versions that go; all by default"),
  match_full_name: optionalFlag().openapi({
    description: "Whether the patterns match `name/version`, not only the version",
  }),
};
const CreateRule = body({
  type: z.enum(PACKAGE_TYPES).openapi({ description: "The format" }),
  ...FIELDS,
}).openapi("CreatePackageCleanupRuleOption");
const EditRule = body(FIELDS).openapi("EditPackageCleanupRuleOption");

const RulePath = PackageOwnerPath.extend({ id: PathId });

const toRead = () => inPackages("admin", { onlyReads: true });
const toChange = () => inPackages("admin");

/**
 * Rules by which the schedule deletes versions of an owner's packages, an extension of Gitea's API.
 */
export const packageCleanupRules = endpoints();

packageCleanupRules.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/-/cleanup-rules",
    operationId: "listPackageCleanupRules",
    tags: ["package"],
    summary: "List an owner's cleanup rules",
    middleware: [toRead()] as const,
    request: { params: PackageOwnerPath, query: Paging },
    responses: {
      200: page(z.array(PackageCleanupRule), "The rules, by format"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, owner }, slice) => listCleanupRules(ctx, owner, slice),
      toPackageCleanupRule,
    ),
);

packageCleanupRules.openapi(
  createRoute({
    method: "post",
    path: "/packages/{owner}/-/cleanup-rules",
    operationId: "createPackageCleanupRule",
    tags: ["package"],
    summary: "Create a cleanup rule",
    description: "An owner has at most one for each format. The schedule applies it every day.",
    middleware: [toChange()] as const,
    request: {
      params: PackageOwnerPath,
      body: { required: true, ...json(CreateRule, "The rule") },
    },
    responses: {
      201: json(PackageCleanupRule, "The new rule"),
      ...refusals(401, 403, 404, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, owner } = c.var;
    const sent = c.req.valid("json");
    const rule = await createCleanupRule(ctx, owner, sent.type, toOptions(sent));
    return c.json(toPackageCleanupRule(rule), 201);
  },
);

packageCleanupRules.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/-/cleanup-rules/{id}",
    operationId: "getPackageCleanupRule",
    tags: ["package"],
    summary: "Get a cleanup rule",
    middleware: [toRead()] as const,
    request: { params: RulePath },
    responses: { 200: json(PackageCleanupRule, "The rule"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, owner } = c.var;
    const rule = await findCleanupRule(ctx, owner, c.req.valid("param").id);
    return c.json(toPackageCleanupRule(rule), 200);
  },
);

packageCleanupRules.openapi(
  createRoute({
    method: "patch",
    path: "/packages/{owner}/-/cleanup-rules/{id}",
    operationId: "editPackageCleanupRule",
    tags: ["package"],
    summary: "Edit a cleanup rule",
    description: "Fields that are not sent stay as they are. The format can't be changed.",
    middleware: [toChange()] as const,
    request: { params: RulePath, body: { required: true, ...json(EditRule, "The changes") } },
    responses: {
      200: json(PackageCleanupRule, "The changed rule"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, owner } = c.var;
    const rule = await findCleanupRule(ctx, owner, c.req.valid("param").id);
    const edited = await editCleanupRule(ctx, owner, rule, toOptions(c.req.valid("json")));
    return c.json(toPackageCleanupRule(edited), 200);
  },
);

packageCleanupRules.openapi(
  createRoute({
    method: "delete",
    path: "/packages/{owner}/-/cleanup-rules/{id}",
    operationId: "deletePackageCleanupRule",
    tags: ["package"],
    summary: "Delete a cleanup rule",
    middleware: [toChange()] as const,
    request: { params: RulePath },
    responses: { 204: empty("It is deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, owner } = c.var;
    const rule = await findCleanupRule(ctx, owner, c.req.valid("param").id);
    await deleteCleanupRule(ctx, owner, rule);
    return c.body(null, 204);
  },
);

packageCleanupRules.openapi(
  createRoute({
    method: "get",
    path: "/packages/{owner}/-/cleanup-rules/{id}/preview",
    operationId: "previewPackageCleanupRule",
    tags: ["package"],
    summary: "List the versions that a cleanup rule would delete now",
    description: "Also of a rule that is disabled.",
    middleware: [toRead()] as const,
    request: { params: RulePath, query: Paging },
    responses: {
      200: {
        ...page(z.array(PackageShape), "The versions, by package, oldest first"),
        headers: { ...HEADERS.page, ...HEADERS.incomplete },
      },
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, owner, viewer } = c.var;
    const rule = await findCleanupRule(ctx, owner, c.req.valid("param").id);
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total, isIncomplete } = await previewCleanup(ctx, owner, rule, slice);
    setPageHeaders(c, slice, total);
    if (isIncomplete) c.header("X-Gitea-Warning", "there may be more than was looked at");
    return c.json(
      items.map((each) => toPackage(each, viewer)),
      200,
    );
  },
);

/** The options that are sent. */
function toOptions(sent: z.infer<typeof EditRule>): Partial<CleanupRuleOptions> {
  const options = {
    isEnabled: sent.enabled,
    keepCount: sent.keep_count,
    keepPattern: sent.keep_pattern,
    removeDays: sent.remove_days,
    removePattern: sent.remove_pattern,
    matchesFullName: sent.match_full_name,
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
