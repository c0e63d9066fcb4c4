import { createRoute, z } from "@hono/zod-openapi";

import { createRelease } from "../../domain/packages/releases/create-release.ts";
import { deleteRelease } from "../../domain/packages/releases/delete-release.ts";
import { findRelease } from "../../domain/packages/releases/find-release.ts";
import { generateNotes } from "../../domain/packages/releases/generate-notes.ts";
import { listReleases } from "../../domain/packages/releases/list-releases.ts";
import { updateRelease } from "../../domain/packages/releases/update-release.ts";
import { Release, toRelease } from "../../shapes/releases/release.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { pageOf, Paging, queryFlag, queryInteger } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { ReleasePath, ReleaseTagPath } from "./paths.ts";

const TAG_MAX = 255;
const TARGET_MAX = 1000;
const TITLE_MAX = 255;
const BODY_MAX = 65_536;

const reading = inRepo("read:repository", { unit: "releases", mode: "read" });
const writing = signedInRepo("write:repository", { unit: "releases", mode: "write" });

const CreateRelease = body({
  tag_name: requiredText(TAG_MAX).openapi({ description: "The tag, which may not exist yet" }),
  target_commitish: optionalText(TARGET_MAX).openapi({
    description:
      "The branch, tag or commit from which a new tag is created; the default branch if empty",
  }),
  name: optionalText(TITLE_MAX),
  body: optionalText(BODY_MAX).openapi({ description: "Markdown" }),
  draft: optionalFlag().openapi({
    description:
      "Whether only those see it who may edit it; the tag is created when it is published",
  }),
  prerelease: optionalFlag(),
  tag_message: optionalText(BODY_MAX).openapi({
    description: "The message of a new annotated tag; a lightweight tag is created if empty",
  }),
  generate_notes: optionalFlag().openapi({
    description:
      "Whether to append the pull requests since the last release to the body, and to name the release by its tag unless it has a name",
  }),
}).openapi("CreateReleaseOption");

const EditRelease = body({
  tag_name: optionalText(TAG_MAX),
  target_commitish: optionalText(TARGET_MAX),
  name: optionalText(TITLE_MAX),
  body: optionalText(BODY_MAX),
  draft: optionalFlag().openapi({ description: "False publishes a draft" }),
  prerelease: optionalFlag(),
}).openapi("EditReleaseOption");

const ReleaseListing = Paging.extend({
  draft: queryFlag("Only drafts, or none of them"),
  "pre-release": queryFlag("Only prereleases, or none of them"),
  q: z
    .string()
    .max(TITLE_MAX)
    .optional()
    .openapi({ description: "A part of the name or of the tag, in any case" }),
  per_page: queryInteger("Items per page, if `limit` is missing").openapi({ deprecated: true }),
});

export const releases = endpoints();

releases.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases",
    operationId: "repoListReleases",
    tags: ["repository"],
    summary: "List a repository's releases",
    middleware: [reading] as const,
    request: { params: RepoPath, query: ReleaseListing },
    responses: {
      200: page(
        z.array(Release),
        "The releases, last created first; drafts only for those who may edit them",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = {
      isDraft: query.draft,
      isPrerelease: query["pre-release"],
      text: query.q?.trim(),
    };
    const paging = { page: query.page, limit: query.limit || query.per_page };
    const items = await pageOf(c, paging, (slice) => listReleases(ctx, repo, filter, slice));
    return c.json(
      items.map((each) => toRelease(each, viewer)),
      200,
    );
  },
);

releases.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/releases",
    operationId: "repoCreateRelease",
    tags: ["repository"],
    summary: "Create a release",
    description:
      "Creates the tag, too, unless the repository has it or the release is a draft. One tag has one release.",
    middleware: [writing] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateRelease, "The release") } },
    responses: {
      201: json(Release, "The new release"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const sent = c.req.valid("json");
    const release = {
      tagName: sent.tag_name,
      target: sent.target_commitish ?? "",
      title: sent.name ?? "",
      body: sent.body ?? "",
      isDraft: sent.draft ?? false,
      isPrerelease: sent.prerelease ?? false,
      tagMessage: sent.tag_message ?? "",
    };
    if (!sent.generate_notes) {
      return c.json(toRelease(await createRelease(ctx, repo, user, release), viewer), 201);
    }
    const notes = await generateNotes(ctx, repo, release, viewer);
    const text = [release.body, notes.body].filter((part) => part !== "").join("\n\n");
    const noted = { ...release, title: release.title || notes.title, body: text };
    return c.json(toRelease(await createRelease(ctx, repo, user, noted), viewer), 201);
  },
);

releases.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases/latest",
    operationId: "repoGetLatestRelease",
    tags: ["repository"],
    summary: "Get the latest release of a repository",
    description: "The one created last among those that are neither drafts nor prereleases.",
    middleware: [reading] as const,
    request: { params: RepoPath },
    responses: { 200: json(Release, "The release"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toRelease(await findRelease(ctx, repo, "latest"), viewer), 200);
  },
);

releases.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases/tags/{tag*}",
    operationId: "repoGetReleaseByTag",
    tags: ["repository"],
    summary: "Get the release of a tag",
    middleware: [reading] as const,
    request: { params: ReleaseTagPath },
    responses: { 200: json(Release, "The release"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { tag } = c.req.valid("param");
    return c.json(toRelease(await findRelease(ctx, repo, { tag }), viewer), 200);
  },
);

releases.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/releases/tags/{tag*}",
    operationId: "repoDeleteReleaseByTag",
    tags: ["repository"],
    summary: "Delete the release of a tag",
    description: "The tag stays.",
    middleware: [writing] as const,
    request: { params: ReleaseTagPath },
    responses: { 204: empty("The release is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { tag } = c.req.valid("param");
    await deleteRelease(ctx, await findRelease(ctx, repo, { tag }));
    return c.body(null, 204);
  },
);

releases.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/releases/{id}",
    operationId: "repoGetRelease",
    tags: ["repository"],
    summary: "Get a release",
    middleware: [reading] as const,
    request: { params: ReleasePath },
    responses: { 200: json(Release, "The release"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toRelease(await findRelease(ctx, repo, c.req.valid("param")), viewer), 200);
  },
);

releases.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/releases/{id}",
    operationId: "repoEditRelease",
    tags: ["repository"],
    summary: "Edit a release",
    description:
      "Omitted fields and empty texts stay as they are. The tag of a release that is published is created where the repository does not have it.",
    middleware: [writing] as const,
    request: {
      params: ReleasePath,
      body: { required: false, ...json(EditRelease, "The fields to change") },
    },
    responses: {
      200: json(Release, "The edited release"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const sent = c.req.valid("json");
    const release = await findRelease(ctx, repo, c.req.valid("param"));
    // Empty texts change nothing, as in Gitea.
    const updated = await updateRelease(ctx, release, user, {
      tagName: sent.tag_name || undefined,
      target: sent.target_commitish || undefined,
      title: sent.name || undefined,
      body: sent.body || undefined,
      isDraft: sent.draft,
      isPrerelease: sent.prerelease,
    });
    return c.json(toRelease(updated, viewer), 200);
  },
);

releases.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/releases/{id}",
    operationId: "repoDeleteRelease",
    tags: ["repository"],
    summary: "Delete a release",
    description: "The tag stays.",
    middleware: [writing] as const,
    request: { params: ReleasePath },
    responses: { 204: empty("The release is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    await deleteRelease(ctx, await findRelease(ctx, repo, c.req.valid("param")));
    return c.body(null, 204);
  },
);
