import { createRoute, z } from "@hono/zod-openapi";

import { generateNotes } from "../../domain/packages/releases/generate-notes.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { body, optionalText, requiredText } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";

const GenerateNotes = body({
  tag_name: requiredText(255).openapi({ description: "The tag, which may not exist yet" }),
  target_commitish: optionalText(1000).openapi({
    description: "Where a tag that does not exist yet will be; the default branch if empty",
  }),
  previous_tag_name: optionalText(255).openapi({
    description: "The tag from which on to list; that of the last release before if empty",
  }),
}).openapi("GenerateReleaseNotesOption");

const ReleaseNotes = z
  .object({ name: z.string(), body: z.string().openapi({ description: "Markdown" }) })
  .openapi("ReleaseNotes");

export const releaseNotes = endpoints();

releaseNotes.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/releases/generate-notes",
    operationId: "repoGenerateReleaseNotes",
    tags: ["repository"],
    summary: "Generate the notes of a release",
    description:
      "The pull requests merged since the last release, their authors, who contributed for the first time, and a link to the comparison. Stores nothing.",
    middleware: [inRepo("write:repository", { unit: "releases", mode: "write" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(GenerateNotes, "The release to describe") },
    },
    responses: {
      200: json(ReleaseNotes, "The notes"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const sent = c.req.valid("json");
    const { title, body: text } = await generateNotes(
      ctx,
      repo,
      {
        tagName: sent.tag_name,
        target: sent.target_commitish ?? "",
        previousTag: sent.previous_tag_name,
      },
      viewer,
    );
    return c.json({ name: title, body: text }, 200);
  },
);
