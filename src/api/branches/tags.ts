import { createRoute, z } from "@hono/zod-openapi";

import { openSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { createTag } from "../../domain/code/tags/create-tag.ts";
import { deleteTag } from "../../domain/code/tags/delete-tag.ts";
import { findAnnotatedTag } from "../../domain/code/tags/find-annotated-tag.ts";
import { findTag, listTags } from "../../domain/code/tags/list-tags.ts";
import { AnnotatedTag, Tag, toAnnotatedTag, toTag } from "../../shapes/git/tag.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { requireUser } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body, optionalText, requiredText } from "../json-body.ts";
import { Paging, pageOf } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { TagPath } from "./paths.ts";

const CreateTag = body({
  tag_name: requiredText(255).openapi({ description: "The name of the new tag" }),
  message: optionalText(65_535).openapi({
    description: "The message of an annotated tag; a lightweight tag is created if empty",
  }),
  target: optionalText(1000).openapi({
    description: "The branch, tag or commit to tag; the default branch if empty",
  }),
}).openapi("CreateTagOption");

export const tags = endpoints();

tags.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/tags",
    operationId: "repoListTags",
    tags: ["repository"],
    summary: "List a repository's tags",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(Tag), "The tags that point to commits, newest commit first, then by name"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo);
    const items = await pageOf(c, c.req.valid("query"), (slice) => listTags(snapshot, slice));
    return c.json(
      items.map((tag) => toTag(repo, tag, viewer)),
      200,
    );
  },
);

tags.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/tags",
    operationId: "repoCreateTag",
    tags: ["repository"],
    summary: "Create a tag",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateTag, "The tag") } },
    responses: {
      201: json(Tag, "The new tag"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { tag_name: name, message = "", target } = c.req.valid("json");
    const tag = await createTag(ctx, repo, requireUser(ctx.actor), { name, message, target });
    return c.json(toTag(repo, tag, viewer), 201);
  },
);

tags.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/tags/{tag*}",
    operationId: "repoGetTag",
    tags: ["repository"],
    summary: "Get a tag",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: TagPath },
    responses: { 200: json(Tag, "The tag"), ...refusals(401, 403, 404, 413) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const tag = await findTag(await openSnapshot(ctx, repo), c.req.valid("param").tag);
    return c.json(toTag(repo, tag, viewer), 200);
  },
);

tags.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/tags/{tag*}",
    operationId: "repoDeleteTag",
    tags: ["repository"],
    summary: "Delete a tag",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: TagPath },
    responses: {
      204: empty("The tag was deleted"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => deleteTag(ctx, repo, c.req.valid("param").tag)),
);

tags.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/tags/{sha}",
    operationId: "GetAnnotatedTag",
    tags: ["repository"],
    summary: "Get an annotated tag",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({
        sha: z
          .string()
          .openapi({ description: "The id of the tag object; lightweight tags have none" }),
      }),
    },
    responses: { 200: json(AnnotatedTag, "The tag"), ...refusals(400, 401, 403, 404, 413) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo);
    const found = await findAnnotatedTag(ctx, snapshot, c.req.valid("param").sha);
    return c.json(toAnnotatedTag(repo, found, viewer), 200);
  },
);
