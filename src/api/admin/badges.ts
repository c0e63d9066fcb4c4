import { createRoute, z } from "@hono/zod-openapi";

import {
  BADGE_SLUG,
  createBadge,
  deleteBadge,
  listBadges,
} from "../../domain/people/badges/badges.ts";
import {
  addUserBadges,
  listUserBadges,
  removeUserBadges,
  SLUGS_MAX,
} from "../../domain/people/badges/user-badges.ts";
import { Badge, toBadge } from "../../shapes/users/badge.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { userForAdmin } from "../guards/account.ts";
import { siteAdmin } from "../guards/people.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalText } from "../json-body.ts";
import { Paging } from "../paging.ts";
import { UserPath } from "../users/paths.ts";

export const badges = endpoints();

const slug = z
  .string()
  .max(50)
  .regex(BADGE_SLUG, "must consist of lower-case letters, digits and dashes");

const CreateBadge = body({
  slug,
  description: optionalText(255),
  image_url: optionalText(2048),
}).openapi("CreateBadgeOption");

const UserBadges = body({
  badge_slugs: z.array(z.string().min(1).max(50)).max(SLUGS_MAX).default([]),
}).openapi("UserBadgeOption");

badges.openapi(
  createRoute({
    method: "get",
    path: "/admin/badges",
    operationId: "adminListBadges",
    tags: ["admin"],
    summary: "List all badges",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(Badge), "The badges, by slug"), ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx }, slice) => listBadges(ctx, slice), toBadge),
);

badges.openapi(
  createRoute({
    method: "post",
    path: "/admin/badges",
    operationId: "adminCreateBadge",
    tags: ["admin"],
    summary: "Create a badge",
    middleware: [siteAdmin("write:admin")] as const,
    request: { body: { required: true, ...json(CreateBadge, "The badge") } },
    responses: { 201: json(Badge, "The new badge"), ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const sent = c.req.valid("json");
    const badge = await createBadge(c.var.ctx, {
      slug: sent.slug,
      description: sent.description ?? "",
      imageUrl: sent.image_url ?? "",
    });
    return c.json(toBadge(badge), 201);
  },
);

badges.openapi(
  createRoute({
    method: "delete",
    path: "/admin/badges/{slug}",
    operationId: "adminDeleteBadge",
    tags: ["admin"],
    summary: "Delete a badge",
    middleware: [siteAdmin("write:admin")] as const,
    request: { params: z.object({ slug: z.string().max(50) }) },
    responses: { 204: empty("The badge was deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    await deleteBadge(c.var.ctx, c.req.valid("param").slug);
    return c.body(null, 204);
  },
);

badges.openapi(
  createRoute({
    method: "get",
    path: "/admin/users/{username}/badges",
    operationId: "adminListUserBadges",
    tags: ["admin"],
    summary: "List a user's badges",
    middleware: [userForAdmin("read:admin")] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: page(z.array(Badge), "The badges, by slug"), ...refusals(401, 403, 404) },
  }),
  (c) => answerPage(c, ({ ctx, account }, slice) => listUserBadges(ctx, account, slice), toBadge),
);

badges.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/badges",
    operationId: "adminAddUserBadges",
    tags: ["admin"],
    summary: "Give badges to a user",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath, body: { required: true, ...json(UserBadges, "The badges") } },
    responses: { 204: empty("The user has the badges"), ...refusals(401, 403, 404, 422) },
  }),
  (c) =>
    done(c, ({ ctx, account }) => addUserBadges(ctx, account, c.req.valid("json").badge_slugs)),
);

badges.openapi(
  createRoute({
    method: "delete",
    path: "/admin/users/{username}/badges",
    operationId: "adminDeleteUserBadges",
    tags: ["admin"],
    summary: "Take badges away from a user",
    middleware: [userForAdmin("write:admin")] as const,
    request: { params: UserPath, body: { required: true, ...json(UserBadges, "The badges") } },
    responses: { 204: empty("The user has none of the badges"), ...refusals(401, 403, 404, 422) },
  }),
  (c) =>
    done(c, ({ ctx, account }) => removeUserBadges(ctx, account, c.req.valid("json").badge_slugs)),
);
