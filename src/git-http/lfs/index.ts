import { Hono, type MiddlewareHandler } from "hono";

import { notFound } from "../../lib/failure.ts";
import type { GitHttpEnv } from "../env.ts";
import { answerBatch } from "./batch.ts";
import { MEDIA_TYPE, refuse, renderLfsFailure } from "./dialect.ts";
import { create, list, unlock, verifyLocks } from "./locks.ts";
import { download, upload, verify } from "./transfer.ts";

/**
 * Git LFS, below the address of a repository: what its clients ask for beside git.
 *
 * @see git-lfs, docs/api.
 */
export const lfs = new Hono<GitHttpEnv>();

lfs.use("*", async (c, next) => {
  if (!c.var.base.config.isLfsOn) throw notFound("large files are not kept here");
  await next();
});

/** Clients say what they speak; a browser that was led here does not. */
const speaksLfs: MiddlewareHandler<GitHttpEnv> = (c, next) => {
  const isSpoken = c.req.header("accept")?.toLowerCase().startsWith(MEDIA_TYPE);
  return isSpoken ? next() : Promise.resolve(refuse(c, 415, `Accept must be ${MEDIA_TYPE}`));
};

lfs.post("/objects/batch", speaksLfs, answerBatch);
lfs.put("/objects/:oid/:size", upload);
lfs.get("/objects/:oid/:filename?", download);
lfs.post("/verify", speaksLfs, verify);
lfs.get("/locks", speaksLfs, list);
lfs.post("/locks", speaksLfs, create);
lfs.post("/locks/verify", speaksLfs, verifyLocks);
lfs.post("/locks/:id/unlock", speaksLfs, unlock);

lfs.all("*", () => {
  throw notFound();
});

lfs.onError(renderLfsFailure);
