import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Ctx } from "../../context.ts";
import {
  createPage,
  deletePage,
  editPage,
  type PageInput,
} from "../../domain/code/wiki/change-page.ts";
import { listPages } from "../../domain/code/wiki/list-pages.ts";
import { findWikiPage, readWiki } from "../../domain/code/wiki/open-wiki.ts";
import {
  listRevisions,
  readWikiPage,
  type WikiPageEntry,
} from "../../domain/code/wiki/read-page.ts";
import { parseBase64 } from "../../lib/base64.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { requestPath } from "../../lib/request-path.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import {
  toWikiCommit,
  toWikiPage,
  toWikiPageMetaData,
  WikiCommitList,
  WikiPage,
  WikiPageMetaData,
} from "../../shapes/wiki/wiki-page.ts";
import { canonicalAddress } from "../../shapes/wiki/wiki-path.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { requireUser } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { body } from "../json-body.ts";
import { pageOf, Paging, queryInteger } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

/** Commits on a page of a page's history, as in Gitea. */
const REVISIONS_SIZE = 50;

const PagePath = RepoPath.extend({
  pageName: z.string().openapi({
    description: "The address of the page, its `sub_url`, as one segment; in any of its spellings",
  }),
});

const CreateWikiPageOptions = body({
  title: z
    .string()
    .default("")
    .openapi({ description: "An empty title keeps that of a page that exists" }),
  content_base64: z.string().optional().openapi({
    description: "The text in base64; of a page that exists, it stays without this field",
  }),
  message: z
    .string()
    .default("")
    .openapi({ description: "The message of the commit, which has a default" }),
}).openapi("CreateWikiPageOptions");

/** @throws Failure `malformed` for a text that is not base64. */
function toInput({
  title,
  content_base64: encoded,
  message,
}: z.infer<typeof CreateWikiPageOptions>): PageInput {
  const content = encoded === undefined ? undefined : parseBase64(encoded);
  if (encoded !== undefined && !content) throw malformed("[content_base64]: must be base64");
  return { title, content, message };
}

/** The page of the path. A slash in its title is encoded once, and one between folders as well. */
const namedIn = (c: Context): string =>
  canonicalAddress(requestPath(c.req.url).split("/").at(-1) ?? "");

export const wikiPages = endpoints();

wikiPages.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/wiki/new",
    operationId: "repoCreateWikiPage",
    tags: ["repository"],
    summary: "Create a page of a wiki",
    middleware: [inRepo("write:repository", { unit: "wiki", mode: "write" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreateWikiPageOptions, "The page") },
    },
    responses: {
      201: json(WikiPage, "The page"),
      ...refusals(400, 401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const made = await createPage(ctx, repo, requireUser(ctx.actor), toInput(c.req.valid("json")));
    const entry = await requirePage(ctx, made.repo, made.address);
    return c.json(toWikiPage(repo, entry, viewer), 201);
  },
);

wikiPages.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    operationId: "repoGetWikiPage",
    tags: ["repository"],
    summary: "Get a page of a wiki",
    middleware: [inRepo("read:repository", { unit: "wiki", mode: "read" })] as const,
    request: { params: PagePath },
    responses: { 200: json(WikiPage, "The page"), ...refusals(401, 403, 404, 413) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toWikiPage(repo, await requirePage(ctx, repo, namedIn(c)), viewer), 200);
  },
);

wikiPages.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    operationId: "repoEditWikiPage",
    tags: ["repository"],
    summary: "Edit a page of a wiki",
    middleware: [inRepo("write:repository", { unit: "wiki", mode: "write" })] as const,
    request: {
      params: PagePath,
      body: { required: true, ...json(CreateWikiPageOptions, "The fields to change") },
    },
    responses: {
      200: json(WikiPage, "The page"),
      ...refusals(400, 401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const input = toInput(c.req.valid("json"));
    const { address } = await editPage(ctx, repo, requireUser(ctx.actor), namedIn(c), input);
    return c.json(toWikiPage(repo, await requirePage(ctx, repo, address), viewer), 200);
  },
);

wikiPages.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    operationId: "repoDeleteWikiPage",
    tags: ["repository"],
    summary: "Delete a page of a wiki",
    middleware: [inRepo("write:repository", { unit: "wiki", mode: "write" })] as const,
    request: { params: PagePath },
    responses: { 204: empty("The page was deleted"), ...refusals(401, 403, 404, 409, 423) },
  }),
  (c) => done(c, ({ ctx, repo }) => deletePage(ctx, repo, requireUser(ctx.actor), namedIn(c))),
);

wikiPages.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/wiki/pages",
    operationId: "repoGetWikiPages",
    tags: ["repository"],
    summary: "List the pages of a wiki",
    middleware: [inRepo("read:repository", { unit: "wiki", mode: "read" })] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(WikiPageMetaData), "The pages, in the order of their files"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  (c) =>
    answerPage(
      c,
      async ({ ctx, repo }, slice) => {
        const listed = await readWiki(ctx, repo, (wiki) => listPages(wiki, slice));
        if (!listed) throw notFound();
        return listed;
      },
      (item, viewer) => toWikiPageMetaData(c.var.repo, item, viewer),
    ),
);

wikiPages.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/wiki/revisions/{pageName}",
    operationId: "repoGetWikiPageRevisions",
    tags: ["repository"],
    summary: "List the commits that changed a page of a wiki",
    middleware: [inRepo("read:repository", { unit: "wiki", mode: "read" })] as const,
    request: {
      params: PagePath,
      query: z.object({ page: queryInteger("Page number, from 1; a page has 50 commits") }),
    },
    responses: {
      200: page(WikiCommitList, "The commits, latest first, and the number of all"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    let count = 0;
    const query = { ...c.req.valid("query"), limit: REVISIONS_SIZE };
    const items = await pageOf(c, query, async (slice) => {
      const listed = await readWiki(ctx, repo, async (wiki) => {
        const file = findWikiPage(wiki, namedIn(c));
        return file && listRevisions(wiki, file, slice);
      });
      if (!listed) throw notFound();
      count = listed.total;
      return listed;
    });
    return c.json({ commits: items.map(toWikiCommit), count }, 200);
  },
);

/** @throws Failure `not_found` if the wiki has no such page. */
async function requirePage(
  ctx: Ctx,
  repo: RepositoryContext,
  address: string,
): Promise<WikiPageEntry> {
  const entry = await readWiki(ctx, repo, async (wiki) => {
    const file = findWikiPage(wiki, address);
    return file && readWikiPage(wiki, file);
  });
  if (!entry) throw notFound();
  return entry;
}
