import { createRoute } from "@hono/zod-openapi";

import { findNote } from "../../domain/commits/find-note.ts";
import { readCommits } from "../../domain/commits/read-commits.ts";
import { findRevision } from "../../domain/git/find-revision.ts";
import { openCode } from "../../domain/git/open-code.ts";
import { notFound } from "../../lib/failure.ts";
import { Note, toNote } from "../../shapes/note.ts";
import { json, refusals } from "../answers.ts";
import { CommitPath, ShownParts, toParts } from "../commits/query.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";

export const notes = endpoints();

notes.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/notes/{sha}",
    operationId: "repoGetNote",
    tags: ["repository"],
    summary: "Get the note on a commit",
    middleware: [inRepo("read:repository")] as const,
    request: { params: CommitPath, query: ShownParts },
    responses: { 200: json(Note, "The note"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    const code = await openCode(ctx, entry);
    const noted = findRevision(code, c.req.valid("param").sha);
    const note = noted && (await findNote(code, noted.commitOid));
    if (!note) throw notFound();
    const [commit] = await readCommits(ctx, code, [note.node], toParts(c.req.valid("query")));
    if (!commit) throw notFound();
    return c.json(toNote(entry, { content: note.content, commit }, viewer), 200);
  },
);
