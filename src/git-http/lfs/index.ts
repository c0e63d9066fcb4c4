import { Hono, type MiddlewareHandler } from "hono";

import { notFound } from "../../lib/failure.ts";
import type { GitHttpEnv } from "../env.ts";
import { answerBatch } from "./batch.ts";
import { MEDIA_TYPE, refuse, renderLfsFailure } from "./dialect.ts";
import { create, list, unlock, verifyLocks } from "./locks.ts";
import { download, upload, verify } from "./transfer.ts";

/**
 * The Git LFS API, below the URL of a repository.
 *
 * @see git-lfs, docs/api.
 */
export const lfs = new Hono<GitHttpEnv>();

lfs.use("*", async (c, next) => {
  if (!c.var.open.config.isLfsOn) throw notFound("large files are not kept here");
  await next();
});

/** Refuses requests without the Accept header of Git LFS, such as those of a browser. */
const requireLfsAccept: MiddlewareHandler<GitHttpEnv> = (c, next) => {
  const isAccepted = c.req.header("accept")?.toLowerCase().startsWith(MEDIA_TYPE);
  return isAccepted ? next() : Promise.resolve(refuse(c, 415, `Accept must be ${MEDIA_TYPE}`));
};

lfs.post("/objects/batch", requireLfsAccept, answerBatch);
lfs.put("/objects/:oid/:size", upload);
lfs.get("/objects/:oid/:filename?", download);
lfs.post("/verify", requireLfsAccept, verify);
lfs.get("/locks", requireLfsAccept, list);
lfs.post("/locks", requireLfsAccept, create);
lfs.post("/locks/verify", requireLfsAccept, verifyLocks);
lfs.post("/locks/:id/unlock", requireLfsAccept, unlock);

lfs.all("*", () => {
  throw notFound();
});

lfs.onError(renderLfsFailure);
