import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import { authenticate } from "../../entrance/authenticate.ts";
import { Failure, notFound } from "../../lib/failure.ts";
import { requestPath } from "../../lib/request-path.ts";
import { incoming } from "../door.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { getBlob, removeBlob } from "./blobs.ts";
import { requireCredential } from "./enter-image.ts";
import { getCatalog, getReferrers, getTags } from "./lists.ts";
import { getManifest, putManifest, removeManifest } from "./manifests.ts";
import { renderImageFailure } from "./render-image-failure.ts";
import { makeRegistryToken, readRegistryCredential } from "./token.ts";
import { cancelUpload, getUpload, patchUpload, putUpload, startUpload } from "./uploads.ts";

/**
 * Container images and other OCI artifacts, below `/v2`.
 *
 * @see OCI distribution specification 1.1.
 */
export const container = new Hono<RegistryEnv>({ router: new TrieRouter() });

/** The handler of a route. @param last The last segment of the path, where it is a name. */
type Handler = (c: RegistryContext, image: string, last: string) => Promise<Response>;

/**
 * The routes of an image, whose name may have slashes: below `/v2/{owner}/`, by what follows the
 * name.
 */
const IMAGE_ROUTES: readonly (readonly [RegExp, Readonly<Record<string, Handler>>])[] = [
  [/^(.+)\/blobs\/uploads$/, { POST: startUpload }],
  [
    /^(.+)\/blobs\/uploads\/([^/]+)$/,
    { GET: getUpload, PATCH: patchUpload, PUT: putUpload, DELETE: cancelUpload },
  ],
  [/^(.+)\/blobs\/([^/]+)$/, { GET: getBlob, HEAD: getBlob, DELETE: removeBlob }],
  [
    /^(.+)\/manifests\/([^/]+)$/,
    { GET: getManifest, HEAD: getManifest, PUT: putManifest, DELETE: removeManifest },
  ],
  [/^(.+)\/tags\/list$/, { GET: getTags }],
  [/^(.+)\/referrers\/([^/]+)$/, { GET: getReferrers }],
];

container.use("*", async (c, next) => {
  await next();
  c.res.headers.set("Docker-Distribution-Api-Version", "registry/2.0");
});

/** Answers that the registry is here, and that clients need a token: also for public images. */
container.get("/", async (c) => {
  requireCredential(c);
  await authenticateCaller(c, "always");
  return c.body(null, 200);
});

container.get("/token", async (c) =>
  c.json(await makeRegistryToken(await authenticateCaller(c, "by-setting"), c), 200, {
    "Cache-Control": "no-store",
  }),
);

container.get("/_catalog", (c) => {
  requireCredential(c);
  return getCatalog(c);
});

container.all("/:owner/*", (c) => {
  const [, , , ...segments] = requestPath(c.req.url).split("/");
  const path = segments.join("/");
  for (const [pattern, handlers] of IMAGE_ROUTES) {
    const [isMatch, image = "", last = ""] = pattern.exec(path) ?? [];
    if (isMatch === undefined) continue;
    const handle = handlers[c.req.method];
    if (!handle) throw imageFailure("UNSUPPORTED", "the registry has no such operation");
    return askingForCredential(c, handle(c, decodeSegment(image), decodeSegment(last)));
  }
  throw notFound("the registry has nothing at this path");
});

/**
 * Challenges a client without a credential in place of finding nothing: some clients show one only
 * where they are asked for it, and may then see the image.
 */
async function askingForCredential(
  c: RegistryContext,
  answering: Promise<Response>,
): Promise<Response> {
  try {
    return await answering;
  } catch (error) {
    if (error instanceof Failure && error.kind === "not_found" && isOn(c)) requireCredential(c);
    throw error;
  }
}

container.onError(renderImageFailure);

const isOn = (c: RegistryContext): boolean => c.var.base.config.packages.isOn;

async function authenticateCaller(c: RegistryContext, anonymous: "always" | "by-setting") {
  if (!isOn(c)) throw notFound();
  const credential = await readRegistryCredential(c);
  const { ctx } = await authenticate(
    { ...incoming(c), ...(credential && { credential }) },
    { scopes: [], anonymous },
  );
  return ctx;
}

/** A segment of a path without its encoding; one that can't be decoded names nothing. */
function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
