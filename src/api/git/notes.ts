import { createRoute } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { createNote, deleteNote, updateNote } from "../../domain/code/commits/change-note.ts";
import { findNote, type Note as NoteOf } from "../../domain/code/commits/find-note.ts";
import { type CommitParts, readCommits } from "../../domain/code/commits/read-commits.ts";
import { findRevision } from "../../domain/code/git/find-revision.ts";
import { type RepositorySnapshot, openSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../lib/failure.ts";
import { Note, toNote } from "../../shapes/git/note.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { empty, json, refusals } from "../answers.ts";
import { CommitPath, ShownParts, toParts } from "../commits/query.ts";
import { endpoints } from "../endpoints.ts";
import { requireUser } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body, requiredText } from "../json-body.ts";

const MESSAGE_MAX = 500_000;

const message = () =>
  requiredText(MESSAGE_MAX).openapi({
    description:
      "The text of the note; trailing white space and leading and trailing empty lines are removed",
  });
const CreateNote = body({ message: message() }).openapi("CreateNoteOption");
const EditNote = body({ message: message() }).openapi("EditNoteOption");

export const notes = endpoints();

notes.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/notes/{sha*}",
    operationId: "repoGetNote",
    tags: ["repository"],
    summary: "Get the note on a commit",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: CommitPath, query: ShownParts },
    responses: { 200: json(Note, "The note"), ...refusals(401, 403, 404, 413, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo);
    const revision = await findRevision(snapshot, c.req.valid("param").sha);
    const note = revision && (await findNote(snapshot, revision.commitOid));
    if (!note) throw notFound();
    const parts = toParts(c.req.valid("query"));
    return c.json(await shapeNote(ctx, repo, viewer, snapshot, note, parts), 200);
  },
);

notes.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/git/notes/{sha*}",
    operationId: "repoCreateNote",
    tags: ["repository"],
    summary: "Create the note on a commit",
    description: "An extension of Gitea's API, which only reads notes.",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: {
      params: CommitPath,
      query: ShownParts,
      body: { required: true, ...json(CreateNote, "The note") },
    },
    responses: {
      201: json(Note, "The new note"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { sha } = c.req.valid("param");
    const { message: text } = c.req.valid("json");
    const { note, snapshot } = await createNote(ctx, repo, requireUser(ctx.actor), sha, text);
    const parts = toParts(c.req.valid("query"));
    return c.json(await shapeNote(ctx, repo, viewer, snapshot, note, parts), 201);
  },
);

notes.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/git/notes/{sha*}",
    operationId: "repoEditNote",
    tags: ["repository"],
    summary: "Edit the note on a commit",
    description: "An extension of Gitea's API, which only reads notes.",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: {
      params: CommitPath,
      query: ShownParts,
      body: { required: true, ...json(EditNote, "The note") },
    },
    responses: {
      200: json(Note, "The edited note"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { sha } = c.req.valid("param");
    const { message: text } = c.req.valid("json");
    const { note, snapshot } = await updateNote(ctx, repo, requireUser(ctx.actor), sha, text);
    const parts = toParts(c.req.valid("query"));
    return c.json(await shapeNote(ctx, repo, viewer, snapshot, note, parts), 200);
  },
);

notes.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/git/notes/{sha*}",
    operationId: "repoDeleteNote",
    tags: ["repository"],
    summary: "Delete the note on a commit",
    description: "An extension of Gitea's API, which only reads notes.",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: CommitPath },
    responses: {
      204: empty("The note was deleted"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  (c) =>
    done(c, ({ ctx, repo }) =>
      deleteNote(ctx, repo, requireUser(ctx.actor), c.req.valid("param").sha),
    ),
);

async function shapeNote(
  ctx: Ctx,
  repo: RepositoryContext,
  viewer: Viewer,
  snapshot: RepositorySnapshot,
  { content, node }: NoteOf,
  parts: CommitParts,
) {
  const [commit] = await readCommits(ctx, snapshot, [node], parts);
  if (!commit) throw notFound();
  return toNote(repo, { content, commit }, viewer);
}
