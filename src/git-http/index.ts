import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { toWiki } from "../domain/code/wiki/to-wiki.ts";
import { enterPush } from "../entrance/enter-push.ts";
import { enterRepository, type RequestContext } from "../entrance/enter-repository.ts";
import { requestedVersion, type ServiceName } from "../git/wire/advertisement.ts";
import { forbidden, malformed } from "../lib/failure.ts";
import { advertise } from "./advertise.ts";
import { incoming, incomingPush } from "./door.ts";
import type { GitHttpEnv } from "./env.ts";
import { lfs } from "./lfs/index.ts";
import { receivePack } from "./receive-pack.ts";
import { renderFailure } from "./render-failure.ts";
import { readRequestBody, readWholeBody } from "./request-body.ts";
import { isOfWiki, toPush, toRead, toWikiOf } from "./target.ts";
import { uploadPack } from "./upload-pack.ts";

/**
 * Git's smart HTTP protocol, at the URL of a repository with and without `.git`, and of its wiki.
 */
export const gitHttp = new Hono<GitHttpEnv>({ router: new TrieRouter() });

gitHttp.get("/:owner/:repo/info/refs", async (c) => {
  const service = c.req.query("service");
  if (service !== "git-upload-pack" && service !== "git-receive-pack") {
    await enter(c, "git-upload-pack");
    throw forbidden(NO_DUMB_PROTOCOL);
  }
  return advertise(await enter(c, service), service, c.req.header("git-protocol"));
});

gitHttp.post("/:owner/:repo/git-upload-pack", async (c) => {
  const context = await enter(c, "git-upload-pack");
  refuseOtherType(c, "git-upload-pack");
  const version = requestedVersion(c.req.header("git-protocol"));
  return uploadPack(context, version, await readWholeBody(c), c.var.requestId);
});

gitHttp.post("/:owner/:repo/git-receive-pack", async (c) => {
  const context = await enter(c, "git-receive-pack");
  refuseOtherType(c, "git-receive-pack");
  return receivePack(context, readRequestBody(c), c.var.requestId);
});

// Paths of the dumb protocol, which clients from before 2010 request.
for (const path of ["/:owner/:repo/HEAD", "/:owner/:repo/objects/*"]) {
  gitHttp.get(path, async (c, next) => {
    if (!/\.git$/i.test(c.req.param("repo") ?? "")) return next();
    await enter(c, "git-upload-pack");
    throw forbidden(NO_DUMB_PROTOCOL);
  });
}

gitHttp.route("/:owner/:repo/info/lfs", lfs);

gitHttp.onError(renderFailure);

const NO_DUMB_PROTOCOL =
  "git's dumb protocol is not served here: use git 1.6.6 or later, over smart HTTP";

/**
 * Enters the repository of the path.
 *
 * SECURITY: `service` must be the service that the route runs, never an unchecked parameter.
 */
function enter(c: Context<GitHttpEnv>, service: ServiceName): Promise<RequestContext> {
  const isUpload = service === "git-upload-pack";
  if (isOfWiki(c)) return enterWiki(c, isUpload ? "read" : "write");
  return isUpload ? enterRepository(incoming(c), toRead(c)) : enterPush(incomingPush(c), toPush(c));
}

/** Enters the wiki of the path's repository, as a repository of its own. */
async function enterWiki(c: Context<GitHttpEnv>, mode: "read" | "write"): Promise<RequestContext> {
  const { ctx, repo } = await enterRepository(incoming(c), toWikiOf(c, mode));
  return { ctx, repo: toWiki(repo) };
}

function refuseOtherType(c: Context<GitHttpEnv>, service: ServiceName): void {
  const expected = `application/x-${service}-request`;
  const [type = ""] = (c.req.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== expected) throw malformed(`the body must be ${expected}`);
}
