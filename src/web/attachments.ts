import { type Context, Hono, type Next } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { isAllowed } from "../auth/access/permission.ts";
import { TO_SEE } from "../auth/access/requirement.ts";
import type { Ctx } from "../context.ts";
import { servedTypeOf } from "../domain/issues/attachments/attachment-type.ts";
import {
  countDownload,
  findDownload,
  findReleaseDownload,
  selectAttachmentRepository,
} from "../domain/packages/downloads/find-download.ts";
import { toRepositoryContext } from "../domain/repos/repository/find-repository.ts";
import type { Attachment } from "../db/schema/index.ts";
import { authenticate, requireScopes } from "../entrance/authenticate.ts";
import { notFound } from "../lib/failure.ts";
import { formatFilename } from "../lib/header-value.ts";
import { log } from "../lib/log.ts";
import { answerStoredFile } from "../lib/stored-file.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { incoming } from "./door.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { renderFailure } from "./render-failure.ts";

/** Files of issues, comments and releases, to which their API responses link. */
export const attachments = new Hono<WebEnv>({ router: new TrieRouter() });

const UUID = "uuid{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}}";

attachments.get(`/attachments/:${UUID}`, async (c) => {
  const uuid = c.req.param("uuid");
  const request = incoming(c);
  const { ctx, target } = await authenticate(
    request,
    // The required scope is known with the file.
    { scopes: [], anonymous: "by-setting" },
    (caller) => selectAttachmentRepository(request.base.db, { caller, uuid }),
  );
  const [row] = target ?? [];
  const repo = row && toRepositoryContext(ctx.actor, row);
  if (!repo || !isAllowed(repo, TO_SEE)) throw notFound();
  return downloadByUuid(c, ctx, repo, uuid);
});

attachments.get(`/:owner/:repo/attachments/:${UUID}`, async (c, next) => {
  const { owner, repo: name, uuid } = c.req.param();
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, TO_SEE, undefined, []);
  return downloadByUuid(c, ctx, repo, uuid);
});

attachments.get("/:owner/:repo/releases/download/:path{.+/[^/]+}", async (c, next) => {
  const { path } = c.req.param();
  const at = path.lastIndexOf("/");
  return downloadOfRelease(c, next, path.slice(0, at), path.slice(at + 1));
});

attachments.get("/:owner/:repo/releases/latest/download/:file", (c, next) =>
  downloadOfRelease(c, next, "latest", c.req.param("file")),
);

async function downloadOfRelease(
  c: Context<WebEnv>,
  next: Next,
  tag: string,
  file: string,
): Promise<Response | void> {
  const { owner = "", repo: name = "" } = c.req.param() as Record<string, string>;
  if (owner === "api") return next();
  const requirement = { unit: "releases", mode: "read" } as const;
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, requirement);
  const attachment = await findReleaseDownload(ctx, repo, tag, file);
  // A name may pass to an older file: by a change of its name, or of which release is the latest.
  return download(c, ctx, attachment, { isDateExact: true });
}

async function downloadByUuid(
  c: Context<WebEnv>,
  ctx: Ctx,
  repo: RepositoryContext,
  uuid: string,
): Promise<Response> {
  const { attachment, scope } = await findDownload(ctx, repo, uuid);
  requireScopes(incoming(c).door, ctx.actor, [scope]);
  return download(c, ctx, attachment);
}

async function download(
  c: Context<WebEnv>,
  ctx: Ctx,
  attachment: Attachment,
  { isDateExact = false } = {},
): Promise<Response> {
  const { uuid, name, sizeBytes } = attachment;
  const { type, isShown } = servedTypeOf(name);
  const file = {
    sizeBytes,
    tag: uuid,
    modifiedAt: attachment.createdAt,
    isDateExact,
    headers: {
      "Content-Type": type,
      "Content-Disposition": `${isShown ? "inline" : "attachment"}; ${formatFilename(name)}`,
      // Shown again only after another look at what the reader may see.
      "Cache-Control": "private, no-cache",
    },
    open: (range: { start: number; end: number }) => {
      // Not for each part of a file that is read in parts.
      if (range.start === 0) {
        ctx.defer(
          countDownload(ctx, attachment).catch(() => log("attachment:not-counted", { uuid })),
        );
      }
      return ctx.git.attachmentFiles.open(uuid, range);
    },
  };
  return answerStoredFile(c.req.raw, file);
}

attachments.onError(renderFailure);
