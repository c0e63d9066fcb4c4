import { createRoute, z } from "@hono/zod-openapi";

import { listCommits } from "../../domain/code/commits/list-commits.ts";
import { listNotes } from "../../domain/code/commits/list-notes.ts";
import { readCommits } from "../../domain/code/commits/read-commits.ts";
import { openPull } from "../../domain/pulls/pull/open-pull.ts";
import {
  commitRangeOf,
  findChangesText,
  listChangedFiles,
} from "../../domain/pulls/pull/pull-changes.ts";
import { log } from "../../lib/log.ts";
import { answerText } from "../../lib/streamed-text.ts";
import { ChangedFile, toChangedFile } from "../../shapes/git/changed-file.ts";
import { PullRequestCommit, toPullRequestCommit } from "../../shapes/pulls/pull-commit.ts";
import { HEADERS, NOT_MODIFIED, numberedPage, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inPull } from "../guards/pull.ts";
import { IssuePath } from "../issues/paths.ts";
import { Paging, queryFlag, readPage, setNumberedPageHeaders } from "../paging.ts";

const WHITESPACE = ["show-all", "ignore-all", "ignore-change", "ignore-eol"] as const;

const FilesQuery = Paging.extend({
  "skip-to": z.string().optional().openapi({
    description: "Path of the changed file at which the list begins",
  }),
  whitespace: z.enum(WHITESPACE).catch("show-all").openapi({
    type: "string",
    description:
      "White space that does not count: `ignore-all`, `ignore-change` for its amount, `ignore-eol` for that at the end of lines; `show-all`, or anything else, for none. Files without other differences are left out",
  }),
});

const CommitsQuery = Paging.extend({
  verification: queryFlag("Whether to include signatures; the default is true"),
  files: queryFlag("Whether to list changed files; the default is true"),
  notes: queryFlag("Whether to include git notes, as `note`; the default is false"),
});

/** The changes of pull requests: their files and commits, and both as text. */
export const pullChanges = endpoints();

pullChanges.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/files",
    operationId: "repoGetPullRequestFiles",
    tags: ["repository"],
    summary: "List the changed files of a pull request",
    middleware: [inPull("read:repository")] as const,
    request: { params: IssuePath, query: FilesQuery },
    responses: {
      200: numberedPage(
        z.array(ChangedFile),
        "The files that differ between the merge base and the head, by path",
      ),
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, pull, viewer } = c.var;
    const query = c.req.valid("query");
    const opened = await openPull(ctx, pull);
    const files = await listChangedFiles(opened, query.whitespace, query["skip-to"] || undefined);
    const page = readPage(ctx.config, query);
    const { graph } = opened.snapshot.repository;
    const { head, mergeBase } = opened;
    const sideAt = (node: typeof head) => ({ repository: repo, commitOid: graph.oid(node) });
    const sides = {
      old: mergeBase === undefined ? undefined : sideAt(mergeBase),
      fresh: sideAt(head),
    };
    setNumberedPageHeaders(c, page, files.length);
    return c.json(
      files
        .slice(page.offset, page.offset + page.size)
        .map((each) => toChangedFile(each, sides, viewer)),
      200,
    );
  },
);

pullChanges.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/commits",
    operationId: "repoGetPullRequestCommits",
    tags: ["repository"],
    summary: "List the commits of a pull request",
    middleware: [inPull("read:repository")] as const,
    request: { params: IssuePath, query: CommitsQuery },
    responses: {
      200: numberedPage(
        z.array(PullRequestCommit),
        "The commits of the head that the base does not have, latest first",
      ),
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, pull, viewer } = c.var;
    const query = c.req.valid("query");
    const opened = await openPull(ctx, pull);
    const { snapshot } = opened;
    const page = readPage(ctx.config, query);
    const { items, total } = await listCommits(snapshot, commitRangeOf(pull, opened), page);
    const parts = {
      hasStat: true,
      hasFiles: query.files ?? true,
      hasVerification: query.verification ?? true,
    };
    const read = await readCommits(ctx, snapshot, items, parts);
    const oids = read.map(({ commitOid }) => commitOid);
    const notes = query.notes === true ? await listNotes(snapshot, oids) : undefined;
    setNumberedPageHeaders(c, page, total);
    return c.json(
      read.map((each) => {
        const note = notes && (notes.get(each.commitOid) ?? null);
        return toPullRequestCommit(repo, each, note, viewer);
      }),
      200,
    );
  },
);

const headers = { ETag: HEADERS.download.ETag };

// Before the route of the pull request, which would read the suffix as part of the number.
pullChanges.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}.{diffType}",
    operationId: "repoDownloadPullDiffOrPatch",
    tags: ["repository"],
    summary: "Get a pull request as a diff or patch",
    middleware: [inPull("read:repository")] as const,
    request: {
      params: IssuePath.extend({
        diffType: z
          .enum(["diff", "patch"])
          .openapi({ description: "The format: that of `git diff`, or of `git format-patch`" }),
      }),
      query: z.object({
        binary: queryFlag("Whether a diff includes binary files, so that it can be applied"),
      }),
    },
    responses: {
      200: {
        description:
          "The difference between the merge base and the head, or the commits, one mail each; generated while it is sent",
        content: { "text/plain": { schema: z.string() } },
        headers,
      },
      304: { description: NOT_MODIFIED, headers },
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, pull, requestId } = c.var;
    const { diffType } = c.req.valid("param");
    const binaryFiles = c.req.valid("query").binary === true ? "encoded" : "reported";
    const text = await findChangesText(ctx, pull, diffType, binaryFiles);
    return answerText(c.req.raw, text, (sentBytes) =>
      log("diff:sent", { id: requestId, ...ctx.git.usage.counts(), sentBytes }),
    );
  },
);
