import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { getPath } from "hono/utils/url";

import { notFound } from "../../lib/failure.ts";
import { collapseSlashes } from "../../lib/request-path.ts";
import type { WebEnv } from "../env.ts";

/** Routes that get the variables of a request as their bindings. */
interface LoadedEnv extends WebEnv {
  Bindings: WebEnv["Variables"];
}

/**
 * Routes whose code is loaded with the first request for one of them, so that no other request
 * waits for it. Their errors are those of the app that mounts them.
 *
 * @param paths The patterns of all paths below which the routes answer.
 */
export function loadOnUse(
  paths: readonly string[],
  load: () => Promise<readonly Hono<WebEnv>[]>,
): Hono<WebEnv> {
  const door = new Hono<WebEnv>({ router: new TrieRouter() });
  let loaded: Promise<Hono<LoadedEnv>> | undefined;
  for (const path of paths) {
    door.all(path, async (c) => {
      loaded ??= load().then(join);
      return (await loaded).fetch(c.req.raw, c.var);
    });
  }
  return door;
}

function join(parts: readonly Hono<WebEnv>[]): Hono<LoadedEnv> {
  const app = new Hono<LoadedEnv>({
    router: new TrieRouter(),
    getPath: (request) => collapseSlashes(getPath(request)),
  });
  app.use(async (c, next) => {
    const { base, requestId, assets, diskSpace, findWriteBookmark } = c.env;
    c.set("base", base);
    c.set("requestId", requestId);
    c.set("assets", assets);
    c.set("diskSpace", diskSpace);
    c.set("findWriteBookmark", findWriteBookmark);
    await next();
  });
  for (const part of parts) app.route("/", part);
  app.notFound(() => {
    throw notFound();
  });
  app.onError((error) => {
    throw error;
  });
  return app;
}
