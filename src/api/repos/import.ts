import { createRoute, z } from "@hono/zod-openapi";

import { readRawFile } from "../../domain/issues/attachments/form-file.ts";
import { EXPORT_MEDIA_TYPE } from "../../domain/exchange/exports/export-files.ts";
import { AUTHORS_MAX } from "../../domain/exchange/imports/find-authors.ts";
import { importExport } from "../../domain/exchange/imports/import-export.ts";
import { invalidField, tooLarge } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { queryFlag } from "../paging.ts";

const Authors = z.record(z.string().max(255), z.string().max(40));

const ImportQuery = z.object({
  name: z.string().max(100).optional().openapi({
    description: "The name of the repository; that of the exported one, if empty",
  }),
  owner: z.string().max(40).optional().openapi({
    description: "The user or organization that is to own it; the caller, if empty",
  }),
  private: queryFlag("Whether it is private; as the exported one, if missing"),
  authors: z
    .string()
    // Cloudflare takes no longer address.
    .max(16_000)
    .optional()
    .openapi({
      description: `As JSON, the accounts here of authors there, both by name, at most ${AUTHORS_MAX}; for administrators of the service`,
    }),
});

const binary = { schema: z.string().openapi({ format: "binary" }) };

/**
 * Types that no page can send with another one's credentials unless that allows it: SECURITY, as
 * `readJsonBody`.
 */
const MEDIA_TYPES = new RegExp(
  `^(?:${EXPORT_MEDIA_TYPE}|application/octet-stream)\\s*(?:;|$)`,
  "i",
);

export const imports = endpoints();

imports.openapi(
  createRoute({
    method: "post",
    path: "/repos/import",
    operationId: "repoImport",
    tags: ["repository"],
    summary: "Import a repository from an export",
    description:
      "Takes what `GET /repos/{owner}/{repo}/export` sends. As with a migration, the repository exists at once, the request waits some seconds for the end, and what takes longer goes on, as `GET /repos/{owner}/{repo}/migration` tells.",
    middleware: [signedIn("write:repository")] as const,
    request: {
      query: ImportQuery,
      body: {
        required: true,
        description: "The export",
        content: { [EXPORT_MEDIA_TYPE]: binary, "application/octet-stream": binary },
      },
    },
    responses: {
      201: json(Repository, "The repository, possibly still being imported"),
      ...refusals(401, 403, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const sent = c.req.valid("query");
    const { headers, body } = c.req.raw;
    if (!MEDIA_TYPES.test(headers.get("content-type") ?? "")) {
      throw invalidField("", `must have the Content-Type ${EXPORT_MEDIA_TYPE}`);
    }
    const { importMaxBytes } = ctx.config;
    if (Number(headers.get("content-length") ?? 0) > importMaxBytes) {
      throw tooLarge(`the file is larger than ${importMaxBytes} bytes`);
    }
    const options = {
      ownerName: sent.owner ?? "",
      name: sent.name ?? "",
      isPrivate: sent.private,
      authors: readAuthors(sent.authors ?? ""),
    };
    const importing = importExport(ctx, user, options, readRawFile(body ?? new Blob([]).stream()));
    // Received bytes are recorded, or removed, even if the client disconnects.
    ctx.defer(importing.catch(() => undefined));
    return c.json(toRepository(await importing, viewer), 201);
  },
);

/** @throws Failure `invalid` for anything else than names by names. */
function readAuthors(text: string): Record<string, string> {
  if (text === "") return {};
  try {
    return Authors.parse(JSON.parse(text));
  } catch {
    throw invalidField("authors", "must be a JSON object of names of accounts");
  }
}
